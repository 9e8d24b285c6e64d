"""Parallel df-pn: threads that search in one transposition table, kept apart by virtual numbers (Kaneko, "Parallel
depth first proof number search", 2010; Kishimoto & Kotani, "Parallel AND/OR tree search based on proof and disproof
numbers", 1999).

Each thread searches the same position by the same rule.  While it is below a node it leaves a mark there, and takes the
mark back when it leaves the node, whichever way.  To the others each mark makes the number by which the child is
chosen larger by a share of itself, so that they go elsewhere where a sibling is about as good.  Marks affect choices
alone: numbers are stored, and nodes settled, without them.

The table needs no lock (agents/core/table.py).  What other threads have found is read anew from it before each choice.
From time to time all threads begin at the root again, so that none stays below a node that another has settled.
"""

import numpy as np

from agents.core.table import new_counts as new_table_counts
from agents.core.threads import Threads
from agents.proof.depthfirst import DepthFirstProof, new_line, numbers_of, scratch_of, threshold_kernel
from agents.proof.marks import PLACES_BITS, Marks
from agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts


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
        settled = (search for search in self.searches if 0 in numbers_of(self.game, search.line))
        self.search = next(settled, self.searches[0])
        return int(self.counts[NODES]) - before

    def bytes(self):
        return super().bytes() * self.agent.workers + self.busy.nbytes
