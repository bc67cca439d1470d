"""Runs this tree's terminal through libvterm's line protocol (src/bin/libvterm-shim.rs)."""

import subprocess

from terminal import built


class Shim:
    """A shim process that runs for the length of a `with` block."""

    def __enter__(self):
        self.process = subprocess.Popen(
            [built("unterm-tests", "libvterm-shim")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def ask(self, question):
        """Sends a question, and returns the line that answers it."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def command(self, command):
        """Sends a command. Returns the terminal's replies, one line each, or None if the command is unknown."""
        lines = [self.ask(command)]
        while lines[-1] not in ("DONE", "?"):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the shim ended")
            lines.append(line.strip())
        return lines[:-1] if lines[-1] == "DONE" else None

    def push(self, data):
        return self.command(f"PUSH {data.hex()}")
