"""The processes of SPDF-PN, with one table for all, which needs no lock (agents/core/transposition_table.py).

The process that gives jobs out keeps all that a job needs, so that it can be done again if its process dies.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from arena.agents.core.pool import CONTEXT, Pool
from arena.agents.core.solve import Goal
from arena.agents.core.transposition_table import Table, clear, table_in, table_words
from arena.agents.knowledge import tablebase as tables
from arena.agents.proof.dfpn_family import DISPROOF, PROOF, ProofSearch
from arena.agents.proof.numbers import DRAWS, NODES, new_counts
from arena.agents.proof.spdfpn_jobs import LOOK, JobSearch, new_proof_search, numbers_of_job
from arena.agents.proof.top import job_kernel
from arena.games.core.shared.system import sharing

AHEAD = 2  # jobs of a process: one under way, one waiting


class Job(NamedTuple):
    """A node for a process to search, with its place on the line that led there."""

    line: int  # its number, as of a worker
    goal: Goal
    state: np.ndarray
    key: int
    ply: int
    limits: tuple[int, int]
    nodes: int


class Crew:
    """One solver's memory: processes, and their table, which is empty at first."""

    def __init__(self, game, agent):
        self.team = Team.take(self, game, replace(agent, nodes=None, seconds=None))
        self.table = self.team.table
        clear(self.table)
        self.team.open()


class Team(Pool):
    """The processes of one agent for one game, with their table, and the word that stops their jobs.

    The shared memory is a file without a name, gone with the last process that has it.
    """

    def __init__(self, game, agent):
        with sharing():
            memory = CONTEXT.RawArray("q", table_words(agent.table, agent.scheme)), CONTEXT.RawArray("q", 1)
        self.table, self.stop = shared_table(memory, agent)
        warm(game, agent)  # compiled once here; processes find it on disk
        super().__init__("spdfpn search", agent.workers, begin, game, agent, memory)

    def drain(self) -> None:
        """Stop the jobs, and wait until all have stopped."""
        self.stop[0] = 1
        while any(self.given):
            for number, _ in self.wait():
                self.given[number].pop(0)


class ProcessSearch(JobSearch):
    """Line i is for the jobs of process i % workers."""

    def __init__(self, agent, game, memory, state, task, counts):
        super().__init__(agent, game, memory.table, state, task, counts)
        self.memory, self.team = memory, memory.team
        self.team.open()
        self.team.stop[0], self.idle = 0, list(range(AHEAD * agent.workers))

    def run(self, nodes):
        with self.team.ended_by_errors():
            return super().run(nodes)

    def close(self):
        with self.team.ended_by_errors():
            self.team.drain()
        self.jobs = {}

    def next_idle(self):
        given = self.team.given
        number = min(self.idle, key=lambda line: (len(given[line % len(given)]), line))
        self.idle.remove(number)
        return number

    def begin_job(self, number, nodes, found):
        if found:
            line, (ply, allowed) = self.workers[number].search.line, self.jobs[number]
            limits = int(line.limit[ply, PROOF]), int(line.limit[ply, DISPROOF])
            state, key = line.states[ply].copy(), int(line.key[ply])
            job = Job(number, self.task.goal, state, key, ply, limits, allowed)
            self.team.give(number % self.team.workers, job)

    def serve(self):
        for process, (proof, disproof, nodes, draws) in self.team.wait():
            number = self.team.given[process].pop(0).line
            self.idle.append(number)
            self.counts[NODES] += nodes
            self.counts[DRAWS] += draws
            self.finish(number, (proof, disproof), nodes)


def shared_table(memory, agent) -> tuple[Table, np.ndarray]:
    """The table in shared memory, and the word that stops jobs."""
    room, stop = (np.frombuffer(part, np.int64) for part in memory)
    return table_in(room, agent.scheme), stop


def warm(game, agent) -> None:
    """Compile or load all that a search needs, by a few jobs."""
    solo = replace(agent, workers=1, simulated=False, job=1, table=0.01, nodes=None, seconds=None)
    task = solo.task(Goal(1.0), tables.no_endgames())
    solo.new_search(game, solo.new_memory(game), game.initial(), task, new_counts(None)).run(9 * game.max_moves)


def begin(number, game, agent, memory):
    """The function of a process that yields what a job has found."""
    table, stop = shared_table(memory, agent)
    endgames = tables.load(agent.tablebase, game) if agent.tablebase else tables.no_endgames()
    warm(game, agent)
    task, rule = agent.task(Goal(1.0), endgames), agent.rule()
    search = new_proof_search(game, table, game.initial(), task, new_counts(0))

    def work(job):
        yield done(game, rule, search._replace(task=task._replace(goal=job.goal)), job, stop)

    return work


def done(game, rule, search: ProofSearch, job: Job, stop) -> tuple[int, int, int, int]:
    """Do a job; returns (proof, disproof, nodes, draws)."""
    line, counts = search.line, search.counts
    line.states[job.ply], line.key[job.ply], line.limit[job.ply] = job.state, job.key, job.limits
    line.chosen[job.ply - 1] = 0
    counts[:] = 0, 0, job.nodes
    begin, ended = True, False
    while not ended and not stop[0]:
        ended = job_kernel(game, rule, search, job.ply, begin, int(counts[NODES]) + LOOK)
        begin = False
    return *numbers_of_job(search, job.ply), int(counts[NODES]), int(counts[DRAWS])
