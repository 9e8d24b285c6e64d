"""Grain-size controlled parallel MCTS (Mirsoleimani, Plaat, van den Herik & Vermaseren, "Scaling Monte Carlo tree
search on Intel Xeon Phi", 2015).

The playouts are split into tasks of a grain size, which a pool of workers takes from a queue, first in, first out, and
does on one shared tree.  Small grains keep all workers busy to the end; large ones cost the queue less.
"""

import itertools
from dataclasses import dataclass

from agents.core.chunks import run_chunks
from agents.core.tree import clear
from agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, apart
from agents.montecarlo.parallel.shared import decision_from_shared
from agents.montecarlo.parallel.tree import (
    Crew,
    TreeParallel,
    TreePlayer,
    prepare_kernel,
    simulated_kernel,
    thread_kernel,
)
from games.core.random import derive_seed, stream


@dataclass(frozen=True)
class GSCPM(TreeParallel):
    """One tree, searched by tasks of `grain` playouts on a pool of workers."""

    grain: int = 50

    name = "gscpm"

    def __post_init__(self):
        super().__post_init__()
        if self.grain < 1:
            raise ValueError(f"grain = {self.grain} is out of range: it can be 1 or more")

    def new_player(self, game, budget):
        return GSCPMPlayer(self, game, budget)


class GSCPMPlayer(TreePlayer):
    """The tree of one game, made anew for each move."""

    def decide(self, state, rng):
        clear(self.tree)
        prepare_kernel(self.game, self.tree, state, rng)
        seed, total = int(rng[0]), self.agent.total_playouts(self.budget)
        if self.agent.simulated:
            grain = self.agent.grain
            begun = -(-total // grain) + self.agent.workers  # at most: each worker may leave its last task unfinished
            rngs = apart([stream(seed, "task", i) for i in range(begun)])
            crew = Crew(self.agent.workers, grain, PLAYOUT_TIMES[self.agent.playout_time])
            each, time = simulated_kernel(self.game, self.tree, state, total, self.options, crew, rngs)
            playouts = total
        else:
            queue = itertools.count()  # its next() is atomic: threads share it
            ran = self.on_threads(lambda i: self.work(state, seed, queue, total))
            playouts, each, time = sum(ran), max(ran), None
        rng[0] = derive_seed(seed, "next move")
        return decision_from_shared(self.game, self.tree, state, playouts, each, time)

    def work(self, state, seed, queue, total) -> int:
        """What one thread does: task after task, until there are none or the time is over."""
        grain = self.agent.grain

        def run(_):
            task = next(queue)
            size = grain if total is None else max(0, min(grain, total - task * grain))
            return thread_kernel(
                self.game, self.tree, state, size, self.options, apart([stream(seed, "task", task)])[0]
            )

        return run_chunks(run, None, self.budget.seconds)
