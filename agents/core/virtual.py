"""Virtual time: simulated workers take turns on one core, in the same order in every run."""

from heapq import heappop, heappush
from typing import Any


class VirtualClock:
    """A clock and its future events; simultaneous ones come in ascending order."""

    def __init__(self, workers: int = 0):
        self.now = 0
        self.events: list[tuple[int, Any]] = [(0, worker) for worker in range(workers)]  # a heap: (time, event)

    def plan(self, delay: int, event) -> None:
        """Add an event, such as a worker's number, after a delay."""
        heappush(self.events, (self.now + delay, event))

    def next(self) -> Any:
        """Advance the clock to the next event, and return it."""
        self.now, event = heappop(self.events)
        return event
