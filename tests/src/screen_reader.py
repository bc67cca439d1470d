"""A screen reader for the tests, based on pyatspi.

Each line on stdin is a request. The reply is one line on stdout, a JSON object: the current contents of the terminals on the
accessibility bus, and the text that was inserted, removed and announced since the start.
"""

import json
import os
import sys

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi, Gio, GLib
import pyatspi

inserted = []
removed = []
announced = []


def enable():
    """Announces that a screen reader runs, like a desktop's setting or Orca."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    value = GLib.Variant("(ssv)", ("org.a11y.Status", "IsEnabled", GLib.Variant("b", True)))
    bus.call_sync(
        "org.a11y.Bus", "/org/a11y/bus", "org.freedesktop.DBus.Properties", "Set", value, None,
        Gio.DBusCallFlags.NONE, 60_000, None,
    )


def walk(node):
    yield node
    for index in range(node.childCount):
        yield from walk(node.getChildAtIndex(index))


def terminal(node):
    text = node.queryText()
    selections = [list(text.getSelection(i)) for i in range(text.getNSelections())]
    return {
        "name": node.name,
        "focused": node.getState().contains(pyatspi.STATE_FOCUSED),
        "text": text.getText(0, -1),
        "caret": text.caretOffset,
        "selections": selections,
    }


def look():
    found = {"terminals": [], "tabs": [], "others": []}
    desktop = pyatspi.Registry.getDesktop(0)
    desktop.set_cache_mask(Atspi.Cache.NONE)
    desktop.clear_cache()
    for index in range(desktop.childCount):
        app = desktop.getChildAtIndex(index)
        app.set_cache_mask(Atspi.Cache.NONE)
        app.clear_cache()
        for node in walk(app):
            role = node.getRoleName()
            if role == "terminal":
                found["terminals"].append(terminal(node))
            elif role == "page tab":
                found["tabs"].append(node.name)
            else:
                found["others"].append([role, node.name])
    return found


def answer(*_):
    # Read without Python's buffer. Otherwise, a second request could wait in the buffer unnoticed.
    if not os.read(0, 64):
        loop.quit()
        return False
    try:
        found = look()
    except Exception as error:  # An object disappeared during the walk. The test repeats the request.
        found = {"error": repr(error)}
    found.update(inserted=inserted, removed=removed, announced=announced)
    print(json.dumps(found), flush=True)
    return True


Atspi.set_timeout(20_000, 20_000)
enable()
listen = pyatspi.Registry.registerEventListener
listen(lambda event: inserted.append(event.any_data), "object:text-changed:insert")
listen(lambda event: removed.append(event.any_data), "object:text-changed:delete")
listen(lambda event: announced.append(event.any_data), "object:announcement")
print(json.dumps({"ready": True}), flush=True)
loop = GLib.MainLoop()
GLib.io_add_watch(sys.stdin.fileno(), GLib.PRIORITY_DEFAULT_IDLE, GLib.IO_IN | GLib.IO_HUP, answer)
loop.run()
