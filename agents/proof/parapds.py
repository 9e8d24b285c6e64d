"""ParaPDS: PDS by several workers (Kishimoto & Kotani, "Parallel AND/OR tree search based on proof and disproof
numbers", 1999).

Theirs are processes, to which a master hands out parts of the tree.  Here they are threads, or simulated workers, that
search the same position in one transposition table, and keep out of each other's way by marks
(agents/proof/parallel_dfpn.py); each follows the rules of PDS (agents/proof/pds.py).  For games of two players without
chance.
"""

from dataclasses import dataclass
from typing import ClassVar

from agents.proof.parallel_dfpn import SharedProver, SharedRule
from agents.proof.pds import PDSRule


@dataclass(frozen=True)
class ParaPDS(SharedProver):
    """PDS by several workers in one table."""

    workers: int = 2

    name: ClassVar[str] = "parapds"

    def serial_rule(self):
        return PDSRule()

    def shared_rule(self):
        return SharedPDSRule()


@dataclass(frozen=True)
class SharedPDSRule(SharedRule, PDSRule):
    """PDS for threads that share a table."""
