"""Tasks in programs that agents meet, each performed once through the public Python SDK.

No task sleeps. The typed text never contains the text that a task waits for, so an echo can't end a wait. Prints a
table with each task's calls, the bytes of their typed replies (which the model reads), and its seconds. If this machine
can't perform a task, its row gives the reason.

In these tasks, `unterm-cli` types the password in place of the user. Its path is in UNTERM_CLI.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from door import call
from places import Unavailable, needed, password_asked, quietly, root_folder, sources, ssh_settings
from tasks import edit_a_file, finished, opened, seen, supervise, talk_to_a_repl, types

PASSWORD = "correct horse"


class Counting:
    """A client that counts its calls and the bytes of the replies, and stores every reply."""

    def __init__(self, client):
        self.client, self.calls, self.bytes, self.told = client, 0, 0, []

    async def call_tool(self, *arguments):
        self.calls += 1
        result = await self.client.call_tool(*arguments)
        self.bytes += len(json.dumps(result.structured_content, separators=(",", ":"), ensure_ascii=False).encode())
        self.told.append(repr(result))
        return result


async def use_programs(door):
    """Performs all tasks, one after the other, and prints the table."""
    rows = []
    async with door.client("unterm", "worker") as client:
        for name, task in TASKS.items():
            print(name, file=sys.stderr)
            counting, start, left_out = Counting(client), time.monotonic(), ""
            with tempfile.TemporaryDirectory(prefix="unterm-task-") as folder:
                try:
                    await task(counting, Path(folder))
                except Unavailable as why:
                    left_out = f"left out: {why}"
            rows.append((name, counting.calls, counting.bytes, time.monotonic() - start, left_out))
            for pane in (await call(client, "pane_list"))["panes"]:
                # If a task was abandoned halfway, its panes are still open.
                if pane["pane"] != 0:
                    await call(client, "pane_close", pane=pane["pane"])
    print(f"{'task':28} calls  bytes seconds")
    for name, calls, size, seconds, left_out in rows:
        print(f"{name:28} {calls:5} {size:6} {seconds:7.1f} {left_out}".rstrip())


async def shell(client, folder):
    """Opens a pane with bash in a folder. Returns the pane's number."""
    return (await call(client, "pane_open", command=["bash"], cwd=str(folder), cols=80, rows=24))["pane"]


async def ran_well(client, pane, command):
    """Runs a command that must exit with 0 and ask nothing. Returns its output."""
    ran = await finished(client, await call(client, "run", pane=pane, command=command))
    assert ran["exit_code"] == 0, ran
    return ran["output"]


async def asked(client, pane, command):
    """Runs a command, and returns its state once the command waits for input."""
    ran = await call(client, "run", pane=pane, command=command)
    assert not ran["ended"] and ran["awaiting_input"], ran
    return ran


def shown(reply):
    """The rows that a reply shows: the whole screen, or those that changed."""
    changed = reply.get("changed", "").splitlines()
    return reply["screen"].splitlines() if "screen" in reply else [re.sub(r"^\d+: ", "", row) for row in changed]


async def press(client, pane, *keys, **more):
    await call(client, "input", pane=pane, keys=list(keys), **more)


async def vim(client, _):
    await edit_a_file(client)


async def git_rebase(client, folder):
    """The agent joins two commits into one, in the editor that git opens."""
    _, editor = needed("git", "vi")
    quietly("git", "init", "-q", "-b", "main", cwd=folder)
    for key in ("user.name", "user.email"):
        quietly("git", "config", key, "tester@example.invalid", cwd=folder)
    for number in range(3):
        (folder / f"{number}").write_text(f"{number}\n")
        quietly("git", "add", ".", cwd=folder)
        quietly("git", "commit", "-qm", f"part {number}", cwd=folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, f"GIT_EDITOR='{editor} -u NONE' git rebase -i HEAD~2")
    assert ran["full_screen"], ran
    await types(client, pane, {"regex": "^fixup [0-9a-f]+ part 2"}, text="jcwfixup", keys=["escape"])
    await call(client, "input", pane=pane, text=":wq\n")
    ran = await finished(client, ran)
    assert ran["exit_code"] == 0, ran
    assert await ran_well(client, pane, "git log --format=%s") == "part 1\npart 0"


async def python(client, _):
    await talk_to_a_repl(client)


async def sqlite(client, folder):
    """The agent creates a table and queries it, at the prompt of sqlite3."""
    needed("sqlite3")
    pane = await shell(client, folder)
    ran = await asked(client, pane, "sqlite3 some.db")
    table = "create table t (n); insert into t values (6), (7);\n"
    await types(client, pane, {"input": True}, text=table)
    await types(client, pane, {"regex": "^product 42$"}, text="select 'product ' || (min(n) * max(n)) from t;\n")
    await call(client, "input", pane=pane, text=".quit\n")
    assert (await finished(client, ran))["exit_code"] == 0


async def ssh(client, folder):
    """The host's key is unknown. ssh asks whether to trust it, and the agent answers."""
    settings = ssh_settings(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, f"ssh -F {settings} box")
    assert any("(yes/no" in row for row in shown(ran)), ran
    await types(client, pane, {"regex": r"^(far>|[#$]) ?$"}, text="yes\n")
    await types(client, pane, {"regex": "^42 away$"}, text="echo $((6 * 7)) $FAR\n")
    await call(client, "input", pane=pane, text="exit 3\n")
    assert (await finished(client, ran))["exit_code"] == 3


async def unterm_ssh(client, folder):
    """The agent connects through `unterm-cli ssh`. Its shell integration reports output and exit codes on the host too."""
    settings = ssh_settings(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, f"{os.environ['UNTERM_CLI']} ssh -F {settings} box")
    await types(client, pane, {"prompt": True}, text="yes\n")
    far = await call(client, "run", pane=pane, command="echo $((6 * 7)) $FAR; (exit 5)")
    assert (far["output"], far["exit_code"]) == ("42 away", 5), far
    await call(client, "input", pane=pane, text="exit 3\n")
    assert (await finished(client, ran))["exit_code"] == 3


async def chroot(client, folder):
    """The agent uses a shell that runs in a chroot."""
    command = root_folder(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, command)
    await types(client, pane, {"regex": "^42 in /$"}, text="cd /; echo $((6 * 7)) in $(pwd)\n")
    await call(client, "input", pane=pane, text="exit 4\n")
    assert (await finished(client, ran))["exit_code"] == 4


async def become_root(client, folder):
    """A program asks for a password. The user types it, and the agent never sees it."""
    command = password_asked(folder, PASSWORD)
    pane = await shell(client, "/")
    ran = await call(client, "run", pane=pane, command=command)
    assert not ran["ended"] and ran["awaiting_secret"], ran
    refused = await client.call_tool("input", {"pane": pane, "text": "guess\n"})
    assert refused.is_error, refused
    user = [os.environ["UNTERM_CLI"], "method", "session.input", "--id", str(pane), "--input", f"{PASSWORD}\r"]
    subprocess.run(user, check=True, stdout=subprocess.DEVNULL)
    ran = await finished(client, ran)
    assert ran["exit_code"] == 0 and ran["output"].endswith("became root"), ran
    for what in ("screen", "transcript"):
        await call(client, what, pane=pane)
    assert not any(PASSWORD in told for told in client.told), "the agent saw it"


async def less(client, folder):
    """The agent finds a line in a long text, and leaves the pager."""
    needed("less")
    pane = await shell(client, folder)
    ran = await asked(client, pane, "seq 500 | sed 's/$/ lines/' | less")
    assert ran["full_screen"], ran
    await types(client, pane, {"regex": "^333 lines"}, text="/^333\n")
    top = (await call(client, "screen", pane=pane))["text"].splitlines()[0]
    assert top.startswith("333 "), top
    await press(client, pane, "q")
    assert (await finished(client, ran))["exit_code"] == 0


async def man(client, folder):
    """The agent searches a manual page for a heading, and leaves the pager."""
    needed("man")
    quietly(os.environ["UNTERM_CLI"], "man", "--out", str(folder))
    pane = await shell(client, folder)
    ran = await asked(client, pane, "man ./unterm-cli.1")
    assert ran["full_screen"], ran
    await types(client, pane, {"regex": "^ *(SUBCOMMANDS|OPTIONS|COMMANDS)"}, text="/^(SUBCOMMANDS|OPTIONS|COMMANDS)\n")
    await press(client, pane, "q")
    assert (await finished(client, ran))["exit_code"] == 0


async def npm_init(client, folder):
    """The agent answers each question of `npm init` when it appears."""
    needed("npm")
    pane = await shell(client, folder)
    ran = await asked(client, pane, "npm init")
    answers = {"package name": "found-by-an-agent", "version": "0.4.2"}
    answered = set()
    while not ran["ended"]:
        # Until npm has read an answer, its question is still the last line.
        question = "".join(shown(ran)[-1:]).split(":")[0]
        if question and question not in answered:
            answered.add(question)
            await call(client, "input", pane=pane, text=f"{answers.get(question, '')}\n")
        ran = (await call(client, "wait", handle=ran["handle"]))["run"]
    assert ran["exit_code"] == 0, ran
    made = (folder / "package.json").read_text()
    assert "found-by-an-agent" in made and "0.4.2" in made, made


async def dialogs(client, folder):
    """The agent answers a menu and a yes/no question, in both whiptail and dialog."""
    for program in ("whiptail", "dialog"):
        needed(program)
        pane = await shell(client, folder)
        menu = f"{program} --menu 'Which one?' 12 40 3 a alpha b bravo c charlie 2>answer"
        ran = await asked(client, pane, menu)
        await press(client, pane, "down", "enter")
        assert (await finished(client, ran))["exit_code"] == 0
        assert (folder / "answer").read_text() == "b", program
        ran = await asked(client, pane, f"{program} --yesno 'Go on?' 8 40")
        await press(client, pane, "tab", "enter")
        assert (await finished(client, ran))["exit_code"] == 1


async def click(client, pane, pattern, condition):
    """Clicks on the last text that matches a pattern, and waits for a condition."""
    place = (await call(client, "find", pane=pane, pattern=pattern))["places"][-1]
    mouse = {"action": "click", "row": place["row"], "col": place["col"]}
    await types(client, pane, condition, mouse=mouse)


async def htop_and_mc(client, folder):
    """The agent quits htop with the mouse, and selects a folder in mc with the mouse."""
    needed("htop", "mc")
    pane = await opened(client, "htop")
    await seen(client, pane, {"text": "F10"})
    await click(client, pane, "Quit", {"exit": True})
    (folder / "deep").mkdir()
    (folder / "deep" / "found-it").write_text("")
    pane = (await call(client, "pane_open", command=["mc", "-a"], cwd=str(folder), cols=80, rows=24))["pane"]
    await seen(client, pane, {"text": "10Quit"})
    await click(client, pane, "/deep", {"stable_ms": 300})
    await types(client, pane, {"text": "found-it"}, keys=["enter"])
    await press(client, pane, "f10", wait_any=[{"exit": True}, {"text": "really want to quit"}])


async def build(client, folder):
    """The agent compiles a program, which takes longer than one of its waits."""
    sources(folder, 24)
    pane = await shell(client, folder)
    ran = await call(client, "run", pane=pane, command="make", timeout_ms=0)
    assert not ran["ended"], ran
    ran = await finished(client, ran, 500)
    assert ran["exit_code"] == 0, ran
    assert (await ran_well(client, pane, "./program")).startswith("made "), ran


async def supervising(client, _):
    await supervise(client)


TASKS = {
    "vim": vim,
    "git rebase -i": git_rebase,
    "Python": python,
    "sqlite3": sqlite,
    "ssh, an unknown host": ssh,
    "unterm-cli ssh": unterm_ssh,
    "chroot": chroot,
    "su, the user's password": become_root,
    "less": less,
    "man": man,
    "npm init": npm_init,
    "whiptail, dialog": dialogs,
    "htop, mc by mouse": htop_and_mc,
    "make": build,
    "supervise": supervising,
}
