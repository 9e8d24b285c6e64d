"""Young brothers wait: threads of an exact search share out the moves of a node once its eldest move has been searched.

R. Feldmann, B. Monien, P. Mysliwietz and O. Vornberger, "Distributed game-tree search" (ICCA Journal, 1989).  When
another thread has no work, a thread makes a *split* of the node nearest its root with moves left to try.  Threads that
join it take its moves one by one, and hand in their best result.  The owner of a split goes on when all have; meanwhile
it joins only splits below its own, those of its helpers (the "helpful master"), so that it is never late.  A result
that reaches the threshold cuts the split: whoever works below it drops that.

All of this happens between two steps of a search (agents/minimax/exact.py).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load, atomic_store, sched_yield
from arena.agents.core.locks import acquire, release
from arena.agents.minimax.exact import AGAIN, PAUSE, STEP, UNSPLIT, Alone
from arena.agents.minimax.ordering import bring_best_forward
from arena.agents.minimax.stack import DONE
from arena.games.core.jit import helper
from arena.games.core.play.playout import copy_state

SPLITS_EACH = 8  # of a thread at a time
LOOK_EVERY = 32  # positions between two looks at others: to look at every step takes a third of the time
OVER, IDLE, CUTS = range(3)  # of Team.signals
OPEN, NEXT, CUT = range(3)  # of Team.gauges, which several threads change
OWNED, PLY, TOTAL, THRESHOLD = range(4)  # of Team.details, which the owner changes
INDEX_BITS = 24  # of Team.results: score << INDEX_BITS | index of the move: one word is never half written


class Team(NamedTuple):
    """What threads share beside the table: S splits, SPLITS_EACH for each of W threads in order."""

    signals: np.ndarray  # int64[3]: all threads return if not 0; threads without work; how often a split was cut
    locks: np.ndarray  # int32[S], held to open, join and close a split
    gauges: np.ndarray  # int64[S, 3]: whether it is open; the next move to take; whether a result cut it
    details: np.ndarray  # int64[S, 4]: whether it is in use; ply, moves and threshold of the node
    states: np.ndarray  # dtype[S, state_size]
    moves: np.ndarray  # int32[S, max_moves], the best ranks first
    working: np.ndarray  # int32[S, W], 1 for a thread that has joined
    results: np.ndarray  # int64[S, W]: a thread's best score, with that move's index


@dataclass(frozen=True)
class YoungBrothersWait(Alone):
    """Young brothers wait; `shared` is a Team.  The first thread searches the root."""

    def new_shared(self, game, workers):
        count = SPLITS_EACH * workers
        return Team(
            signals=np.zeros(3, np.int64),
            locks=np.zeros(count, np.int32),
            gauges=np.zeros((count, 3), np.int64),
            details=np.zeros((count, 4), np.int64),
            states=np.zeros((count, game.state_size), game.dtype),
            moves=np.zeros((count, game.max_moves), np.int32),
            working=np.zeros((count, workers), np.int32),
            results=np.zeros((count, workers), np.int64),
        )

    def assemble(self, shared):
        for array in (shared.signals, shared.locks, shared.gauges, shared.details, shared.working):
            array[:] = 0
        shared.signals[IDLE] = shared.working.shape[1] - 1

    def resume(self, shared):
        shared.signals[OVER] = 0

    def words(self, shared):
        return [shared.locks, shared.signals[OVER : OVER + 1]]

    def next_step(self, game, search, ply, until):
        counts, signals = search.counts[0], search.shared.signals
        if ply != DONE and counts.nodes < min(counts.looks, until) and search.nodes[ply].split == UNSPLIT:
            return ply, STEP
        if counts.nodes >= until:
            atomic_store(signals, OVER, 1)
        if atomic_load(signals, OVER):
            return ply, PAUSE
        if ply == DONE and counts.thread == 0:
            return ply, STEP
        ply, ready = cooperate(game, search, ply)
        return ply, STEP if ready else AGAIN

    def answered(self, search):
        atomic_store(search.stop, 0, 1)


@helper
def cooperate(game, search, ply):
    """What a thread at `ply`, or DONE without work, does between two steps; returns (its ply now, whether to step).

    At a split it takes the next move to try: node.tried is its index.
    """
    counts, team = search.counts[0], search.shared
    if ply != DONE and atomic_load(team.signals, CUTS) != counts.seen:
        counts.seen = atomic_load(team.signals, CUTS)
        ply = leave_what_is_cut(search, ply)
    if ply == DONE:
        return join_any(game, search, DONE, UNSPLIT)
    if counts.nodes >= counts.looks:
        counts.looks = counts.nodes + LOOK_EVERY
        if atomic_load(team.signals, IDLE) > 0:
            offer(game, search, ply)
    node = search.nodes[ply]
    split = node.split
    if split == UNSPLIT:
        return ply, True
    reached = node.best >= node.threshold
    if not reached and not node.waiting:
        index = atomic_add(team.gauges, (split, NEXT), 1)
        if index < node.total:
            node.tried = index
            return ply, True
    if owner_of(split) != counts.thread:
        hand_in(search, ply)
        return node.back, False
    if reached:
        give_up(search, ply)
        return ply, True
    return wait_for_helpers(game, search, ply)


@helper
def owner_of(split):
    """The thread whose node it is."""
    return split // SPLITS_EACH


@helper
def offer(game, search, ply):
    """Split the node nearest the root, from `ply` up, whose eldest move is done, unless a split is open."""
    team, mine = search.shared, search.counts[0].thread * SPLITS_EACH
    free = UNSPLIT
    for split in range(mine, mine + SPLITS_EACH):
        if (
            atomic_load(team.gauges, (split, OPEN))
            and atomic_load(team.gauges, (split, NEXT)) < team.details[split, TOTAL]
        ):
            return
        if not team.details[split, OWNED] and not is_worked_on(team, split):
            free = split
    if free == UNSPLIT:
        return
    found, at = DONE, ply
    while at != DONE:
        node = search.nodes[at]
        joined = node.split != UNSPLIT and owner_of(node.split) != search.counts[0].thread
        begun = node.tried - (1 if at < ply else 0)  # moves that are done
        if node.split == UNSPLIT and begun > 0 and node.total - node.tried > 1 and node.best < node.threshold:
            found = at
        at = node.back if joined else at - 1
    if found != DONE:
        open_split(game, search, found, free)


@helper
def open_split(game, search, ply, split):
    """Make the node at `ply` a split, which other threads can join."""
    team, node = search.shared, search.nodes[ply]
    for i in range(node.tried, node.total):
        bring_best_forward(search.moves[ply], search.ranks[ply], i, node.total)
    for i in range(node.total):
        team.moves[split, i] = search.moves[ply, i]
    copy_state(game, search.states[ply], team.states[split])
    details = team.details[split]
    details[OWNED], details[PLY], details[TOTAL], details[THRESHOLD] = 1, ply, node.total, node.threshold
    for thread in range(team.results.shape[1]):
        team.results[split, thread] = node.best << INDEX_BITS
    node.split, node.waiting = split, 0
    acquire(team.locks, split)
    team.gauges[split, NEXT], team.gauges[split, CUT] = node.tried, 0
    atomic_store(team.gauges, (split, OPEN), 1)
    release(team.locks, split)


@helper
def has_moves(team, split):
    """Whether a move of the split has not been taken."""
    return atomic_load(team.gauges, (split, NEXT)) < team.details[split, TOTAL]


@helper
def is_worked_on(team, split):
    """Whether a thread that has joined a split has not left it."""
    busy = 0
    for thread in range(team.working.shape[1]):
        busy += atomic_load(team.working, (split, thread))
    return busy > 0


@helper
def join_any(game, search, back, above):
    """Join an open split, below the split `above` if that is one: (the ply to go on at, whether to step).

    The thread goes back to the ply `back` when it leaves.
    """
    team, thread = search.shared, search.counts[0].thread
    for split in range(len(team.locks)):
        if owner_of(split) != thread and atomic_load(team.gauges, (split, OPEN)):
            acquire(team.locks, split)
            joined = is_joinable(team, split, above)
            if joined:
                join(game, search, split, back)
            release(team.locks, split)
            if joined:
                atomic_add(team.signals, IDLE, -1)
                return team.details[split, PLY], False
    sched_yield()
    return back, False


@helper
def is_joinable(team, split, above):
    """Whether the split, whose lock is held, is open, with moves left, and below the split `above` if that is one.

    It is if its owner works on `above`, deeper than that: it could not open a split elsewhere before it leaves.
    """
    if not team.gauges[split, OPEN] or not has_moves(team, split):
        return False
    if above == UNSPLIT:
        return True
    deeper = team.details[split, PLY] > team.details[above, PLY]
    return deeper and atomic_load(team.working, (above, owner_of(split))) != 0


@helper
def join(game, search, split, back):
    """Begin to work on a split, whose lock is held."""
    team, thread, details = search.shared, search.counts[0].thread, search.shared.details[split]
    ply, total = details[PLY], details[TOTAL]
    node = search.nodes[ply]
    copy_state(game, team.states[split], search.states[ply])
    for i in range(total):
        search.moves[ply, i], search.ranks[ply, i] = team.moves[split, i], 0
    node.total, node.tried, node.threshold, node.best = (
        total,
        0,
        details[THRESHOLD],
        team.results[split, thread] >> INDEX_BITS,
    )
    node.split, node.back, node.waiting = split, back, 0
    team.working[split, thread] = 1


@helper
def hand_in(search, ply):
    """Leave the split joined at `ply`, with the result; one that is enough cuts it."""
    team, thread, node = search.shared, search.counts[0].thread, search.nodes[ply]
    split = node.split
    if node.best > team.results[split, thread] >> INDEX_BITS:
        team.results[split, thread] = node.best << INDEX_BITS | node.tried - 1
    if node.best >= node.threshold:
        atomic_store(team.gauges, (split, CUT), 1)
        atomic_add(team.signals, CUTS, 1)
    leave(team, split, thread)


@helper
def leave(team, split, thread):
    """The thread works on the split no more, and has no work."""
    atomic_add(team.signals, IDLE, 1)
    atomic_store(team.working, (split, thread), 0)


@helper
def close(team, split):
    """Nobody can join the split any more."""
    acquire(team.locks, split)
    atomic_store(team.gauges, (split, OPEN), 0)
    release(team.locks, split)


@helper
def give_up(search, ply):
    """The owner's node at `ply` needs its split no more."""
    team, node = search.shared, search.nodes[ply]
    split = node.split
    close(team, split)
    atomic_store(team.gauges, (split, CUT), 1)
    atomic_add(team.signals, CUTS, 1)
    if node.waiting:
        atomic_add(team.signals, IDLE, -1)
    team.details[split, OWNED] = 0
    node.split, node.waiting = UNSPLIT, 0


@helper
def wait_for_helpers(game, search, ply):
    """All moves of the owner's split are taken: collect the results, or help meanwhile."""
    team, node = search.shared, search.nodes[ply]
    if not node.waiting:
        node.waiting = 1
        atomic_add(team.signals, IDLE, 1)
        close(team, node.split)
    if is_worked_on(team, node.split):
        return join_any(game, search, ply, node.split)
    collect(search, ply)
    give_up(search, ply)
    return ply, True


@helper
def collect(search, ply):
    """Take the best that was handed in; node.tried tells its move, if it is enough."""
    team, node = search.shared, search.nodes[ply]
    node.tried = node.total
    for thread in range(team.results.shape[1]):
        result = team.results[node.split, thread]
        best = result >> INDEX_BITS
        if best > node.best:
            node.best = best
            if best >= node.threshold:
                node.tried = (result & (1 << INDEX_BITS) - 1) + 1


@helper
def leave_what_is_cut(search, ply):
    """If a split at or above `ply` has been cut, drop what is below; returns the ply now."""
    team, thread = search.shared, search.counts[0].thread
    cut, at = DONE, ply
    while at != DONE:
        node = search.nodes[at]
        if node.split != UNSPLIT and atomic_load(team.gauges, (node.split, CUT)):
            cut = at
        at = node.back if is_joined(search, at) else at - 1
    if cut == DONE:
        return ply
    at = ply
    while at > cut:
        node = search.nodes[at]
        if node.split == UNSPLIT:
            at -= 1
        elif is_joined(search, at):
            leave(team, node.split, thread)
            at = node.back
        else:
            give_up(search, at)
            at -= 1
    if is_joined(search, cut):
        leave(team, search.nodes[cut].split, thread)
        return search.nodes[cut].back
    collect(search, cut)
    give_up(search, cut)
    return cut


@helper
def is_joined(search, ply):
    """Whether the node at `ply` is another thread's."""
    split = search.nodes[ply].split
    return split != UNSPLIT and owner_of(split) != search.counts[0].thread
