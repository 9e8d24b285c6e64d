"""Leaf parallelisation: one tree, and at each new leaf every worker makes a playout (Cazenave & Jouandeau, "A parallel
Monte-Carlo tree search algorithm", 2008, "at the leaves").

The results of a leaf are backed up together, when the slowest worker is done.  On threads, the first one searches the
tree; the others wait at a counter of leaves, and each adds what its playout gives to a sum.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_load, atomic_store, sched_yield
from agents.core.chunks import run_chunks
from agents.core.tree import clear, new_tree
from agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, PLIES, Scheme, SchemePlayer
from agents.montecarlo.parallel.shared import FREE, Options, back_up_shared, decision_from_shared, descend_shared
from agents.montecarlo.parallel.tree import prepare_kernel
from games.core.jit import kernel
from games.core.playout import copy_state, reward_of

STOP = -1  # a leaf number: there are no more


@dataclass(frozen=True)
class LeafParallel(Scheme):
    """One tree; a leaf is worth the playouts of all workers."""

    name = "leaf"

    def new_player(self, game, budget):
        return LeafPlayer(self, game, budget)


class Desk(NamedTuple):
    """Where the searching thread and its helpers meet."""

    state: np.ndarray  # dtype[state_size], the leaf to play out
    leaf: np.ndarray  # int64[1], its number, or STOP; written after the state
    waiting: np.ndarray  # int64[1], helpers that have not finished its playout
    reward: np.ndarray  # float64[1], sum of what the helpers found


class LeafPlayer(SchemePlayer):
    """The tree of one game, made anew for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.tree = new_tree(max(agent.max_nodes, 1 + game.max_moves))
        self.options = Options(agent.exploration, 0.0, False, FREE)

    def decide(self, state, rng):
        clear(self.tree)
        prepare_kernel(self.game, self.tree, state, rng)
        rngs, total = self.streams(rng), self.agent.total_playouts(self.budget)
        leaves = None if total is None else max(1, total // self.agent.workers)
        if self.agent.simulated:
            clock = PLAYOUT_TIMES[self.agent.playout_time]
            time = simulated_kernel(self.game, self.tree, state, leaves, self.options, clock, rngs)
        else:
            time = None
            desk = Desk(state.copy(), *(np.zeros(1, dtype) for dtype in (np.int64, np.int64, np.float64)))

            def work(i):
                return help_kernel(self.game, desk, rngs[i]) if i else self.search(state, leaves, desk, rngs[0])

            leaves = self.on_threads(work)[0]
        rng[0] = rngs[0, 0]
        return decision_from_shared(self.game, self.tree, state, leaves * self.agent.workers, leaves, time)

    def search(self, state, leaves, desk, rng) -> int:
        """What the first thread does; then it sends the others home."""
        helpers = self.agent.workers - 1
        try:
            return run_chunks(
                lambda n: search_kernel(self.game, self.tree, state, n, self.options, desk, helpers, rng),
                leaves,
                self.budget.seconds,
            )
        finally:
            dismiss(self.game, desk)


@kernel
def simulated_kernel(game, tree, root, leaves, options, clock, rngs):
    """That many leaves, each played out by every worker.  Returns the time that it took: each leaf's slowest playout."""
    state, leaf, moves = root.copy(), root.copy(), np.empty(game.max_moves, np.int32)
    path, movers = np.empty(game.max_plies + 1, np.int32), np.empty(game.max_plies + 1, np.int64)
    time = 0.0
    for _ in range(leaves):
        copy_state(game, root, leaf)
        length = descend_shared(game, tree, leaf, path, movers, moves, options, rngs[0])
        reward, slowest = 0.0, 1
        for i in range(len(rngs)):
            copy_state(game, leaf, state)
            score, plies = game.random_playout(state, moves, rngs[i])
            reward += reward_of(score)
            slowest = max(slowest, plies)
        back_up_shared(tree, path, movers, length, reward, len(rngs), options.lock)
        time += slowest if clock == PLIES else 1
    return time


@kernel
def search_kernel(game, tree, root, leaves, options, desk, helpers, rng):
    """What the first thread does: search, hand each leaf out, play it out too, wait, back up.  Returns the leaves."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    path, movers = np.empty(game.max_plies + 1, np.int32), np.empty(game.max_plies + 1, np.int64)
    for _ in range(leaves):
        copy_state(game, root, state)
        length = descend_shared(game, tree, state, path, movers, moves, options, rng)
        copy_state(game, state, desk.state)
        desk.reward[0] = 0.0
        desk.waiting[0] = helpers
        atomic_store(desk.leaf, 0, desk.leaf[0] + 1)
        score, _ = game.random_playout(state, moves, rng)
        while atomic_load(desk.waiting, 0) > 0:
            sched_yield()
        back_up_shared(tree, path, movers, length, desk.reward[0] + reward_of(score), helpers + 1, options.lock)
    return leaves


@kernel
def help_kernel(game, desk, rng):
    """What the other threads do: one playout of every leaf that is handed out."""
    state, moves = desk.state.copy(), np.empty(game.max_moves, np.int32)
    seen = np.int64(0)
    while True:
        leaf = atomic_load(desk.leaf, 0)
        if leaf == STOP:
            break
        if leaf == seen:
            sched_yield()
            continue
        seen = leaf
        copy_state(game, desk.state, state)
        score, _ = game.random_playout(state, moves, rng)
        atomic_add(desk.reward, 0, reward_of(score))
        atomic_add(desk.waiting, 0, np.int64(-1))


@kernel
def dismiss(game, desk):
    """Tell the helpers that there are no more leaves."""
    atomic_store(desk.leaf, 0, np.int64(STOP))
