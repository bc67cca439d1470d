"""What agents are given to do in a terminal, each done once through the public Python SDK. Nothing here sleeps: what comes is
waited for in Unterm.

UNTERM_LONG=1 lets the build take three minutes, over stdio in mode auto.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import anyio

from door import call

IS_LONG = os.environ.get("UNTERM_LONG") == "1"
# As long as a call may take, in milliseconds.
SLICE = 50_000


async def use_tasks(door):
    """One after the other."""
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
    """A pane with a program."""
    return (await call(client, "pane_open", command=list(command), cols=80, rows=24))["pane"]


async def seen(client, pane, *conditions, **more):
    """What one of the conditions came to be, waited for in as many slices as it takes."""
    reply = await call(client, "wait", pane=pane, any=list(conditions), timeout_ms=SLICE, **more)
    while not reply["matched"]:
        reply = await call(client, "wait", handle=reply["handle"], timeout_ms=SLICE)
    return reply


async def types(client, pane, condition, **keys):
    """Types, and waits for what comes of it."""
    reply = await call(client, "input", pane=pane, wait_any=[condition], timeout_ms=SLICE, **keys)
    wait = reply["wait"]
    while not wait["matched"]:
        wait = await call(client, "wait", handle=wait["handle"], timeout_ms=SLICE)


async def finished(client, ran, slice_ms=SLICE):
    """What a command came to, by its handle."""
    while not ran["ended"]:
        ran = (await call(client, "wait", handle=ran["handle"], timeout_ms=slice_ms))["run"]
    return ran


async def edit_a_file(client):
    """In vim: a line is added and the file saved."""
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
    """A command asks whether to go on, and goes on."""
    pane = await opened(client, "bash")
    command = "read -r -p 'Go on? [y/n] ' A; [ \"$A\" = y ] && echo went on"
    ran = await call(client, "run", pane=pane, command=command, timeout_ms=0)
    await seen(client, pane, {"regex": r"^Go on\? \[y/n\]"})
    await call(client, "input", pane=pane, text="y\n")
    ran = await finished(client, ran)
    assert ran["exit_code"] == 0 and ran["output"] == "Go on? [y/n] went on", ran
    await call(client, "pane_close", pane=pane)


async def wait_for_a_build(client, is_long):
    """A command that takes longer than a call may, and fails in the end."""
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
    """What was said before still holds."""
    pane = await opened(client, sys.executable, "-q")
    await seen(client, pane, {"regex": "^>>>"})
    await types(client, pane, {"regex": "^>>> ?$"}, text="x = 6 * 7\n")
    await types(client, pane, {"regex": "^it is 42$"}, text="print('it is', x)\n")
    await types(client, pane, {"exit": True}, text="exit()\n")
    await call(client, "pane_close", pane=pane)


async def read_htop(client):
    """A full-screen program: read, found in, and left by its key."""
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
    """A password is asked for: the agent is told, may not type it, and may give up."""
    pane = await opened(client, "bash")
    command = "read -r -s -p 'Password: ' P; echo; echo \"${#P} long\""
    ran = await call(client, "run", pane=pane, command=command)
    assert not ran["ended"] and ran["awaiting_secret"], ran
    assert (await call(client, "screen", pane=pane))["awaiting_secret"]
    for guess in ({"text": "guess\n"}, {"paste": "guess"}, {"keys": ["g", "enter"]}):
        refused = await client.call_tool("input", {"pane": pane, **guess})
        assert refused.is_error and "only a person may type" in refused.content[0].text, refused
    await types(client, pane, {"prompt": True}, keys=["ctrl+c"])
    assert not (await call(client, "screen", pane=pane))["awaiting_secret"]
    ran = await call(client, "run", pane=pane, command="echo \"${#P} typed\"")
    assert ran["output"] == "0 typed", ran
    await call(client, "pane_close", pane=pane)


async def supervise(client):
    """Another program asks before each thing it does, and one of them it may not."""
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
        # What it asked before does not count.
        since = {"since_seq": (await call(client, "input", pane=pane, text=answer))["seq"]}
    assert asked == [f"May I {what}?" for what in ("build", "test", "delete", "ship")], asked
    screen = await call(client, "screen", pane=pane)
    for line in ("build: yes", "test: yes", "delete: no", "ship: yes"):
        assert line in screen["text"].splitlines(), screen
    assert screen["ended"], screen
    await call(client, "pane_close", pane=pane)


async def drive_many(client):
    """Twenty panes, all at once."""

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
