"""Tree parallelisation: all workers search one tree.

With a lock for each node while it is read or written, `lock="local"`, or one lock for everything but the playout,
`"global"` (both Chaslot, Winands & van den Herik, "Parallel Monte-Carlo tree search", 2008), or without any, `"free"`
(Enzenberger & Mueller, "A lock-free multithreaded Monte-Carlo tree search algorithm", 2009).  What a simulation in
flight looks like to the others, virtual losses or WU-UCT's counts, is told in `agents/parallel/shared.py`.

With simulated workers the results come back in the order of a virtual clock, so that W simulations are in flight.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.core.chunks import run_chunks
from agents.core.tree import LEAF, ROOT, clear, new_tree
from agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, PLIES, Scheme, SchemePlayer
from agents.montecarlo.parallel.shared import (
    FREE,
    GLOBAL,
    LOCAL,
    Options,
    back_up_shared,
    decision_from_shared,
    descend_shared,
)
from agents.montecarlo.search import expand
from games.core.jit import kernel
from games.core.playout import copy_state, reward_of

LOCKS = {"free": FREE, "local": LOCAL, "global": GLOBAL}
IDLE = 0  # the length of the path of a simulated worker that has nothing in flight


class Crew(NamedTuple):
    """Simulated workers."""

    workers: int
    grain: int  # simulations of a task, of which a worker takes one after the other
    clock: int  # CONSTANT or PLIES: what a playout takes


@dataclass(frozen=True)
class TreeParallel(Scheme):
    """One tree, searched by all workers.

    lock: "free", "local" or "global"
    virtual_loss: as so many lost visits does a simulation in flight count
    wu: count it as a visit without a result instead (WU-UCT)
    """

    lock: str = "free"
    virtual_loss: float = 1.0
    wu: bool = False

    name = "tree"

    def __post_init__(self):
        super().__post_init__()
        if self.lock not in LOCKS:
            raise ValueError(f"lock = {self.lock!r} is not one of {', '.join(LOCKS)}")
        if self.virtual_loss < 0:
            raise ValueError(f"virtual_loss = {self.virtual_loss} is out of range: it can be 0 or more")

    def new_player(self, game, budget):
        return TreePlayer(self, game, budget)


class TreePlayer(SchemePlayer):
    """The tree of one game, made anew for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.tree = new_tree(max(agent.max_nodes, 1 + game.max_moves))
        self.options = Options(agent.exploration, agent.virtual_loss, agent.wu, LOCKS[agent.lock])

    def decide(self, state, rng):
        clear(self.tree)
        prepare_kernel(self.game, self.tree, state, rng)
        rngs = self.streams(rng)
        if self.agent.simulated:
            playouts = self.agent.total_playouts(self.budget)
            crew = Crew(self.agent.workers, playouts, PLAYOUT_TIMES[self.agent.playout_time])
            each, time = simulated_kernel(self.game, self.tree, state, playouts, self.options, crew, rngs)
        else:
            shares = self.agent.shares(self.budget)
            ran = self.on_threads(lambda i: self.search(state, shares[i], rngs[i]))
            playouts, each, time = sum(ran), max(ran), None
        rng[0] = rngs[0, 0]
        return decision_from_shared(self.game, self.tree, state, playouts, each, time)

    def search(self, state, playouts, rng) -> int:
        """What one thread does."""
        return run_chunks(
            lambda n: thread_kernel(self.game, self.tree, state, n, self.options, rng), playouts, self.budget.seconds
        )


@kernel
def prepare_kernel(game, tree, root, rng):
    """Expand the root, before there are several who might."""
    if tree.children[ROOT] == LEAF:
        expand(game, tree, ROOT, root, np.empty(game.max_moves, np.int32), rng)
        tree.shared[1 : tree.size[0]] = 0


@kernel
def thread_kernel(game, tree, root, simulations, options, rng):
    """That many simulations on the shared tree; returns their number."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    path, movers = np.empty(game.max_plies + 1, np.int32), np.empty(game.max_plies + 1, np.int64)
    for _ in range(simulations):
        copy_state(game, root, state)
        length = descend_shared(game, tree, state, path, movers, moves, options, rng)
        score, _ = game.random_playout(state, moves, rng)
        back_up_shared(tree, path, movers, length, reward_of(score), 1, options.lock)
    return simulations


@kernel
def simulated_kernel(game, tree, root, simulations, options, crew, rngs):
    """The same by a crew in virtual time: whoever is done first takes its result back and begins anew.

    Each worker takes tasks of crew.grain simulations; task i draws from rngs[i].  Returns the playouts of the worker
    that made the most, and the time that it took.
    """
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    paths = np.empty((crew.workers, game.max_plies + 1), np.int32)
    movers = np.empty((crew.workers, game.max_plies + 1), np.int64)
    lengths, rewards = np.full(crew.workers, IDLE), np.empty(crew.workers)
    task, left = np.zeros(crew.workers, np.int64), np.zeros(crew.workers, np.int64)
    done_at, made, now = np.zeros(crew.workers), np.zeros(crew.workers, np.int64), 0.0
    started = tasks = 0
    for _ in range(simulations + crew.workers):
        worker = np.argmin(done_at)
        now = done_at[worker]
        if lengths[worker] != IDLE:
            back_up_shared(tree, paths[worker], movers[worker], lengths[worker], rewards[worker], 1, options.lock)
            lengths[worker] = IDLE
        if started == simulations:
            done_at[worker] = np.inf
            if lengths.max() == IDLE:
                break
            continue
        if left[worker] == 0:
            task[worker], left[worker] = tasks, crew.grain
            tasks += 1
        started += 1
        made[worker] += 1
        left[worker] -= 1
        copy_state(game, root, state)
        rng = rngs[task[worker]]
        lengths[worker] = descend_shared(game, tree, state, paths[worker], movers[worker], moves, options, rng)
        score, plies = game.random_playout(state, moves, rng)
        rewards[worker] = reward_of(score)
        done_at[worker] += max(plies, 1) if crew.clock == PLIES else 1
    return made.max(), now
