"""Parallel depth-first search: threads in one transposition table, kept apart by virtual numbers (Kaneko, "Parallel
depth first proof number search", 2010).  `dfpn(workers=2)` and `parapds` are such searches.

Each thread searches the same position by the same rule.  While it is below a node it leaves a mark there, and takes the
mark back when it leaves the node, whichever way.  To the others each mark makes the number by which the child is
chosen larger by a share of itself, so that they go elsewhere where a sibling is about as good.  Marks affect choices
alone: numbers are stored, and nodes settled, without them.

The table needs no lock (agents/core/table.py).  What other threads have found is read anew from it before each choice.
From time to time all threads begin at the root again, so that none stays below a node that another has settled.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.core.table import new_counts as new_table_counts
from agents.core.table import probe
from agents.core.threads import Threads
from agents.proof.depthfirst import (
    DISPROOF,
    PROOF,
    DepthFirstProof,
    ThresholdRule,
    new_line,
    numbers_of,
    scratch_of,
    threshold_kernel,
)
from agents.proof.marks import PLACES_BITS, Marks, add_marks, mark, take_marks
from agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts


@dataclass(frozen=True)
class SharedRule(ThresholdRule):
    """What threads that share a table do besides; named before a serial rule."""

    shared: ClassVar[bool] = True
    goes_back: ClassVar[bool] = True

    def limits_beside_others(self, line, ply, limits):
        """The thresholds of the chosen child of the node at `ply`, from those that its rule sets."""
        return limits

    def choose(self, search, ply, or_node, numbers):
        line, total = search.line, search.line.total[ply]
        own = line.proof[ply] if or_node else line.disproof[ply]
        add_marks(search.marks, line.keys[ply], own, total)
        line.chosen[ply] = self.select(line, ply, or_node)
        limits = self.child_limits(search.task, line, ply, or_node, numbers)
        take_marks(search.marks, own, total)
        limits = self.limits_beside_others(line, ply, limits)
        line.limit[ply + 1, PROOF], line.limit[ply + 1, DISPROOF] = limits

    def mark(self, search, key, change):
        mark(search.marks, key, change)

    def refresh(self, search, ply):
        line = search.line
        for i in range(line.total[ply]):
            if line.proof[ply, i] != 0 and line.disproof[ply, i] != 0:
                held, proof, disproof = probe(search.table, line.keys[ply, i])
                if held:
                    line.proof[ply, i], line.disproof[ply, i] = proof, disproof


class SharedProof(DepthFirstProof):
    """A line for each thread, through one table."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.threads = Threads(agent.workers)
        self.busy = np.zeros(1 << PLACES_BITS, np.int32)
        self.searches = [self.search_of_thread(state) for _ in range(agent.workers)]
        self.search = self.searches[0]

    def search_of_thread(self, state):
        """A search in the same table, with all else of its own."""
        line, marks = new_line(self.game, state), Marks(self.busy, np.zeros(self.game.max_moves, np.int32))
        return self.search._replace(
            table=self.search.table._replace(counts=new_table_counts()),
            line=line,
            scratch=scratch_of(line),
            marks=marks,
            counts=new_counts(int(self.counts[LIMIT]) // self.agent.workers),
        )

    def run(self, nodes):
        if 0 in self.numbers():
            return 0
        before = int(self.counts[NODES])
        share = max(1, nodes // self.agent.workers)

        def work(i):
            search = self.searches[i]
            threshold_kernel(self.game, self.rule, search, search.counts[NODES] + share)

        self.threads.run(work)
        for kind in (NODES, DRAWS):
            self.counts[kind] = sum(search.counts[kind] for search in self.searches)
        settled = (search for search in self.searches if 0 in numbers_of(self.game, search))
        self.search = next(settled, self.searches[0])
        return int(self.counts[NODES]) - before

    def bytes(self):
        return super().bytes() * self.agent.workers + self.busy.nbytes
