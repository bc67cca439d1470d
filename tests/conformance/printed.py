"""Reads a page that xterm prints with attributes and colors (`printAttributes: 2`).

Each row begins with a sequence for its size, and each cell with SGR if the cell has attributes or other colors than the cell
before it. A row ends after its last drawn cell.
"""

import re
import unicodedata
from itertools import pairwise

# The content of the second cell of a wide character in xterm.
HIDDEN = "\uffff"
# Names of row sizes after ESC #.
SIZES = {"3": "top", "4": "bottom", "5": "single", "6": "double"}
TOKEN = re.compile(r"\x1b\[([\d;:]*)m|\x1b#(\d)|(.)", re.DOTALL)
FOREGROUND = re.compile(r"3[0-7]|9[0-7]|38:.*")
BACKGROUND = re.compile(r"4[0-7]|10[0-7]|48:.*")
# The look of a cell without attributes and colors.
PLAIN = "--"


def look(codes):
    """The look of a cell: its attributes, foreground and background as codes of SGR, separated by `-`."""
    attributes, foreground, background = set(), "", ""
    for code in codes:
        if FOREGROUND.fullmatch(code):
            foreground = code
        elif BACKGROUND.fullmatch(code):
            background = code
        elif code not in ("", "0"):
            attributes.add(code)
    if "21" in attributes:
        # xterm keeps both forms of underline.
        attributes.discard("4")
    return f"{','.join(sorted(attributes, key=int))}-{foreground}-{background}"


def is_wide(cell):
    return unicodedata.east_asian_width(cell[:1] or " ") in "WF"


class Row:
    """A printed row: the contents of its cells, their looks, and the size of its characters."""

    def __init__(self, text):
        self.cells, self.looks, self.size = [], [], "single"
        codes = ()
        for sgr, size, char in TOKEN.findall(text.removesuffix("\r")):
            if size:
                self.size = SIZES[size]
            elif not char:
                codes = sgr.split(";")
            elif unicodedata.combining(char) and self.cells:
                self.cells[-1] += char
            else:
                self.cells.append(char)
                self.looks.append(look(codes))
                # xterm prints no SGR for a cell without attributes and colors after another one without colors.
                codes = ()
        self.cut_halves()

    def cut_halves(self):
        """If xterm has cut a wide character in two, each half counts as a blank, as in this tree's terminal. xterm itself
        draws the rest of such a character over the next cell, or not at all."""
        held = self.cells
        for col, (code, after) in enumerate(pairwise([*held, ""])):
            if code[0] == HIDDEN:
                # xterm stores the marks of a wide character in its second cell.
                is_whole = col and is_wide(held[col - 1])
                held[col] = code[1:] if is_whole else " "
                if is_whole:
                    # The second cell shows nothing of its own.
                    self.looks[col] = None
            elif is_wide(code) and after[:1] != HIDDEN:
                held[col] = " "


def rows(page, count):
    """The first `count` rows of a printed page. A page may end early."""
    lines = page.split("\n")
    return [Row(line) for line in (lines + [""] * count)[:count]]
