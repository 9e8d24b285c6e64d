"""PDS: proof-number and disproof-number search (Nagai, "A new AND/OR tree search algorithm using proof number and
disproof number", 1998).

Depth-first, with a threshold for each number, and iterative deepening at every node: a node is left when it is settled
or both of its numbers have reached their thresholds.  The thresholds of the root, and of each child that is chosen, are
the numbers that it has, the smaller of the two raised by one: what looks easier, to prove or to disprove, is tried
first.  The child of least proof number is chosen at an OR node, of least disproof number at an AND node.  With epsilon
above 0 it is raised by that share where it is more than one.  For games of two players without chance.
"""

from dataclasses import dataclass
from typing import ClassVar

from agents.proof.depthfirst import DISPROOF, PROOF, DepthFirstProver, ThresholdRule, beyond, least_two
from games.core.jit import helper


@dataclass(frozen=True)
class PDS(DepthFirstProver):
    """Depth-first search by growing thresholds on both numbers."""

    name: ClassVar[str] = "pds"

    def rule(self):
        return PDSRule()


@dataclass(frozen=True)
class PDSRule(ThresholdRule):
    """A node is left when both thresholds are reached."""

    def root_limits(self):
        return 1, 1

    def raised_limits(self, task, proof, disproof):
        return raised(proof, disproof, task.epsilon)

    def is_left(self, proof, disproof, limit):
        return proof >= limit[PROOF] and disproof >= limit[DISPROOF]

    def select(self, line, ply, or_node):
        return least_two(line.proof[ply] if or_node else line.disproof[ply], line.total[ply])[0]

    def child_limits(self, task, line, ply, or_node, numbers):
        chosen = line.chosen[ply]
        return raised(line.proof[ply, chosen], line.disproof[ply, chosen], task.epsilon)


@helper
def raised(proof, disproof, epsilon):
    """The next thresholds of a node with these numbers: one is raised, the smaller."""
    return (beyond(proof, epsilon), disproof) if proof <= disproof else (proof, beyond(disproof, epsilon))
