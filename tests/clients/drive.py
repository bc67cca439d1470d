"""Drives Unterm through the public Python SDK of the Model Context Protocol, as an agent's program does: each toolset, and
each of the protocol's other parts once in earnest. What is not as it should be ends it with a traceback.

    drive.py MODE stdio PROGRAM    # PROGRAM: unterm-cli
    drive.py MODE http URL         # the token is in UNTERM_TOKEN; or sse, for the transport of 2024
    drive.py … tasks               # instead: what agents are given to do (tasks.py)
    drive.py … programs            # instead: thirteen tasks in programs, with a table of calls and seconds (programs.py)
    drive.py … approval            # instead, with an Unterm that asks (`--approval ask`): who lets the agent act
    drive.py … outlive             # instead, over stdio: the Unterm that is driven is killed during a call

MODE is the SDK's: legacy, auto, or a revision of the protocol. The toolsets want a recording that has the words "kept 42".
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

# Bounds a hang, in seconds, and judges no speed: other tests may run beside this.
PATIENCE = 500
NEVER = [{"text": "what nobody ever prints"}]


async def ask(client, tool, **arguments):
    """Calls a tool that must succeed and whose reply is JSON in a text."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, (tool, arguments, result.content)
    return json.loads(result.content[0].text)


async def until(look, is_there):
    """Looks until what must come is there: these toolsets have no waiting of their own."""
    while not is_there(seen := await look()):
        await anyio.lowlevel.checkpoint()
    return seen


# The toolset `unterm`.


async def use_unterm(door):
    """The default toolset, and all that is not tools."""
    send, told = anyio.create_memory_object_stream(1000)

    async def hear(message):
        if isinstance(message, Exception):
            raise message
        await send.send(message)

    async with door.client("unterm", message_handler=hear) as client:
        tools = (await client.list_tools()).tools
        assert 10 < len(tools) <= 20, [tool.name for tool in tools]
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
    """Words for a job, with what they were asked for in them."""
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
    """A screen, a command's output, and a recording that was made before, by address."""
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
    """Tells the next change, as the era does: a changed resource's address, or None for the list."""
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
    """What changes is told, and read anew it is what it should be."""
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
    """A command that goes on until the client, told that it does, answers it."""
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
    """A command that outlives its call: the client is told of its end, and asks for the result only then."""
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
    """More calls than a server takes at a time, each given up once it is under way: their places come back."""
    # More in all than there may be at a time: a call that was cancelled is over.
    for _ in range(9):
        waiting, all_wait = set(), anyio.Event()

        async def wait(number):
            async def tell(*_):
                waiting.add(number)
                if len(waiting) == 30:
                    all_wait.set()

            while True:
                # A busy server may take a moment to give the places of cancelled calls back.
                result = await client.call_tool("wait", {"pane": pane, "any": NEVER}, progress_callback=tell)
                assert result.is_error and "too many calls" in result.content[0].text, result

        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(wait, number)
            await all_wait.wait()
            group.cancel_scope.cancel()
    ran = await call(client, "run", pane=pane, command="echo still here")
    assert ran["output"] == "still here", ran
    # A command whose call is given up is interrupted.
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
    """All eleven tools."""
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
    """All nine tools."""
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


# Approval, in the client's own dialog (elicitation).


async def use_approval(door):
    """Who would change something is asked about, call by call."""
    asked, answers = [], []

    async def dialog(_, params):
        choices = params.requested_schema["properties"]["answer"]["oneOf"]
        assert [choice["const"] for choice in choices] == ["once", "deny"], params
        asked.append(params.message)
        return answers.pop(0)

    def accept(answer):
        return ElicitResult(action="accept", content={"answer": answer})

    # Who was denied is remembered by its name, so each way in has names of its own.
    careful, trusted = (f"{how} {door.mode} {door.kind}" for how in ("careful", "trusted"))
    async with door.client("unterm", careful, elicitation_callback=dialog) as client:
        await call(client, "status")
        assert not asked, "who only looks is not asked about"
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


# An Unterm that is killed.


async def use_outlive(door):
    """The call that was under way fails, and the tools stay: the next call is made elsewhere."""
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
