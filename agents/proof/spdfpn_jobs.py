"""How SPDF-PN gives out jobs: to workers in virtual time, or to processes (spdfpn_processes.py).

The unit of virtual time is a node: each node that a worker visits, for its jobs or on the way to them, takes one, in
slices of SLICE.  Waiting for a lock is not simulated.
"""

from dataclasses import dataclass
from typing import NamedTuple

from arena.agents.core.transposition_table import new_counts as new_table_counts
from arena.agents.core.virtual import VirtualClock
from arena.agents.proof.bestfirst import new_proof_tree
from arena.agents.proof.dfpn_family import ProofSearch, new_line, scratch_of
from arena.agents.proof.marks import no_marks
from arena.agents.proof.numbers import LIMIT, NODES, new_counts
from arena.agents.proof.proof_agent import Search
from arena.agents.proof.top import (
    NOWHERE,
    Way,
    finish_kernel,
    job_kernel,
    new_top,
    new_way,
    root_kernel,
    seek_kernel,
    top_bytes,
    with_room,
)

SLICE = 1000  # nodes of a job in virtual time between two looks at the others
LOOK = 8192  # nodes of a job in real time between two looks at whether to stop


class Worker(NamedTuple):
    """A worker's line to its job, and in virtual time through it."""

    search: ProofSearch
    way: Way


def new_proof_search(game, table, state, task, counts) -> ProofSearch:
    """A search with a new line from a state, which counts in `counts`."""
    line, second = new_line(game, state), new_proof_tree(game.max_moves + 1, graph=True)
    own = table._replace(counts=new_table_counts())
    return ProofSearch(task, own, second, line, scratch_of(line), no_marks(), counts)


class JobSearch(Search):
    """Gives out jobs.  `counts` are of the whole search; each job in progress holds a part of the budget."""

    def __init__(self, agent, game, table, state, task, counts):
        self.agent, self.game, self.table, self.state, self.task = agent, game, table, state, task
        self.rule, self.options, self.counts = agent.rule(), agent.options(), counts
        self.top, self.own = new_top(), new_counts(int(counts[LIMIT]))  # own: of the top alone
        self.workers: dict[int, Worker] = {}
        self.jobs: dict[int, tuple[int, int]] = {}  # worker -> ply and nodes of its job
        self.idle = list(range(agent.workers))
        self.found = 1, 1  # the root's real numbers
        self.last = self.worker(0)  # whose line has the root's newest numbers

    def worker(self, number) -> Worker:
        """Worker `number`, whose arrays are made when first needed."""
        if number not in self.workers:
            search = new_proof_search(self.game, self.table, self.state, self.task, self.own)
            self.workers[number] = Worker(search, new_way(search.line))
        return self.workers[number]

    def seek(self, number) -> bool:
        worker = self.last = self.worker(number)
        self.top = with_room(self.game, self.top)
        before = self.own.copy()
        ply = seek_kernel(self.game, self.rule, worker.search, worker.way, self.top, self.options)
        self.counts[:LIMIT] += (self.own - before)[:LIMIT]
        if ply == NOWHERE:
            self.found = root_kernel(self.game, worker.search, worker.way)
            return False
        nodes = int(min(self.own[LIMIT] - self.own[NODES], self.agent.nodes_of_job + self.game.max_moves))
        self.jobs[number] = ply, 0
        if nodes < self.game.max_moves:
            self.finish(number, (1, 1), 0)
            return False
        self.jobs[number] = ply, nodes
        self.own[LIMIT] -= nodes
        return True

    def finish(self, number, numbers, nodes) -> None:
        """Take the numbers of a worker's job, which visited that many nodes: 0 for one that was not done."""
        worker = self.last = self.worker(number)
        ply, allowed = self.jobs.pop(number)
        self.own[LIMIT] += allowed - nodes
        finish_kernel(self.game, worker.search, worker.way, self.top, ply, numbers, nodes, self.options)
        self.found = root_kernel(self.game, worker.search, worker.way)

    def run(self, nodes):
        before = int(self.counts[NODES])
        while 0 not in self.numbers() and self.counts[NODES] - before < nodes:
            self.begin_jobs()
            if not self.jobs:
                break
            self.serve()
        return int(self.counts[NODES]) - before

    def begin_jobs(self) -> None:
        found = True
        while self.idle and found:
            number, before = self.next_idle(), int(self.own[NODES])
            found = self.seek(number)
            if not found:
                self.idle.append(number)
            self.begin_job(number, int(self.own[NODES]) - before, found)

    def next_idle(self) -> int:
        return self.idle.pop(self.idle.index(min(self.idle)))

    def begin_job(self, number: int, nodes: int, found: bool) -> None:
        """Begin a worker's job; the worker visited that many nodes to find it, or found none."""
        raise NotImplementedError

    def serve(self) -> None:
        """Wait for the next event, and take what jobs have found."""
        raise NotImplementedError

    def numbers(self):
        return self.found

    def moves(self):
        (search, way), count = self.last, int(self.last.search.line.total[0])
        return tuple(column[0, :count] for column in (search.line.moves, way.proof, way.disproof))

    def bytes(self):
        search, way = self.last
        line = sum(column.nbytes for column in (*search.line, *search.scratch, *way))
        return top_bytes(self.top) + len(self.workers) * line


@dataclass
class Stage:
    """The state of a job in virtual time."""

    search: ProofSearch  # on the worker's line
    begun: bool = False
    ended: bool = False


class VirtualSearch(JobSearch):
    """A search by workers in virtual time, or by a single worker."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.clock, self.stages = VirtualClock(), dict[int, Stage]()  # the stage of each worker's last job

    def begin_job(self, number, nodes, found):
        if found:
            search = self.workers[number].search._replace(counts=new_counts(self.jobs[number][1]))
            self.stages[number] = Stage(search)
            self.clock.plan(nodes, number)
        elif 0 in self.numbers():
            self.clock.now += nodes

    def serve(self):
        number = self.clock.next()
        stage, (ply, _) = self.stages[number], self.jobs[number]
        counts = stage.search.counts
        if stage.ended:
            self.finish(number, numbers_of_job(stage.search, ply), int(counts[NODES]))
            self.idle.append(number)
            return
        before = counts.copy()
        until = int(before[NODES]) + (SLICE if self.agent.simulated else LOOK)
        stage.ended = job_kernel(self.game, self.rule, stage.search, ply, not stage.begun, until)
        stage.begun = True
        self.counts[:LIMIT] += (counts - before)[:LIMIT]
        self.clock.plan(int(counts[NODES] - before[NODES]), number)

    def virtual_time(self):
        return self.clock.now if self.agent.simulated else None


def numbers_of_job(search: ProofSearch, ply: int) -> tuple[int, int]:
    """The numbers that an ended job at `ply` has found."""
    line, chosen = search.line, search.line.chosen[ply - 1]
    return int(line.proof[ply - 1, chosen]), int(line.disproof[ply - 1, chosen])
