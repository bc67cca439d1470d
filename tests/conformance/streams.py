"""Creates random byte streams. A seed always creates the same streams.

"plain" streams imitate what programs write. "hostile" streams imitate what an attacker may write. "styled" streams are hostile
streams with all colors and attributes, without wide characters. "double" streams are plain streams with rows of double size. A
stream is a list of pieces: sequences, controls, and runs of text. `differ` minimizes a difference by leaving pieces out. No
stream requests an effect outside the grid: printing (MC), window operations, resizing (DECCOLM), Tektronix mode.

Streams also omit what xterm 379 does wrong, or differently on purpose:

- VT52 mode: xterm resizes to 80×24.
- Double-size rows: if text wraps to a row, xterm uses the size of the previous row. After DECDHL and DECDWL, it may leave
  the cursor outside the row. So "double" streams reset DECAWM, and move the cursor after DECDHL and DECDWL.
- Single shifts: in UTF-8, xterm prints the last character again, or ends.
- SGR 8: xterm prints blanks.
- SGR 4 and 21 together: xterm draws both forms of underline. So SGR 24 precedes each of them.
- `_` in DEC Special Graphics: xterm counts no column.
- Direct colors with colons: xterm reads an empty color space as the red channel.
- SGR 4:3: xterm sets the foreground.
- DECRARA with attribute 0: xterm ignores it. DEC reverses all attributes.
- LS1R, LS2R, LS3R, and designations of G2, which is in GR: xterm reads the bytes of UTF-8 as characters of GR. In our terminal,
  such a sequence garbles no text.
- DECSTR and DECSCL: xterm keeps SGR 2, 3, 9 and 21. So SGR 0 follows them.
- DECERA with colors and attributes: xterm keeps the colors of the erased cells, and sets the current attributes.
- DECCARA and DECRARA with attribute 8: xterm does not store it.
- Mode 42 (DECNRCM): xterm reads the bytes of UTF-8 as characters of a national set.
- Mode 45: xterm wraps back over all rows, as with mode 1045. Since 383, it wraps back only over rows that wrapped.
- Wide characters with a background, or with attributes that are visible on blanks: terminals differ in the look of the half
  that remains of a cut character, and of the last column if a wide character does not fit there. xterm uses the current
  colors for the former and changes nothing in the latter.
- HPB: xterm does not implement it.
- REP without a printed character: xterm prints old content of its memory.
- Overlong UTF-8: Unicode recommends one U+FFFD for each byte, which xterm does not print.
"""

import random
import re

from xterm import COLS, ROWS

WORDS = "the quick brown fox hops over a lazy dog 0123456789 ~!@#$%^&*()+ []{}|;:,.<>/?".split()
# No UTF-8 form here contains the byte 0xad. If bytes are characters of GR, 0xad is a soft hyphen, which xterm shows
# only at the end of a line.
WIDE = "日本語漢端末幅한글テスト，。"
MARKS = "\u0301\u0308\u0323\u20d0"
# Characters of one column, with two or three bytes in UTF-8.
NARROW = "äöüßéñ¿½λжשש→─│┌█░₪"

# Modes that affect only sequences that the streams contain.
PLAIN_MODES = [7, 25, 1, 5, 12, 1000, 1006, 2004, 1049]
HOSTILE_MODES = [6, 7, 69, 47, 1045, 1047, 1048, 1049, 66, 41, 1004, 95, 9, 67, 1046]
NUMBERS = [0, 0, 1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 19, 20, 21, 24, 80, 255, 999, 32767, 65535, 99999999999]

NO_WRAP = b"\x1b[?7l"

# Inside an unfinished sequence, xterm reads a character of GR as its counterpart in GL. It reads é as i, which
# completes MC and prints the screen.
OPEN_PRINT = re.compile(rb"\x1b\[[0-?]*[ -/]*\xc3\xa9")


class Streams:
    """Creates one stream."""

    def __init__(self, kind, seed, number):
        self.random = random.Random(f"{kind} {seed} {number}")
        self.kind = kind
        self.hostile = kind in ("hostile", "styled")
        # Modes that the stream has saved with XTSAVE.
        self.saved = []

    def pieces(self):
        pick = self.random
        pieces = []
        if pick.random() < 0.7:
            pieces += self.filled()
        kinds = KINDS[self.kind]
        if self.kind == "double":
            pieces.append(NO_WRAP)
        # Each stream prefers some kinds of pieces, so that pieces of these kinds affect one another.
        lean = [pick.random() ** 3 + 0.02 for _ in kinds]
        weights = [weight * share for (weight, _), share in zip(kinds, lean, strict=True)]
        for _ in range(pick.randrange(5, 60)):
            (_, make), = pick.choices(kinds, weights)
            pieces.append(make(self))
            if OPEN_PRINT.search(b"".join(pieces)):
                pieces[-1] = pieces[-1].replace("é".encode(), "ñ".encode(), 1)
        return pieces

    def filled(self):
        """Pieces that fill the screen with rows of text."""
        for row in range(1, ROWS + 1):
            yield f"\x1b[{row}H".encode() + self.row()

    def row(self):
        if self.random.random() < 0.4:
            return self.wide(self.random.randrange(COLS // 2 + 1))
        letters = "abcdefghijklmnopqrstuvwxyz"
        start = self.random.randrange(26)
        return (letters + letters)[start : start + COLS].encode()

    def wide(self, count):
        if self.kind == "styled":
            return "".join(self.random.choices(NARROW, k=count)).encode()
        return "".join(self.random.choices(WIDE, k=count)).encode()

    def text(self):
        pick = self.random
        kind = pick.random()
        if kind < 0.6:
            return " ".join(pick.choices(WORDS, k=pick.randrange(1, 5))).encode()
        if kind < 0.8:
            return self.wide(pick.randrange(1, 7))
        mixed = (NARROW if self.kind == "styled" else WIDE + NARROW) + "abc  "
        text = "".join(pick.choices(mixed, k=pick.randrange(1, 9)))
        if pick.random() < 0.3:
            text = text[:2] + pick.choice(MARKS) + text[2:]
        return text.encode()

    def number(self, most):
        """A parameter: usually within the screen, sometimes absent or beyond the screen."""
        pick = self.random
        if self.hostile and pick.random() < 0.25:
            return str(pick.choice(NUMBERS))
        return pick.choice(["", str(pick.randrange(0, most + 1)), str(pick.randrange(1, most + 1))])

    def cursor(self):
        return f"\x1b[{self.number(ROWS)};{self.number(COLS)}{self.random.choice('Hf')}".encode()

    def motion(self):
        final = self.random.choice("ABCDEFG`dea")
        return f"\x1b[{self.number(ROWS)}{final}".encode()

    def control(self):
        return self.random.choice([b"\r", b"\n", b"\r\n", b"\r\n", b"\t", b"\b", b"\v", b"\f", b"\a"])

    def erase(self):
        final = self.random.choice("JKJKX")
        count = self.number(COLS) if final == "X" else self.random.choice(["", "0", "1", "2"])
        return f"\x1b[{count}{final}".encode()

    def edit(self):
        return f"\x1b[{self.number(6)}{self.random.choice('@PLMST')}".encode()

    def rendition(self):
        pick = self.random
        colors = [39, *range(30, 38), *range(90, 98), "38;5;200", "38;2;1;2;3", "38:5:9"]
        attributes = ["", 0, 1, 2, 3, 5, 22, 23, 25]
        if self.kind == "styled":
            colors += [49, *range(40, 48), *range(100, 108), "48;5;17", "48;2;1;2;3"]
            attributes += ["24;4", "24;21", 7, 9, 24, 27, 29]
        codes = [pick.choice(pick.choice([colors, attributes])) for _ in range(pick.randrange(1, 4))]
        return f"\x1b[{';'.join(map(str, codes))}m".encode()

    def region(self):
        return f"\x1b[{self.number(ROWS)};{self.number(ROWS)}r".encode()

    def escape(self):
        return b"\x1b" + self.random.choice([b"D", b"E", b"M", b"7", b"8", b"H", b"=", b">"])

    def tabs(self):
        return self.random.choice([b"\x1b[g", b"\x1b[3g", b"\x1bH", b"\x1b[I", b"\x1b[2I", b"\x1b[Z", b"\x1b[3Z"])

    def repeat(self):
        # Two letters, because an unfinished sequence before them consumes the first. If nothing was printed, xterm 379
        # repeats a character that never was on the screen.
        return f"{self.random.choice(['aa', 'bb', '=='])}\x1b[{self.number(30)}b".encode()

    def mode(self):
        on = self.random.choice("hl")
        if self.random.random() < 0.3:
            return f"\x1b[4{on}".encode()
        if self.kind == "double" and on == "h":
            return NO_WRAP
        return f"\x1b[?{self.random.choice(PLAIN_MODES)}{on}".encode()

    def charset(self):
        return self.random.choice([b"\x1b(0", b"\x1b(B", b"\x1b)0", b"\x0e", b"\x0f", b"\x1b(0lqqk\x1b(B"])

    # A piece that only double streams contain.

    def line_size(self):
        row, col = self.random.randrange(1, ROWS + 1), self.random.randrange(1, COLS // 2 + 1)
        return f"\x1b#{self.random.choice('345666')}\x1b[{row};{col}H".encode()

    # Pieces that only hostile streams contain.

    def margins(self):
        if self.random.random() < 0.3:
            return f"\x1b[?69{self.random.choice('hhl')}".encode()
        return f"\x1b[?69h\x1b[{self.number(COLS)};{self.number(COLS)}s".encode()

    def columns(self):
        pick = self.random
        return pick.choice(
            [b"\x1b6", b"\x1b9", *(f"\x1b[{self.number(6)}{end}".encode() for end in ("'}", "'~", " @", " A"))]
        )

    def rectangle(self):
        pick = self.random
        block = ";".join(self.number(most) for most in (ROWS, COLS, ROWS, COLS))
        attributes = [1, 4, 5, 7, 22, 24] if self.kind == "styled" else [1, 5, 22]
        erase = "${" if self.kind == "styled" else "$z"
        sgr = ";".join(str(pick.choice(attributes)) for _ in range(2))
        return pick.choice(
            [
                f"\x1b[{block}{erase}",
                f"\x1b[{block}{erase}",
                f"\x1b[{block}${{",
                f"\x1b[{pick.choice([35, 42, 88, 120, 31, 127, 233, 0])};{block}$x",
                f"\x1b[{block};1;{self.number(ROWS)};{self.number(COLS)};1$v",
                f"\x1b[{block};{pick.choice(['0;', ''])}{sgr}$r",
                f"\x1b[{block};{sgr}$t",
                f"\x1b[{self.number(3)}*x",
            ]
        ).encode()

    def protection(self):
        pick = self.random
        return pick.choice(
            [b"\x1bV", b"\x1bW", b"\x1b[1\"q", b"\x1b[0\"q", b"\x1b[2\"q"]
            + [f"\x1b[{sort}{what}{end}".encode() for sort in ("?", "?", "") for what in "012" for end in "JK"]
        )

    def hostile_mode(self):
        pick = self.random
        on = pick.choice("hl")
        if pick.random() < 0.2:
            return f"\x1b[{pick.choice([4, 20, 12, 2, 3, 6])}{on}".encode()
        mode = pick.choice(HOSTILE_MODES)
        end = pick.choice([on, on, on, on, "s", "r"])
        if end == "s":
            self.saved.append(mode)
        elif end == "r":
            # Restore only saved modes: xterm resets a mode that was never saved.
            if not self.saved:
                return b""
            mode = pick.choice(self.saved)
        return f"\x1b[?{mode}{end}".encode()

    def reset(self):
        reset = self.random.choice([b"\x1b[!p", b"\x1b#8", b"\x1b[61\"p", b"\x1b[64;1\"p", b"\x1b[65\"p", b"\x1bc"])
        return reset + b"\x1b[m"

    def more(self):
        """A sequence with random parameters."""
        pick = self.random
        end = pick.choice("@ABCDEFGHIJKLMPSTXZ`adefgrsu^k")
        numbers = [self.number(COLS) for _ in range(pick.randrange(0, 4))]
        return f"\x1b[{pick.choice(['', '', '', '?', '>', '='])}{';'.join(numbers)}{end}".encode()

    def odd(self):
        """A sequence that is cut short, contains controls, is unknown, or is too long."""
        pick = self.random
        return pick.choice(
            [
                b"\x1b[",
                b"\x1b",
                b"\x1b[3",
                b"\x1b[2;",
                b"\x1b[1;2\x18",
                b"\x1b[1\x1a",
                b"\x1b[2\nC",
                b"\x1b[2\bC",
                b"\x1b[\r3;4H",
                b"\x1b[2:3H",
                b"\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;0;0;0;0m",
                b"\x1b[" + b"0;" * 50 + b"5H",
                b"\x1b[1 !K",
                b"\x1b[>5C",
                b"\x1b[=2D",
                b"\x1b[<3A",
                b"\x1b[2\x1b[3C",
                b"\x00",
                b"\x05",
                b"\x1b%5",
                b"\x1b(\x1b[2C",
                b"\x1b Z",
            ]
        )

    def string(self):
        pick = self.random
        begin = pick.choice([b"\x1b]0;", b"\x1b]2;", b"\x1b]8;;http://a/", b"\x1bP$qr", b"\x1bPx", b"\x1b_x", b"\x1b^y", b"\x1bX"])
        end = pick.choice([b"\x1b\\", b"\x1b\\", b"\x18", b"\x1a"] + ([b"\a"] if begin[1:2] == b"]" else []))
        return begin + pick.choice([b"", b"abc", "日本".encode(), b"1;2"]) + end

    def designate(self):
        pick = self.random
        # Omit the British set: xterm 379 uses the ISO Latin-1 supplement instead.
        place, names = pick.choice([("()+", "B0<>4KRQ5CZ67YEH=`"), ("-/", "ABFLM")])
        return f"\x1b{pick.choice(place)}{pick.choice(names)}".encode()

    def shift(self):
        return self.random.choice([b"\x0e", b"\x0f", b"\x1bn", b"\x1bo"])

    def broken(self):
        """Bytes that are not valid UTF-8."""
        return self.random.choice([b"\xff", b"\xc3", b"\xe6\x97", b"\x80", b"\xf0\x9f"]) + b"x"


PLAIN = [
    (30, Streams.text),
    (8, Streams.cursor),
    (8, Streams.motion),
    (10, Streams.control),
    (6, Streams.erase),
    (6, Streams.edit),
    (6, Streams.rendition),
    (2, Streams.region),
    (4, Streams.escape),
    (3, Streams.tabs),
    (2, Streams.repeat),
    (2, Streams.mode),
    (2, Streams.charset),
]
HOSTILE = [
    (8, Streams.margins),
    (8, Streams.columns),
    (8, Streams.rectangle),
    (8, Streams.protection),
    (6, Streams.hostile_mode),
    (2, Streams.reset),
    (6, Streams.more),
    (4, Streams.odd),
    (3, Streams.string),
    (2, Streams.designate),
    (2, Streams.shift),
    (1, Streams.broken),
]
KINDS = {
    "plain": PLAIN,
    "hostile": PLAIN + HOSTILE,
    "styled": PLAIN + HOSTILE,
    "double": [*PLAIN, (8, Streams.line_size)],
}
