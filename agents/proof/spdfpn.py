"""SPDF-PN: df-pn by jobs in one transposition table (Pawlewicz & Hayward, "Scalable parallel DFPN search", 2013).

A worker descends from the root to a node that has cost fewer nodes than a job may (agents/proof/top.py).  There it
searches by df-pn, with the 1 + eps thresholds of the descent, until the node reaches them, is settled, or the job's
nodes are spent.  Meanwhile the others take the node for decided and search elsewhere.

Workers are processes (spdfpn_processes.py), or simulated in virtual time; a single one needs no process.  In the paper
each worker looks for its jobs under a lock; here one process does this for all (spdfpn_jobs.py).
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.core.threads import Simulable
from arena.agents.core.transposition_table import ROW_BYTES, filled
from arena.agents.proof.dfpn import DFPNRule
from arena.agents.proof.dfpn_family import DepthFirstProver
from arena.agents.proof.jobs import LONG_JOB, SHORT_JOB
from arena.agents.proof.spdfpn_jobs import VirtualSearch
from arena.agents.proof.spdfpn_processes import Crew, ProcessSearch
from arena.agents.proof.top import Options

VIRTUAL = ("likelier", "both")


@dataclass(frozen=True)
class SPDFPN(Simulable, DepthFirstProver):
    """df-pn by jobs, in a table that processes share.

    workers: processes; or with `simulated`, workers in virtual time: deterministic, on one core, up to 1024
    job: the nodes of a job; 0: 50,000, or 1,000 with simulated workers, which wait for no messages
    virtual: what a node counts as while a worker is on it: won or lost, whichever its numbers make `likelier`, or
        `both`, so that neither side wants it
    simulated: workers in virtual time instead of processes
    """

    epsilon: float = 0.25
    workers: int = 2
    job: int = 0
    virtual: str = "likelier"
    simulated: bool = False

    name: ClassVar[str] = "spdfpn"
    ranges: ClassVar[dict] = {"job": (0, 1 << 40)}
    choices: ClassVar[dict] = {"virtual": VIRTUAL}

    def rule(self):
        return JobRule()

    def options(self) -> Options:
        return Options(self.nodes_of_job, self.virtual == "both")

    @property
    def nodes_of_job(self) -> int:
        return self.job or (SHORT_JOB if self.simulated else LONG_JOB)

    def new_memory(self, game):
        if self.cores == 1:
            return super().new_memory(game)
        return Crew(game, self)

    def memory_bytes(self, memory):
        return ROW_BYTES * filled(memory.table if isinstance(memory, Crew) else memory)

    def new_search(self, game, memory, state, task, counts):
        if isinstance(memory, Crew):
            return ProcessSearch(self, game, memory, state, task, counts)
        return VirtualSearch(self, game, memory, state, task, counts)


@dataclass(frozen=True)
class JobRule(DFPNRule):
    """df-pn that stores the numbers of its line when its nodes are spent."""

    goes_back: ClassVar[bool] = True
