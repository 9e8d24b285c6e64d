"""SPDF-PN: df-pn by jobs in one transposition table (Pawlewicz & Hayward, "Scalable parallel DFPN search", 2013).

A worker goes down from the root to a node that has cost fewer nodes than a job may (agents/proof/top.py), and searches
there by df-pn with the 1 + eps thresholds that the way down gave, until the node reaches them, is settled, or the job's
nodes are spent.  While it is there, others take the node for decided and go elsewhere.

Workers are processes.  The table lies in memory that they share, and needs no lock (agents/core/table.py).  This
process gives jobs out and takes their numbers back, as one worker after the other does under a lock in the paper; so
all that is needed to give a job again, when its process dies, is here.  One worker needs no process of its own.

Simulated workers are served in the order of a virtual clock, whose unit is the time of a node: what takes a worker time
is what it visits, in jobs, in slices of SLICE nodes, and on its way to them.  Waiting for a lock is not simulated.
"""

import contextlib
import heapq
import multiprocessing
import os
import weakref
from collections import Counter, deque
from dataclasses import dataclass, replace
from multiprocessing import connection as pipes
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.core import processes
from agents.core.solve import Goal
from agents.core.table import ROW_BYTES, Table, clear, filled, table_in, table_words
from agents.core.table import new_counts as new_table_counts
from agents.core.threads import Simulable
from agents.knowledge import tablebase as tables
from agents.proof.bestfirst import new_proof_tree
from agents.proof.depthfirst import DISPROOF, PROOF, DepthFirstProver, ProofSearch, new_line, scratch_of
from agents.proof.dfpn import DFPNRule
from agents.proof.jobs import LONG_JOB, SHORT_JOB
from agents.proof.marks import no_marks
from agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts
from agents.proof.proof_agent import Search
from agents.proof.top import (
    NOWHERE,
    Options,
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
from games.core.game import check_choice, check_range

SLICE = 1000  # nodes of a job in virtual time between two looks at what others do
LOOK = 8192  # nodes of a process between two looks at whether it is to stop
VIRTUAL = ("likelier", "both")
NAME = "spdfpn worker"  # of the processes
READY = "ready"  # the first message of a process
LOST = 1, 1, 0, 0  # what has come of a job whose process has died
AHEAD = 2  # jobs of a process, of which one waits, so that the process need not
MOST_DEATHS, MOST_EARLY = 100, 5  # of processes in one search; of those not ready yet, one after the other


@dataclass(frozen=True)
class SPDFPN(Simulable, DepthFirstProver):
    """df-pn by jobs, in a table that processes share.

    workers: processes; or with `simulated`, workers in virtual time: deterministic, on one core, up to 1024
    job: the nodes of a job; 0: 50,000, or 1,000 for simulated workers, who wait for no messages
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

    def __post_init__(self):
        super().__post_init__()
        check_range("job", self.job, 0, 1 << 40)
        check_choice("virtual", self.virtual, VIRTUAL)

    def rule(self):
        return JobRule()

    def options(self) -> Options:
        """What its kernels are told."""
        return Options(self.nodes_of_job, self.virtual == "both")

    @property
    def nodes_of_job(self) -> int:
        """The nodes of a job."""
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
    """df-pn that stores what it knows when its nodes are spent."""

    goes_back: ClassVar[bool] = True


class Worker(NamedTuple):
    """A worker's line, from the root to its job, and in virtual time through the job."""

    search: ProofSearch
    way: Way


def new_proof_search(game, table, state, task, counts) -> ProofSearch:
    """A search of one level with a new line from a state, which counts in `counts`."""
    line, second = new_line(game, state), new_proof_tree(game.max_moves + 1, graph=True)
    own = table._replace(counts=new_table_counts())
    return ProofSearch(task, own, second, line, scratch_of(line), no_marks(), counts)


class JobSearch(Search):
    """Gives out jobs.  `counts` are those of the whole search; jobs that are not done have a part of the budget."""

    def __init__(self, agent, game, table, state, task, counts):
        self.agent, self.game, self.table, self.state, self.task = agent, game, table, state, task
        self.rule, self.options, self.counts = agent.rule(), agent.options(), counts
        self.top, self.own = new_top(), new_counts(int(counts[LIMIT]))  # own: of the top alone
        self.workers: dict[int, Worker] = {}
        self.jobs: dict[int, tuple[int, int]] = {}  # of each worker that has one: its ply, and the nodes it may visit
        self.idle = list(range(agent.workers))  # a heap
        self.found = 1, 1  # the root's real numbers
        self.last = self.worker(0)  # whose line has the root's newest numbers

    def worker(self, number) -> Worker:
        """Worker `number`, whose arrays are made when it is first needed."""
        if number not in self.workers:
            search = new_proof_search(self.game, self.table, self.state, self.task, self.own)
            self.workers[number] = Worker(search, new_way(search.line))
        return self.workers[number]

    def seek(self, number) -> bool:
        """Find a job for a worker; returns whether there is one."""
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
        """Take the numbers of a worker's job, found in so many nodes; 0 nodes for a job that is lost."""
        worker = self.last = self.worker(number)
        ply, allowed = self.jobs.pop(number)
        self.own[LIMIT] += allowed - nodes
        finish_kernel(self.game, worker.search, worker.way, self.top, ply, numbers, nodes, self.options)
        self.found = root_kernel(self.game, worker.search, worker.way)

    def run(self, nodes):
        before = int(self.counts[NODES])
        while 0 not in self.numbers() and self.counts[NODES] - before < nodes:
            self.begin_jobs()
            if not self.goes_on():
                break
            self.serve()
        return int(self.counts[NODES]) - before

    def begin_jobs(self) -> None:
        """Let idle workers begin jobs, as many as there are."""
        found = True
        while self.idle and found:
            number, before = self.next_idle(), int(self.own[NODES])
            found = self.seek(number)
            if not found:
                heapq.heappush(self.idle, number)
            self.begin_job(number, int(self.own[NODES]) - before, found)

    def next_idle(self) -> int:
        """Take the worker who is to have the next job out of `idle`."""
        return heapq.heappop(self.idle)

    def begin_job(self, number: int, nodes: int, found: bool) -> None:
        """Begin the job that a worker has found, or has not, in so many nodes."""
        raise NotImplementedError

    def goes_on(self) -> bool:
        """Whether there is anything to wait for."""
        return bool(self.jobs)

    def serve(self) -> None:
        """Go on with what comes next."""
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
    """How far a job in virtual time is."""

    search: ProofSearch  # on the worker's line
    begun: bool = False
    ended: bool = False


class VirtualSearch(JobSearch):
    """By workers in virtual time, or by one worker."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.now, self.events = 0, list[tuple[int, int]]()  # what comes next: when, and by whom
        self.stages: dict[int, Stage] = {}

    def begin_job(self, number, nodes, found):
        if found:
            search = self.workers[number].search._replace(counts=new_counts(self.jobs[number][1]))
            self.stages[number] = Stage(search)
            heapq.heappush(self.events, (self.now + nodes, number))
        elif 0 in self.numbers():
            self.now += nodes

    def serve(self):
        self.now, number = heapq.heappop(self.events)
        stage, (ply, _) = self.stages[number], self.jobs[number]
        counts = stage.search.counts
        if stage.ended:
            self.finish(number, numbers_of_job(stage.search, ply), int(counts[NODES]))
            heapq.heappush(self.idle, number)
            return
        before = counts.copy()
        until = int(before[NODES]) + (SLICE if self.agent.simulated else LOOK)
        stage.ended = job_kernel(self.game, self.rule, stage.search, ply, not stage.begun, until)
        stage.begun = True
        self.counts[:LIMIT] += (counts - before)[:LIMIT]
        heapq.heappush(self.events, (self.now + int(counts[NODES] - before[NODES]), number))

    def virtual_time(self):
        return self.now if self.agent.simulated else None


def numbers_of_job(search: ProofSearch, ply: int) -> tuple[int, int]:
    """What a job at `ply` that has ended has found."""
    line, chosen = search.line, search.line.chosen[ply - 1]
    return int(line.proof[ply - 1, chosen]), int(line.disproof[ply - 1, chosen])


# -- Processes ---------------------------------------------------------------------------------------------------------


class Job(NamedTuple):
    """What a process is told."""

    goal: Goal
    state: np.ndarray
    key: int
    ply: int
    limits: tuple[int, int]
    nodes: int


class Crew:
    """The table and the processes of one user, who gives them back when it is forgotten."""

    def __init__(self, game, agent):
        self.team = WorkerTeam.take(game, agent)
        self.table = self.team.table
        weakref.finalize(self, self.team.give_back).atexit = False


class WorkerTeam:
    """The processes of one agent for one game, with the table that they share, and what tells them to stop.

    They are kept for the next user, and end with the process that made them.  The memory is a file that has lost its
    name before it is used: whoever dies, none is left.
    """

    free: ClassVar[dict[tuple, list["WorkerTeam"]]] = {}  # those that nobody uses, by what they are for

    @classmethod
    def take(cls, game, agent) -> "WorkerTeam":
        """Processes that are free, or new ones, with an empty table."""
        # a process that was forked from this one must not take this one's
        key = (os.getpid(), game, replace(agent, nodes=None, seconds=None))
        waiting = cls.free.get(key, [])
        team = waiting.pop() if waiting else cls(key, game, agent)
        team.open()
        return team

    def give_back(self) -> None:
        """Let another user have it."""
        if self.pipes:
            self.free.setdefault(self.key, []).append(self)

    def __init__(self, key, game, agent):
        self.key, self.game, self.agent = key, game, agent
        context = multiprocessing.get_context("spawn")
        self.memory = context.RawArray("q", table_words(agent.table, agent.scheme)), context.RawArray("q", 1)
        self.table, self.stop = shared_table(self.memory, agent)
        self.processes: list[Any] = []
        self.pipes: list[Any] = []
        self.ready: set[int] = set()
        self.deaths = self.early = 0  # of processes in this search; of those that were not ready, one after another
        warm(game, agent)  # compiled here once, so that the processes find it on disk

    def open(self) -> None:
        """Begin with an empty table, and processes that are ready."""
        clear(self.table)
        self.deaths = self.early = 0
        if not self.pipes:
            self.processes, self.ready = [], set()
        try:
            for number in range(len(self.pipes), self.agent.workers):
                self.begin(number)
            while len(self.ready) < self.agent.workers:
                self.listen()
        except BaseException:
            self.close()
            raise

    def begin(self, number) -> None:
        """Start a process, or another one in its place."""
        self.ready.discard(number)
        started = processes.start(serve, self.game, self.agent, self.memory, name=f"{NAME} {number}")
        self.processes[number : number + 1], self.pipes[number : number + 1] = [started.process], [started.pipe]

    def tell(self, number, job: Job) -> None:
        """Give a process a job."""
        with contextlib.suppress(OSError):  # of a process that has died, which its sentinel says too
            self.pipes[number].send(job)

    def listen(self) -> list[tuple[int, Any]]:
        """Wait for processes; returns who has ended a job and what it found, READY, or None of one that has died."""
        answers: list[tuple[int, Any]] = []
        sentinels = [process.sentinel for process in self.processes]
        spoken = pipes.wait([*self.pipes, *sentinels])
        for number, pipe in enumerate(list(self.pipes)):
            answer = answer_from(pipe) if pipe in spoken else None
            if answer is not None:
                self.ready.add(number)
                self.early = 0
                answers.append((number, answer))
            elif sentinels[number] in spoken:
                answers.append((number, None))
                self.replace(number)
        return answers

    def replace(self, number) -> None:
        """Start a process in the place of one that has died; RuntimeError if that does not help."""
        self.deaths += 1
        self.early += number not in self.ready
        process = self.processes[number]
        process.join()
        if self.early > MOST_EARLY or self.deaths > MOST_DEATHS:
            raise RuntimeError(f"processes of spdfpn die again and again (the last with exit code {process.exitcode})")
        self.pipes[number].close()
        self.begin(number)

    def drain(self, waiting: Counter[int]) -> None:
        """Stop the jobs that have not ended: so many of each process."""
        self.stop[0] = 1
        while +waiting and self.pipes:  # + leaves out processes without jobs
            for number, answer in self.listen():
                waiting[number] = 0 if answer is None else waiting[number] - 1
        self.stop[0] = 0

    def close(self) -> None:
        """End the processes."""
        processes.end(map(processes.Helping, self.processes, self.pipes))
        self.pipes = []


def answer_from(pipe) -> Any:
    """What a process says; None if it has died."""
    try:
        answer = pipe.recv()
    except (EOFError, OSError):
        return None
    if isinstance(answer, Exception):
        raise answer
    return answer


class ProcessSearch(JobSearch):
    """By processes."""

    def __init__(self, agent, game, crew, state, task, counts):
        super().__init__(agent, game, crew.table, state, task, counts)
        self.crew, self.team = crew, crew.team
        if not self.team.pipes:
            self.team.open()
        self.team.deaths, self.idle = 0, list[int]()
        self.waiting = [deque[int]() for _ in range(agent.workers)]  # the lines of the jobs of each process, in order
        for number in self.team.ready:
            self.rest(number)

    def rest(self, number: int) -> None:
        """Let a process without jobs have some; each that it can have has a line of its own."""
        for line in range(number, AHEAD * self.agent.workers, self.agent.workers):
            heapq.heappush(self.idle, line)

    def run(self, nodes):
        with self.ended_by_errors():
            return super().run(nodes)

    def close(self):
        with self.ended_by_errors():
            self.team.drain(Counter({number: len(lines) for number, lines in enumerate(self.waiting)}))
        self.jobs = {}

    @contextlib.contextmanager
    def ended_by_errors(self):
        """End the processes where they, or Ctrl-C, end the search: nobody knows what is still in the pipes."""
        try:
            yield
        except BaseException:
            self.team.close()
            raise

    def next_idle(self):
        number = min(self.idle, key=lambda line: (len(self.waiting[line % self.agent.workers]), line))
        self.idle.remove(number)
        heapq.heapify(self.idle)
        return number

    def begin_job(self, number, nodes, found):
        if found:
            line, (ply, allowed) = self.workers[number].search.line, self.jobs[number]
            limits = int(line.limit[ply, PROOF]), int(line.limit[ply, DISPROOF])
            job = Job(self.task.goal, line.states[ply].copy(), int(line.key[ply]), ply, limits, allowed)
            self.waiting[number % self.agent.workers].append(number)
            self.team.tell(number % self.agent.workers, job)

    def goes_on(self):
        return super().goes_on() or len(self.team.ready) < self.agent.workers

    def serve(self):
        for number, answer in self.team.listen():
            lines = self.waiting[number]
            if answer is None:
                while lines:
                    self.give_back(lines.popleft(), LOST)
                self.idle = sorted(line for line in self.idle if line % self.agent.workers != number)
            elif answer == READY:
                self.rest(number)
            else:
                heapq.heappush(self.idle, lines[0])
                self.give_back(lines.popleft(), answer)

    def give_back(self, line: int, answer: tuple) -> None:
        """Take what has come of a job."""
        proof, disproof, nodes, draws = answer
        self.counts[NODES] += nodes
        self.counts[DRAWS] += draws
        self.finish(line, (proof, disproof), nodes)


def shared_table(memory, agent) -> tuple[Table, np.ndarray]:
    """The table in memory that is shared, and the word that tells jobs to stop."""
    room, stop = (np.frombuffer(part, np.int64) for part in memory)
    return table_in(room, agent.scheme), stop


def warm(game, agent) -> None:
    """Compile all that a search needs, or load it, by a few jobs."""
    solo = replace(agent, workers=1, simulated=False, job=1, table=0.01, nodes=None, seconds=None)
    task = solo.task(Goal(1.0), tables.no_endgames())
    solo.new_search(game, solo.new_memory(game), game.initial(), task, new_counts(None)).run(9 * game.max_moves)


def serve(pipe, game, agent, memory) -> None:
    """What a process does: one job after the other, until the pipe is closed."""
    processes.guard()
    table, stop = shared_table(memory, agent)
    endgames = tables.load(agent.tablebase, game) if agent.tablebase else tables.no_endgames()
    warm(game, agent)
    task, rule = agent.task(Goal(1.0), endgames), agent.rule()
    search = new_proof_search(game, table, game.initial(), task, new_counts(0))
    try:
        pipe.send(READY)
        while True:
            job = pipe.recv()
            try:
                answer = done(game, rule, search._replace(task=task._replace(goal=job.goal)), job, stop)
                pipe.send(answer)
            except Exception as error:
                pipe.send(RuntimeError(f"{type(error).__name__} in a process of spdfpn: {error}"))
    except (EOFError, BrokenPipeError):
        pass  # the solver is gone


def done(game, rule, search: ProofSearch, job: Job, stop) -> tuple[int, int, int, int]:
    """(proof, disproof, nodes, draws) of a job."""
    line, counts = search.line, search.counts
    line.states[job.ply], line.key[job.ply], line.limit[job.ply] = job.state, job.key, job.limits
    line.chosen[job.ply - 1] = 0
    counts[:] = 0, 0, job.nodes
    begin, ended = True, False
    while not ended and not stop[0]:
        ended = job_kernel(game, rule, search, job.ply, begin, int(counts[NODES]) + LOOK)
        begin = False
    return *numbers_of_job(search, job.ply), int(counts[NODES]), int(counts[DRAWS])
