"""The terminal behind libvterm's line protocol (src/bin/libvterm-shim.rs)."""

import subprocess

from terminal import built


class Shim:
    """A running shim; used in a `with`."""

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
        """The one line that answers a question."""
        self.process.stdin.write(question + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def command(self, command):
        """What a command makes the terminal say, a line each; None for one that is not known."""
        lines = [self.ask(command)]
        while lines[-1] not in ("DONE", "?"):
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the shim ended")
            lines.append(line.strip())
        return lines[:-1] if lines[-1] == "DONE" else None

    def push(self, data):
        return self.command(f"PUSH {data.hex()}")
