"""The terminal under test: this tree's programs, and a headless Unterm with a separate home and panes of 80×25 cells."""

import json
import os
import socket
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLS, ROWS = 80, 25

# Permissions that esctest2 needs and that are off by default.
ALLOW = ["--allow", "window-ops,checksum-reports,title-reports"]


def built(package, program):
    """The path of a program of this tree. Builds the program unless UNTERM_BIN_DIR is set."""
    if "UNTERM_BIN_DIR" in os.environ:
        return str(Path(os.environ["UNTERM_BIN_DIR"], program))
    words = ["cargo", "build", "--quiet", "--package", package, "--bin", program]
    output = subprocess.run(
        words + ["--message-format", "json"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    for line in output.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == program:
            return message["executable"]
    raise SystemExit(f"cargo built no {program}")


class Terminal:
    """An Unterm that runs for the length of a `with` block."""

    def __init__(self, options=()):
        self.program = built("unterm", "unterm")
        self.options = options

    def __enter__(self):
        self.home = tempfile.TemporaryDirectory(prefix="unterm-conformance-")
        home = self.home.name
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "UNTERM_HOME": home + "/.unterm",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/sh",
        }
        self.log = open(home + "/log", "wb")
        self.process = subprocess.Popen(
            [self.program, "--headless", *self.options, "-e", "true"],
            env=environment, cwd=home, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
        )
        try:
            entry = self.wait_for("its registry entry", self.entry)
            self.stream = socket.create_connection(("127.0.0.1", entry["mcp_port"]))
            self.reader = self.stream.makefile("r", encoding="utf-8")
            self.calls = 0
            self.call("auth.login", token=entry["auth_token"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()
        self.home.cleanup()

    def entry(self):
        for path in Path(self.home.name, ".unterm/instances").glob("*.json"):
            try:
                return json.loads(path.read_text())
            except (json.JSONDecodeError, FileNotFoundError):
                pass
        return None

    def wait_for(self, what, look, seconds=60):
        """Calls `look` until it returns a true value. Returns that value."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"unterm ended: {Path(self.home.name, 'log').read_text()}")
            found = look()
            if found:
                return found
            time.sleep(0.02)
        raise SystemExit(f"{what} did not come in {seconds} s")

    def call(self, method, **params):
        self.calls += 1
        request = {"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}
        self.stream.sendall((json.dumps(request) + "\n").encode())
        reply = json.loads(self.reader.readline())
        if "error" in reply:
            raise SystemExit(f"{method}: {reply['error']}")
        return reply["result"]

    def open(self, *words, cwd=None):
        """Opens a pane that runs a program. Returns the pane's id."""
        params = {"program": words[0], "args": list(words[1:]), "cols": COLS, "rows": ROWS}
        if cwd:
            params["cwd"] = str(cwd)
        return self.call("session.create", **params)["id"]

    def lines(self, pane):
        """The rows of a pane's screen, without trailing blanks."""
        return [line.rstrip() for line in self.call("screen.text", id=pane)["lines"]]
