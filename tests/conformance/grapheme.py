"""Runs Unicode's GraphemeBreakTest: strings, with the ends of their clusters. Prints each string and compares the cells.

A cluster may begin with a character that occupies no column: a mark, a joiner, or a Hangul vowel or final without its
initial. No terminal gives it a cell of its own, so it is expected in the previous cell. At the start of a line, marks are
expected in the cell under the cursor, as in xterm, until a character is printed there.
"""

import unicodedata

from table import Result
from shim import Shim

NAME = "grapheme"
FILE = "GraphemeBreakTest.txt"


def is_at(path):
    return path.name.startswith("GraphemeBreakTest") or (path / FILE).exists()


def run(path):
    text = (path / FILE if path.is_dir() else path).read_text()
    result = Result(text.splitlines()[0].removeprefix("# "))
    with Shim() as shim:
        for line in text.splitlines():
            case = line.split("#")[0].strip()
            if not case:
                continue
            parts = printable(clusters_of(case))
            shown = [cells(shim, part) for part in parts]
            expected = [expected_cells(part) for part in parts]
            if not any(expected):
                result.outside += 1
            elif shown == expected:
                result.passed += 1
            else:
                result.failing[case] = f"cells {shown}"
    return result


def clusters_of(case):
    """The clusters of a test case, as lists of hexadecimal code points."""
    return [cluster.replace("×", " ").split() for cluster in case.strip("÷ ").split("÷")]


def printable(clusters):
    """The clusters, split at control characters, which are not printed."""
    parts = [[]]
    for cluster in clusters:
        if any(is_control(int(code, 16)) for code in cluster):
            parts.append([])
        else:
            parts[-1].append(cluster)
    return [part for part in parts if part]


def is_control(code):
    return code < 0x20 or 0x7F <= code < 0xA0


def expected_cells(part):
    cells = []
    marks = []
    for cluster in part:
        codes = list(cluster)
        joined = []
        while codes and takes_no_column(int(codes[0], 16)):
            joined.append(codes.pop(0))
        if cells:
            cells[-1] += joined
        else:
            marks += [code for code in joined if unicodedata.category(chr(int(code, 16))) in ("Mn", "Me")]
        if codes:
            cells.append(codes)
    if marks and not cells:
        cells.append(["0020"] + marks)
    return [",".join(cell) for cell in cells]


def takes_no_column(code):
    is_hangul = 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF
    return is_hangul or unicodedata.category(chr(code)) in ("Mn", "Me") or code in (0x200C, 0x200D)


def cells(shim, part):
    text = "".join(chr(int(code, 16)) for cluster in part for code in cluster)
    shim.command("RESET")
    shim.push(text.encode())
    return shim.ask("?clusters").split()
