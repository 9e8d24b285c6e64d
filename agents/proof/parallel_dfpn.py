"""Parallel depth-first search: threads in one transposition table, kept apart by virtual numbers (Kaneko, "Parallel
depth first proof number search", 2010).  `dfpn(workers=2)` and `parapds` are such searches.

All threads search the same position by the same rule.  While below the nodes of its line, each marks them; to the
others a mark makes a node's number larger by a share of it, so that they prefer siblings about as good.  Marks affect
choices alone: numbers are stored, and nodes settled, without them.

The table needs no lock (agents/core/transposition_table.py); before each choice a thread reads again what the others
have found.  From time to time it begins at the root again, so that it does not stay below a node that another has
settled.

Simulated workers take turns of SLICE nodes in virtual time, whose unit is a node, and leave their marks between turns.
The cost of shared memory is not simulated.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.core.threads import Simulable, Threads
from arena.agents.core.transposition_table import new_counts as new_table_counts
from arena.agents.core.transposition_table import probe
from arena.agents.core.virtual import VirtualClock
from arena.agents.proof.dfpn_family import (
    DISPROOF,
    PROOF,
    DepthFirstProof,
    DepthFirstProver,
    ThresholdRule,
    new_line,
    numbers_of,
    scratch_of,
    threshold_kernel,
)
from arena.agents.proof.marks import PLACES_BITS, Marks, add_marks, mark, take_marks
from arena.agents.proof.numbers import DRAWS, LIMIT, NODES, new_counts

SLICE = 100  # nodes of a simulated worker's turn
HOME = 20_000  # nodes between two beginnings at the root


@dataclass(frozen=True)
class SharedRule(ThresholdRule):
    """Mixin, named before a serial rule: marks, and what other threads have found."""

    shared: ClassVar[bool] = True
    goes_back: ClassVar[bool] = True

    def limits_beside_others(self, line, ply, limits):
        """The thresholds of the chosen child at `ply`, from those that its rule sets."""
        return limits

    def choose(self, search, ply, or_node, numbers):
        line, total = search.line, search.line.total[ply]
        own = line.proof[ply] if or_node else line.disproof[ply]
        add_marks(search.marks, line.keys[ply], own, total)
        line.chosen[ply] = self.select(line, ply, or_node)
        limits = self.child_limits(search.task, line, ply, or_node, numbers)
        take_marks(search.marks, own, total)
        limits = self.limits_beside_others(line, ply, limits)
        line.limit[ply + 1, PROOF], line.limit[ply + 1, DISPROOF] = limits

    def mark(self, search, key, change):
        mark(search.marks, key, change)

    def refresh(self, search, ply):
        line = search.line
        for i in range(line.total[ply]):
            if line.proof[ply, i] != 0 and line.disproof[ply, i] != 0:
                held, proof, disproof = probe(search.table, line.keys[ply, i])
                if held:
                    line.proof[ply, i], line.disproof[ply, i] = proof, disproof


@dataclass(frozen=True)
class SharedProver(Simulable, DepthFirstProver):
    """Base of the agents whose workers search in one table.

    workers: threads; or with `simulated`, workers in virtual time: deterministic, on one core, up to 1024
    simulated: workers in virtual time instead of threads
    """

    workers: int = 1
    simulated: bool = False

    def shared_rule(self) -> SharedRule:
        raise NotImplementedError

    def serial_rule(self) -> ThresholdRule:
        raise NotImplementedError

    def rule(self):
        return self.shared_rule() if self.simulated or self.workers > 1 else self.serial_rule()

    def new_search(self, game, memory, state, task, counts):
        search = VirtualProof if self.simulated else DepthFirstProof if self.workers == 1 else ThreadProof
        return search(self, game, memory, state, task, counts)


class SharedProof(DepthFirstProof):
    """A line for each worker, through one table."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.busy = np.zeros(1 << PLACES_BITS, np.int32)
        self.searches = [self.search_of_worker(state) for _ in range(agent.workers)]
        self.search = self.searches[0]

    def search_of_worker(self, state):
        line, marks = new_line(self.game, state), Marks(self.busy, np.zeros(self.game.max_moves, np.int32), False)
        return self.search._replace(
            table=self.search.table._replace(counts=new_table_counts()),
            line=line,
            scratch=scratch_of(line),
            marks=marks,
            counts=new_counts(int(self.counts[LIMIT]) // self.agent.workers),
        )

    def run(self, nodes):
        if 0 in self.numbers():
            return 0
        before = int(self.counts[NODES])
        self.work(nodes)
        for kind in (NODES, DRAWS):
            self.counts[kind] = sum(search.counts[kind] for search in self.searches)
        return int(self.counts[NODES]) - before

    def work(self, nodes: int) -> None:
        """Let the workers visit about that many nodes; `search` becomes one that settles the root, if any does."""
        raise NotImplementedError

    def bytes(self):
        return super().bytes() * self.agent.workers + self.busy.nbytes


class ThreadProof(SharedProof):
    """A search by threads, which begin at the root in each call."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.threads = Threads(agent.workers)

    def work(self, nodes):
        share = max(1, nodes // self.agent.workers)

        def search_on(i):
            search = self.searches[i]
            threshold_kernel(self.game, self.rule, search, search.counts[NODES] + share)

        self.threads.run(search_on)
        settled = (search for search in self.searches if 0 in numbers_of(self.game, search))
        self.search = next(settled, self.searches[0])


class VirtualProof(SharedProof):
    """A search by workers in virtual time."""

    def __init__(self, agent, game, table, state, task, counts):
        super().__init__(agent, game, table, state, task, counts)
        self.clock, self.spent = VirtualClock(agent.workers), 0

    def work(self, nodes):
        left = nodes
        while left > 0 and self.clock.events:
            worker = self.clock.next()
            own = self.searches[worker].counts
            own[LIMIT] = own[NODES] + self.counts[LIMIT] - self.spent  # the rest is for this turn
            visited = self.turn(self.searches[worker])
            left, self.spent = left - visited, self.spent + visited
            if visited > 0:
                self.clock.plan(visited, worker)
            at_root = self.searches[worker].line.place[0] <= 0  # where alone a worker settles the root
            if at_root and 0 in numbers_of(self.game, self.searches[worker]):
                self.clock.now, self.search = self.clock.now + visited, self.searches[worker]
                return

    def turn(self, search) -> int:
        """Continue a worker's search for a slice; returns its nodes."""
        before = int(search.counts[NODES])
        stays = search._replace(marks=search.marks._replace(stays=True))
        threshold_kernel(self.game, self.rule, stays, before + SLICE)
        after = int(search.counts[NODES])
        if before // HOME < after // HOME:
            threshold_kernel(self.game, self.rule, search, after)
        return int(search.counts[NODES]) - before

    def virtual_time(self):
        return self.clock.now
