"""ParaPDS: PDS by several workers (Kishimoto & Kotani, "Parallel AND/OR tree search based on proof and disproof
numbers", 1999).

Theirs are processes that get parts of the tree from a master; ours are threads or simulated workers in one
transposition table, kept apart by marks (agents/proof/parallel_dfpn.py), by the rules of PDS (agents/proof/pds.py).
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.proof.parallel_dfpn import SharedProver, SharedRule
from arena.agents.proof.pds import PDSRule


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
