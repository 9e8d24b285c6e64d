"""The size of batches of short games: a tenth of a second's worth here, two seconds' worth on a cluster, or more where
thousands of cores need games.
"""

from collections import defaultdict
from dataclasses import dataclass, field

from arena.formats.fixture import Fixture
from arena.results.database.record import GameRecord

SECONDS = 2.0  # length of a batch if there are few slots
ANSWERS = 100  # that a parent and its scheduler can handle: more slots get longer batches
MOST = 500
UNCOUNTED = 0.0001  # seconds of a game that its record leaves out
ORDER_SECONDS = 0.1  # then a worker of this machine waits for a new order
NEWS_SECONDS = 0.05  # then it sends the records it has


@dataclass
class Lengths:
    """The mean seconds of finished games, by condition, and by condition and agents."""

    _sums: dict[tuple, list] = field(default_factory=lambda: defaultdict(lambda: [0, 0.0]), init=False)

    def add(self, fixture: Fixture, record: GameRecord) -> None:
        """Count a finished game."""
        for kind in (_kind(fixture), (fixture.condition,)):
            entry = self._sums[kind]
            entry[0] += 1
            entry[1] += max(0.0, record.seconds) + UNCOUNTED

    def of(self, fixture: Fixture) -> float | None:
        """The mean length in seconds of games of its kind; None if none has finished."""
        return self._mean(_kind(fixture))

    def about(self, fixture: Fixture) -> float | None:
        """The mean length of its kind, or else of other agents' games, where a wrong guess does no harm."""
        found = self.of(fixture)
        return self._mean((fixture.condition,)) if found is None else found

    def _mean(self, kind) -> float | None:
        entry = self._sums.get(kind)
        return entry[1] / entry[0] if entry else None


def _kind(fixture):
    return fixture.condition, *sorted(fixture.seats)


def target(slots: int) -> float:
    """Seconds of a batch, if `slots` batches are played at once."""
    return max(SECONDS, slots / ANSWERS)


def most(left: int, slots: int) -> int:
    """If `left` are left: the last ones are shared by all."""
    return max(1, min(MOST, -(-left // (2 * slots))))
