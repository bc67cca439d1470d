"""Runs libvterm's tests: scripts in its line protocol, with the expected screen, cursor, pen and replies.

Some expectations concern libvterm's own callbacks (damage, moved and erased rectangles, parser events). They have no
counterpart in a terminal's behavior and are ignored. A case with no other expectation counts as outside. `putglyph` is
checked as the cell's content afterwards, and `movecursor` as the cursor's position.
"""

import ast
import re

from shim import Shim
from table import Result, version_of

NAME = "libvterm"

# Expectations about libvterm's callbacks, which are ignored.
CALLBACKS = set(
    "text control escape csi osc dcs apc pm sos encout erase scrollrect moverect damage settermprop sb_pushline sb_popline "
    "sb_clear setmousefunc selection selection-set selection-query".split()
)


def is_at(path):
    return (path / "t/run-test.pl").exists()


def run(path):
    result = Result(version_of(path))
    for script in sorted((path / "t").glob("*.test")):
        with Shim() as shim:
            for name, asked, failure in cases(shim, script.read_text(encoding="latin-1")):
                if failure:
                    result.failing[f"{script.stem}: {name}"] = failure
                elif asked:
                    result.passed += 1
                else:
                    result.outside += 1
    return result


def cases(shim, text):
    """For each case of a script: its name, the number of checks, and the first failure."""
    script = Script(shim)
    names = {}
    for line in text.split("\n"):
        line = line.strip()
        if line == "__END__":
            break
        if not line or line.startswith("#"):
            continue
        if line.startswith("!"):
            yield from script.ended()
            name = line[1:].strip()
            names[name] = names.get(name, 0) + 1
            script.begin(name if names[name] == 1 else f"{name} ({names[name]})")
        else:
            script.line(line)
    yield from script.ended()


class Script:
    def __init__(self, shim):
        self.shim = shim
        self.begin("start")

    def begin(self, name):
        self.name, self.asked, self.failure = name, 0, None
        # The terminal's replies to the last command that no expectation has matched yet, oldest first.
        self.said = []

    def ended(self):
        self.expect_nothing_more()
        yield self.name, self.asked, self.failure

    def fail(self, message):
        self.failure = self.failure or message

    def check(self, what, actual, expected):
        self.asked += 1
        if actual != expected:
            self.fail(f"{what}: {actual!r}, not {expected!r}")

    def expect_nothing_more(self):
        for line in self.said:
            self.fail(f"nothing more was expected, but {line}")
        self.said = []

    def line(self, line):
        if match := re.match(r"\$SEQ\s+(\d+)\s+(\d+):\s*(.*)", line):
            for value in range(int(match[1]), int(match[2]) + 1):
                self.line(match[3].replace("\\#", str(value)))
        elif match := re.match(r"\$REP\s+(\d+):\s*(.*)", line):
            for _ in range(int(match[1])):
                self.line(match[2])
        elif line.startswith("?"):
            question, _, expected = line.partition("=")
            self.question(question.strip(), expected.strip())
        elif re.match("[A-Z]", line):
            self.expect_nothing_more()
            self.command(line)
        else:
            self.expectation(line)

    def command(self, line):
        word, _, rest = line.partition(" ")
        if word == "PUSH":
            self.said = self.shim.push(perl_string(rest))
        else:
            self.said = self.shim.command(line) or []

    def expectation(self, line):
        word, _, rest = line.partition(" ")
        if word == "output":
            codes = ",".join(f"{byte:x}" for byte in perl_string(rest))
            self.check("output", self.said.pop(0) if self.said else None, f"output {codes}")
        elif word == "movecursor":
            self.question("?cursor", rest)
        elif word == "putglyph":
            match = re.match(r"(\S+) (\d) (\d+,\d+)", rest)
            cell = self.shim.ask(f"?screen_cell {match[3]}")
            codes = ",".join(f"0x{int(code, 16):x}" for code in match[1].split(","))
            wanted = f"{{{codes}}} width={match[2]}"
            self.check(f"cell {match[3]}", cell[: len(wanted)], wanted)
        elif word not in CALLBACKS:
            self.fail(f"unknown expectation {line}")

    def question(self, question, expected):
        if question.startswith("?screen_row"):
            row = question.split()[1]
            question = f"?screen_chars {row}"
            codes = perl_string(expected).decode("latin-1") if expected.startswith('"') else None
            expected = expected if codes is None else ",".join(f"0x{ord(code):02x}" for code in codes)
        elif question.startswith("?screen_chars") and expected.startswith('"'):
            expected = ",".join(f"0x{byte:02x}" for byte in perl_string(expected))
        elif question.startswith("?lineinfo") and not expected:
            expected = ""
        self.check(question, self.shim.ask(question), expected)


def perl_string(text):
    """The bytes of a Perl expression of strings: `x` repeats a string, `.` joins strings."""
    data = b""
    for literal, count in re.findall(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')(?:\s*x\s*(\d+))?""", text):
        body = re.sub(r"\\e", r"\\x1b", literal)
        body = re.sub(r"\\x\{?([0-9a-fA-F]{1,2})\}?", lambda match: f"\\x{int(match[1], 16):02x}", body)
        body = re.sub(r"\\([$@#])", r"\1", body)
        data += ast.literal_eval(body).encode("latin-1") * int(count or 1)
    return data
