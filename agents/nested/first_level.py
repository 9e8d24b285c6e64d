"""Leaf parallelisation of nested search at its first level: the calls of the level below are shared out to threads.

The highest level runs on one thread, and waits for its calls (T. Cazenave & N. Jouandeau, "A parallel Monte-Carlo tree
search algorithm", 2008, for trees; "Parallel nested Monte-Carlo search", 2009).

    nmcs    the legal moves of a step are shared out, each tried by a search of the level below
    nrpa    every worker searches at the level below with a copy of the same policy; the best of their sequences counts
            as one iteration's, and all adapt to the best of the call

Each worker has its own stream of random numbers, and gets the same calls whatever the pace of the others, so the result
does not depend on timing.  For one player, and for levels from 2.
"""

import time

import numpy as np

from arena.agents.core.agent import Improvement
from arena.agents.core.chunks import control, run_chunks
from arena.agents.nested.incumbent import DONE, new_incumbent


class LeafSearch:
    """One search of the highest level, with its workers' budgets and its best sequence."""

    def __init__(self, player, state, rngs):
        self.player, self.game, self.state, self.rngs = player, player.game, state, rngs
        self.start = time.perf_counter()
        self.playouts = [0] * len(rngs)
        self.score, self.moves, self.improvements = -np.inf, (), []

    def is_over(self) -> bool:
        budget = self.player.budget
        used = budget.playouts is not None and max(self.playouts) >= budget.playouts
        return bool(self.moves) and (used or self.seconds_left() == 0.0)

    def seconds_left(self) -> float | None:
        limit = self.player.budget.seconds
        left = control.left(np.inf if limit is None else self.start + limit, time.perf_counter())
        return None if left == np.inf else max(left, 0.0)

    def call(self, i, agent, state):
        """One search of `agent` from `state` by worker i within its budget: (score, moves), or None."""
        limit, seconds = self.player.budget.playouts, self.seconds_left()
        left = None if limit is None else limit - self.playouts[i]
        if left == 0 or (seconds == 0.0 and self.moves):
            return None
        incumbent, searches = new_incumbent(self.game, restarts=False), self.player.searches

        def run(count):
            searches[i], made = agent.run_more(searches[i], self.game, state, incumbent, count, self.rngs[i])
            incumbent.logged[0] = 0
            return made

        run_chunks(run, left, max(seconds, 1e-3) if seconds is not None else None)
        self.playouts[i] += int(incumbent.playouts[DONE])
        return float(incumbent.score[0]), tuple(incumbent.moves[: incumbent.length[0]].tolist())

    def note(self, score, moves):
        if score > self.score:
            self.score, self.moves = score, tuple(moves)
            self.player.note_best_of_all(score)
            seconds = time.perf_counter() - self.start
            self.improvements.append(Improvement(sum(self.playouts), seconds, score))
