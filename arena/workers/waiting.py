"""The games that wait for cores, in the schedule's order as far as cores allow."""

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from arena.formats.fixture import Fixture
from arena.workers.batches import MOST, ORDER_SECONDS, Lengths, most

OVERTAKING = 8  # times the number of cores: how many games may overtake one that waits for several cores


@dataclass(frozen=True)
class Failure:
    """What became of a worker while it played a game, or loaded its agents' kernels."""

    fate: str  # in words
    reason: str  # one of Reason: how the game counts if an agent is to blame
    agent: int | None  # whose code ran
    certain: bool = False  # whether the agent did it, if one did
    outside: bool = False  # whether it may have come from outside
    warming: bool = False  # whether it was before play
    seconds: float = 0.0  # from the time that the worker was sent its game


@dataclass(frozen=True)
class Job:
    """A game to be played."""

    fixture: Fixture
    cores: int  # how many of the workers' cores it occupies
    failures: tuple[Failure, ...] = ()  # what became of the worker, each time it failed
    probes: int = 0  # processes that have been asked to probe the rules, once an agent is accused
    suspected: bool = False  # whether it was one of several of which one has harmed its worker

    @property
    def alone(self) -> bool:
        """Whether it travels with no other, so that what becomes of its worker tells of this game."""
        return bool(self.failures or self.probes or self.suspected)


class Queue:
    """The waiting games, in the schedule's order, except that a game that needs more cores than are free may be
    overtaken by a bounded number of games that fit.  So cores are seldom idle, and no game waits for ever.

    following: gives the next game of the schedule, or None; cores: how many a game needs; limit: how many there are;
    lengths: of the games so far.
    """

    def __init__(
        self, following: Callable[[], Fixture | None], cores: Callable[[Fixture], int], limit: int, lengths: Lengths
    ):
        self._following = following
        self._cores = cores
        self._limit = limit  # a game that needs more takes them all, and so runs alone
        self._lengths = lengths
        self._window: deque[Job] = deque()  # the next games
        self._overtaken = 0  # how many games have overtaken the first of them

    def take(self, free: int) -> list[Job]:
        """The next games for a worker, for each of which `free` cores suffice; none if there is none.

        They are several where games are short.
        """
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
        """These are the next."""
        self._window.extendleft(reversed(list(jobs)))

    def _read(self, wanted: int) -> bool:
        """Read so many waiting games from the schedule, if there are as many; whether there are."""
        while len(self._window) < wanted and (fixture := self._following()):
            self._window.append(Job(fixture, min(self._cores(fixture), self._limit)))
        return len(self._window) >= wanted

    def _taken(self, place) -> list[Job]:
        """The game at a place and, if it is the first, those behind it that travel with it."""
        if place:
            job = self._window[place]
            del self._window[place]
            self._overtaken += 1
            return [job]
        self._overtaken = 0
        return [self._window.popleft() for _ in range(self._together())]

    def _together(self) -> int:
        """How many games, from the first on, travel together: alike in cores, and no more than a fair share."""
        first = self._window[0]
        length = self._lengths.of(first.fixture)
        if length is None or first.alone or length > ORDER_SECONDS / 2:
            return 1
        self._read(2 * self._limit * min(MOST, int(ORDER_SECONDS / length)))
        count, seconds = 0, 0.0
        for job in islice(self._window, most(len(self._window), self._limit)):
            length = self._lengths.of(job.fixture)
            if length is None or job.alone or job.cores != first.cores or seconds + length > ORDER_SECONDS:
                break
            count, seconds = count + 1, seconds + length
        return count
