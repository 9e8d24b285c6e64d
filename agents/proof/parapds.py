"""ParaPDS: PDS by several workers (Kishimoto & Kotani, "Parallel AND/OR tree search based on proof and disproof
numbers", 1999).

Theirs are processes, to which a master hands out parts of the tree.  Here they are threads that search the same
position in one transposition table, and keep out of each other's way by marks (agents/proof/parallel_dfpn.py); each
follows the rules of PDS (agents/proof/pds.py).  For games of two players without chance.
"""

from dataclasses import dataclass
from typing import ClassVar

from agents.core.threads import Threaded
from agents.proof.depthfirst import DepthFirstProof
from agents.proof.parallel_dfpn import SharedProof, SharedRule
from agents.proof.pds import PDS, PDSRule


@dataclass(frozen=True)
class ParaPDS(Threaded, PDS):
    """PDS by threads in one table.

    workers: threads
    """

    workers: int = 2

    name: ClassVar[str] = "parapds"

    def rule(self):
        return PDSRule() if self.workers == 1 else SharedPDSRule()

    def new_search(self, game, memory, state, task, counts):
        search = DepthFirstProof if self.workers == 1 else SharedProof
        return search(self, game, memory, state, task, counts)


@dataclass(frozen=True)
class SharedPDSRule(SharedRule, PDSRule):
    """PDS for threads that share a table."""
