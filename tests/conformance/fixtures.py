"""Runs the fixtures of xterm.js: files of output, each with the screen of 80×25 cells that xterm shows after it."""

import sys
from pathlib import Path

from table import Result, version_of
from terminal import ROWS, Terminal

NAME = "xterm.js"
FOLDER = "test/fixtures/escape_sequence_files"

# Writes a file to its terminal, then asks for the cursor's position. A reply proves that the terminal has read the
# file. The terminal also answers the file's own cursor queries, so the loop counts replies.
SHOW = """
import os, re, sys, termios
source, done = sys.argv[1:]
settings = termios.tcgetattr(0)
settings[3] &= ~(termios.ECHO | termios.ICANON)
termios.tcsetattr(0, termios.TCSANOW, settings)
data = open(source, 'rb').read()
os.write(1, data + b'\\x1b[6n')
answers = b''
while len(re.findall(rb'\\x1b\\[\\d+;\\d+R', answers)) <= data.count(b'\\x1b[6n'):
    answers += os.read(0, 4096)
open(done, 'w').close()
os.read(0, 1)
"""


def is_at(path):
    return (path / FOLDER).exists()


def run(path):
    result = Result(version_of(path))
    with Terminal() as terminal:
        for source in sorted((path / FOLDER).glob("*.in")):
            shown = show(terminal, source)
            expected = source.with_suffix(".text").read_text().split("\n")
            expected = [line.rstrip() for line in expected]
            expected = (expected + [""] * ROWS)[:ROWS]
            if shown == expected:
                result.passed += 1
            else:
                result.failing[source.stem] = difference(shown, expected)
    return result


def show(terminal, source):
    done = Path(terminal.home.name, source.stem)
    pane = terminal.open(sys.executable, "-c", SHOW, str(source), str(done))
    terminal.wait_for(f"the end of {source.name}", done.exists)
    lines = terminal.lines(pane)
    terminal.call("session.destroy", id=pane)
    return (lines + [""] * ROWS)[:ROWS]


def difference(shown, expected):
    pairs = enumerate(zip(shown, expected, strict=True), start=1)
    return next(f"row {row} is {a!r}, not {b!r}" for row, (a, b) in pairs if a != b)
