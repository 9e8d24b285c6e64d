"""JL-PNS: job-level proof-number search (Wu, Lin, Sun, Kao, Lin, Chan & Chen, "Job-level proof number search", 2013).

The leaves of a server's tree (agents/proof/joblevel.py) are jobs for workers (agents/proof/jobs.py): bounded searches
by any agent that solves.  A job settles its leaf or finds its children's numbers; where it has none, the children get
the first numbers of new leaves.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Agent, Unsuited, registry
from arena.agents.core.threads import Simulable
from arena.agents.proof.bestfirst import ROOT
from arena.agents.proof.joblevel import (
    POLICIES,
    SERVER_BYTES,
    Policy,
    give_out_kernel,
    grow_kernel,
    matter_kernel,
    new_server,
    number_kernel,
)
from arena.agents.proof.jobs import (
    LONG_JOB,
    SHORT_JOB,
    Executor,
    Job,
    ProcessWorkers,
    Report,
    VirtualWorkers,
    Workplace,
)
from arena.agents.proof.numbers import DRAWS, LIMIT, NODES
from arena.agents.proof.pns import PNS, TreeProof
from arena.agents.proof.proof_agent import ProofAgent
from arena.games.core.game import check_choice, check_range
from arena.games.core.shared.errors import UserError

SLICE = 1 << 16  # nodes of a process between two messages: a cancelled job ends after no more


@dataclass(frozen=True)
class JLPNS(Simulable, PNS):
    """Proof-number search whose leaves are searched by workers.

    workers: processes, but none for one worker; or with `simulated`, workers in virtual time, up to 1024
    simulated: workers in virtual time instead of processes: deterministic, on one core
    latency: what a job of simulated workers takes, in addition to its nodes
    job: the agent that searches a leaf
    job_nodes: the nodes of a job; 0: 50,000, or 1,000 with simulated workers, which wait for no messages
    policy: what other workers take a leaf in flight for: a win, a loss, or its equivalent
    flagging: pass by nodes below which all open leaves are in flight
    postponed: give the new children of a node out one at a time
    """

    workers: int = 1
    simulated: bool = False
    latency: int = 0
    job: str = "dfpn(table=1)"
    job_nodes: int = 0
    policy: str = "equivalence"
    flagging: bool = True
    postponed: bool = False

    name: ClassVar[str] = "jlpns"
    streams: ClassVar[bool] = False  # whether the server uses the numbers of unfinished jobs

    def __post_init__(self):
        super().__post_init__()
        check_range("latency", self.latency, 0, 1 << 40)
        check_range("job_nodes", self.job_nodes, 0, 1 << 29)
        check_choice("policy", self.policy, POLICIES)
        if self.latency and not self.simulated:
            raise ValueError(f"latency = {self.latency} goes with simulated = true: that of processes is what it is")
        if self.policy == "equivalence" and not self.flagging:
            raise ValueError("flagging = false goes with policy = 'win' or 'loss': an equivalent would be chosen again")

    @property
    def nodes_of_job(self) -> int:
        return self.job_nodes or (SHORT_JOB if self.simulated else LONG_JOB)

    @property
    def every(self) -> int:
        return min(SLICE, self.nodes_of_job) if self.in_processes else self.nodes_of_job

    @property
    def in_processes(self) -> bool:
        return self.workers > 1 and not self.simulated

    def job_agent(self) -> Agent:
        """The agent of the jobs, with the server's end-game table; raises Unsuited if it cannot be one."""
        agent = registry.make(self.job)
        if not agent.solves or isinstance(agent, JLPNS):
            raise Unsuited(f"job = {self.job!r} is no agent that solves in one piece, such as dfpn, pns or alphabeta")
        if agent.own_budget().given():
            raise Unsuited(f"job = {self.job!r} has a budget of its own; job_nodes says how many nodes it visits")
        if isinstance(agent, ProofAgent) and self.tablebase and not agent.tablebase:
            return replace(agent, tablebase=self.tablebase)
        return agent

    def files(self):
        return super().files() + registry.make(self.job).files()

    def misfit(self, game):
        try:
            return super().misfit(game) or self.job_agent().refuses(game)
        except UserError as error:
            return str(error)

    def policy_of_leaves(self) -> Policy:
        return Policy(POLICIES[self.policy], self.flagging, self.postponed)

    def workplace(self, game) -> Workplace:
        return Workplace.sized(game, self.job_agent(), self.nodes_of_job)

    def new_memory(self, game) -> Executor:
        place = self.workplace(game)
        if self.in_processes:
            return ProcessWorkers(place, self.workers)
        return VirtualWorkers(place, self.workers, self.latency)

    def new_search(self, game, memory, state, task, counts):
        return JobProof(self, game, memory, state, task, counts)


@dataclass
class Flight:
    """A job in flight."""

    leaf: int
    ply: int
    job: Job
    reserved: int  # nodes of the budget held for it and its leaf's children


class JobProof(TreeProof):
    """The server, and its jobs in flight."""

    def __init__(self, agent, game, executor: Executor, state, task, counts):
        super().__init__(agent, game, state, task, counts)
        self.executor, self.server = executor, new_server(self.search, agent.policy_of_leaves())
        self.in_flight: dict[int, Flight] = {}  # by job number
        self.number = self.most_bytes = 0
        self.begun = executor.clock if agent.simulated else None

    def virtual_time(self):
        return None if self.begun is None else self.executor.clock - self.begun

    def run(self, nodes):
        before = int(self.counts[NODES])
        try:
            while 0 not in self.numbers() and self.counts[NODES] < before + nodes:
                while self.executor.free and self.give_out():
                    pass
                if not self.in_flight:
                    break
                for report in self.executor.wait():
                    if report.job in self.in_flight:
                        self.take(report)
        except BaseException:  # such as Ctrl-C: no process may be left
            self.in_flight.clear()
            self.executor.close()
            raise
        return int(self.counts[NODES]) - before

    def give_out(self) -> bool:
        """Begin one more job, if there is a leaf and room for it."""
        tree, most = self.tree, self.game.max_moves
        left = int(self.counts[LIMIT] - self.counts[NODES]) - sum(one.reserved for one in self.in_flight.values())
        if left < 2 * most or tree.size[0] + (len(self.in_flight) + 1) * most > len(tree.proof):
            return False
        leaf, ply = give_out_kernel(self.game, self.server)
        if leaf < 0:
            return False
        goal, agent = self.search.task.goal, self.agent
        if goal.plies <= self.game.max_plies:
            goal = goal._replace(plies=goal.plies - ply)
        limit = min(agent.nodes_of_job + most, left - most)
        self.number += 1
        state = self.search.line.states[ply].copy()
        job = Job(self.number, state, goal, limit, min(agent.nodes_of_job, limit), agent.every)
        self.in_flight[job.number] = Flight(leaf, ply, job, limit + most)
        self.executor.begin(job)
        return True

    def take(self, report: Report) -> None:
        flight = self.in_flight[report.job]
        flight.reserved -= report.nodes
        self.counts[NODES] += report.nodes
        self.counts[DRAWS] += report.draws
        self.most_bytes = max(self.most_bytes, report.bytes)
        if report.done:
            del self.in_flight[report.job]
        settled = report.numbers is not None and 0 in report.numbers
        # of settled positions, only the root needs moves, as part of the answer
        grows = len(report.answer.move) > 0 and flight.leaf == ROOT if settled else report.done
        if grows:
            grow_kernel(self.game, self.server, flight.leaf, flight.ply, flight.job.state, report.answer)
        elif report.numbers is not None and (settled or self.agent.streams):
            number_kernel(self.game, self.server, flight.leaf, *report.numbers, not report.done)
        if settled and self.agent.streams:
            self.cancel_the_unimportant()

    def cancel_the_unimportant(self) -> None:
        flights = list(self.in_flight.items())
        found = np.zeros(len(flights), np.bool_)
        matter_kernel(self.game, self.server, np.array([flight.leaf for _, flight in flights], np.int64), found)
        for (number, flight), matters in zip(flights, found):
            if not matters:
                self.cancel(number)
                numbers = self.tree.proof[flight.leaf], self.tree.disproof[flight.leaf]
                number_kernel(self.game, self.server, flight.leaf, *map(int, numbers), False)

    def cancel(self, number: int) -> None:
        self.counts[NODES] += self.executor.cancel(number)
        del self.in_flight[number]

    def close(self):
        for number in list(self.in_flight):
            self.cancel(number)

    def bytes(self):
        return super().bytes() + SERVER_BYTES * int(self.tree.size[0]) + self.most_bytes * self.agent.workers
