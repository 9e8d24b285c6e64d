"""Threads that run compiled kernels, which release the interpreter's lock."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from arena.agents.core.agent import Agent, Budget, Player, Unsuited
from arena.agents.core.locks import LOST
from arena.games.core.game import check_range
from arena.games.core.random import stream

APART = 16  # words from generator to generator: processors fetch two cache lines at a time
MOST_THREADS = 64
MOST_SIMULATED = 1024


class Threaded(Agent):
    """Mixin, named before other bases: an agent with a parameter `workers`, each of which keeps a core busy."""

    workers: int  # a field of the agent

    def __post_init__(self):
        super().__post_init__()
        check_range("workers", self.workers, 1, self.most_workers)

    @property
    def most_workers(self) -> int:
        return MOST_THREADS

    @property
    def cores(self) -> int:
        return self.workers


class Simulable(Threaded):
    """Mixin, named before other bases: an agent whose workers can be simulated in virtual time, on one core."""

    simulated: bool  # a field of the agent

    def __post_init__(self):
        super().__post_init__()
        if self.simulated and self.seconds is not None:
            unit = "nodes" if self.solves else "playouts"
            raise ValueError(f"seconds have no meaning for simulated workers, whose time is virtual: give {unit}")

    def budget(self, default: Budget | None = None) -> Budget:
        budget = super().budget(default)
        if not self.simulated:
            return budget
        unit = "nodes" if self.solves else "playouts"
        if getattr(budget, unit) is None:
            raise Unsuited(f"{self.name} with simulated workers needs a budget of {unit}: their time is virtual")
        return Budget(**{unit: getattr(budget, unit)})

    @property
    def most_workers(self):
        return MOST_SIMULATED if self.simulated else super().most_workers

    @property
    def cores(self):
        return 1 if self.simulated else super().cores


class Threads:
    """A team of workers; the first is the calling thread."""

    def __init__(self, workers: int):
        self.workers = workers
        self.lost = False  # whether a worker has failed
        self._pool = ThreadPoolExecutor(workers)

    def run(self, work: Callable[[int], object], words: Iterable[np.ndarray] = ()) -> list:
        """Call work(i) for each worker i, all at the same time; returns the results in order.

        The first exception is raised when all have ended.  words: what workers look at while they wait for each other;
        if one fails, LOST is written there until all have ended
        """
        words, failures = list(words), list[BaseException]()
        self.lost = False

        def guarded(i):
            try:
                return work(i)
            except BaseException as error:
                failures.append(error)
                self.lost = True
                for each in words:
                    each[:] = LOST
                return None

        others = [self._pool.submit(guarded, i) for i in range(1, self.workers)]
        results = [guarded(0), *(other.result() for other in others)]
        if failures:
            for each in words:
                each[:] = 0
            raise failures[0]
        return results

    def unless_lost(self, run: Callable[[int], int]) -> Callable[[int], int]:
        """run(n) of `run_chunks`, ended by 0 if another worker has failed."""
        return lambda n: 0 if self.lost else run(n)


class ThreadedPlayer(Player):
    """Base of the players of agents with `workers`."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.threads = Threads(agent.workers)

    def on_threads(self, work) -> list:
        return self.threads.run(work, self.words())

    def words(self) -> list[np.ndarray]:
        """int32 arrays for Threads.run."""
        return []

    def streams(self, rng: np.ndarray, count: int | None = None) -> np.ndarray:
        """uint64[count, APART]: row i is worker i's generator; the first continues `rng`."""
        word, count = int(rng[0]), count or self.agent.workers
        return apart([rng, *(stream(word, "worker", i) for i in range(1, count))])


def apart(generators) -> np.ndarray:
    """uint64[len(generators), APART]: each generator begins a row, so that no two share a cache line."""
    rows = np.zeros((len(generators), APART), np.uint64)
    rows[:, :1] = generators
    return rows
