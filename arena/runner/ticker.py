"""Calls a function regularly, in a thread, while another thread is busy."""

import threading
from collections.abc import Callable


class Ticker:
    """Calls `tell` after `first` seconds, then every `pause` seconds, from `start` to `stop`."""

    def __init__(self, tell: Callable[[], None], pause: float, first: float = 1.0):
        self.tell, self.pause, self.first = tell, pause, first
        self._over: threading.Event | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self._thread is None:
            self._over = threading.Event()
            self._thread = threading.Thread(target=self._run, args=(self._over,), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """No call is under way or made afterwards."""
        if self._thread is not None and self._over is not None:
            self._over.set()
            self._thread.join()
            self._thread = None

    def _run(self, over):
        pause = self.first
        while not over.wait(pause):
            pause = self.pause
            self.tell()
