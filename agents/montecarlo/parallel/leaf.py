"""Leaf parallelisation: one tree; at each new leaf every worker makes a playout (Cazenave & Jouandeau, "A parallel
Monte-Carlo tree search algorithm", 2008, "at the leaves").

All playouts of a leaf are made first, and backed up together.  On threads, the first searches the tree; the others wait
for the next leaf.  If the search keeps more of a simulation than visits and rewards, the workers learn in turn.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load, atomic_store
from arena.agents.core.chunks import run_chunks
from arena.agents.core.locks import wait
from arena.agents.core.tree_arrays import Walk, new_walk
from arena.agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, playout_time
from arena.agents.montecarlo.parallel.shares import Work
from arena.agents.montecarlo.parallel.together import Together, TogetherPlayer, begin_at
from arena.agents.montecarlo.search import back_up, descend, finish, goes_on, result_of
from arena.agents.montecarlo.workers import new_walks, walk_of
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import copy_state

STOP = -1  # instead of a leaf's number: no more


@dataclass(frozen=True)
class LeafParallel(Together):
    """One tree; every leaf gets a playout of each worker."""

    name: ClassVar[str] = "leaf"

    def new_player(self, game, budget):
        return LeafPlayer(self, game, budget)


class Meeting(NamedTuple):
    """Where the workers of a search meet at each leaf."""

    walk: Walk  # the first worker's, to the leaf; each worker plays on with a copy
    leaf: np.ndarray  # int64[1], the leaf's number, or STOP; written after the walk
    results: np.ndarray  # float64[workers]
    playing: np.ndarray  # int64[1], workers but the first that have not finished their playouts
    turn: np.ndarray  # int64[1], the worker that backs up and learns
    full: np.ndarray  # int64[1], whether a worker's memory has no more room
    lost: np.ndarray  # int32[1], LOST if a worker has failed


class Meets:
    """Mixin, named before other bases: a player whose workers wait for each other."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.lost = np.zeros(1, np.int32)

    def words(self):
        return [*super().words(), self.lost]


class LeafPlayer(Meets, TogetherPlayer):
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
        workers, (leaf, playing, turn, full) = self.agent.workers, (np.zeros(1, np.int64) for _ in range(4))
        meeting = Meeting(new_walk(self.game, state), leaf, np.zeros(workers), playing, turn, full, self.lost)
        searches = [self.search_of(worker) for worker in range(workers)]

        def work(i):
            if i:
                return follow_kernel(self.game, self.rule, searches[i], meeting, i, rngs[i])
            try:
                return lead_kernel(self.game, self.rule, searches[0], meeting, leaves, rngs[0])
            finally:
                dismiss_kernel(self.game, meeting)

        return self.on_threads(work)[0]

    def simulate(self, state, rngs):
        walks, leaf, time = new_walks(self.game, state, self.agent.workers), new_walk(self.game, state), np.zeros(1)
        clock = PLAYOUT_TIMES[self.agent.playout_time]

        def meet(n):
            return simulated_meeting_kernel(self.game, self.rule, self.listed(), leaf, walks, n, clock, time, rngs)

        leaves = self.leaves()
        met = run_chunks(meet, leaves, None, first=leaves)
        return self.work(met, float(time[0]))


@kernel
def simulated_meeting_kernel(game, rule, searches, leaf, walks, leaves, clock, time, rngs):
    """Search up to that many leaves by simulated workers; returns how many: fewer if a worker's memory is full.

    time: float64[1], to which the time of each leaf's slowest playout is added
    """
    workers, first = len(rngs), searches[0]
    results = np.empty(workers)
    for done in range(leaves):
        if rule.learns:
            for one in searches:
                if not goes_on(game, rule, one):
                    return done
        descend(game, rule, first, leaf, rngs[0])
        slowest = 0
        for worker in range(workers):
            search = searches[worker] if rule.learns else first  # to read it from the list takes as long as a ply
            results[worker], plies = play_leaf(game, rule, search, leaf, walks, worker, rngs)
            slowest = max(slowest, playout_time(clock, plies))
        if rule.learns:
            for worker in range(workers):
                finish_leaf(game, rule, searches[worker], walks, worker, results[worker])
        else:
            back_up_all(rule, first.tree, leaf, results)
        time[0] += slowest
    return leaves


@helper
def play_leaf(game, rule, search, leaf, walks, worker, rngs):
    """A worker's playout from the end of the walk `leaf`: the result, and the plies."""
    walk = walk_of(walks, worker)
    if rule.learns:
        begin_at(game, walk, leaf)
    else:
        copy_state(game, leaf.state, walk.state)
    return result_of(game, rule, search, walk, rngs[worker]), walk.length[1]


@helper
def finish_leaf(game, rule, search, walks, worker, result):
    """Back up a worker's result, and learn from it."""
    finish(game, rule, search, walk_of(walks, worker), result)


@helper
def back_up_all(rule, tree, walk, results):
    """Back up the results of all workers at once."""
    reward = rule.lanes * 0.5 * (len(results) + results.sum())
    back_up(rule, tree, walk, reward, len(results) * rule.lanes)


@kernel
def lead_kernel(game, rule, search, meeting, leaves, rng):
    """The first worker's part: walk to up to that many leaves, and take part in each.  Returns their number."""
    walk, done, workers = new_walk(game, meeting.walk.root), 0, len(meeting.results)
    while done < leaves and goes_on(game, rule, search) and meeting.full[0] == 0:
        descend(game, rule, search, meeting.walk, rng)
        begin_at(game, walk, meeting.walk)
        meeting.playing[0], meeting.turn[0] = workers - 1, 0
        atomic_store(meeting.leaf, 0, meeting.leaf[0] + 1)
        meeting.results[0] = result_of(game, rule, search, walk, rng)
        while atomic_load(meeting.playing, 0) > 0:
            wait(meeting.lost, 0)
        if rule.learns:
            finish(game, rule, search, walk, meeting.results[0])
            atomic_store(meeting.turn, 0, np.int64(1))
            while atomic_load(meeting.turn, 0) < workers:
                wait(meeting.lost, 0)
        else:
            back_up_all(rule, search.tree, walk, meeting.results)
        done += 1
    return done


@kernel
def follow_kernel(game, rule, search, meeting, worker, rng):
    """Another worker's part: a playout of every leaf; what it learns, it learns in turn."""
    walk, leaf = new_walk(game, meeting.walk.root), next_leaf(meeting, np.int64(0))
    while leaf != STOP:
        begin_at(game, walk, meeting.walk)
        meeting.results[worker] = result_of(game, rule, search, walk, rng)
        atomic_add(meeting.playing, 0, np.int64(-1))
        if rule.learns:
            while atomic_load(meeting.turn, 0) != worker:
                wait(meeting.lost, 0)
            finish(game, rule, search, walk, meeting.results[worker])
            if not rule.chain.has_room(game, search):
                meeting.full[0] = 1
            atomic_store(meeting.turn, 0, np.int64(worker + 1))
        leaf = next_leaf(meeting, leaf)


@helper
def next_leaf(meeting, seen):
    """Wait until the leaf's number is not `seen`; returns it, or STOP."""
    while atomic_load(meeting.leaf, 0) == seen:
        wait(meeting.lost, 0)
    return atomic_load(meeting.leaf, 0)


@kernel
def dismiss_kernel(game, meeting):
    """Tell the followers that there are no more leaves."""
    atomic_store(meeting.leaf, 0, np.int64(STOP))
