"""PN*: depth-first search with a threshold on the proof number alone (Seo, Iida & Uiterwijk, "The PN*-search algorithm:
application to tsume-shogi", 2001).

The threshold of the root is 2, then 3, 4 and so on, until the root is settled.  Below a node of threshold P

    at an OR node     min(P, p2 + 1), where p2 is the second least proof number of its children
    at an AND node    P - (sum of the children's proof numbers) + that of the chosen child

At an OR node the child of least proof number is chosen; at an AND node, where all must be proved, that of the largest,
which reaches the threshold soonest.  Disproof numbers matter only as disproofs.  Thresholds grow by the share epsilon
if it is more than one.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.proof.dfpn_family import PROOF, DepthFirstProver, ThresholdRule, beyond, least_two, remainder
from arena.agents.proof.numbers import INFINITE


@dataclass(frozen=True)
class PNStar(DepthFirstProver):
    """Depth-first search for a proof by growing thresholds on the proof number."""

    name: ClassVar[str] = "pnstar"

    def rule(self):
        return PNStarRule()


@dataclass(frozen=True)
class PNStarRule(ThresholdRule):
    """The threshold of the proof number binds; that of the disproof number is infinite."""

    def root_limits(self):
        return 2, INFINITE

    def raised_limits(self, task, proof, disproof):
        return beyond(proof, task.epsilon), INFINITE

    def is_left(self, proof, disproof, limit):
        return proof >= limit[PROOF]

    def select(self, line, ply, or_node):
        if or_node:
            return least_two(line.proof[ply], line.total[ply])[0]
        hardest, most = 0, 0
        for i in range(line.total[ply]):
            if line.proof[ply, i] > most:
                hardest, most = i, line.proof[ply, i]
        return hardest

    def child_limits(self, task, line, ply, or_node, numbers):
        limit, total, chosen = line.limit[ply, PROOF], line.total[ply], line.chosen[ply]
        if or_node:
            return min(limit, beyond(least_two(line.proof[ply], total)[1], task.epsilon)), INFINITE
        return remainder(task, limit, numbers[0], line.proof[ply], total, chosen), INFINITE
