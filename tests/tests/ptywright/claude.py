"""Behaves like the input box of Claude Code: an Enter that arrives together with a paste is a line end. Ctrl+U removes the last
line, or the line end after it.

Environment variables: LEFT is the text in the box at the start. DEAF is the number of presses of Enter that are lost. If
STUBBORN is set, Ctrl+U does nothing.
"""

import os
import sys
import termios
import tty

RULE = "─" * 60
text, said, deaf = os.environ.get("LEFT", ""), [], int(os.environ.get("DEAF", "0"))


def draw():
    box = "❯ " + text.replace("\n", "\n  ")
    rows = said + [RULE, box, RULE, "  ? for shortcuts"]
    sys.stdout.write("\x1b[2J\x1b[H" + "\n".join(rows).replace("\n", "\r\n"))
    sys.stdout.flush()


tty.setraw(0, termios.TCSANOW)
draw()
while data := os.read(0, 1 << 16).decode():
    if "\x1b[200~" in data:
        pasted = data.split("\x1b[200~")[1].split("\x1b[201~")
        text += pasted[0] + pasted[1].replace("\r", "\n")
    elif data == "\x15" and "STUBBORN" not in os.environ:
        text = text[:-1] if text.endswith("\n") else text[: text.rfind("\n") + 1]
    elif data == "\r" and deaf > 0:
        deaf -= 1
    elif data == "\r" and text:
        said += ["❯ " + text.replace("\n", "\n  "), "", "● The answer is 4.", "", "✻ Baked for 1s", ""]
        text = ""
    draw()
