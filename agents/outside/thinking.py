"""A search in a thread of its own, so that a program listens while it thinks.

Kernels release the interpreter's lock, and the search's driver looks at `agents.core.chunks.control` after every chunk.
"""

import threading
import time
from collections.abc import Callable
from math import inf

from arena.agents.core.agent import Decision, Player
from arena.agents.core.chunks import control

CHUNK = 0.005  # seconds: how long the end of a search may wait
LOOK, REPEAT = 0.05, 1.0  # seconds between looks at a search's thoughts, and between reports of equal ones


class Thinking:
    """Runs at most one search at a time; one without an end holds its answer back until it is released."""

    def __init__(self, chunk: float = CHUNK):
        self.chunk = chunk  # seconds between looks at whether to stop
        self.thread: threading.Thread | None = None
        self.released = threading.Event()
        self.released.set()

    @property
    def busy(self) -> bool:
        return self.thread is not None and self.thread.is_alive()

    def start(self, work: Callable[[], object], endless: bool, heard: Callable[[], None]) -> None:
        """Run `work` in a thread; `heard` is called between the parts of its search."""

        def run():
            control.heard = heard
            try:
                work()
            finally:
                control.heard = None

        control.until, control.longest = inf if endless else None, self.chunk
        if endless:
            self.released.clear()
        self.thread = threading.Thread(target=run, name="search")
        self.thread.start()

    def stop(self) -> None:
        """Have the search end now."""
        control.until = 0.0
        self.released.set()

    def limit(self, seconds: float | None) -> None:
        """Have a search without an end take that many more seconds, or end by its own budget."""
        control.until = None if seconds is None else time.perf_counter() + seconds
        self.released.set()

    def join(self) -> None:
        if self.thread is not None:
            self.thread.join()
            self.thread = None

    def close(self) -> None:
        """End the search; other searches of this process are free."""
        self.stop()
        self.join()
        control.until = control.longest = None


class Reporter:
    """Reports a search's thoughts when its depth or move changes, or after `every` seconds."""

    def __init__(
        self, player: Callable[[], Player | None], report: Callable[[Decision, float], object], every: float = REPEAT
    ):
        self.player, self.report, self.every, self.lock = player, report, every, threading.Lock()
        self.start = self.looked = self.sent = time.perf_counter()
        self.last: tuple | None = None

    def look(self) -> None:
        """Called between the parts of a search, perhaps by several threads."""
        now = time.perf_counter()
        if now - self.looked < LOOK or not self.lock.acquire(blocking=False):
            return
        try:
            self.looked = now
            player = self.player()
            decision = None if player is None else player.thoughts()
            if decision is not None and ((decision.depth, decision.move) != self.last or now - self.sent >= self.every):
                self.last, self.sent = (decision.depth, decision.move), now
                self.report(decision, now - self.start)
        finally:
            self.lock.release()
