"""Shows byte streams in a running xterm, and reads the resulting screen.

For MC (CSI i), xterm prints its screen to a command. With DECPEX it prints the whole screen, and with DECPFF it adds a form
feed at the end. Here the command writes to a FIFO. A client inside xterm writes a stream to the terminal. After it, the
client writes DSR 6 (for the cursor's position), MC, and XTVERSION, whose reply is the last one.
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
from dataclasses import dataclass
from pathlib import Path

import printed

COLS, ROWS = 20, 8
# Seconds until an answer from xterm counts as missing.
PATIENCE = 20

# A wide character before another one. If DECAWM is reset, xterm's result depends on how many of them it reads at once.
# A NUL between them, which has no effect of its own, makes xterm read each one separately.
WIDE_PAIRS = re.compile(rb"([\xe3-\xef][\x80-\xbf]{2})(?=[\xe3-\xef])")

# Written after a stream. Ends unfinished strings and sequences, VT52 mode and 8-bit replies. Then sets DECPFF and
# DECPEX.
END = b"\x18\x1b\\\x1b<\x1b F\x1b[?18h\x1b[?19h"
CURSOR_ASK = b"\x1b[6n"
MC = b"\x1b[i"
VERSION_ASK = b"\x1b[>q"
# Erases every cell that DECSCA does not protect (DECSED).
UNPROTECT = b"\x1b[?2J"
# Asks for the look of each cell (XTREPORTSGR), without DECOM.
LOOKS_ASK = b"\x1b[?6l" + b"".join(
    b"\x1b[%d;%d;%d;%d#|" % (row, col, row, col) for row in range(1, ROWS + 1) for col in range(1, COLS + 1)
)
# Writes a letter to each row, so that xterm prints the sizes of all rows. Resets before that what could move the letters:
# margins, insert mode and protection (EPA).
FILL = b"\x1bW\x1b[?69l\x1b[r\x1b[4l" + b"".join(b"\x1b[%dHX" % row for row in range(1, ROWS + 1))
# After DECSCL selects a level without S7C1T, replies may keep 8-bit controls.
CURSOR = re.compile(rb"(?:\x1b\[|\x9b)(\d+);(\d+)R")
LOOK = re.compile(rb"(?:\x1b\[|\x9b)([\d;:]*)m")
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
*VT100*printAttributes: 2
*VT100*boldColors: false
*VT100*directColor: true
*VT100*printerAutoClose: true
*VT100*printerNewLine: true
*VT100*visualBell: false
*VT100*audibleBell: false
"""

# The client inside xterm. It reads streams from a socket, and writes replies to it. A length precedes each stream
# and each reply.
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
    """A message that names the missing programs. None if all are installed."""
    lacks = [program for program in ("xterm", "Xvfb") if not shutil.which(program)]
    return f"{' and '.join(lacks)} not installed" if lacks else None


def normalized(row):
    """A row's text in a form that can be compared. xterm composes marks with their letters. It shows U+2E2E for characters
    that a character set leaves undefined, and U+00A0 for the space of a set of 94 characters."""
    row = row.replace("\u2e2e", "\u2426").replace("\xa0", " ")
    return unicodedata.normalize("NFC", row.rstrip(" "))


def visible(cells, size):
    """The text of a row. If its characters are two columns wide, half of the cells are visible."""
    return normalized("".join(cells if size == "single" else cells[: COLS // 2]))


@dataclass
class Screen:
    """What a terminal shows."""

    # The text of each row, without trailing blanks.
    rows: list
    # Row and column, from 1.
    cursor: tuple
    # The size of the characters of each row: `single`, `double`, `top` or `bottom`.
    sizes: list
    # The look of each cell, by row. None: the cell shows nothing of its own.
    looks: list
    # The text that DECSED leaves.
    protected: list


class Gone(Exception):
    """xterm has ended, or does not answer."""


class Xterm:
    """An xterm on its own display. It runs for the length of a `with` block."""

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
        """Starts an Xvfb. Returns the name of the display that it chose."""
        read, write = os.pipe()
        # -noreset: the display does not reset itself between two xterms.
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
        # Also open the FIFO for writing, so that reading never reaches its end.
        self.paper = os.open(printer, os.O_RDWR)
        # Bytes of pages that are printed but not read yet.
        self.unread = b""
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
            # Replaces the application defaults and the user's resources.
            "XENVIRONMENT": str(resources),
        }
        self.terminal = subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
        self.processes.append(self.terminal)
        self.peer, _ = listener.accept()
        self.peer.settimeout(PATIENCE)
        self.stream = self.peer.makefile("rwb")
        listener.close()

    def restart(self):
        """Replaces xterm by a new process, which keeps no state of earlier streams."""
        self.stream.close()
        self.peer.close()
        self.terminal.kill()
        self.terminal.wait()
        self.processes.remove(self.terminal)
        # Replace the FIFO too, because the old xterm's command may still write to it.
        os.close(self.paper)
        for name in ("socket", "printer"):
            Path(self.home.name, name).unlink()
        self.start_terminal()

    def show(self, data):
        """Writes `data` to xterm. Returns the screen that xterm shows then."""
        answer = self.write(data + END + CURSOR_ASK)
        row, col = CURSOR.findall(answer)[-1]
        shown = self.printed(b"")
        reports = [report.decode() for report in LOOK.findall(self.write(LOOKS_ASK))]
        if len(reports) != ROWS * COLS:
            # Without a report for each cell, no look is known.
            reports = []
        sizes = [row.size for row in self.printed(FILL)]
        # What stays of this shows which cells are protected.
        protected = self.printed(UNPROTECT)
        rows = list(zip(shown, sizes, strict=True))
        return Screen(
            [visible(row.cells, size) for row, size in rows],
            (int(row), int(col)),
            sizes,
            [row.looks(reports[at * COLS : (at + 1) * COLS]) for at, row in enumerate(shown)],
            [visible(row.cells, size) for row, size in zip(protected, sizes, strict=True)],
        )

    def printed(self, data):
        """Writes `data` to xterm. Returns the rows that it prints then. Waits for them: xterm does not wait until the command
        of one page has ended before it starts that of the next."""
        self.write(data + MC)
        return printed.rows(self.page(), ROWS)

    def write(self, data):
        """Writes `data` to xterm. Returns the replies after xterm has handled all of it."""
        message = WIDE_PAIRS.sub(rb"\1\0", data) + VERSION_ASK
        self.stream.write(struct.pack("!I", len(message)) + message)
        self.stream.flush()
        header = self.stream.read(4)
        if len(header) < 4:
            raise Gone("xterm ended")
        (length,) = struct.unpack("!I", header)
        answer = self.stream.read(length)
        self.version = re.search(VERSION, answer)[1].decode()
        return answer

    def page(self):
        """Reads the next screen that xterm prints."""
        while b"\f" not in self.unread:
            if not select.select([self.paper], [], [], PATIENCE)[0]:
                raise Gone("xterm prints nothing")
            self.unread += os.read(self.paper, 65536)
        page, self.unread = self.unread.split(b"\f", 1)
        return page.decode(errors="replace")

    def reset(self):
        """Sends RIS, and resets what RIS keeps: two modes, and the scrollback."""
        self.write(END + b"\x1bc\x1b[?45l\x1b[?1045l\x1b[3J\x1bc")
