"""Runs ptywright's fixtures for the Claude Code plugin (utensils/ptywright, plugins/claude-code/fixtures): texts of
screens, each with its expected state in a JSON file.

A fixture passes if the state is the expected state, and the confidence is not below the expected confidence. The wording
of the evidence and the names of dialogs are not compared, because each plugin chooses them. All other expected metadata is
compared, each key as a separate test.
"""

import json
import os
import subprocess
from pathlib import Path

from table import Result

NAME = "ptywright"
SCREEN = ".txt"
EXPECTED = ".expected.json"
FIXTURES = Path("plugins/claude-code/fixtures")


def folder_of(path):
    return path / FIXTURES if (path / FIXTURES).is_dir() else path


def is_at(path):
    folder = folder_of(path)
    return folder.is_dir() and any((folder / (file.stem + EXPECTED)).exists() for file in folder.glob("*" + SCREEN))


def run(path):
    folder = folder_of(path)
    screens = sorted(folder.glob("*" + SCREEN))
    result = Result(f"{len(screens)} screens")
    expected = {}
    for file in screens:
        beside = folder / (file.stem + EXPECTED)
        if beside.exists():
            expected[file.stem] = json.loads(beside.read_text())
        else:
            result.outside += 1
    asked = "".join(
        json.dumps({"name": name, "screen": (folder / (name + SCREEN)).read_text(), "last_intent": want.get("last_intent")}) + "\n"
        for name, want in expected.items()
    )
    told = subprocess.run([program(), "claude-code"], input=asked, capture_output=True, text=True, check=True).stdout
    for answer in map(json.loads, told.splitlines()):
        name = answer["name"]
        want = expected[name]
        if answer.get("state") != want["state"]:
            result.failing[name] = f"expected {want['state']}, got {answer.get('state', answer.get('error'))}"
        elif answer["confidence"] < want.get("min_confidence", 0):
            result.failing[name] = f"the confidence is {answer['confidence']}"
        else:
            result.passed += 1
        for key, value in want.get("metadata", {}).items():
            if key == "dialog_id":
                continue
            got = answer.get("metadata", {}).get(key)
            if contains(got, value):
                result.passed += 1
            else:
                result.failing[f"{name}: {key}"] = f"expected {json.dumps(value)}, got {json.dumps(got)}"
    return result


def contains(got, want):
    """Whether `got` contains all keys and values of `want`."""
    if isinstance(want, dict):
        return isinstance(got, dict) and all(contains(got.get(key), value) for key, value in want.items())
    return got == want


def program():
    """The path of the example program `classify` of unterm-plugin. Builds it unless UNTERM_BIN_DIR is set."""
    if "UNTERM_BIN_DIR" in os.environ:
        return str(Path(os.environ["UNTERM_BIN_DIR"], "examples", "classify"))
    words = ["cargo", "build", "--quiet", "--package", "unterm-plugin", "--example", "classify"]
    words.append("--message-format=json-render-diagnostics")
    built = subprocess.run(words, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in built.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "classify":
            return message["executable"]
    raise SystemExit("cargo built no classify")
