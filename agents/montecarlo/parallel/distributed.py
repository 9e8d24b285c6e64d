"""Distributed parallelisation, TDS-df-UCT (Yoshizoe, Kishimoto, Kaneko, Yoshimoto & Ishikawa, "Scalable distributed
Monte-Carlo tree search", 2011), over processes.

Transposition-driven scheduling (Romein, Plaat, Bal & Schaeffer 1999): a position's hash names its home, the process
that keeps its node; a search that comes to a position moves there, as a message, rather than fetch the node.  So that
no process waits, there are `jobs` searches for each process on their way at the same time; those in flight count as
virtual losses.

df-UCT: a search that has finished a simulation goes back to a node only when it would choose another child there.  It
carries for every node of its path what it knew of the chosen child and of the best other one, and adds the results
that it has found since; as long as the chosen one has the larger bound at all of them, it goes on where it is.  A
result is counted at a node when the search passes it on its way up; the total is exact, since a search whose
simulations have come to an end goes up to the root.

A message is the number of a job in the queue of a process; the job itself lies in memory that all processes share.
Nodes are told apart by the game's 64-bit key alone, and positions that can be reached in several ways share one.
"""

import contextlib
import multiprocessing
import os
import time
import weakref
from dataclasses import dataclass, replace
from multiprocessing import connection as pipes
from typing import ClassVar

import numpy as np

from agents.core import processes
from agents.core.needs import Needs
from agents.montecarlo.parallel import tds
from agents.montecarlo.parallel.scheme import Scheme, SchemePlayer
from agents.montecarlo.parallel.shared import SharedOptions
from games.core.game import check_range
from games.core.random import stream

ENDLESS = 1 << 62
READY = (None, 0)  # the first message of a process, in the form of an answer
NAME = "distributed search"  # of the processes
STEPS = 256  # jobs that a process takes before it looks whether the search is over


@dataclass(frozen=True)
class Distributed(Scheme):
    """A tree shared out among processes by the positions' hashes.

    workers: processes
    jobs: searches on their way, for each process
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

    def options(self) -> SharedOptions:
        """UCB1 with virtual losses."""
        return SharedOptions(self.exploration, virtual_loss=1.0)

    def new_player(self, game, budget):
        return DistributedPlayer(self, game, budget)


class DistributedPlayer(SchemePlayer):
    """Sends each decision to the processes, which are kept from one game to the next."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.workers = WorkerProcesses.take(game, agent)
        weakref.finalize(self, self.workers.give_back)

    def decide(self, state, rng):
        word = int(rng[0])
        rng[0] = stream(word, "next move")[0]
        return self.workers.search(state, word, self.agent.total_playouts(self.budget), self.budget.seconds)


class WorkerProcesses:
    """The processes of one agent for one game, and the memory that they share.

    They are kept for the next player of the kind, and end with the process that made them.
    """

    free: ClassVar[dict[tuple, list["WorkerProcesses"]]] = {}  # those that no player uses, by what they are for

    @classmethod
    def take(cls, game, agent) -> "WorkerProcesses":
        """Processes that are free, or new ones."""
        # a process that was forked from this one must not take this one's
        key = (os.getpid(), game, replace(agent, playouts=None, seconds=None, total=False))
        waiting = cls.free.get(key, [])
        return waiting.pop() if waiting else cls(key, game, agent)

    def give_back(self) -> None:
        """Let another player have it."""
        if self.pipes:
            self.free.setdefault(self.key, []).append(self)

    def __init__(self, key, game, agent):
        self.key, self.game = key, game
        context = multiprocessing.get_context("spawn")
        shapes = tds.shapes(game, agent)
        memory = {
            name: context.RawArray("b", int(np.prod(shape)) * np.dtype(kind).itemsize)
            for name, (shape, kind) in shapes.items()
        }
        self.jobs, self.pipes, self.processes = jobs_in(memory, shapes), [], []
        # compiled here once, so that the processes find it on disk
        tds.serve_kernel(game, tds.new_process(game, agent, self.jobs, 0, 1000), stream(0), 0)
        for number in range(agent.workers):
            arguments = game, agent, memory, number
            process, pipe = processes.start(serve, *arguments, name=f"{NAME} {number}")
            self.pipes.append(pipe)
            self.processes.append(process)
        self._listen(None)  # until they are ready, so that no decision waits for it

    def search(self, state, seed: int, limit: int | None, seconds: float | None):
        """The decision of all processes; RuntimeError if one of them dies, which ends the others."""
        try:
            tds.set_out(self.game, self.jobs, state, ENDLESS if limit is None else limit)
            for pipe in self.pipes:
                with contextlib.suppress(OSError):  # of a process that has died, which its sentinel says too
                    pipe.send((seed, state))
            answers = self._listen(None if seconds is None else time.perf_counter() + seconds)
        except BaseException:
            self.close()
            raise
        decision = next(answer for answer, _ in answers if answer is not None)
        return replace(decision, nodes=sum(nodes for _, nodes in answers))

    def _listen(self, until) -> list[tuple]:
        """The answer of each process; of a search, simulations that have begun by the time `until` are the last."""
        waiting, answers = dict(zip(self.pipes, self.processes)), list[tuple]()
        while waiting:
            left = None if until is None else max(0.0, until - time.perf_counter())
            ready = pipes.wait([*waiting, *(process.sentinel for process in self.processes)], left)
            if not ready:
                self.jobs.counts[tds.LIMIT] = 1  # those that have begun are the last, but there must be one
                until = None
            for pipe in [pipe for pipe in waiting if pipe in ready]:
                try:
                    answer = pipe.recv()
                except (EOFError, OSError):
                    continue  # its process has died, which its sentinel says too
                if isinstance(answer, Exception):
                    raise answer
                answers.append(answer)
                del waiting[pipe]
            for process in self.processes:
                if waiting and process.exitcode is not None:
                    raise RuntimeError(f"a process of the distributed search died (exit code {process.exitcode})")
        return answers

    def close(self) -> None:
        """End the processes."""
        processes.end(map(processes.Helping, self.processes, self.pipes))
        self.pipes = []


def jobs_in(memory: dict, shapes: dict) -> tds.Jobs:
    """The arrays in the memory that is shared."""
    return tds.Jobs(
        **{name: np.frombuffer(memory[name], kind).reshape(shape) for name, (shape, kind) in shapes.items()}
    )


def serve(pipe, game, agent, memory, number) -> None:
    """What a process does: its part of every search, until the pipe is closed."""
    processes.guard()
    process = tds.new_process(game, agent, jobs_in(memory, tds.shapes(game, agent)), number, agent.max_nodes)
    tds.serve_kernel(game, process, stream(0), 0)  # loaded from disk
    try:
        pipe.send(READY)
        while True:
            seed, state = pipe.recv()
            try:
                tds.forget(process.shard)
                _serve_search(game, process, stream(seed, "process", number))
                root = tds.home_of(game, state, agent.workers) == number
                decision = tds.decision_at_root(game, process, state) if root else None
                pipe.send((decision, int(process.shard.tree.nodes.size[0])))
            except Exception as error:
                pipe.send(RuntimeError(f"{type(error).__name__} in a process of the distributed search: {error}"))
    except (EOFError, BrokenPipeError):
        pass  # the player is gone


def _serve_search(game, process, rng) -> None:
    """Serve the queue until all jobs have ended."""
    while process.jobs.counts[tds.RETIRED] < len(process.jobs.mode):
        if tds.serve_kernel(game, process, rng, STEPS) == 0:
            os.sched_yield()
