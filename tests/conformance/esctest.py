"""Runs esctest2, which writes sequences, and checks the screen by checksums of rectangles (DECRQCRA)."""

import re
import sys
from pathlib import Path

from table import Result, version_of
from terminal import ALLOW, Terminal

NAME = "esctest2"

ARGUMENTS = (
    "--no-print-logs --expected-terminal xterm --max-vt-level 5 --options xtermWinopsEnabled "
    "--xterm-checksum 334 --xterm-reverse-wrap 383 --timeout 1"
).split()


def is_at(path):
    return (path / "esctest/esctest.py").exists()


def run(path):
    with Terminal(ALLOW) as terminal:
        log = Path(terminal.home.name, "esctest.log")
        terminal.open(
            sys.executable, "esctest.py", *ARGUMENTS, "--logfile", str(log), cwd=path / "esctest"
        )
        text = terminal.wait_for("the end of esctest2", lambda: finished(log), seconds=1800)
    return read(text, version_of(path))


def finished(log):
    """The log if it contains the final counts, else None."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return text if re.search(r"\*\*\* .* failed \*\*\*", text, re.IGNORECASE) else None


def read(log, version):
    """A test has failed if the list at the end of the log names it. Its message is earlier in the log."""
    result = Result(version)
    passed, bugs, failed = re.search(
        r"\*\*\* (\d+) tests? passed, (\d+) known bugs?, (\d+) tests? failed \*\*\*", log, re.IGNORECASE
    ).groups()
    result.passed = int(passed)
    names = log.split("Failing tests:\n")[-1].split() if int(failed) else []
    for name in names:
        result.failing[name] = what_it_said(log, name)
    # "Known bugs" are tests that esctest2 expects to fail, because xterm fails them.
    result.outside = int(bugs)
    return result


def what_it_said(log, name):
    """The last line of a test's traceback."""
    part = log.split(f"*** TEST {name} FAILED:\n")[-1].split("\n\n")[0]
    return part.strip().split("\n")[-1]
