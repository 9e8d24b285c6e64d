"""The top of a tree searched by several workers: nodes known to all, and the workers at them.

A worker goes down from the root by the rule of df-pn and virtual numbers, to a node that has cost fewer nodes than a
job, and takes it as its job.  Until the job ends, the others see the node as decided (`Options.both` says how), and so
the numbers above it, as long as a worker is below.  Real numbers are kept apart; nothing virtual goes into them or into
the table.

The top's own index forgets nothing, so that a job whose node has lost its place in the table does not start from
nothing.
"""

from typing import NamedTuple

import numpy as np

from arena.agents.core.probing import find_slot
from arena.agents.core.transposition_table import probe, store
from arena.agents.proof.dfpn_family import (
    DISPROOF,
    PROOF,
    ProofLine,
    ProofSearch,
    enter,
    may_visit,
    open_node,
    search_below,
    table_key,
    worth,
)
from arena.agents.proof.numbers import INFINITE, combine
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.random import GAMMA

FIRST_SLOTS = 1 << 12  # a power of two
NOWHERE, NONE, EMPTY = -1, -1, -1  # instead of a ply, the index of a move, the work of a slot
REAL, VIRTUAL = range(2)  # of Top.numbers


class Top(NamedTuple):
    """The nodes of the top, hashed by key.  Virtual numbers are valid only where workers are."""

    key: np.ndarray  # uint64[slots], as the table's
    numbers: np.ndarray  # int32[slots, 2, 2] = real and virtual; proof and disproof number
    work: np.ndarray  # int64[slots], nodes visited below, or EMPTY
    workers: np.ndarray  # int32[slots], at the node or below it
    used: np.ndarray  # int64[1], slots


class Options(NamedTuple):
    """How jobs are given out."""

    job: int  # its nodes
    both: bool  # whether a taken node is lost for both sides, or decided as its numbers suggest


class Way(NamedTuple):
    """A worker's way; on its search's line, the rows above the job have virtual numbers."""

    proof: np.ndarray  # int32[depth, max_moves], the children's real numbers
    disproof: np.ndarray  # int32[depth, max_moves]
    below: np.ndarray  # int32[depth], the move by which the next row was opened, or NONE


def new_top(slots: int = FIRST_SLOTS) -> Top:
    """An empty top; `slots` is a power of two."""
    return Top(
        key=np.zeros(slots, np.uint64),
        numbers=np.zeros((slots, 2, 2), np.int32),
        work=np.full(slots, EMPTY, np.int64),
        workers=np.zeros(slots, np.int32),
        used=np.zeros(1, np.int64),
    )


def with_room(game, top: Top) -> Top:
    """The top, or a larger copy of it, with room for the longest way."""
    while 2 * (int(top.used[0]) + game.max_plies + 2) > len(top.key):
        larger = new_top(2 * len(top.key))
        copy_kernel(game, top, larger)
        top = larger
    return top


def top_bytes(top: Top) -> int:
    """Its memory."""
    return sum(column.nbytes for column in top)


def new_way(line: ProofLine) -> Way:
    """A way that has not begun."""
    return Way(np.zeros_like(line.proof), np.zeros_like(line.disproof), np.full(len(line.key), NONE, np.int32))


@kernel
def copy_kernel(game, top, other):
    """Put all nodes of a top into another one."""
    for slot in range(len(top.key)):
        if top.work[slot] != EMPTY:
            new = slot_for(other, top.key[slot])
            other.numbers[new] = top.numbers[slot]
            other.work[new], other.workers[new] = top.work[slot], top.workers[slot]


@helper
def slot_of(top, key):
    """The slot of that key, or the empty one where it belongs."""
    return find_slot(top.key, top.work, EMPTY, key, (key * GAMMA) >> np.uint64(33))


@helper
def slot_for(top, key):
    """The slot of that key, which is taken now; a new node has no work."""
    slot = slot_of(top, key)
    if top.work[slot] == EMPTY:
        top.key[slot], top.work[slot], top.workers[slot] = key, 0, 0
        top.used[0] += 1
    return slot


@inlined
def is_settled(proof, disproof):
    """Whether these numbers prove or disprove the goal."""
    return proof == 0 or disproof == 0


@inlined
def note(top, slot, kind, numbers):
    """Note the real or virtual numbers of a node."""
    top.numbers[slot, kind, PROOF], top.numbers[slot, kind, DISPROOF] = numbers


@inlined
def as_seen(or_node, both, numbers):
    """A parent's view of the virtual numbers of an open child with workers at or below it."""
    if both and is_settled(numbers[0], numbers[1]):
        return (INFINITE, 0) if or_node else (0, INFINITE)
    return numbers


@helper
def look(game, search, way, top, ply, both):
    """Update the children of the node at `ply` by table and top: real numbers on the way, virtual ones on the line."""
    line = search.line
    or_node = game.player(line.states[ply]) == 0
    for i in range(line.total[ply]):
        real = np.int64(way.proof[ply, i]), np.int64(way.disproof[ply, i])
        virtual = real
        if not is_settled(real[0], real[1]):
            held, proof, disproof = probe(search.table, line.keys[ply, i])
            slot = slot_of(top, line.keys[ply, i])
            if held and (top.work[slot] == EMPTY or is_settled(proof, disproof)):
                real = proof, disproof
            elif top.work[slot] != EMPTY:
                real = np.int64(top.numbers[slot, REAL, PROOF]), np.int64(top.numbers[slot, REAL, DISPROOF])
            virtual = real
            if top.work[slot] != EMPTY and top.workers[slot] > 0 and not is_settled(real[0], real[1]):
                virtual = np.int64(top.numbers[slot, VIRTUAL, PROOF]), np.int64(top.numbers[slot, VIRTUAL, DISPROOF])
                virtual = as_seen(or_node, both, virtual)
        way.proof[ply, i], way.disproof[ply, i] = real
        line.proof[ply, i], line.disproof[ply, i] = virtual


@helper
def numbers_at(game, search, way, ply):
    """Real and virtual numbers of the node at `ply`."""
    line, weak = search.line, search.task.weak
    or_node, count = game.player(line.states[ply]) == 0, line.total[ply]
    real = combine(way.proof[ply], way.disproof[ply], 0, count, or_node, weak)
    return real, combine(line.proof[ply], line.disproof[ply], 0, count, or_node, weak)


@helper
def open_top(game, rule, search, way, ply):
    """Open the node at `ply`, and note its children's real numbers."""
    open_node(game, rule, search, ply)
    for i in range(search.line.total[ply]):
        way.proof[ply, i], way.disproof[ply, i] = search.line.proof[ply, i], search.line.disproof[ply, i]
    way.below[ply] = NONE


@kernel
def seek_kernel(game, rule, search, way, top, options):
    """Go down from the root to a job, and take it; returns its ply, or NOWHERE if there is none for now."""
    line, ply = search.line, 0
    if line.total[0] == 0:
        if not may_visit(game, search.counts):
            return NOWHERE
        line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.root_limits()
        line.key[0] = table_key(game, search, 0)
        slot_for(top, line.key[0])
        open_top(game, rule, search, way, 0)
    look(game, search, way, top, 0, options.both)
    while True:
        or_node = game.player(line.states[ply]) == 0
        _, numbers = numbers_at(game, search, way, ply)
        if is_settled(numbers[0], numbers[1]) or rule.is_left(numbers[0], numbers[1], line.limit[ply]):
            if ply == 0:
                return NOWHERE
            turn_back(game, search, way, top, ply, options.both)
            ply -= 1
            continue
        rule.choose(search, ply, or_node, numbers)
        chosen = line.chosen[ply]
        widen(line, ply, way.proof[ply, chosen], way.disproof[ply, chosen])
        enter(game, rule, search, ply)
        ply += 1
        slot = slot_of(top, line.key[ply])
        if top.work[slot] < options.job:  # or EMPTY
            take(game, search, way, top, ply, options)
            return ply
        if way.below[ply - 1] != chosen:
            if not may_visit(game, search.counts):
                return NOWHERE
            way.below[ply - 1] = chosen
            open_top(game, rule, search, way, ply)
        look(game, search, way, top, ply, options.both)


@inlined
def widen(line, ply, proof, disproof):
    """Raise the thresholds of the chosen child at `ply`, so that it is searched until its real numbers grow."""
    line.limit[ply + 1, PROOF] = max(line.limit[ply + 1, PROOF], np.int64(proof) + 1)
    line.limit[ply + 1, DISPROOF] = max(line.limit[ply + 1, DISPROOF], np.int64(disproof) + 1)


@helper
def turn_back(game, search, way, top, ply, both):
    """Leave the node at `ply`, which has no job now, and show its numbers to its parent."""
    line = search.line
    real, virtual = numbers_at(game, search, way, ply)
    slot, chosen = slot_for(top, line.key[ply]), line.chosen[ply - 1]
    note(top, slot, REAL, real)
    note(top, slot, VIRTUAL, virtual)
    store(search.table, line.key[ply], real[0], real[1], worth(search, ply, top.work[slot]))
    seen = real if is_settled(real[0], real[1]) else as_seen(game.player(line.states[ply - 1]) == 0, both, virtual)
    way.proof[ply - 1, chosen], way.disproof[ply - 1, chosen] = real
    line.proof[ply - 1, chosen], line.disproof[ply - 1, chosen] = seen


@helper
def take(game, search, way, top, ply, options):
    """Take the node at `ply` as a job: virtually decided from now on, as the nodes above see."""
    line, chosen = search.line, search.line.chosen[ply - 1]
    proof, disproof = np.int64(way.proof[ply - 1, chosen]), np.int64(way.disproof[ply - 1, chosen])
    slot = slot_for(top, line.key[ply])
    note(top, slot, REAL, (proof, disproof))
    virtual = (0, INFINITE) if proof <= disproof else (INFINITE, 0)
    way.below[ply - 1] = NONE  # from here, the line's rows are the job's
    while True:
        note(top, slot, VIRTUAL, virtual)
        top.workers[slot] += 1
        if ply == 0:
            break
        ply -= 1
        seen = as_seen(game.player(line.states[ply]) == 0, options.both, virtual)
        line.proof[ply, line.chosen[ply]], line.disproof[ply, line.chosen[ply]] = seen
        _, virtual = numbers_at(game, search, way, ply)
        slot = slot_of(top, line.key[ply])


@kernel
def finish_kernel(game, search, way, top, ply, numbers, nodes, options):
    """Return a job at `ply` with its numbers after that many nodes; a lost job has none."""
    line = search.line
    slot = slot_of(top, line.key[ply])
    if nodes > 0:
        note(top, slot, REAL, numbers)
        top.work[slot] += nodes
    top.workers[slot] -= 1
    while ply > 0:
        ply -= 1
        look(game, search, way, top, ply, options.both)
        real, virtual = numbers_at(game, search, way, ply)
        slot = slot_of(top, line.key[ply])
        note(top, slot, REAL, real)
        note(top, slot, VIRTUAL, virtual)
        top.workers[slot] -= 1
        top.work[slot] += nodes
        store(search.table, line.key[ply], real[0], real[1], worth(search, ply, top.work[slot]))


@kernel
def root_kernel(game, search, way):
    """The root's real numbers as last seen on this way; 1 and 1 before it is opened."""
    if search.line.total[0] == 0:
        return 1, 1
    return numbers_at(game, search, way, 0)[0]


@kernel
def job_kernel(game, rule, search: ProofSearch, base, begin, until):
    """Search below the ply `base`, whose state, key and thresholds are on the line, until `until` nodes have been
    visited; returns whether the job has ended.

    Then its numbers are those of the chosen child in the row above `base`, and all nodes of the line are in the table.
    """
    line, ply = search.line, search.line.place[0]
    if begin:
        ply = base
        open_node(game, rule, search, base)
    ply = search_below(game, rule, search, ply, base, until)
    line.place[0] = ply
    return ply < base
