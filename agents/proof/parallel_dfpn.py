"""Parallel df-pn: threads that search in one transposition table, kept apart by virtual numbers (Kaneko, "Parallel depth
first proof number search", 2010; Kishimoto & Kotani, "Parallel AND/OR tree search based on proof and disproof numbers",
1999).

Each thread searches the same position by the same rule.  While it is below a node it leaves a mark there, and takes the
mark back when it leaves the node, on whatever way.  To the others each mark makes the number by which the child is
chosen larger by a share of itself, so that they go elsewhere where a sibling is about as good.  Marks are in the way of
choices alone: numbers are stored, and nodes settled, without them.

The table needs no lock (agents/core/table.py).  What other threads have found is read anew from it before each choice.
From time to time all threads begin at the root again, so that none stays below a node that another has settled.
"""

from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_load
from agents.core.table import new_counts as new_table_counts
from agents.core.table import probe
from agents.core.threads import Threads
from agents.proof.depthfirst import (
    DISPROOF,
    DONE,
    PROOF,
    DepthFirstProof,
    enter,
    may_visit,
    new_lines,
    open_node,
    table_key,
)
from agents.proof.depthfirst import leave as leave_node
from agents.proof.numbers import DRAWS, INFINITE, LIMIT, MOST, NODES, combine, new_counts
from games.core.jit import helper, kernel
from games.core.random import mix

PLACES_BITS = 16
SHARE = 8  # a mark counts as 1 and an eighth of the number that it is added to
ONE = np.int32(1)


class Marks(NamedTuple):
    """Where threads are, and a thread's own notes."""

    busy: np.ndarray  # int32[2**PLACES_BITS], threads below the nodes whose keys fall on the place; shared by all
    virtual: np.ndarray  # int32[max_moves], what marks add to the children's numbers


class SharedProof(DepthFirstProof):
    """A line for each thread, through one table."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.threads, self.busy = Threads(agent.workers), np.zeros(1 << PLACES_BITS, np.int32)
        self.lines = [self.line, *(new_lines(game) for _ in range(agent.workers - 1))]
        self.own_counts = [new_counts(int(counts[LIMIT]) // agent.workers) for _ in self.lines]
        self.tables = [table._replace(counts=new_table_counts()) for _ in self.lines]
        self.marks = [Marks(self.busy, np.zeros(game.max_moves, np.int32)) for _ in self.lines]
        for line in self.lines:
            line.states[0] = state

    def run(self, nodes):
        if 0 in self.numbers():
            return 0
        before = int(self.counts[NODES])
        share = max(1, nodes // self.agent.workers)

        def work(i):
            arguments = self.lines[i], self.marks[i], self.task, self.own_counts[i]
            shared_kernel(
                self.game, self.rule, self.tables[i], self.second, *arguments, self.own_counts[i][NODES] + share
            )

        self.threads.run(work)
        for kind in (NODES, DRAWS):
            self.counts[kind] = sum(counts[kind] for counts in self.own_counts)
        self.line = next((line for line in self.lines if 0 in self.numbers_of(line)), self.lines[0])
        return int(self.counts[NODES]) - before

    def bytes(self):
        return super().bytes() * self.agent.workers + self.busy.nbytes


@kernel
def shared_kernel(game, rule, table, second, line, marks, task, counts, until):
    """Search from the root until it is settled, `until` positions have been visited or no more may be; then go back to
    the root, storing the numbers of the nodes on the way."""
    if not may_visit(game, counts):
        return
    line.key[0] = table_key(game, task, line, 0)
    line.limit[0, PROOF], line.limit[0, DISPROOF] = rule.root_limits()
    ply = 0
    open_node(game, rule, table, second, line, task, counts, ply)
    while ply != DONE:
        or_node = game.player(line.states[ply]) == 0
        refresh(table, line, ply)
        proof, disproof = combine(line.proof[ply], line.disproof[ply], 0, line.total[ply], or_node)
        over = counts[NODES] >= until or not may_visit(game, counts)
        if over and ply == 0:
            break
        if over or proof == 0 or disproof == 0 or rule.is_left(proof, disproof, line.limit[ply]):
            if ply > 0:
                mark(marks, line.key[ply], -ONE)
            ply = leave_node(rule, table, line, counts, ply, proof, disproof)
        else:
            choose(game, rule, task, line, marks, ply, or_node, proof, disproof)
            enter(game, line, ply)
            mark(marks, line.key[ply + 1], ONE)
            ply += 1
            open_node(game, rule, table, second, line, task, counts, ply)


@helper
def mark(marks, key, change):
    """Put a mark at a node, or take it back."""
    atomic_add(marks.busy, np.int64(mix(key) >> np.uint64(64 - PLACES_BITS)), change)


@helper
def refresh(table, line, ply):
    """Take over what other threads have found of the children of the node at `ply`."""
    for i in range(line.total[ply]):
        if line.proof[ply, i] != 0 and line.disproof[ply, i] != 0:
            held, proof, disproof = probe(table, line.keys[ply, i])
            if held:
                line.proof[ply, i], line.disproof[ply, i] = proof, disproof


@helper
def choose(game, rule, task, line, marks, ply, or_node, proof, disproof):
    """Select a child with the marks in view, and give it thresholds above its own numbers."""
    add_marks(line, marks, ply, or_node)
    chosen = rule.select(line, ply, or_node)
    limits = rule.child_limits(task, line, ply, or_node, chosen, proof, disproof)
    take_marks(line, marks, ply, or_node)
    line.chosen[ply] = chosen
    line.limit[ply + 1, PROOF] = max(limits[0], np.int64(line.proof[ply, chosen]) + 1)
    line.limit[ply + 1, DISPROOF] = max(limits[1], np.int64(line.disproof[ply, chosen]) + 1)


@helper
def add_marks(line, marks, ply, or_node):
    """Raise the children's numbers, of the kind that is chosen by, for the threads below them."""
    numbers = line.proof[ply] if or_node else line.disproof[ply]
    for i in range(line.total[ply]):
        place = np.int64(mix(line.keys[ply, i]) >> np.uint64(64 - PLACES_BITS))
        threads = np.int64(atomic_load(marks.busy, place))
        number = np.int64(numbers[i])
        marks.virtual[i] = 0
        if threads > 0 and 0 < number < INFINITE:
            marks.virtual[i] = min(MOST - number, threads * (1 + number // SHARE))
        numbers[i] += marks.virtual[i]


@helper
def take_marks(line, marks, ply, or_node):
    """Undo `add_marks`."""
    numbers = line.proof[ply] if or_node else line.disproof[ply]
    for i in range(line.total[ply]):
        numbers[i] -= marks.virtual[i]
