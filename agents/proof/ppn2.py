"""PPN2: job-level proof-number search whose jobs are proof-number searches (Saffidine, Jouandeau & Cazenave, "Solving
Breakthrough with race patterns and job-level proof number search", 2011).

A job reports its numbers while it works, so that the server sees its leaf as it is, and can cancel it once its leaf has
lost importance.  All else is as in JL-PNS (agents/proof/jlpns.py).
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.core.agent import Unsuited
from arena.agents.proof.jlpns import JLPNS
from arena.agents.proof.proof_agent import ProofAgent


@dataclass(frozen=True)
class PPN2(JLPNS):
    """JL-PNS whose jobs are proof-number searches that tell their numbers as they go on.

    job: a proof-number search
    report: nodes of a job between two reports; 0: a quarter of the job's
    """

    job: str = "pns"
    report: int = 0

    name: ClassVar[str] = "ppn2"
    ranges: ClassVar[dict] = {"report": (0, 1 << 29)}
    streams: ClassVar[bool] = True

    @property
    def every(self):
        return min(self.report, self.nodes_of_job) or max(1, self.nodes_of_job // 4)

    def job_agent(self):
        agent = super().job_agent()
        if not isinstance(agent, ProofAgent):
            raise Unsuited(f"job = {self.job!r} tells no proof and disproof numbers; pns, dfpn and others do")
        return agent
