"""Reads a page that xterm prints with attributes and colors (`printAttributes: 2`), and its reports of a cell's look (XTREPORTSGR).

Each printed row begins with a sequence for its size, and ends after its last drawn cell. SGR sequences in it are skipped: xterm
omits those of cells that were never written, even if such a cell has a background.
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
BLANKS = (" ", "\xa0")
# Attributes that are visible on a blank: underlines, reverse, strikethrough. Without one of them, the other attributes are not
# visible either. The foreground of a blank is not compared: xterm stores one even in erased cells.
SEEN_ON_BLANKS = {"4", "7", "9", "21"}


def look(report, cell):
    """The look of a cell: its attributes, foreground and background as codes of SGR, separated by `-`. `report` is xterm's report,
    and `cell` the cell's content. Leaves out what is not visible on a blank."""
    attributes, foreground, background = set(), "", ""
    for code in report.split(";"):
        if FOREGROUND.fullmatch(code):
            foreground = code
        elif BACKGROUND.fullmatch(code):
            background = code
        elif code not in ("", "0"):
            attributes.add(code)
    if cell in BLANKS:
        foreground = ""
        attributes = attributes if attributes & SEEN_ON_BLANKS else set()
    return f"{','.join(sorted(attributes, key=int))}-{foreground}-{background}"


def is_wide(cell):
    return unicodedata.east_asian_width(cell[:1] or " ") in "WF"


class Row:
    """A printed row: the contents of its cells, and the size of its characters."""

    def __init__(self, text):
        self.cells, self.size = [], "single"
        # Columns that show nothing of their own: the second cells of wide characters.
        self.tails = set()
        for _, size, char in TOKEN.findall(text.removesuffix("\r")):
            if size:
                self.size = SIZES[size]
            elif unicodedata.combining(char or " ") and self.cells:
                self.cells[-1] += char
            elif char:
                self.cells.append(char)
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
                    self.tails.add(col)
            elif is_wide(code) and after[:1] != HIDDEN:
                held[col] = " "


    def looks(self, reports):
        """The looks of all cells. None: the cell shows nothing of its own."""
        cells = self.cells + [" "] * (len(reports) - len(self.cells))
        pairs = enumerate(zip(reports, cells, strict=False))
        return [None if col in self.tails else look(report, cell) for col, (report, cell) in pairs]


def rows(page, count):
    """The first `count` rows of a printed page. A page may end early."""
    lines = page.split("\n")
    return [Row(line) for line in (lines + [""] * count)[:count]]
