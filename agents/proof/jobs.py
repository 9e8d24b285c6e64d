"""Jobs: bounded searches of positions, and the workers that do them.

A job begins with empty tables, so what it finds does not depend on its worker; if that dies, another can do it.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from arena.agents.core.agent import Budget
from arena.agents.core.pool import Pool
from arena.agents.core.solve import Goal, Unsolved
from arena.agents.core.virtual import VirtualClock
from arena.agents.knowledge import tablebase as tables
from arena.agents.proof.joblevel import LeafMoves
from arena.agents.proof.numbers import DRAWS, INFINITE, NODES, new_counts
from arena.agents.proof.proof_agent import ProofAgent

SHORT_JOB, LONG_JOB = 1000, 50_000  # nodes; a message takes as long as a few thousand
LEAST_TREE = 1000  # the smallest max_nodes of an agent


class Job(NamedTuple):
    """A position to be searched."""

    number: int
    state: np.ndarray  # dtype[state_size]
    goal: Goal  # with the plies left from there
    limit: int  # nodes that may be visited
    nodes: int  # after which it ends, at most `limit`
    every: int  # nodes between two reports


class Report(NamedTuple):
    """How far a job is."""

    job: int
    numbers: tuple[int, int] | None  # proof and disproof number; None if the search has none
    nodes: int  # since the last report
    draws: int
    answer: LeafMoves  # with the last report, as far as the search knows it
    done: bool
    bytes: int  # the search's own memory


class Executor(Protocol):
    """Has workers that do jobs."""

    @property
    def clock(self) -> int | None:
        """Virtual time; None where time is real."""

    @property
    def free(self) -> int:
        """How many workers have no job."""

    def begin(self, job: Job) -> None:
        """Give a job to a free worker."""

    def wait(self) -> list[Report]:
        """The reports that have come, at least one."""

    def cancel(self, number: int) -> int:
        """Drop the job of that number; returns its nodes that no report will count."""

    def close(self) -> None:
        """End the workers at once."""


def no_moves() -> LeafMoves:
    """No moves."""
    return LeafMoves(*(np.empty(0, np.int32) for _ in LeafMoves._fields))


@dataclass(frozen=True)
class Workplace:
    """Begins jobs of one game by one agent's searches."""

    game: Any
    agent: Any

    @classmethod
    def sized(cls, game, agent: Any, nodes: int) -> "Workplace":
        """A place whose trees have no more nodes than a job of that many needs."""
        if most := getattr(agent, "max_nodes", 0):
            agent = replace(agent, max_nodes=min(most, max(LEAST_TREE, nodes + 2 * game.max_moves)))
        return cls(game, agent)

    @cached_property
    def endgames(self):
        table = getattr(self.agent, "tablebase", "")
        return tables.load(table, self.game) if table else tables.no_endgames()

    def begin(self, job: Job) -> Callable[[], Report]:
        """Begin a job; the function returned continues it to its next report."""
        return (ProofJob if isinstance(self.agent, ProofAgent) else AnyJob)(self, job)


class ProofJob:
    """A proof-number search, which reports its numbers now and then."""

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
        answer = LeafMoves(*(np.array(column, np.int32) for column in self.search.moves())) if done else no_moves()
        spent = visited - nodes, int(self.counts[DRAWS]) - draws
        return Report(self.job.number, numbers, *spent, answer, done, self.bytes() if done else 0)


class AnyJob:
    """A search with at most a final answer."""

    def __init__(self, place: Workplace, job: Job):
        self.job = job
        self.solver = place.agent.new_solver(place.game, Budget(nodes=job.nodes))

    def __call__(self):
        job, solver, numbers, answer = self.job, self.solver, None, no_moves()
        with suppress(Unsolved):
            found = solver.settle(job.state, job.goal)
            numbers = (0, INFINITE) if found.holds else (INFINITE, 0)
            if found.move is not None:
                answer = LeafMoves(*(np.array([one], np.int32) for one in (found.move, *numbers)))
        return Report(job.number, numbers, solver.nodes, int(solver.may_draw()), answer, True, solver.peak_bytes())


class VirtualWorkers:
    """Workers in virtual time: a job takes as long as its nodes, plus `latency`.

    Simultaneous reports come in the order in which their work began.
    """

    def __init__(self, place: Workplace, workers: int, latency: int):
        self.place, self.workers, self.latency = place, workers, latency
        self.time, self._begun = VirtualClock(), 0
        self._jobs: dict[int, tuple] = {}  # number -> (function that continues it, start, next report)

    @property
    def clock(self):
        return self.time.now

    @property
    def free(self):
        return self.workers - len(self._jobs)

    def begin(self, job):
        self._go_on(job.number, self.place.begin(job), self.latency)

    def _go_on(self, number, run, delay):
        report = run()
        self._begun += 1
        self.time.plan(delay + report.nodes, (self._begun, report))
        self._jobs[number] = run, self.clock + delay, report

    def wait(self):
        _, report = self.time.next()
        while report.job not in self._jobs:  # cancelled
            _, report = self.time.next()
        run, _, _ = self._jobs.pop(report.job)
        if not report.done:
            self._go_on(report.job, run, 0)
        return [report]

    def cancel(self, number):
        _, start, report = self._jobs.pop(number)
        return max(0, min(report.nodes, self.clock - start))

    def close(self):
        self._jobs.clear()
        self.time.events.clear()


class JobPool(Pool):
    """Processes that do jobs of one kind."""

    def __init__(self, game, agent, workers: int):
        super().__init__("job-level search", workers, begin, Workplace(game, agent))


class ProcessWorkers:
    """Processes on this machine, started with the first job."""

    clock: int | None = None

    def __init__(self, place: Workplace, workers: int):
        self.place, self.pool = place, JobPool.take(self, place.game, place.agent, workers)

    @property
    def free(self):
        return self.pool.given.count([])

    def begin(self, job):
        if not self.pool.team:  # compiled once here; processes find it on disk
            self.place.begin(job._replace(limit=job.limit - job.nodes + 1, nodes=1, every=1))()
        self.pool.open()
        self.pool.give(self.pool.given.index([]), job)

    def wait(self):
        found: list[Report] = []
        while not found:
            for worker, report in self.pool.wait():
                given = self.pool.given[worker]
                if given and report.job == given[0].number:  # not cancelled
                    found.append(report)
                    if report.done:
                        given.clear()
        return found

    def cancel(self, number):
        for worker, given in enumerate(self.pool.given):
            if given and given[0].number == number:
                given.clear()
                self.pool.send(worker, number)
        return 0

    def close(self):
        self.pool.close()


def begin(number, place: Workplace):
    """The function of a process that yields a job's reports; the number of a cancelled job only interrupts it."""

    def work(given):
        if isinstance(given, Job):
            run = place.begin(given)
            while not (report := run()).done:
                yield report
            yield report

    return work
