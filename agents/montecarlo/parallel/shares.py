"""How the workers on one tree share its simulations: a part for each, or task after task from a queue."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from arena.agents.core.chunks import run_chunks
from arena.agents.core.threads import ThreadedPlayer, apart
from arena.games.core.random import stream


class Work(NamedTuple):
    """The workers' effort for one decision."""

    playouts: int
    each: int  # the most of any worker
    virtual_time: float | None = None  # of simulated workers


class Sharing(ThreadedPlayer):
    """Each worker makes its part of the simulations; `run` and `seed` define a worker."""

    lanes: int  # playouts of a simulation

    def run(self, state: np.ndarray, worker: int, rng: np.ndarray) -> Callable[[int], int]:
        """run(n), for run_chunks: the worker's next n simulations."""
        raise NotImplementedError

    def seed(self, worker: int, rng: np.ndarray) -> None:
        raise NotImplementedError

    def simulations(self) -> int | None:
        """All workers' simulations together; None if the budget is of seconds alone."""
        total = self.agent.total_playouts(self.budget)
        return None if total is None else max(1, total // self.lanes)

    def streams(self, rng, count=None):
        rngs = super().streams(rng, count)
        for worker in range(1, self.agent.workers):
            self.seed(worker, rngs[worker])
        return rngs

    def search(self, state, rngs):
        shares = self.agent.shares(self.simulations())
        return self.work_of(lambda i: self.chunks(self.run(state, i, rngs[i]), shares[i]))

    def chunks(self, run: Callable[[int], int], limit: int | None) -> int:
        return run_chunks(self.threads.unless_lost(run), limit, self.budget.seconds)

    def work_of(self, simulate: Callable[[int], int]) -> Work:
        """All threads' work; worker i's is simulate(i), which returns its simulations."""
        made = [self.lanes * simulations for simulations in self.on_threads(simulate)]
        return Work(sum(made), max(made))


class Tasks(Sharing):
    """Mixin, named before other bases: workers make task after task, each with its own stream of random numbers."""

    def streams(self, rng, count=None):
        """Row 0 is for after this move; with simulated workers, row 1 + i is for task i."""
        self.word, tasks = int(rng[0]), 0
        if self.agent.simulated:
            total = self.agent.total_playouts(self.budget)
            tasks = -(-total // self.agent.grain) + self.agent.workers  # each worker may leave its last one unfinished
        return apart([stream(self.word, "next move"), *map(self.stream_of, range(tasks))])

    def stream_of(self, task: int) -> np.ndarray:
        return stream(self.word, "task", task)

    def simulate(self, state, rngs):
        return super().simulate(state, rngs[1:])

    def search(self, state, rngs):
        grain, total = max(1, self.agent.grain // self.lanes), self.simulations()
        queue = itertools.count()  # its next() is atomic: threads share it

        def next_task(worker):
            task = next(queue)
            size = grain if total is None else max(0, min(grain, total - task * grain))
            rng = apart([self.stream_of(task)])[0]
            self.seed(worker, rng)
            return run_chunks(self.run(state, worker, rng), size, None, first=size)

        return self.work_of(lambda i: self.chunks(lambda _: next_task(i), None))
