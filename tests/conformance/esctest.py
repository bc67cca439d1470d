"""esctest2: a program that writes sequences, and reads the screen back by checksums of rectangles (DECRQCRA)."""

import re
import sys
from pathlib import Path

from table import Result, version_of
from terminal import ALLOW, Terminal

NAME = "esctest2"

ARGUMENTS = (
    "--no-print-logs --expected-terminal xterm --max-vt-level 5 --options xtermWinopsEnabled "
    "--xterm-checksum 334 --xterm-reverse-wrap 380 --timeout 1"
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
    """The log, once it holds the sum."""
    text = log.read_text(errors="replace") if log.exists() else ""
    return text if re.search(r"\*\*\* .* failed \*\*\*", text, re.IGNORECASE) else None


def read(log, version):
    """A test is a failure when the list at the end names it; what it said stands behind its name before."""
    result = Result(version)
    passed, bugs, failed = re.search(
        r"\*\*\* (\d+) tests? passed, (\d+) known bugs?, (\d+) tests? failed \*\*\*", log, re.IGNORECASE
    ).groups()
    result.passed = int(passed)
    names = log.split("Failing tests:\n")[-1].split() if int(failed) else []
    for name in names:
        result.failing[name] = what_it_said(log, name)
    # Known bugs are xterm's: tests that are run and must fail there.
    result.outside = int(bugs)
    return result


def what_it_said(log, name):
    """The last line of a test's traceback."""
    part = log.split(f"*** TEST {name} FAILED:\n")[-1].split("\n\n")[0]
    return part.strip().split("\n")[-1]
