"""df-pn: depth-first proof-number search (Nagai, "Df-pn algorithm for searching AND/OR trees and its applications",
2002), with the 1 + eps thresholds of Pawlewicz & Lew, "Improving depth-first PN-search: 1+eps trick", 2007.

At an OR node with thresholds P and D, whose best child c1 has the least proof number, p1, and whose next best has p2,
the search goes on in c1 with the thresholds

    proof       min(P, max(p2 + 1, (1 + eps) p2))
    disproof    D - (sum of the children's disproof numbers) + that of c1

and at an AND node with the two numbers exchanged.  So it stays below c1 as long as the most-proving leaf is there, with
eps a little longer, to switch children less often.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.proof.dfpn_family import DISPROOF, PROOF, ThresholdRule, beyond, least_two, remainder
from arena.agents.proof.numbers import INFINITE
from arena.agents.proof.parallel_dfpn import SharedProver, SharedRule


@dataclass(frozen=True)
class DFPN(SharedProver):
    """Depth-first proof-number search.

    epsilon: 0 follows the most-proving leaf exactly
    """

    epsilon: float = 0.25

    name: ClassVar[str] = "dfpn"

    def serial_rule(self):
        return DFPNRule()

    def shared_rule(self):
        return SharedDFPNRule()


@dataclass(frozen=True)
class DFPNRule(ThresholdRule):
    """Both thresholds bind, and are infinite at the root."""

    def root_limits(self):
        return INFINITE, INFINITE

    def raised_limits(self, task, proof, disproof):
        return INFINITE, INFINITE

    def is_left(self, proof, disproof, limit):
        return proof >= limit[PROOF] or disproof >= limit[DISPROOF]

    def child_limits(self, task, line, ply, or_node, numbers):
        limit, total, chosen, (proof, disproof) = line.limit[ply], line.total[ply], line.chosen[ply], numbers
        if or_node:
            second = least_two(line.proof[ply], total)[1]
            below = remainder(task, limit[DISPROOF], disproof, line.disproof[ply], total, chosen)
            return min(limit[PROOF], beyond(second, task.epsilon)), below
        second = least_two(line.disproof[ply], total)[1]
        below = remainder(task, limit[PROOF], proof, line.proof[ply], total, chosen)
        return below, min(limit[DISPROOF], beyond(second, task.epsilon))


@dataclass(frozen=True)
class SharedDFPNRule(SharedRule, DFPNRule):
    """The rule of df-pn for threads that share a table."""

    def limits_beside_others(self, line, ply, limits):
        # even if marks affected the choice, the child is searched until its numbers grow
        chosen, (proof, disproof) = line.chosen[ply], limits
        return max(proof, np.int64(line.proof[ply, chosen]) + 1), max(
            disproof, np.int64(line.disproof[ply, chosen]) + 1
        )
