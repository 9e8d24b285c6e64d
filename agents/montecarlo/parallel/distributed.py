"""Distributed parallelisation, TDS-df-UCT (Yoshizoe, Kishimoto, Kaneko, Yoshimoto & Ishikawa, "Scalable distributed
Monte-Carlo tree search", 2011), over processes.

Transposition-driven scheduling (Romein, Plaat, Bal & Schaeffer 1999): a position's hash names its home, the process
that keeps its node; a search moves to a position's home, as a message, instead of fetching the node.  For each process
`jobs` searches are under way at once, so that none waits; they count as virtual losses.

df-UCT: a search returns to a node only when it would choose another child there.  For every node of its path it carries
what it knew of the chosen child and of the best other one, and adds its own later results; as long as the chosen child
has the larger bound at all these nodes, it goes on where it is.  Results are counted at a node on the way up; totals
are exact, since every search ends at the root.

A message is a job's number in a process's queue; the job is in shared memory.  The game's 64-bit key alone identifies a
node, shared by all ways to reach the position.
"""

import os
import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.core.pool import CONTEXT, Pool
from arena.agents.core.threads import ThreadedPlayer
from arena.agents.montecarlo.parallel import tds
from arena.agents.montecarlo.parallel.scheme import Scheme
from arena.agents.montecarlo.parallel.shared import SharedOptions
from arena.games.core.game import check_range
from arena.games.core.random import stream
from arena.games.core.shared.system import sharing

ENDLESS = 1 << 62
STEPS = 256  # jobs of a process between two looks at whether the search is over


@dataclass(frozen=True)
class Distributed(Scheme):
    """A tree whose nodes are divided among processes by their hashes.

    workers: processes
    jobs: searches under way, for each process
    max_nodes: of each process
    """

    jobs: int = 10

    name: ClassVar[str] = "distributed"
    without: ClassVar[dict[str, str]] = {"search": ", since its messages carry what plain UCT counts, and no more"}
    needs: ClassVar[Needs] = Needs(chance=False)

    def __post_init__(self):
        super().__post_init__()
        check_range("jobs", self.jobs, 1, 1000)
        if self.simulated:
            raise ValueError("simulated = True: distributed runs on processes only; the other schemes simulate workers")

    def is_serial(self):
        return False

    def options(self) -> SharedOptions:
        return SharedOptions(self.exploration, virtual_loss=1.0)

    def new_player(self, game, budget):
        return DistributedPlayer(self, game, budget)


class DistributedPlayer(ThreadedPlayer):
    """Its processes serve later games, too."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.pool = Searchers.take(self, game, replace(agent, playouts=None, seconds=None, total=False))
        self.pool.open()  # before the first decision's time begins

    def decide(self, state, rng):
        word = int(rng[0])
        rng[0] = stream(word, "next move")[0]
        return self.pool.search(state, word, self.agent.total_playouts(self.budget), self.budget.seconds)


class Searchers(Pool):
    """The processes of one agent for one game, and the memory that they share."""

    def __init__(self, game, agent):
        shapes = tds.shapes(game, agent)
        with sharing():
            memory = {
                name: CONTEXT.RawArray("b", int(np.prod(shape)) * np.dtype(kind).itemsize)
                for name, (shape, kind) in shapes.items()
            }
        self.game, self.jobs = game, jobs_in(memory, shapes)
        # compiled once here; processes find it on disk
        tds.serve_kernel(game, tds.new_process(game, agent, self.jobs, 0, 1000), stream(0), 0)
        super().__init__("distributed search", agent.workers, begin, game, agent, memory, restarts=0)

    def search(self, state, seed: int, limit: int | None, seconds: float | None):
        """The decision of all processes; WorkerError if one of them dies, which ends the others too."""
        self.open()
        with self.ended_by_errors():
            tds.set_out(self.game, self.jobs, state, ENDLESS if limit is None else limit)
            for number in range(self.workers):
                self.give(number, (seed, state))
            answers = self.answers(seconds)
        decision = next(answer for answer, _ in answers if answer is not None)
        return replace(decision, nodes=sum(nodes for _, nodes in answers))

    def answers(self, seconds: float | None) -> list[tuple]:
        """The answers of all processes; after `seconds` only the very first simulation begins."""
        until, answers = None if seconds is None else time.perf_counter() + seconds, list[tuple]()
        while len(answers) < self.workers:
            left = None if until is None else max(0.0, until - time.perf_counter())
            for number, answer in self.wait(left):
                self.given[number].clear()
                answers.append(answer)
            if left == 0:
                self.jobs.counts[tds.LIMIT], until = 1, None
        return answers


def jobs_in(memory: dict, shapes: dict) -> tds.Jobs:
    """The arrays in shared memory."""
    return tds.Jobs(
        **{name: np.frombuffer(memory[name], kind).reshape(shape) for name, (shape, kind) in shapes.items()}
    )


def begin(number, game, agent, memory):
    """The function that does the part of process `number` in a search; the root's home yields the decision."""
    process = tds.new_process(game, agent, jobs_in(memory, tds.shapes(game, agent)), number, agent.max_nodes)
    tds.serve_kernel(game, process, stream(0), 0)  # loaded from disk
    jobs = process.jobs

    def work(given):
        seed, state = given
        rng = stream(seed, "process", number)
        tds.forget(process.shard)
        while jobs.counts[tds.RETIRED] < len(jobs.mode):
            if tds.serve_kernel(game, process, rng, STEPS) == 0:
                os.sched_yield()
        root = tds.home_of(game, state, agent.workers) == number
        decision = tds.decision_at_root(game, process, state) if root else None
        yield decision, int(process.shard.tree.nodes.size[0])

    return work
