"""The committed table of results: the counts of each suite, and each failing test with its reason."""

import json
import subprocess
import tomllib
from dataclasses import dataclass, field

HEADER = """\
# Results of this tree in public suites. tests/conformance/run writes the counts, and tests/conformance/differ those of
# random streams compared with xterm. Reasons are written by hand. `passed` must not fall.
# `outside` counts cases without anything that a terminal shows or answers, and streams that end xterm.
"""


@dataclass
class Result:
    """The result of one run of a suite."""

    version: str
    passed: int = 0
    outside: int = 0
    # Names of failed tests, with the first line of their messages.
    failing: dict = field(default_factory=dict)

    @property
    def count(self):
        return self.passed + len(self.failing)


class Table:
    def __init__(self, suites):
        self.suites = suites

    @classmethod
    def read(cls, path):
        return cls(tomllib.loads(path.read_text()) if path.exists() else {})

    def reason(self, suite, name):
        """The reason why a test fails, if the table contains one that was written by hand."""
        reason = self.suites.get(suite, {}).get("failing", {}).get(name)
        return reason if reason and not reason.startswith("?") else None

    def worse(self, suite, result):
        """Each result that is worse than in the table, as one line."""
        known = self.suites.get(suite)
        if known is None:
            return [f"{suite} is not in the table"]
        lines = []
        if result.passed < known["passed"]:
            lines.append(f"{suite}: {result.passed} passed, the table says {known['passed']}")
        lines += [
            f"{suite}: {name}: {message}"
            for name, message in result.failing.items()
            if name not in known.get("failing", {})
        ]
        return lines

    def take(self, suite, result):
        failing = {
            name: self.reason(suite, name) or f"? {message}"
            for name, message in sorted(result.failing.items())
        }
        self.suites[suite] = {
            "version": result.version,
            "passed": result.passed,
            "of": result.count,
            "outside": result.outside,
            "failing": failing,
        }

    def write(self, path):
        lines = [HEADER]
        for suite, values in sorted(self.suites.items()):
            lines.append(f'["{suite}"]')
            for key in ("version", "passed", "of", "outside"):
                if key != "outside" or values.get(key):
                    lines.append(f"{key} = {json.dumps(values[key], ensure_ascii=False)}")
            lines.append("")
            if values.get("failing"):
                lines.append(f'["{suite}".failing]')
                for name, reason in values["failing"].items():
                    quoted = json.dumps(name, ensure_ascii=False)
                    lines.append(f"{quoted} = {json.dumps(reason, ensure_ascii=False)}")
                lines.append("")
        path.write_text("\n".join(lines))


def version_of(path):
    """The commit and date of a suite's checkout, or "unknown" if it is not the root of a git repository."""
    found = subprocess.run(
        ["git", "-C", path, "log", "-1", "--format=%h %cs"], capture_output=True, text=True
    )
    top = subprocess.run(
        ["git", "-C", path, "rev-parse", "--show-prefix"], capture_output=True, text=True
    )
    return found.stdout.strip() if found.returncode == 0 and not top.stdout.strip() else "unknown"
