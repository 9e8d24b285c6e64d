"""One tree and one memory, searched by several workers under one lock: any search, with its methods.

    with the lock       descend, expand, and count virtual losses along the path
    without it          play out
    with the lock       take the virtual losses off, back up, learn and prove

The workers share the search's memory, except the arrays of one simulation, such as its line of moves, and the policy of
its playouts unless `policy` is "shared".  Playouts may read shared means, weights and replies while another worker
writes them.  Each is one word, read as it was or as it will be; a pair half updated may for once make a playout prefer
another legal move.

Without others in flight, the random numbers and the nodes are those of the search by itself.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from arena.agents.core.locks import acquire, release
from arena.agents.core.tree_arrays import Tree, capacity, clear, new_walk
from arena.agents.core.virtual import VirtualClock
from arena.agents.montecarlo.decision import decision_from
from arena.agents.montecarlo.parallel.scheme import Searching
from arena.agents.montecarlo.parallel.shares import Sharing, Work
from arena.agents.montecarlo.search import OneSearch, Search, descend, finish, goes_on, open_root, result_of
from arena.agents.montecarlo.workers import zeros_apart
from arena.games.core.game import check_choice
from arena.games.core.jit import helper, kernel


@dataclass(frozen=True)
class Together(Searching):
    """Base of the schemes whose workers do a search on one tree.

    policy: of a search that learns one, as ppa and mast do: each worker's "own", or "shared"
    """

    policy: str = field(default="own", kw_only=True)

    def __post_init__(self):
        super().__post_init__()
        check_choice("policy", self.policy, ("own", "shared"))
        agent = self.searcher()
        if self.policy == "shared" and not agent.learns():
            raise ValueError(f"policy = 'shared' and search = {self.search!r}: that learns no policy; ppa and mast do")
        if self.search and self.simulated and agent.leaf_playouts() > 1:
            raise ValueError(
                f"search = {self.search!r}: simulated workers make one playout of each leaf, so lanes is 1"
            )

    def misfit(self, game):
        if reason := super().misfit(game):
            return reason
        reason = self.search and self.searcher().unshared(game, self.policy == "shared")
        return f"{self.name} has several workers on one tree, and {reason}" if reason else None

    def losses(self) -> int:
        return 0


class Company(NamedTuple):
    """What the workers share, apart from the search."""

    lock: np.ndarray  # int32[1], 1 while a worker has the tree
    losses: int  # the visits of reward 0 for a simulation in flight


class TogetherPlayer(Sharing):
    """Builds a new tree for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.one = OneSearch(agent.searcher(), game, capacity(game, agent.max_nodes, agent.total_playouts(budget)))
        own = agent.policy == "own"
        self.memories = [self.one.agent.worker_memory(self.one.memory, own) for _ in range(agent.workers)]
        self.lanes = self.one.agent.leaf_playouts()
        self.company = Company(zeros_apart(1, np.int32), agent.losses() * self.lanes)

    @property
    def tree(self) -> Tree:
        return self.one.tree

    def decide(self, state, rng):
        agent, first = self.one.agent, self.memories[0]
        clear(self.tree)
        for memory in self.memories if agent.learns() else [first]:
            agent.forget(memory)
        self.seed(0, rng)
        agent.begin_search(self.game, first, replace(self.budget, playouts=self.agent.total_playouts(self.budget)), rng)
        rngs = self.streams(rng)
        work = self.simulate(state, rngs) if self.agent.simulated else self.search(state, rngs)
        rng[0] = rngs[0, 0]
        best = agent.last_choice(self.tree, first)
        decision = decision_from(self.tree, work.playouts, int(self.game.player(state)), best)
        return replace(decision, playouts_each=work.each, virtual_time=work.virtual_time)

    def words(self):
        return [self.company.lock]

    def seed(self, worker, rng):
        self.one.agent.seed(self.memories[worker], rng)

    def search_of(self, worker: int) -> Search:
        """A worker's search, with room for a simulation."""
        self.memories[worker] = self.one.agent.with_room(self.game, self.memories[worker])
        return Search(self.tree, self.memories[worker], self.one.options)

    def run(self, state, worker, rng):
        rule, company = self.one.rule, self.company
        return lambda n: together_kernel(self.game, rule, self.search_of(worker), company, state, n, rng)

    def simulate(self, state: np.ndarray, rngs: np.ndarray) -> Work:
        """Search by simulated workers: each begins a simulation, and after a unit of time ends it and begins another.

        Task i, of as many simulations as the agent says, draws from rngs[i].
        """
        workers, left = self.agent.workers, self.simulations() or 0
        grain, walks = self.agent.task_size(left), [new_walk(self.game, state) for _ in range(workers)]
        tasks, made, begun, clock = [0] * workers, [0] * workers, 0, VirtualClock(workers)
        flying: dict[int, float] = {}  # workers with a simulation in flight, and its score
        while clock.events:
            worker = clock.next()
            if worker in flying:
                self.end(worker, walks[worker], flying.pop(worker))
            if left == 0:
                continue
            if made[worker] % grain == 0:
                tasks[worker], begun = begun, begun + 1
            goes, score = self.begin(worker, walks[worker], rngs[tasks[worker]])
            if not goes:
                left = 0
                continue
            flying[worker] = score
            made[worker] += 1
            left -= 1
            clock.plan(1, worker)
        return Work(sum(made), max(made), float(clock.now))

    def begin(self, worker, walk, rng) -> tuple[bool, float]:
        return begin_kernel(self.game, self.one.rule, self.search_of(worker), self.company, walk, rng)

    def end(self, worker, walk, score) -> None:
        end_kernel(self.game, self.one.rule, self.search_of(worker), self.company, walk, score)


@kernel
def together_kernel(game, rule, search, company, root, simulations, rng):
    """Run up to that many simulations beside other threads; returns how many, as `search_kernel` does."""
    walk, done = new_walk(game, root), 0
    acquire(company.lock, 0)
    open_root(game, rule, search, walk, rng)
    while done < simulations and goes_on(game, rule, search):
        descend(game, rule, search, walk, rng)
        count_losses(search.tree, walk, company.losses)
        release(company.lock, 0)
        score = result_of(game, rule, search, walk, rng)
        acquire(company.lock, 0)
        count_losses(search.tree, walk, -company.losses)
        finish(game, rule, search, walk, score)
        done += 1
    release(company.lock, 0)
    return done


@kernel
def begin_kernel(game, rule, search, company, walk, rng):
    """Begin a simulation, if one is left; returns whether there is one, and its score."""
    open_root(game, rule, search, walk, rng)
    if not goes_on(game, rule, search):
        return False, 0.0
    descend(game, rule, search, walk, rng)
    count_losses(search.tree, walk, company.losses)
    return True, float(result_of(game, rule, search, walk, rng))


@kernel
def end_kernel(game, rule, search, company, walk, score):
    """End a simulation of that score."""
    count_losses(search.tree, walk, -company.losses)
    finish(game, rule, search, walk, score)


@helper
def count_losses(tree, walk, losses):
    """Count visits of reward 0 along the path."""
    for i in range(walk.length[0]):
        tree.visits[walk.path[i]] += losses
