"""Leaf parallelisation: one tree, and at each new leaf every worker makes a playout (Cazenave & Jouandeau, "A parallel
Monte-Carlo tree search algorithm", 2008, "at the leaves").

The results of a leaf are backed up together, when the slowest worker is done.  On threads, the first one searches the
tree; the others wait for the next leaf, and each adds the reward of its playout to a sum.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_load, atomic_store, sched_yield
from agents.core.chunks import run_chunks
from agents.core.tree import new_walk
from agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, PLIES, Scheme
from agents.montecarlo.parallel.shared import SharedOptions, SharedTreePlayer, Work, back_up_shared, descend_shared
from games.core.jit import kernel
from games.core.playout import copy_state, reward_of

STOP = -1  # a leaf number: there are no more


@dataclass(frozen=True)
class LeafParallel(Scheme):
    """One tree; every leaf gets a playout of each worker."""

    name: ClassVar[str] = "leaf"

    def options(self) -> SharedOptions:
        """How the tree is searched: nothing else is in flight."""
        return SharedOptions(self.exploration, each=self.workers)

    def new_player(self, game, budget):
        return LeafPlayer(self, game, budget)


class Mailbox(NamedTuple):
    """Where the searching thread leaves work for its helpers, and they their results."""

    helpers: int
    state: np.ndarray  # dtype[state_size], the leaf to play out
    leaf: np.ndarray  # int64[1], its number, or STOP; written after the state
    waiting: np.ndarray  # int64[1], helpers that have not finished its playout
    reward: np.ndarray  # float64[1], sum of the helpers' rewards


class LeafPlayer(SharedTreePlayer):
    """The first thread searches, the others help."""

    def leaves(self) -> int | None:
        """How many leaves the budget is for."""
        total = self.agent.total_playouts(self.budget)
        return None if total is None else max(1, total // self.agent.workers)

    def search(self, state, rngs):
        helpers = self.agent.workers - 1
        mailbox = Mailbox(helpers, state.copy(), *(np.zeros(1, dtype) for dtype in (np.int64, np.int64, np.float64)))

        def work(i):
            return help_kernel(self.game, mailbox, rngs[i]) if i else self.hand_out(state, mailbox, rngs[0])

        leaves = self.on_threads(work)[0]
        return Work(leaves * self.agent.workers, leaves)

    def hand_out(self, state, mailbox, rng) -> int:
        """Search, then let the helpers go; returns the leaves."""
        try:
            return run_chunks(
                lambda n: hand_out_kernel(self.game, self.tree, state, n, self.options, mailbox, rng),
                self.leaves(),
                self.budget.seconds,
            )
        finally:
            dismiss_kernel(self.game, mailbox)

    def simulate(self, state, rngs):
        leaves, clock = self.leaves(), PLAYOUT_TIMES[self.agent.playout_time]
        time = simulated_leaf_kernel(self.game, self.tree, state, leaves, self.options, clock, rngs)
        return Work(leaves * self.agent.workers, leaves, time)


@kernel
def simulated_leaf_kernel(game, tree, root, leaves, options, clock, rngs):
    """Search that many leaves, each played out by every worker.

    Returns the virtual time that it took: the sum of each leaf's slowest playout.
    """
    walk, state, time = new_walk(game, root), root.copy(), 0.0
    for _ in range(leaves):
        descend_shared(game, tree, walk, options, rngs[0])
        reward, slowest = 0.0, 1
        for i in range(len(rngs)):
            copy_state(game, walk.state, state)
            score, plies = game.random_playout(state, walk.moves, rngs[i])
            reward += reward_of(score)
            slowest = max(slowest, plies)
        back_up_shared(tree, walk, reward, options)
        time += slowest if clock == PLIES else 1
    return time


@kernel
def hand_out_kernel(game, tree, root, leaves, options, mailbox, rng):
    """The first thread's part: hand each leaf out, play it out too, wait, back up.  Returns the leaves."""
    walk = new_walk(game, root)
    for _ in range(leaves):
        descend_shared(game, tree, walk, options, rng)
        copy_state(game, walk.state, mailbox.state)
        mailbox.reward[0] = 0.0
        mailbox.waiting[0] = mailbox.helpers
        atomic_store(mailbox.leaf, 0, mailbox.leaf[0] + 1)
        score, _ = game.random_playout(walk.state, walk.moves, rng)
        while atomic_load(mailbox.waiting, 0) > 0:
            sched_yield()
        back_up_shared(tree, walk, mailbox.reward[0] + reward_of(score), options)
    return leaves


@kernel
def help_kernel(game, mailbox, rng):
    """The other threads' part: one playout of every leaf that is handed out."""
    state, moves = mailbox.state.copy(), np.empty(game.max_moves, np.int32)
    seen = np.int64(0)
    while True:
        leaf = atomic_load(mailbox.leaf, 0)
        if leaf == STOP:
            break
        if leaf == seen:
            sched_yield()
            continue
        seen = leaf
        copy_state(game, mailbox.state, state)
        score, _ = game.random_playout(state, moves, rng)
        atomic_add(mailbox.reward, 0, reward_of(score))
        atomic_add(mailbox.waiting, 0, np.int64(-1))


@kernel
def dismiss_kernel(game, mailbox):
    """Tell the helpers that there are no more leaves."""
    atomic_store(mailbox.leaf, 0, np.int64(STOP))
