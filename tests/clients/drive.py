"""Drives Unterm through the public Python SDK of the Model Context Protocol, as an agent's program does. Uses each
toolset, and each other part of the protocol once. A failed check ends the program with a traceback.

    drive.py MODE stdio PROGRAM    # PROGRAM: unterm-cli
    drive.py MODE http URL         # the token is in UNTERM_TOKEN; `sse` instead of `http` selects the transport of 2024
    drive.py … tasks               # instead: tasks that agents are given (tasks.py)
    drive.py … programs            # instead: tasks in terminal programs, with a table of calls and seconds (programs.py)
    drive.py … approval            # instead, with an Unterm that asks (`--approval ask`): approvals in the client's dialog
    drive.py … outlive             # instead, over stdio: Unterm is killed during a call

MODE is a mode of the SDK: legacy, auto, or a revision of the protocol. The check of the toolsets requires that Unterm
already has a recording that contains the words "kept 42".
"""

import json
import os
import signal
import sys
import tempfile
from contextlib import asynccontextmanager

import anyio
from mcp import MCPError
from mcp_types import (
    INVALID_PARAMS,
    ElicitResult,
    ResourceListChangedNotification,
    ResourceUpdatedNotification,
)

from door import NEWEST, Door, call
from programs import use_programs
from tasks import use_tasks

# Ends a hanging run after this many seconds. It is no limit on speed, because other tests may run at the same time.
PATIENCE = 500
NEVER = [{"text": "what nobody ever prints"}]


async def ask(client, tool, **arguments):
    """Calls a tool that must succeed. Returns its reply, which is JSON in a text content."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, arguments, result.content)
    return json.loads(result.content[0].text)


async def until(look, is_there):
    """Calls `look` until `is_there` accepts the result. The toolsets that use it have no tool that waits."""
    while not is_there(seen := await look()):
        await anyio.lowlevel.checkpoint()
    return seen


# The toolset `unterm`.


async def use_unterm(door):
    """Uses the default toolset, and the parts of the protocol that are not tools: prompts, resources, notifications."""
    send, told = anyio.create_memory_object_stream(1000)

    async def hear(message):
        if isinstance(message, Exception):
            raise message
        await send.send(message)

    async with door.client("unterm", message_handler=hear) as client:
        tools = (await client.list_tools()).tools
        assert 10 < len(tools) <= 21, [tool.name for tool in tools]
        pane = (await call(client, "pane_open", command=["bash"], cols=100, rows=30))["pane"]
        ran = await call(client, "run", pane=pane, command="echo $((6 * 7)); (exit 3)")
        assert (ran["output"], ran["exit_code"]) == ("42", 3), ran
        again = await call(client, "block", pane=pane, block=ran["block"])
        assert again["output"] == "42", again
        assert "42" in (await call(client, "screen", pane=pane))["text"]
        wrong = await client.call_tool("screen", {"pane": 99999})
        assert wrong.is_error and "99999" in wrong.content[0].text, wrong
        await prompts(client)
        await resources(client, pane, ran["block"])
        await changes(client, pane, told)
        await progress(client, pane)
        await woken(client, pane, told)
        await cancellation(client, pane)
        await call(client, "pane_close", pane=pane)


async def prompts(client):
    """A prompt contains the arguments of its request. A request without a required argument fails."""
    names = [prompt.name for prompt in (await client.list_prompts()).prompts]
    assert names == ["drive_tui", "supervise_agent", "run_tests"], names
    given = await client.get_prompt("run_tests", {"command": "make check"})
    assert "`make check`" in given.messages[0].content.text, given
    try:
        await client.get_prompt("run_tests", {})
    except MCPError as error:
        assert error.code == INVALID_PARAMS and "command" in str(error), error
    else:
        raise AssertionError("a prompt without what it needs")


async def resources(client, pane, block):
    """Reads resources by their addresses: a screen, a command's output, and a recording that existed before."""
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    templates = (await client.list_resource_templates()).resource_templates
    assert "unterm://pane/{pane}/screen" in [template.uri_template for template in templates], templates
    screen, output = f"unterm://pane/{pane}/screen", f"unterm://pane/{pane}/block/{block}"
    assert screen in listed and output in listed, listed
    read = await client.read_resource(output)
    assert (read.contents[0].text, read.contents[0].mime_type) == ("42", "text/plain"), read
    recording = next(uri for uri in listed if uri.startswith("unterm://recording/"))
    read = await client.read_resource(recording)
    assert "kept 42" in read.contents[0].text and read.contents[0].mime_type == "text/markdown", read
    try:
        await client.read_resource("unterm://nowhere")
    except MCPError as error:
        assert "there is nothing" in str(error), error
    else:
        raise AssertionError("a resource that is not there")


@asynccontextmanager
async def subscribed(client, uri, told):
    """Subscribes to a resource. Yields a function that waits for the next notification, in the form of the protocol's
    revision. It returns the address of a changed resource, or None if the list of resources changed."""
    if client.protocol_version == NEWEST:
        async with client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as changes:
            assert changes.honored.resource_subscriptions == [uri], changes.honored

            async def tell():
                return getattr(await anext(changes), "uri", None)

            yield tell
        return
    await client.subscribe_resource(uri)

    async def tell():
        async for note in told:
            if isinstance(note, ResourceUpdatedNotification):
                return str(note.params.uri)
            if isinstance(note, ResourceListChangedNotification):
                return None

    yield tell
    await client.unsubscribe_resource(uri)


async def changes(client, pane, told):
    """When a screen changes, the client is notified, and reading the screen again shows the change. When a pane opens, the
    client is notified that the list changed."""
    uri = f"unterm://pane/{pane}/screen"
    await client.list_resources()
    async with subscribed(client, uri, told) as tell:
        await call(client, "input", pane=pane, text="echo told $((40 + 2))\n")
        while True:
            if await tell() != uri:
                continue
            read = await client.read_resource(uri)
            if "\ntold 42" in read.contents[0].text:
                break
        opened = await call(client, "pane_open", command=["cat"])
        while await tell() is not None:
            pass
        await call(client, "pane_close", pane=opened["pane"])


async def progress(client, pane):
    """The client is notified that a command is still running. Only then does it send the input that ends the command."""
    heard = anyio.Event()

    async def tell(passed, total, message):
        assert passed >= 1 and f"pane {pane}" in message, (passed, total, message)
        heard.set()

    with tempfile.TemporaryDirectory() as folder:
        pipe = f"{folder}/pipe"
        os.mkfifo(pipe)

        async def answer():
            await heard.wait()
            await anyio.Path(pipe).write_text("it\n")

        async with anyio.create_task_group() as group:
            group.start_soon(answer)
            asked = {"pane": pane, "command": f"read -r A < {pipe}; echo \"got $A\""}
            ran = await client.call_tool("run", asked, progress_callback=tell)
    assert ran.structured_content["output"] == "got it", ran


async def woken(client, pane, told):
    """A command outlives its call. The client is notified when the command ends, and requests the result only then."""
    ran = await call(client, "run", pane=pane, command="read -r A; (exit 7)", timeout_ms=1)
    uri = f"unterm://job/{ran['handle']}"
    state = json.loads((await client.read_resource(uri)).contents[0].text)
    assert (state["ended"], state["pane"]) == (False, pane), state
    async with subscribed(client, uri, told) as tell:
        await call(client, "input", pane=pane, text="it\n")
        while await tell() != uri:
            pass
    state = json.loads((await client.read_resource(uri)).contents[0].text)
    assert (state["ended"], state["outcome"]) == (True, "exit code 7"), state
    waited = await call(client, "wait", handle=ran["handle"])
    assert waited["run"]["exit_code"] == 7, waited


async def cancellation(client, pane):
    """A client cancels calls that are under way. Canceled calls no longer count against the limit of concurrent calls."""
    # In total, these rounds make more calls than the server accepts at a time. They pass only if canceling ends a call.
    for _ in range(9):
        waiting, all_wait = set(), anyio.Event()

        async def wait(number):
            async def tell(*_):
                waiting.add(number)
                if len(waiting) == 30:
                    all_wait.set()

            while True:
                # A busy server may still count calls that were canceled a moment ago, so try again.
                result = await client.call_tool("wait", {"pane": pane, "any": NEVER}, progress_callback=tell)
                assert result.is_error and "too many calls" in result.content[0].text, result

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(wait, number)
            await all_wait.wait()
            group.cancel_scope.cancel()
    ran = await call(client, "run", pane=pane, command="echo still here")
    assert ran["output"] == "still here", ran
    # If a call of `run` is canceled, its command is interrupted.
    begun = anyio.Event()

    async def tell(*_):
        begun.set()

    async def run():
        endless = {"pane": pane, "command": "sleep 1000"}
        raise AssertionError(await client.call_tool("run", endless, progress_callback=tell))

    async with anyio.create_task_group() as group:
        group.start_soon(run)
        await begun.wait()
        group.cancel_scope.cancel()
    assert (await call(client, "wait", pane=pane, any=[{"prompt": True}]))["matched"]
    ran = await call(client, "run", pane=pane, command="echo free again")
    assert ran["output"] == "free again", ran


# The toolset `iterm`.


async def use_iterm(door):
    """Uses all eleven tools of the toolset `iterm`."""
    async with door.client("iterm") as client:
        assert len((await client.list_tools()).tools) == 11
        tab = await ask(client, "iterm_new_tab", name="build server", command="echo from a $((40 + 2)) tab")
        tty, session = tab["tty"], tab["session_id"]
        listed = await ask(client, "iterm_list_sessions")
        assert session in [each["session_id"] for each in listed], listed
        registered = await ask(client, "iterm_register_session", tty_path=tty)
        assert registered["status"] == "registered", registered
        found = await ask(client, "iterm_get_session_by_name", name="Build")
        assert found[0]["session_id"] == session and found[0]["registered"], found

        seen = ""

        async def watch():
            nonlocal seen
            seen += "\n" + (await ask(client, "iterm_watch_session", identifier=tty))["new_output"]
            return seen

        await until(watch, lambda seen: "\nfrom a 42 tab" in seen)
        sent = await ask(client, "iterm_send_command", identifier="build srver", command="echo again")
        assert sent["session_id"] == session, sent
        await until(watch, lambda seen: "\nagain" in seen)
        read = await ask(client, "iterm_read_output", identifier=tty, lines=2)
        assert read["line_count"] == 2, read
        keys = await ask(client, "iterm_send_keys", identifier=session, keys="ctrl+c")
        assert keys["status"] == "sent", keys
        split = await ask(client, "iterm_split_pane", direction="horizontal", identifier=tty, name="below")
        assert split["status"] == "created", split
        renamed = await ask(client, "iterm_set_session_name", identifier="below", new_name="logs")
        assert renamed["new_name"] == "logs", renamed
        focused = await ask(client, "iterm_focus_session", identifier="logs")
        assert focused["session_id"] == split["session_id"], focused
        wrong = await client.call_tool("iterm_send_command", {"identifier": "xyzzy", "command": "rm"})
        assert wrong.is_error and "No session found" in wrong.content[0].text, wrong
        for each in (tty, "logs"):
            await ask(client, "iterm_send_command", identifier=each, command="exit")


# The toolset `tester`.


async def use_tester(door):
    """Uses all nine tools of the toolset `tester`."""
    async with door.client("tester") as client:
        assert len((await client.list_tools()).tools) == 9
        script = "printf \"$GREETING\\n\"; exec cat"
        launched = await ask(client, "launch_app", command="sh", args=["-c", script], env={"GREETING": "hello"})
        assert launched["success"], launched
        on = {"session_id": launched["session_id"]}

        async def view(text):
            def is_there(view):
                return text in view["content"]

            return await until(lambda: ask(client, "view_screen", format="plain", **on), is_there)

        await view("hello")
        assert await ask(client, "get_cursor_position", **on) == {"row": 1, "col": 0}
        await ask(client, "send_keys", keys="worldEnter", **on)
        await view("world")
        assert (await ask(client, "resize_terminal", width=120, height=30, **on))["success"]
        assert await ask(client, "get_screen_size", **on) == {"width": 120, "height": 30}
        assert (await ask(client, "restart_app", **on))["success"]
        view_again = await view("hello")
        assert "world" not in view_again["content"], view_again
        listed = (await ask(client, "list_sessions"))["sessions"]
        assert [each["id"] for each in listed] == [launched["session_id"]], listed
        assert (await ask(client, "stop_app", **on))["success"]
        gone = await client.call_tool("view_screen", on)
        assert gone.is_error and "SESSION_NOT_FOUND" in gone.content[0].text, gone


# Approval in a dialog of the client (elicitation).


async def use_approval(door):
    """The dialog asks about each call that would change something, and about no other call."""
    asked, answers = [], []

    async def dialog(_, params):
        choices = params.requested_schema["properties"]["answer"]["oneOf"]
        assert [choice["const"] for choice in choices] == ["once", "deny"], params
        asked.append(params.message)
        return answers.pop(0)

    def accept(answer):
        return ElicitResult(action="accept", content={"answer": answer})

    # Unterm remembers a denied client by its name, so each mode and transport uses other names.
    careful, trusted = (f"{how} {door.mode} {door.kind}" for how in ("careful", "trusted"))
    async with door.client("unterm", careful, elicitation_callback=dialog) as client:
        await call(client, "status")
        assert not asked, "a call that only reads must not need approval"
        answers.append(accept("once"))
        opened = await call(client, "pane_open", command=["cat"])
        assert asked == [f"May {careful} act in this terminal? It would pane_open: [\"cat\"]"], asked
        answers.append(ElicitResult(action="decline"))
        refused = await client.call_tool("pane_close", {"pane": opened["pane"]})
        assert refused.is_error and "has denied" in refused.content[0].text, refused
    async with door.client("unterm", trusted, elicitation_callback=dialog) as client:
        answers.append(accept("once"))
        ran = await call(client, "input", pane=opened["pane"], text="it\n", wait_any=[{"regex": "^it$"}])
        assert ran["wait"]["matched"], ran
        answers.append(accept("once"))
        await call(client, "pane_close", pane=opened["pane"])
    assert (len(asked), answers) == (4, []), asked


# An Unterm that is killed during a call.


async def use_outlive(door):
    """When Unterm is killed, the running call fails, but the client keeps its tools. Its next call reaches another Unterm."""
    async with door.client("unterm", "survivor") as client:
        killed = (await call(client, "status"))["pid"]
        pane = (await call(client, "pane_open", command=["bash"]))["pane"]

        async def kill(*_):
            os.kill(killed, signal.SIGKILL)

        endless = {"pane": pane, "command": "sleep 1000"}
        failed = await client.call_tool("run", endless, progress_callback=kill)
        assert failed.is_error and "ended before it answered" in failed.content[0].text, failed
        assert len((await client.list_tools()).tools) > 10
        status = await call(client, "status")
        assert status["pid"] != killed and status["you"] == "survivor", status
        pane = (await call(client, "pane_open", command=["bash"]))["pane"]
        ran = await call(client, "run", pane=pane, command="echo $((6 * 7))")
        assert ran["output"] == "42", ran


async def main(mode, kind, target, what="toolsets"):
    door = Door(mode, kind, target)
    toolsets = (use_unterm, use_iterm, use_tester)
    uses = {
        "toolsets": toolsets,
        "tasks": (use_tasks,),
        "programs": (use_programs,),
        "approval": (use_approval,),
        "outlive": (use_outlive,),
    }
    with anyio.fail_after(PATIENCE):
        for use in uses[what]:
            await use(door)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
