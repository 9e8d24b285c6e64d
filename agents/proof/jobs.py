"""Jobs: bounded searches of positions, and the workers that do them.

What a job finds is a function of its position, its goal and its limits: it begins with empty tables, whoever does it.
So it can be given out again when its worker dies, and it makes no difference which worker has it.

Executors, of which a server needs no more than this:

    free          how many workers have no job
    begin(job)    give a job to one of them
    wait()        the reports that have come; there is at least one
    cancel(n)     nobody wants the job of that number any more; returns nodes of it that no report will count
    close()       end the workers, whatever they do
    clock         virtual time; None where time is real
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from heapq import heappop, heappush
from multiprocessing import connection as pipes
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from agents.core import processes
from agents.core.agent import Agent, Budget
from agents.core.solve import Goal, Unsolved
from agents.knowledge import tablebase as tables
from agents.proof.joblevel import Answer
from agents.proof.numbers import DRAWS, INFINITE, NODES, new_counts
from agents.proof.proof_agent import ProofAgent
from games.core.errors import UserError

NAME = "job worker"  # of the processes
SHORT_JOB, LONG_JOB = 1000, 50_000  # nodes; a message between processes takes as long as some thousand nodes
LEAST_TREE = 1000  # the smallest max_nodes of an agent
MOST_DEATHS = 20  # of processes with one job, in a row, until it is held to be their cause


class JobError(UserError, RuntimeError):
    """A job that cannot be done; the message says why."""


class Job(NamedTuple):
    """A position to be searched."""

    number: int
    state: np.ndarray  # dtype[state_size]
    goal: Goal  # with the plies that are left from there
    limit: int  # nodes that may be visited
    nodes: int  # that are wanted, at most `limit`
    every: int  # nodes between two reports


class Report(NamedTuple):
    """How far a job is."""

    job: int
    numbers: tuple[int, int] | None  # proof and disproof number; None if the search has none
    nodes: int  # since the report before
    draws: int
    answer: Answer  # with the last report, as far as the search knows it
    done: bool
    bytes: int  # the search's own memory


class Executor(Protocol):
    """Does jobs; see above."""

    @property
    def clock(self) -> int | None: ...

    @property
    def free(self) -> int: ...

    def begin(self, job: Job) -> None: ...

    def wait(self) -> list[Report]: ...

    def cancel(self, number: int) -> int: ...

    def close(self) -> None: ...


def no_answer() -> Answer:
    """No moves."""
    return Answer(*(np.empty(0, np.int32) for _ in Answer._fields))


class Workplace:
    """Begins jobs of one game, by the searches of one agent."""

    def __init__(self, game, agent: Agent, nodes: int):
        self.game, self.agent = game, sized(agent, nodes + 2 * game.max_moves)
        table = getattr(agent, "tablebase", "")
        self.endgames = tables.load(table, game) if table else tables.no_endgames()

    def begin(self, job: Job) -> Callable[[], Report]:
        """A function that goes on with the job to its next report."""
        return (ProofJob if isinstance(self.agent, ProofAgent) else AnyJob)(self, job)


def sized(agent: Any, nodes: int) -> Any:
    """The agent with trees of no more nodes than a job needs."""
    most = getattr(agent, "max_nodes", 0)
    return replace(agent, max_nodes=min(most, max(LEAST_TREE, nodes))) if most else agent


class ProofJob:
    """A proof-number search, which tells its numbers as it goes on."""

    def __init__(self, place: Workplace, job: Job):
        self.job, self.counts = job, new_counts(job.limit)
        agent, game = place.agent, place.game
        assert isinstance(agent, ProofAgent)
        memory, task = agent.new_memory(game), agent.task(job.goal, place.endgames)
        self.search = agent.new_search(game, memory, job.state.copy(), task, self.counts)
        self.bytes = lambda: self.search.bytes() + agent.memory_bytes(memory)

    def __call__(self):
        nodes, draws = int(self.counts[NODES]), int(self.counts[DRAWS])
        ran = self.search.run(min(self.job.every, self.job.nodes - nodes))
        numbers, visited = self.search.numbers(), int(self.counts[NODES])
        done = ran == 0 or 0 in numbers or visited >= self.job.nodes
        answer = Answer(*(np.array(column, np.int32) for column in self.search.moves())) if done else no_answer()
        spent = visited - nodes, int(self.counts[DRAWS]) - draws
        return Report(self.job.number, numbers, *spent, answer, done, self.bytes() if done else 0)


class AnyJob:
    """A search of another kind, which has an answer in the end, or none."""

    def __init__(self, place: Workplace, job: Job):
        self.job = job
        self.solver = place.agent.new_solver(place.game, Budget(nodes=job.nodes))

    def __call__(self):
        job, solver, numbers, answer = self.job, self.solver, None, no_answer()
        with suppress(Unsolved):
            found = solver.settle(job.state, job.goal)
            numbers = (0, INFINITE) if found.holds else (INFINITE, 0)
            if found.move is not None:
                answer = Answer(*(np.array([one], np.int32) for one in (found.move, *numbers)))
        return Report(job.number, numbers, solver.nodes, int(solver.may_draw()), answer, True, solver.peak_bytes())


class VirtualWorkers:
    """Workers in virtual time, on the core that calls: a job takes its nodes, and `latency` besides.

    Reports come in the order of virtual time, and where that is the same, in the order in which they were begun.
    """

    def __init__(self, place: Workplace, workers: int, latency: int):
        self.place, self.workers, self.latency = place, workers, latency
        self.clock, self._begun = 0, 0
        self._events: list[tuple] = []  # a heap of (time, number, report), of the jobs' next reports
        self._jobs: dict[int, tuple] = {}  # number -> (how it goes on, since when, its next report)

    @property
    def free(self):
        return self.workers - len(self._jobs)

    def begin(self, job):
        self._go_on(job.number, self.place.begin(job), self.clock + self.latency)

    def _go_on(self, number, run, start):
        report = run()
        self._begun += 1
        heappush(self._events, (start + report.nodes, self._begun, report))
        self._jobs[number] = run, start, report

    def wait(self):
        while True:
            time, _, report = heappop(self._events)
            if report.job in self._jobs:
                break
        self.clock = time
        run, _, _ = self._jobs.pop(report.job)
        if not report.done:
            self._go_on(report.job, run, self.clock)
        return [report]

    def cancel(self, number):
        _, start, report = self._jobs.pop(number)
        return max(0, min(report.nodes, self.clock - start))

    def close(self):
        self._jobs.clear()
        self._events.clear()


class ProcessWorkers:
    """Processes on this machine.  One that dies costs its job, which another begins anew.

    They start with the first job, and are kept for the next executor of the kind; they end with this process.
    """

    clock: int | None = None
    idle: ClassVar[dict[tuple, list["ProcessWorkers"]]] = {}  # those that nobody uses, by what they are for

    @classmethod
    def take(cls, place: Workplace, workers: int) -> "ProcessWorkers":
        """Processes that nobody uses, or new ones."""
        key = os.getpid(), place.game, place.agent, workers
        waiting = cls.idle.get(key, [])
        return waiting.pop() if waiting else cls(key, place)

    def __init__(self, key: tuple, place: Workplace):
        self.key, self.place, self.workers = key, place, key[-1]
        self.team: list[processes.Helping] = []
        self._jobs: list[Job | None] = [None] * self.workers  # of each process
        self._suspect: int | None = None  # the job that the last one had that died
        self._deaths = 0  # in a row with that job

    def give_back(self) -> None:
        """Let others have the processes."""
        if self.team:
            self.idle.setdefault(self.key, []).append(self)

    @property
    def free(self):
        return self._jobs.count(None)

    def begin(self, job):
        if not self.team:
            self._compile(job)
            self.team = [self._started() for _ in range(self.workers)]
        self._send(self._jobs.index(None), job)

    def _compile(self, job):
        """Compile here what a job needs, so that the processes find it on disk."""
        self.place.begin(job._replace(limit=job.limit - job.nodes + 1, nodes=1, every=1))()

    def _started(self):
        return processes.start(serve, self.place, name=NAME)

    def _send(self, worker, job):
        self._jobs[worker] = job
        with suppress(OSError):  # of a process that has died, which its sentinel says too
            self.team[worker].pipe.send(job)

    def wait(self):
        found: list[Report] = []
        while not found:
            ready = pipes.wait([end for one in self.team for end in (one.pipe, one.process.sentinel)])
            for worker, one in enumerate(self.team):
                if one.pipe in ready:
                    found += self._received(worker)
                elif one.process.sentinel in ready:
                    self._replace(worker)
        return found

    def _received(self, worker) -> list[Report]:
        """What a process says, unless it is about a job that nobody wants any more."""
        try:
            report = self.team[worker].pipe.recv()
        except (EOFError, OSError):
            self._replace(worker)
            return []
        if isinstance(report, Exception):
            raise report
        job = self._jobs[worker]
        if job is None or report.job != job.number:
            return []
        if report.done:
            self._jobs[worker] = None
        return [report]

    def _replace(self, worker):
        """Start a process in the place of one that has died, and give it the same job; JobError if it is of no use.

        That is so where no signal has ended it, but an error of its own, and where one job has ended many.
        """
        one, job = self.team[worker], self._jobs[worker]
        processes.end([one])
        code, number = one.process.exitcode, job and job.number
        if self._suspect != number:
            self._suspect, self._deaths = number, 0
        self._deaths += 1
        if code >= 0 or self._deaths > MOST_DEATHS:
            raise JobError(f"a process of the job-level search died (exit code {code}), and so would another one")
        self.team[worker] = self._started()
        if job is not None:
            self._send(worker, job)

    def cancel(self, number):
        for worker, job in enumerate(self._jobs):
            if job is not None and job.number == number:
                self._jobs[worker] = None
                with suppress(OSError):
                    self.team[worker].pipe.send(number)
        return 0

    def close(self):
        processes.end(self.team)
        self.team, self._jobs = [], [None] * self.workers


def serve(pipe, place: Workplace) -> None:
    """What a process does: one job after the other, until the pipe is closed.  A number says that its job is over."""
    processes.guard()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            job = pipe.recv()
            if isinstance(job, Job):
                _serve_job(pipe, place, job)


def _serve_job(pipe, place, job) -> None:
    """Do a job, as long as nothing else comes."""
    try:
        run, done = place.begin(job), False
        while not done and not pipe.poll():
            report = run()
            done = report.done
            pipe.send(report)
    except (EOFError, OSError):
        raise
    except Exception as error:
        pipe.send(JobError(f"{type(error).__name__} in a process of the job-level search: {error}"))
