"""df-pn: depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees and its applications",
2002), with the 1 + eps thresholds of Pawlewicz & Lew, "Improving depth-first PN-search: 1+eps trick", 2007.

At an OR node with thresholds P and D, whose best child c1 has the least proof number, p1, and whose next best has p2,
the search goes on in c1 with the thresholds

    proof       min(P, max(p2 + 1, (1 + eps) p2))
    disproof    D - (sum of the children's disproof numbers) + that of c1

and at an AND node with the two numbers exchanged.  So it stays below c1 as long as the most-proving leaf is there, and
with eps a little longer, to switch between children less often.  For games of two players without chance.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.core.table import probe
from agents.core.threads import Threaded
from agents.proof.depthfirst import (
    DISPROOF,
    PROOF,
    DepthFirstProof,
    DepthFirstProver,
    ThresholdRule,
    least_two,
    remainder,
)
from agents.proof.marks import add_marks, mark, take_marks
from agents.proof.numbers import INFINITE
from agents.proof.parallel_dfpn import SharedProof
from games.core.game import check_range
from games.core.jit import helper


@dataclass(frozen=True)
class DFPN(Threaded, DepthFirstProver):
    """Depth-first proof-number search.

    epsilon: 0 follows the most-proving leaf exactly
    workers: threads that search in one table (agents/proof/parallel_dfpn.py)
    """

    epsilon: float = 0.25
    workers: int = 1

    name: ClassVar[str] = "dfpn"

    def __post_init__(self):
        super().__post_init__()
        check_range("epsilon", self.epsilon, 0, 10)

    def task(self, goal, endgames):
        return super().task(goal, endgames)._replace(epsilon=self.epsilon)

    def rule(self):
        return DFPNRule() if self.workers == 1 else SharedDFPNRule()

    def new_search(self, game, memory, state, task, counts):
        search = DepthFirstProof if self.workers == 1 else SharedProof
        return search(self, game, memory, state, task, counts)


@dataclass(frozen=True)
class DFPNRule(ThresholdRule):
    """Both thresholds bind, and are infinite at the root."""

    def root_limits(self):
        return INFINITE, INFINITE

    def raised_limits(self, proof, disproof):
        return INFINITE, INFINITE

    def is_left(self, proof, disproof, limit):
        return proof >= limit[PROOF] or disproof >= limit[DISPROOF]

    def select(self, line, ply, or_node):
        return least_two(line.proof[ply] if or_node else line.disproof[ply], line.total[ply])[0]

    def child_limits(self, task, line, ply, or_node, numbers):
        limit, chosen, (proof, disproof) = line.limit[ply], line.chosen[ply], numbers
        if or_node:
            second = least_two(line.proof[ply], line.total[ply])[1]
            below = remainder(limit[DISPROOF], disproof, line.disproof[ply, chosen])
            return min(limit[PROOF], beyond(second, task.epsilon)), below
        second = least_two(line.disproof[ply], line.total[ply])[1]
        below = remainder(limit[PROOF], proof, line.proof[ply, chosen])
        return below, min(limit[DISPROOF], beyond(second, task.epsilon))


@dataclass(frozen=True)
class SharedDFPNRule(DFPNRule):
    """The same for threads that share a table (agents/proof/parallel_dfpn.py)."""

    shared: ClassVar[bool] = True

    def choose(self, search, ply, or_node, numbers):
        line, total = search.line, search.line.total[ply]
        own = line.proof[ply] if or_node else line.disproof[ply]
        add_marks(search.marks, line.keys[ply], own, total)
        chosen = self.select(line, ply, or_node)
        line.chosen[ply] = chosen
        proof, disproof = self.child_limits(search.task, line, ply, or_node, numbers)
        take_marks(search.marks, own, total)
        # whatever marks have made of the choice, the child is searched until its numbers grow
        line.limit[ply + 1, PROOF] = max(proof, np.int64(line.proof[ply, chosen]) + 1)
        line.limit[ply + 1, DISPROOF] = max(disproof, np.int64(line.disproof[ply, chosen]) + 1)

    def mark(self, search, key, change):
        mark(search.marks, key, change)

    def refresh(self, search, ply):
        line = search.line
        for i in range(line.total[ply]):
            if line.proof[ply, i] != 0 and line.disproof[ply, i] != 0:
                held, proof, disproof = probe(search.table, line.keys[ply, i])
                if held:
                    line.proof[ply, i], line.disproof[ply, i] = proof, disproof


@helper
def beyond(second, epsilon):
    """The number at which the search turns to the second best child."""
    return max(second + 1, np.int64(np.ceil(second * (1.0 + epsilon))))
