"""A run in play, read once for all the pages that watch it, and seldom enough to leave the processors to its games."""

import asyncio
import time
from pathlib import Path

from arena.lab.apart import READING
from arena.lab.reading import Live, live

LOOK = 1.0  # seconds between looks at least
SHARE = 60  # times what a look took


class Watch:
    """What was last seen of a run."""

    of: dict[Path, "Watch"] = {}  # kept: they are small

    def __init__(self, place: Path):
        self.place = place
        self.seen: Live | None = None
        self._next, self._lock = 0.0, asyncio.Lock()

    @classmethod
    def at(cls, place: Path) -> "Watch":
        """The watch of a run, which its pages share."""
        return cls.of.setdefault(place, cls(place))

    async def look(self) -> Live:
        """The run as it is, or was a moment ago; UserError if it cannot be read."""
        async with self._lock:
            if self.seen is None or time.monotonic() >= self._next:
                self.seen = await READING.do(live, self.place)
                self._next = time.monotonic() + max(LOOK, SHARE * self.seen.seconds)
            return self.seen

    def look_soon(self) -> None:
        """Something was changed here: the next look reads the run."""
        self._next = 0.0
