"""A run in play, read once for all the pages that watch it, and seldom enough to leave the processors to its games."""

import asyncio
import time
from pathlib import Path

from arena.lab.apart import READING
from arena.lab.reading import Live, live

LOOK = 2.0  # seconds between looks
SHARE = 100  # times what it took to read the games, between two readings


class Watch:
    """What was last seen of a run."""

    of: dict[Path, "Watch"] = {}  # kept: they are small

    def __init__(self, place: Path):
        self.place = place
        self.seen: Live | None = None
        self._looked = self._next = 0.0  # when it was looked at, and when its games are read again
        self._lock = asyncio.Lock()

    @classmethod
    def at(cls, place: Path) -> "Watch":
        """The watch of a run, which its pages share."""
        return cls.of.setdefault(place, cls(place))

    async def look(self) -> Live:
        """The run as it is, or was a moment ago; UserError if it cannot be read."""
        async with self._lock:
            now = time.monotonic()
            if self.seen is None or now >= self._looked + LOOK or self._next == 0:
                self._looked, again = now, now >= self._next
                self.seen = await READING.do(live, self.place, again)
                if again:
                    self._next = now + SHARE * self.seen.seconds
            return self.seen

    def look_soon(self) -> None:
        """Something was changed here: the next look reads the run."""
        self._next = 0.0
