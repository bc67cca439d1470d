"""xterm as an oracle: shows byte streams in a running xterm, and reads its screen from what it prints.

On MC (CSI i) xterm prints its screen to a command: with DECPEX all of it, with DECPFF and a form feed at its end. Here the
command writes to a FIFO. A client inside xterm writes a stream to the terminal, then DSR 6 (where the cursor is), MC, and
XTVERSION, whose reply ends the replies of the stream.
"""

import os
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import unicodedata
from itertools import pairwise
from pathlib import Path

COLS, ROWS = 20, 8
# Seconds until an answer from xterm counts as missing.
PATIENCE = 20

# Wide characters before one another. With DECAWM reset, what xterm makes of such a run depends on how it was read: it comes
# in pieces of one, by NUL, which does nothing.
WIDE_PAIRS = re.compile(rb"([\xe3-\xed][\x80-\xbf]{2})(?=[\xe3-\xed])")

# What xterm keeps in the second cell of a wide character.
HIDDEN = "\uffff"

# Ends a stream: strings and sequences that are open, VT52 mode, 8-bit replies. Then DECPFF and DECPEX.
END = b"\x18\x1b\\\x1b<\x1b F\x1b[?18h\x1b[?19h"
ASK = b"\x1b[6n\x1b[i\x1b[>q"
# DECSCL can leave replies with 8-bit controls where S7C1T is unknown.
CURSOR = re.compile(rb"(?:\x1b\[|\x9b)(\d+);(\d+)R")
VERSION = rb"(?:\x1bP|\x90)>\|([\w()]*)(?:\x1b\\|\x9c)$"

RESOURCES = f"""
*VT100*geometry: {COLS}x{ROWS}
*VT100*decTerminalID: 525
*VT100*utf8: 2
*VT100*mkWidth: true
*VT100*font: fixed
*VT100*tekInhibit: true
*VT100*allowWindowOps: false
*VT100*allowTitleOps: false
*VT100*allowColorOps: true
*VT100*allowFontOps: false
*VT100*printAttributes: 0
*VT100*printerAutoClose: true
*VT100*printerNewLine: true
*VT100*visualBell: false
*VT100*audibleBell: false
"""

# The client inside xterm: streams come from a socket, each behind its length, answers go back the same way.
CLIENT = f"""
import os, re, socket, struct, sys, tty
VERSION = {VERSION!r}
tty.setraw(0)
peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
stream = peer.makefile("rwb")
while header := stream.read(4):
    data = stream.read(struct.unpack("!I", header)[0])
    answer = b""
    view = memoryview(data)
    while view:
        view = view[os.write(1, view):]
    while not re.search(VERSION, answer):
        answer += os.read(0, 65536)
    stream.write(struct.pack("!I", len(answer)) + answer)
    stream.flush()
"""


def missing():
    """What this machine lacks for an oracle, in words; None where it has all."""
    lacks = [program for program in ("xterm", "Xvfb") if not shutil.which(program)]
    return f"{' and '.join(lacks)} not installed" if lacks else None


def cells(row):
    """What the cells of a row of xterm's hold. Where xterm cuts a wide character in two, each half is a blank here, as it is
    in this tree's terminal: what xterm keeps of it shows over its neighbour, or as nothing."""
    held = []
    for code in row:
        if unicodedata.combining(code) and held:
            held[-1] += code
        else:
            held.append(code)
    for col, (code, after) in enumerate(pairwise([*held, ""])):
        if code[0] == HIDDEN:
            # xterm keeps marks on a wide character here.
            held[col] = code[1:] if col and is_wide(held[col - 1]) else " "
        elif is_wide(code) and after[:1] != HIDDEN:
            held[col] = " "
    return held


def is_wide(cell):
    return unicodedata.east_asian_width(cell[:1] or " ") in "WF"


def normalized(row):
    """A row's text, to be compared: xterm composes marks with their letters, and shows U+2E2E for what a character set leaves
    undefined; a space of a set of 94 characters is U+00A0 there."""
    row = row.replace("\u2e2e", "\u2426").replace("\xa0", " ")
    return unicodedata.normalize("NFC", row.rstrip(" "))


class Gone(Exception):
    """xterm ended, or does not answer."""


class Xterm:
    """A running xterm on a display of its own; used in a `with`."""

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(prefix="unterm-xterm-")
        self.paper = None
        self.processes = []
        try:
            self.display = self.start_display()
            self.start_terminal()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        if self.paper is not None:
            os.close(self.paper)
        self.home.cleanup()

    def start_display(self):
        """The name of the display that a new Xvfb chose."""
        read, write = os.pipe()
        # -noreset: the display stays as it is while no xterm is there.
        words = ["Xvfb", "-noreset", "-displayfd", str(write), "-screen", "0", "640x480x24", "-nolisten", "tcp"]
        quiet = subprocess.DEVNULL
        self.processes.append(subprocess.Popen(words, pass_fds=[write], stdout=quiet, stderr=quiet))
        os.close(write)
        with open(read) as chosen:
            number = chosen.readline().strip()
        if not number:
            raise SystemExit("Xvfb did not start")
        return f":{number}"

    def start_terminal(self):
        home = self.home.name
        client, resources, printer = (Path(home, name) for name in ("client.py", "resources", "printer"))
        os.mkfifo(printer)
        # For writing too: so it never is at its end.
        self.paper = os.open(printer, os.O_RDWR)
        client.write_text(CLIENT)
        resources.write_text(f"{RESOURCES}*VT100*printerCommand: cat > {printer}\n")
        listener = socket.socket(socket.AF_UNIX)
        listener.settimeout(PATIENCE)
        listener.bind(home + "/socket")
        listener.listen()
        words = ["xterm", "-e", sys.executable, str(client), home + "/socket"]
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "DISPLAY": self.display,
            "LC_ALL": "C.UTF-8",
            # Instead of all application defaults and user resources.
            "XENVIRONMENT": str(resources),
        }
        self.terminal = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        self.processes.append(self.terminal)
        self.peer, _ = listener.accept()
        self.peer.settimeout(PATIENCE)
        self.stream = self.peer.makefile("rwb")
        listener.close()

    def restart(self):
        """A new xterm, with nothing left of what the last one was shown."""
        self.stream.close()
        self.peer.close()
        self.terminal.kill()
        self.terminal.wait()
        self.processes.remove(self.terminal)
        # Also the printer, which the old one may still write to.
        os.close(self.paper)
        for name in ("socket", "printer"):
            Path(self.home.name, name).unlink()
        self.start_terminal()

    def show(self, data):
        """The screen after `data` since the last reset: rows without trailing blanks, and the cursor's row and column."""
        message = WIDE_PAIRS.sub(rb"\1\0", data) + END + ASK
        self.stream.write(struct.pack("!I", len(message)) + message)
        self.stream.flush()
        header = self.stream.read(4)
        if len(header) < 4:
            raise Gone("xterm ended")
        (length,) = struct.unpack("!I", header)
        answer = self.stream.read(length)
        self.version = re.search(VERSION, answer)[1].decode()
        row, col = CURSOR.findall(answer)[-1]
        rows = [normalized("".join(cells(row))) for row in self.page().split("\n")]
        return (rows + [""] * ROWS)[:ROWS], (int(row), int(col))

    def page(self):
        """What xterm prints next."""
        data = b""
        while not data.endswith(b"\f"):
            if not select.select([self.paper], [], [], PATIENCE)[0]:
                raise Gone("xterm prints nothing")
            data += os.read(self.paper, 65536)
        return data[:-1].decode(errors="replace")

    def reset(self):
        """RIS, and what that leaves."""
        self.show(b"\x1bc\x1b[?45l\x1b[?1045l\x1b[3J\x1bc")
