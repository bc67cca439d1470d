"""Thirteen tasks in programs that agents meet, each done once through the public Python SDK. Nothing here sleeps, and nothing
that is waited for can be found in what was typed. Prints a table of each task's calls, of the bytes of their typed replies (what
the model reads), and of the seconds; a task that can't be done on this machine is in it with the reason.

The person, who types a password here, is `unterm-cli` (its path is in UNTERM_CLI).
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
    """A client that counts its calls and the bytes of the replies, and keeps all that it was told."""

    def __init__(self, client):
        self.client, self.calls, self.bytes, self.told = client, 0, 0, []

    async def call_tool(self, *arguments):
        self.calls += 1
        result = await self.client.call_tool(*arguments)
        self.bytes += len(json.dumps(result.structured_content, separators=(",", ":"), ensure_ascii=False).encode())
        self.told.append(repr(result))
        return result


async def use_programs(door):
    """One after the other."""
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
                # Of a task that was left out halfway.
                if pane["pane"] != 0:
                    await call(client, "pane_close", pane=pane["pane"])
    print(f"{'task':28} calls  bytes seconds")
    for name, calls, size, seconds, left_out in rows:
        print(f"{name:28} {calls:5} {size:6} {seconds:7.1f} {left_out}".rstrip())


async def shell(client, folder):
    """A pane with a shell in a folder."""
    return (await call(client, "pane_open", command=["bash"], cwd=str(folder), cols=80, rows=24))["pane"]


async def ran_well(client, pane, command):
    """What a command prints that ends with 0 and asks nothing."""
    ran = await finished(client, await call(client, "run", pane=pane, command=command))
    assert ran["exit_code"] == 0, ran
    return ran["output"]


async def asked(client, pane, command):
    """A command that asks for something, once it does."""
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
    """Two commits are made one, in the editor that git opens."""
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
    """A table is made and asked, at sqlite3's own prompt."""
    needed("sqlite3")
    pane = await shell(client, folder)
    ran = await asked(client, pane, "sqlite3 some.db")
    table = "create table t (n); insert into t values (6), (7);\n"
    await types(client, pane, {"input": True}, text=table)
    await types(client, pane, {"regex": "^product 42$"}, text="select 'product ' || (min(n) * max(n)) from t;\n")
    await call(client, "input", pane=pane, text=".quit\n")
    assert (await finished(client, ran))["exit_code"] == 0


async def ssh(client, folder):
    """A host whose key is unknown: ssh asks, and the agent answers."""
    settings = ssh_settings(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, f"ssh -F {settings} box")
    assert any("(yes/no" in row for row in shown(ran)), ran
    await types(client, pane, {"regex": r"^(far>|[#$]) ?$"}, text="yes\n")
    await types(client, pane, {"regex": "^42 away$"}, text="echo $((6 * 7)) $FAR\n")
    await call(client, "input", pane=pane, text="exit 3\n")
    assert (await finished(client, ran))["exit_code"] == 3


async def unterm_ssh(client, folder):
    """The same by unterm-cli, whose integration gives output and exit codes there too."""
    settings = ssh_settings(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, f"{os.environ['UNTERM_CLI']} ssh -F {settings} box")
    await types(client, pane, {"prompt": True}, text="yes\n")
    far = await call(client, "run", pane=pane, command="echo $((6 * 7)) $FAR; (exit 5)")
    assert (far["output"], far["exit_code"]) == ("42 away", 5), far
    await call(client, "input", pane=pane, text="exit 3\n")
    assert (await finished(client, ran))["exit_code"] == 3


async def chroot(client, folder):
    """A shell in a root of its own."""
    command = root_folder(folder)
    pane = await shell(client, folder)
    ran = await asked(client, pane, command)
    await types(client, pane, {"regex": "^42 in /$"}, text="cd /; echo $((6 * 7)) in $(pwd)\n")
    await call(client, "input", pane=pane, text="exit 4\n")
    assert (await finished(client, ran))["exit_code"] == 4


async def become_root(client, folder):
    """A password is asked for, which the person types and the agent never sees."""
    command = password_asked(folder, PASSWORD)
    pane = await shell(client, "/")
    ran = await call(client, "run", pane=pane, command=command)
    assert not ran["ended"] and ran["awaiting_secret"], ran
    refused = await client.call_tool("input", {"pane": pane, "text": "guess\n"})
    assert refused.is_error, refused
    person = [os.environ["UNTERM_CLI"], "method", "session.input", "--id", str(pane), "--input", f"{PASSWORD}\r"]
    subprocess.run(person, check=True, stdout=subprocess.DEVNULL)
    ran = await finished(client, ran)
    assert ran["exit_code"] == 0 and ran["output"].endswith("became root"), ran
    for what in ("screen", "transcript"):
        await call(client, what, pane=pane)
    assert not any(PASSWORD in told for told in client.told), "the agent saw it"


async def less(client, folder):
    """A line of a long text is found, and the pager left."""
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
    """A manual page is read to where it says what was looked for."""
    needed("man")
    quietly(os.environ["UNTERM_CLI"], "man", "--out", str(folder))
    pane = await shell(client, folder)
    ran = await asked(client, pane, "man ./unterm-cli.1")
    assert ran["full_screen"], ran
    await types(client, pane, {"regex": "^ *(SUBCOMMANDS|OPTIONS|COMMANDS)"}, text="/^(SUBCOMMANDS|OPTIONS|COMMANDS)\n")
    await press(client, pane, "q")
    assert (await finished(client, ran))["exit_code"] == 0


async def npm_init(client, folder):
    """Each question is answered as it is asked."""
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
    """A menu, and a question, of the two programs that show such."""
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
    """Clicks on a text, and waits for what comes of it."""
    place = (await call(client, "find", pane=pane, pattern=pattern))["places"][-1]
    mouse = {"action": "click", "row": place["row"], "col": place["col"]}
    await types(client, pane, condition, mouse=mouse)


async def htop_and_mc(client, folder):
    """Left, and opened, by the mouse."""
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
    """Something is really compiled, for longer than the agent waits at a time."""
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
    "su, the person's password": become_root,
    "less": less,
    "man": man,
    "npm init": npm_init,
    "whiptail, dialog": dialogs,
    "htop, mc by mouse": htop_and_mc,
    "make": build,
    "supervise": supervising,
}
