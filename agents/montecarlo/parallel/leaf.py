"""Leaf parallelisation: one tree; at each new leaf every worker makes a playout (Cazenave & Jouandeau, "A parallel
Monte-Carlo tree search algorithm", 2008, "at the leaves").

A leaf's results are backed up together, when the slowest worker is done.  On threads, the first searches the tree; the
others wait for the next leaf, and add their playouts' rewards to a sum.

With another agent's `search`, all playouts of a leaf are made first; then the workers back up and learn in turn.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load, atomic_store
from arena.agents.core.chunks import run_chunks
from arena.agents.core.locks import wait
from arena.agents.core.tree_arrays import Walk, new_walk
from arena.agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, playout_time
from arena.agents.montecarlo.parallel.shared import SharedOptions, SharedTreePlayer, back_up_shared, descend_shared
from arena.agents.montecarlo.parallel.shares import Work
from arena.agents.montecarlo.parallel.together import Together, TogetherPlayer
from arena.agents.montecarlo.search import descend, finish, goes_on, open_root, result_of
from arena.agents.montecarlo.workers import new_walks, walk_of
from arena.games.core.jit import helper, kernel
from arena.games.core.playout import copy_state, reward_of

STOP = -1  # instead of a leaf's number: no more


@dataclass(frozen=True)
class LeafParallel(Together):
    """One tree; every leaf gets a playout of each worker."""

    name: ClassVar[str] = "leaf"

    def options(self) -> SharedOptions:
        return SharedOptions(self.exploration, each=self.workers)

    def new_player(self, game, budget):
        return (LeafTogetherPlayer if self.search else LeafPlayer)(self, game, budget)


class Mailbox(NamedTuple):
    """The searching thread's work for its helpers, and their results."""

    helpers: int
    state: np.ndarray  # dtype[state_size], the leaf to play out
    leaf: np.ndarray  # int64[1], its number, or STOP; written after the state
    waiting: np.ndarray  # int64[1], helpers that have not finished its playout
    reward: np.ndarray  # float64[1], sum of the helpers' rewards
    lost: np.ndarray  # int32[1], LOST if a thread has failed


class Meets:
    """Mixin, named before other bases: a player whose workers wait for each other at every leaf."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.lost = np.zeros(1, np.int32)

    def words(self):
        return [*super().words(), self.lost]


class LeafPlayer(Meets, SharedTreePlayer):
    """The first thread searches, the others help."""

    def leaves(self) -> int | None:
        total = self.agent.total_playouts(self.budget)
        return None if total is None else max(1, total // self.agent.workers)

    def search(self, state, rngs):
        helpers = self.agent.workers - 1
        kinds = np.int64, np.int64, np.float64
        mailbox = Mailbox(helpers, state.copy(), *(np.zeros(1, dtype) for dtype in kinds), self.lost)

        def work(i):
            return help_kernel(self.game, mailbox, rngs[i]) if i else self.hand_out(state, mailbox, rngs[0])

        leaves = self.on_threads(work)[0]
        return Work(leaves * self.agent.workers, leaves)

    def hand_out(self, state, mailbox, rng) -> int:
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
    """Search that many leaves; returns the virtual time: the sum of each leaf's slowest playout."""
    walk, state, time = new_walk(game, root), root.copy(), 0.0
    for _ in range(leaves):
        descend_shared(game, tree, walk, options, rngs[0])
        reward, slowest = 0.0, 0
        for i in range(len(rngs)):
            copy_state(game, walk.state, state)
            score, plies = game.random_playout(state, walk.moves, rngs[i])
            reward += reward_of(score)
            slowest = max(slowest, playout_time(clock, plies))
        back_up_shared(tree, walk, reward, options)
        time += slowest
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
            wait(mailbox.lost, 0)
        back_up_shared(tree, walk, mailbox.reward[0] + reward_of(score), options)
    return leaves


@kernel
def help_kernel(game, mailbox, rng):
    """The other threads' part: one playout of every leaf."""
    state, moves = mailbox.state.copy(), np.empty(game.max_moves, np.int32)
    leaf = next_leaf(mailbox, np.int64(0))
    while leaf != STOP:
        copy_state(game, mailbox.state, state)
        score, _ = game.random_playout(state, moves, rng)
        atomic_add(mailbox.reward, 0, reward_of(score))
        atomic_add(mailbox.waiting, 0, np.int64(-1))
        leaf = next_leaf(mailbox, leaf)


@helper
def next_leaf(place, seen):
    """Wait at `place`, a Mailbox or a Meeting, until the leaf's number is not `seen`; returns it, or STOP."""
    while atomic_load(place.leaf, 0) == seen:
        wait(place.lost, 0)
    return atomic_load(place.leaf, 0)


@kernel
def dismiss_kernel(game, mailbox):
    """Tell the helpers that there are no more leaves."""
    atomic_store(mailbox.leaf, 0, np.int64(STOP))


class Meeting(NamedTuple):
    """Where the workers of a search meet at each leaf."""

    walk: Walk  # the first worker's, to the leaf; each worker plays on with a copy
    leaf: np.ndarray  # int64[1], the leaf's number, or STOP; written after the walk
    playing: np.ndarray  # int64[1], workers but the first that have not finished their playouts
    turn: np.ndarray  # int64[1], the worker that backs up and learns
    full: np.ndarray  # int64[1], whether a worker's memory has no more room
    lost: np.ndarray  # int32[1], LOST if a worker has failed


class LeafTogetherPlayer(Meets, TogetherPlayer):
    """Any search, whose workers play out the same leaf at a time."""

    def leaves(self) -> int | None:
        total = self.simulations()
        return None if total is None else max(1, total // self.agent.workers)

    def work(self, leaves: int, virtual_time: float | None = None) -> Work:
        each = leaves * self.lanes
        return Work(each * self.agent.workers, each, virtual_time)

    def search(self, state, rngs):
        return self.work(run_chunks(lambda n: self.meet(state, rngs, n), self.leaves(), self.budget.seconds))

    def meet(self, state, rngs, leaves: int) -> int:
        """Meet at up to that many leaves on threads; returns how many there were."""
        leaf, playing, turn, full = (np.zeros(1, np.int64) for _ in range(4))
        meeting = Meeting(new_walk(self.game, state), leaf, playing, turn, full, self.lost)
        rule, workers = self.one.rule, self.agent.workers
        searches = [self.search_of(worker) for worker in range(workers)]

        def work(i):
            if i:
                return follow_kernel(self.game, rule, searches[i], meeting, i, rngs[i])
            try:
                return lead_kernel(self.game, rule, searches[0], meeting, leaves, workers, rngs[0])
            finally:
                dismiss_kernel(self.game, meeting)

        return self.on_threads(work)[0]

    def simulate(self, state, rngs):
        walks, leaf = new_walks(self.game, state, self.agent.workers), new_walk(self.game, state)

        def meet(n):
            return simulated_meeting_kernel(self.game, self.rule, self.listed(), leaf, walks, n, rngs)

        leaves = self.leaves()
        met = run_chunks(meet, leaves, None, first=leaves)
        return self.work(met, float(met))


@helper
def copy_walk(game, walk, target):
    """Make `target`, a walk from the same root, a copy of a walk."""
    copy_state(game, walk.state, target.state)
    target.length[0] = walk.length[0]
    for i in range(walk.length[0]):
        target.path[i], target.movers[i] = walk.path[i], walk.movers[i]


@kernel
def simulated_meeting_kernel(game, rule, searches, leaf, walks, leaves, rngs):
    """Search up to that many leaves by simulated workers; returns how many: fewer if a worker's memory is full."""
    scores = np.empty(len(searches))
    for done in range(leaves):
        open_root(game, rule, searches[0], leaf, rngs[0])
        for one in searches:
            if not goes_on(game, rule, one):
                return done
        descend(game, rule, searches[0], leaf, rngs[0])
        for worker in range(len(searches)):
            scores[worker] = play_leaf(game, rule, searches[worker], leaf, walks, worker, rngs)
        for worker in range(len(searches)):
            finish_leaf(game, rule, searches[worker], walks, worker, scores[worker])
    return leaves


@helper
def play_leaf(game, rule, search, leaf, walks, worker, rngs):
    """The result of a worker's playout from the end of the walk `leaf`; the worker's walk becomes a copy of it."""
    walk = walk_of(walks, worker)
    copy_walk(game, leaf, walk)
    return result_of(game, rule, search, walk, rngs[worker])


@helper
def finish_leaf(game, rule, search, walks, worker, score):
    """Back up a worker's result, and learn from it."""
    finish(game, rule, search, walk_of(walks, worker), score)


@kernel
def lead_kernel(game, rule, search, meeting, leaves, workers, rng):
    """The first worker's part: walk to up to that many leaves, and take part in each.  Returns their number."""
    walk, done = new_walk(game, meeting.walk.root), 0
    open_root(game, rule, search, walk, rng)
    while done < leaves and goes_on(game, rule, search) and meeting.full[0] == 0:
        descend(game, rule, search, meeting.walk, rng)
        copy_walk(game, meeting.walk, walk)
        meeting.playing[0], meeting.turn[0] = workers - 1, 0
        atomic_store(meeting.leaf, 0, meeting.leaf[0] + 1)
        score = result_of(game, rule, search, walk, rng)
        while atomic_load(meeting.playing, 0) > 0:
            wait(meeting.lost, 0)
        finish(game, rule, search, walk, score)
        atomic_store(meeting.turn, 0, np.int64(1))
        while atomic_load(meeting.turn, 0) < workers:
            wait(meeting.lost, 0)
        done += 1
    return done


@kernel
def follow_kernel(game, rule, search, meeting, worker, rng):
    """Another worker's part: a playout of every leaf, backed up in turn."""
    walk, leaf = new_walk(game, meeting.walk.root), next_leaf(meeting, np.int64(0))
    while leaf != STOP:
        copy_walk(game, meeting.walk, walk)
        score = result_of(game, rule, search, walk, rng)
        atomic_add(meeting.playing, 0, np.int64(-1))
        while atomic_load(meeting.turn, 0) != worker:
            wait(meeting.lost, 0)
        finish(game, rule, search, walk, score)
        if not rule.chain.has_room(game, search):
            meeting.full[0] = 1
        atomic_store(meeting.turn, 0, np.int64(worker + 1))
        leaf = next_leaf(meeting, leaf)
