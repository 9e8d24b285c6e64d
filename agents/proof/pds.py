"""PDS: proof-number and disproof-number search (Nagai, "A new AND/OR tree search algorithm using proof number and
disproof number", 1998).

Depth-first, with a threshold for each number, and iterative deepening at every node: a node is left when it is settled
or both numbers have reached their thresholds.  The thresholds of the root, and of each chosen child, are its numbers,
the smaller one raised by one, or by the share epsilon if that is more: the easier of proof and disproof is tried first.
The child of least proof number is chosen at an OR node, of least disproof number at an AND node.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.proof.dfpn_family import DISPROOF, PROOF, DepthFirstProver, ThresholdRule, beyond
from arena.games.core.jit import helper


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

    def child_limits(self, task, line, ply, or_node, numbers):
        chosen = line.chosen[ply]
        return raised(line.proof[ply, chosen], line.disproof[ply, chosen], task.epsilon)


@helper
def raised(proof, disproof, epsilon):
    """The next thresholds of a node with these numbers: the smaller one is raised."""
    return (beyond(proof, epsilon), disproof) if proof <= disproof else (proof, beyond(disproof, epsilon))
