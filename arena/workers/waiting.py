"""The queue of games that wait for cores."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from arena.formats.fixture import Fixture
from arena.workers.batches import MOST, ORDER_SECONDS, Lengths, most

OVERTAKING = 8  # games per core that may overtake one of several cores


@dataclass(frozen=True)
class Failure:
    """How a worker failed: in a game, or while it loaded its agents' kernels."""

    fate: str  # in words
    reason: str  # one of Reason, if an agent is to blame
    agent: int | None  # the one whose code ran
    certain: bool = False  # a call of its code took too long
    outside: bool = False  # the cause may be outside
    warming: bool = False  # before play
    seconds: float = 0.0  # since it was sent its game


@dataclass(frozen=True)
class Job:
    """A game to be played."""

    fixture: Fixture
    cores: int  # of the workers' cores
    failures: tuple[Failure, ...] = ()  # of its workers so far
    probes: int = 0  # processes asked to probe the rules, once an agent is accused
    suspected: bool = False  # one of several that may have harmed their worker

    @property
    def alone(self) -> bool:
        """Whether a failure of its worker concerns this game alone."""
        return bool(self.failures or self.probes or self.suspected)


class Queue:
    """The waiting games, in the schedule's order, except that a bounded number of smaller games may overtake one that
    needs more cores than are free: cores are seldom idle, and no game waits forever.

    following: gives the next game of the schedule, or None; cores: how many a game needs; limit: how many there are;
    lengths: of the games so far.
    """

    def __init__(
        self, following: Callable[[], Fixture | None], cores: Callable[[Fixture], int], limit: int, lengths: Lengths
    ):
        self._following = following
        self._cores = cores
        self._limit = limit  # a game that needs more takes them all: it plays alone
        self._lengths = lengths
        self._window: deque[Job] = deque()  # the next games
        self._overtaken = 0  # that have overtaken the first one

    def take(self, free: int) -> list[Job]:
        """The jobs for a worker, each on at most `free` cores: several if short, or none."""
        if free < 1:
            return []
        place = 0
        while self._read(place + 1) and place < 2 * OVERTAKING * self._limit:
            if self._window[place].cores <= free:
                return self._taken(place)
            if self._overtaken >= OVERTAKING * self._limit:
                break
            place += 1
        return []

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Put these games first."""
        self._window.extendleft(reversed(list(jobs)))

    def _read(self, wanted: int) -> bool:
        """Read games from the schedule until `wanted` wait; whether they do."""
        while len(self._window) < wanted and (fixture := self._following()):
            self._window.append(Job(fixture, min(self._cores(fixture), self._limit)))
        return len(self._window) >= wanted

    def _taken(self, place) -> list[Job]:
        """The game at a place; with the first one, those behind it that travel with it."""
        if place:
            job = self._window[place]
            del self._window[place]
            self._overtaken += 1
            return [job]
        self._overtaken = 0
        return [self._window.popleft() for _ in range(self._together())]

    def _together(self) -> int:
        """How many games, from the first on, travel together: alike in cores, a fair share at most."""
        first = self._window[0]
        length = self._lengths.about(first.fixture)  # a worker gives back what takes longer
        if length is None or first.alone or length > ORDER_SECONDS / 2:
            return 1
        self._read(2 * self._limit * min(MOST, int(ORDER_SECONDS / length)))
        count, seconds = 0, 0.0
        for job in islice(self._window, most(len(self._window), self._limit)):
            length = self._lengths.about(job.fixture)
            if length is None or job.alone or job.cores != first.cores or seconds + length > ORDER_SECONDS:
                break
            count, seconds = count + 1, seconds + length
        return count
