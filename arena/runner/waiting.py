"""The games that wait for cores, in the schedule's order as far as cores allow."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from arena.formats.fixture import Fixture
from arena.runner.blame import Failure

OVERTAKING = 8  # times the number of cores: how many games may overtake one that waits for several cores


@dataclass(frozen=True)
class Job:
    """A game to be played."""

    fixture: Fixture
    cores: int  # how many of the workers' cores it occupies
    failures: tuple[Failure, ...] = ()  # what became of the worker, each time it failed
    probes: int = 0  # processes that have been asked to probe the rules, once an agent is accused


class Queue:
    """The waiting games, in the schedule's order, except that a game that needs more cores than are free may be
    overtaken by a bounded number of games that fit.  So cores are seldom idle, and no game waits for ever."""

    def __init__(self, following: Callable[[], Fixture | None], cores: Callable[[Fixture], int], limit: int):
        self._following = following
        self._cores = cores
        self._limit = limit  # of cores; a game that needs more takes them all, and so runs alone
        self._window: deque[Job] = deque()  # the next few games
        self._overtaken = 0  # how many games have overtaken the first of them

    def take(self, free: int) -> Job | None:
        """The next game for which `free` cores suffice; None if there is none."""
        if free < 1:
            return None
        for place, job in enumerate(self._seen()):
            if job.cores <= free:
                del self._window[place]
                self._overtaken = self._overtaken + 1 if place else 0
                return job
            if self._overtaken >= OVERTAKING * self._limit:
                return None
        return None

    def _seen(self) -> Iterator[Job]:
        """The waiting games, read from the schedule only as far as needed."""
        yield from list(self._window)
        while len(self._window) < 2 * OVERTAKING * self._limit and (fixture := self._following()):
            self._window.append(Job(fixture, min(self._cores(fixture), self._limit)))
            yield self._window[-1]
