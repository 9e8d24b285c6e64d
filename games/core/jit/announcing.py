"""A line on the standard error when a script or a notebook waits for the compiler, which may take ten seconds."""

import multiprocessing
import sys
import threading

from numba.core import event

PATIENCE = 1.0  # seconds of silence


class Announcer(event.Listener):
    """Says what is compiled once that has taken PATIENCE; kernels called are parts of their caller."""

    def __init__(self):
        self._of_thread = threading.local()

    def on_start(self, event):
        depth = self._of_thread.depth = getattr(self._of_thread, "depth", 0) + 1
        if depth == 1:
            timer = self._of_thread.timer = threading.Timer(PATIENCE, say, [event.data])
            timer.daemon = True
            timer.start()

    def on_end(self, event):
        self._of_thread.depth -= 1
        if self._of_thread.depth == 0:
            self._of_thread.timer.cancel()


def say(data: dict) -> None:
    """Name a kernel, or a game's method, but not for commands and workers, which show progress otherwise."""
    of_a_person = multiprocessing.parent_process() is None  # also in a worker forked by a fork server
    if of_a_person and "arena.cli" not in sys.modules:
        kernel = data.get("dispatcher")
        what = f"{kernel.__module__}.{kernel.__qualname__}" if kernel else f"a game's method {data['entry']}"
        print(f"compiling {what}: this is done once, and kept", file=sys.stderr, flush=True)


def announce_compiling() -> None:
    """Announce each compilation from now on, in a process that no other one started."""
    if multiprocessing.parent_process() is None:
        event.register("numba:compile", Announcer())
