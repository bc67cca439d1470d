"""Tasks that agents are given in a terminal, each performed once through the public Python SDK. No task sleeps: Unterm
waits for the expected text or event.

If UNTERM_LONG=1 is set, the build takes three minutes over stdio in the mode `auto`.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import anyio

from door import call

IS_LONG = os.environ.get("UNTERM_LONG") == "1"
# The longest wait in one call, in milliseconds.
SLICE = 50_000


async def use_tasks(door):
    """Performs all tasks, one after the other."""
    async with door.client("unterm", "worker") as client:
        await edit_a_file(client)
        await answer_a_question(client)
        await wait_for_a_build(client, IS_LONG and (door.kind, door.mode) == ("stdio", "auto"))
        await talk_to_a_repl(client)
        await read_htop(client)
        await meet_a_password(client)
        await supervise(client)
        await drive_many(client)


async def opened(client, *command):
    """Opens a pane with a program. Returns the pane's number."""
    return (await call(client, "pane_open", command=list(command), cols=80, rows=24))["pane"]


async def seen(client, pane, *conditions, **more):
    """Waits until one of the conditions is met, in as many calls as that takes. Returns the reply of `wait`."""
    reply = await call(client, "wait", pane=pane, any=list(conditions), timeout_ms=SLICE, **more)
    while not reply["matched"]:
        reply = await call(client, "wait", handle=reply["handle"], timeout_ms=SLICE)
    return reply


async def types(client, pane, condition, **keys):
    """Types, and waits until a condition is met."""
    reply = await call(client, "input", pane=pane, wait_any=[condition], timeout_ms=SLICE, **keys)
    wait = reply["wait"]
    while not wait["matched"]:
        wait = await call(client, "wait", handle=wait["handle"], timeout_ms=SLICE)


async def finished(client, ran, slice_ms=SLICE):
    """Waits until a command has ended, by its handle. Returns its final state."""
    while not ran["ended"]:
        ran = (await call(client, "wait", handle=ran["handle"], timeout_ms=slice_ms))["run"]
    return ran


async def edit_a_file(client):
    """The agent adds a line in vim, and saves the file."""
    vim = next(filter(None, map(shutil.which, ("vim", "vim.tiny", "vi"))), None)
    assert vim, "vim is not installed"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "note.txt")
        file.write_text("one\ntwo\n")
        pane = await opened(client, vim, "-u", "NONE", "-n", str(file))
        await seen(client, pane, {"text": "note.txt"})
        await types(client, pane, {"regex": "^the agent's line"}, text="othe agent's line", keys=["escape"])
        await types(client, pane, {"exit": True}, text=":wq\n")
        assert file.read_text() == "one\nthe agent's line\ntwo\n", file.read_text()
    await call(client, "pane_close", pane=pane)


async def answer_a_question(client):
    """A command asks whether to continue. The agent answers, and the command continues."""
    pane = await opened(client, "bash")
    command = "read -r -p 'Go on? [y/n] ' A; [ \"$A\" = y ] && echo went on"
    ran = await call(client, "run", pane=pane, command=command, timeout_ms=0)
    await seen(client, pane, {"regex": r"^Go on\? \[y/n\]"})
    await call(client, "input", pane=pane, text="y\n")
    ran = await finished(client, ran)
    assert ran["exit_code"] == 0 and ran["output"] == "Go on? [y/n] went on", ran
    await call(client, "pane_close", pane=pane)


async def wait_for_a_build(client, is_long):
    """A command takes longer than one call may take, and finally fails."""
    steps, pace, slice_ms = (180, 1, SLICE) if is_long else (5, 0.4, 300)
    pane = await opened(client, "bash")
    build = f"for n in $(seq {steps}); do sleep {pace}; echo step $n; done; (exit 7)"
    ran = await call(client, "run", pane=pane, command=build, timeout_ms=0)
    assert not ran["ended"] and ran["handle"], ran
    ran = await finished(client, ran, slice_ms)
    assert ran["exit_code"] == 7 and "exit_source" not in ran, ran
    assert ran["output"].splitlines() == [f"step {n}" for n in range(1, steps + 1)], ran
    await call(client, "pane_close", pane=pane)


async def talk_to_a_repl(client):
    """The agent sets a variable in Python, and uses it in a later line."""
    pane = await opened(client, sys.executable, "-q")
    await seen(client, pane, {"regex": "^>>>"})
    await types(client, pane, {"regex": "^>>> ?$"}, text="x = 6 * 7\n")
    await types(client, pane, {"regex": "^it is 42$"}, text="print('it is', x)\n")
    await types(client, pane, {"exit": True}, text="exit()\n")
    await call(client, "pane_close", pane=pane)


async def read_htop(client):
    """The agent reads the screen of htop, finds text in it, and quits htop with a key."""
    if not shutil.which("htop"):
        print("htop is not installed: it was not read", file=sys.stderr)
        return
    pane = await opened(client, "htop")
    await seen(client, pane, {"text": "F10"})
    screen = await call(client, "screen", pane=pane, format="cells")
    assert sum(len(row["runs"]) for row in screen["cells"]) > 20, screen
    found = await call(client, "find", pane=pane, pattern="F10")
    assert found["places"][0]["row"] == 23, found
    await types(client, pane, {"exit": True}, keys=["q"])
    await call(client, "pane_close", pane=pane)


async def meet_a_password(client):
    """A command asks for a password. The agent is notified, may not type the password, and may interrupt the command."""
    pane = await opened(client, "bash")
    command = "read -r -s -p 'Password: ' P; echo; echo \"${#P} long\""
    ran = await call(client, "run", pane=pane, command=command)
    assert not ran["ended"] and ran["awaiting_secret"], ran
    assert (await call(client, "screen", pane=pane))["awaiting_secret"]
    for guess in ({"text": "guess\n"}, {"paste": "guess"}, {"keys": ["g", "enter"]}):
        refused = await client.call_tool("input", {"pane": pane, **guess})
        assert refused.is_error and "only the user may type" in refused.content[0].text, refused
    await types(client, pane, {"prompt": True}, keys=["ctrl+c"])
    assert not (await call(client, "screen", pane=pane))["awaiting_secret"]
    ran = await call(client, "run", pane=pane, command="echo \"${#P} typed\"")
    assert ran["output"] == "0 typed", ran
    await call(client, "pane_close", pane=pane)


async def supervise(client):
    """Another program asks before each step. The agent allows three steps and denies one."""
    script = 'for W in build test delete ship; do echo "May I $W?"; read -r A; echo "$W: $A"; done; exit 5'
    pane = await opened(client, "bash", "-c", script)
    asked, since = [], {}
    while True:
        reply = await seen(client, pane, {"regex": "^May I [a-z]+[?]$"}, {"exit": True}, **since)
        condition = reply["conditions"][0]
        if condition["index"] == 1:
            break
        asked.append(condition["text"])
        answer = "no\n" if "delete" in condition["text"] else "yes\n"
        # Wait for the next question, not for one that is already on the screen.
        since = {"since_seq": (await call(client, "input", pane=pane, text=answer))["seq"]}
    assert asked == [f"May I {what}?" for what in ("build", "test", "delete", "ship")], asked
    screen = await call(client, "screen", pane=pane)
    for line in ("build: yes", "test: yes", "delete: no", "ship: yes"):
        assert line in screen["text"].splitlines(), screen
    assert screen["ended"], screen
    await call(client, "pane_close", pane=pane)


async def drive_many(client):
    """The agent drives twenty panes at the same time."""

    async def drive(number):
        pane = await opened(client, "bash", "-c", f'echo "{number} asks"; read -r A; echo "{number} got $A"')
        await seen(client, pane, {"regex": f"^{number} asks$"})
        await types(client, pane, {"exit": True}, text=f"answer {number}\n")
        screen = await call(client, "screen", pane=pane)
        assert f"{number} got answer {number}" in screen["text"].splitlines(), screen
        await call(client, "pane_close", pane=pane)

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(drive, number)
    left = (await call(client, "pane_list"))["panes"]
    assert len(left) <= 1, left
