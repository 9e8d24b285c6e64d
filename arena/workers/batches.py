"""How many games travel together, where they are short: to a worker of this machine as many as take a tenth of a
second, to one of a cluster as many as take two seconds, or longer where thousands of cores are to be fed."""

from collections import defaultdict
from dataclasses import dataclass, field

from arena.formats.fixture import Fixture
from results.record import GameRecord

SECONDS = 2.0  # that a batch takes where there are few slots
ANSWERS = 100  # batches a second that a parent and its scheduler take at ease: more slots get longer batches
MOST = 500  # games of a batch
UNCOUNTED = 0.0001  # seconds of a game that its record does not count
ORDER_SECONDS = 0.1  # that a worker of this machine plays without a new order; it begins no further game after them
NEWS_SECONDS = 0.05  # after which it sends the records that it has


@dataclass
class Lengths:
    """The mean seconds of games that are over, by condition and agents; and what follows for the size of batches."""

    _sums: dict[tuple, list] = field(default_factory=lambda: defaultdict(lambda: [0, 0.0]), init=False)

    def told(self, fixture: Fixture, record: GameRecord) -> None:
        """A game is over."""
        entry = self._sums[_kind(fixture)]
        entry[0] += 1
        entry[1] += max(0.0, record.seconds) + UNCOUNTED

    def of(self, fixture: Fixture) -> float | None:
        """The seconds that a game may take; None if none of its kind is over."""
        entry = self._sums.get(_kind(fixture))
        return entry[1] / entry[0] if entry else None


def _kind(fixture):
    return fixture.condition, *sorted(fixture.seats)


def target(slots: int) -> float:
    """Seconds of a batch, where so many batches are played at once."""
    return max(SECONDS, slots / ANSWERS)


def most(left: int, slots: int) -> int:
    """Games of a batch where so many are left: the last ones are shared by all."""
    return max(1, min(MOST, -(-left // (2 * slots))))
