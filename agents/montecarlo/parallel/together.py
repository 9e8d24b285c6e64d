"""One tree and one memory, searched by several workers: any search, with its methods.

The workers share the search's memory, except the arrays of one simulation, such as its line of moves, and the policy of
its playouts unless `policy` is "shared".  Others see a simulation in flight as `losses` visits of reward 0.

Without a lock, where all methods allow it (`Method.lockless`), as in Enzenberger & Mueller's "A lock-free multithreaded
Monte-Carlo tree search algorithm" (2009):

    expand      the thread that claims the leaf, into its own part of the tree; others use the children once it is open
    back up     by atomic additions
    learn       sums of methods by atomic additions, or some are lost: each is one word, read as it was or as it will be
    lots        several simulations below one busy node, as in agents/montecarlo/parallel/one_tree.py

With one lock, for other methods and by `lock = "global"`:

    with the lock       descend, expand, and count virtual losses along the path
    without it          play out
    with the lock       take the virtual losses off, back up, learn and prove

Without others in flight, the random numbers and the nodes are those of the search by itself.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store
from arena.agents.core.locks import acquire, release
from arena.agents.core.tree_arrays import (
    ROOT,
    UNPROVEN,
    Tree,
    Walk,
    begin_walk,
    capacity,
    clear,
    last_node,
    new_walk,
    step,
)
from arena.agents.montecarlo.decision import decision_from
from arena.agents.montecarlo.parallel.scheme import Searching
from arena.agents.montecarlo.parallel.shared import BUSY, PER_LOT
from arena.agents.montecarlo.parallel.shares import Sharing, Work
from arena.agents.montecarlo.search import (
    OneSearch,
    Search,
    child_of_move,
    descend,
    finish,
    goes_on,
    open_root,
    result_of,
)
from arena.agents.montecarlo.workers import listed, new_walks, walk_of, zeros_apart
from arena.games.core.game import CHANCE, check_choice
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.playout import copy_state

CLOSED, OPENING, OPEN = range(3)  # whether a node has children, for other threads
BLOCK = 64  # times a position's most moves: the nodes that a thread reserves


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

    def most_in_lot(self) -> int:
        return 1


class Company(NamedTuple):
    """What the workers share, apart from the search."""

    lock: np.ndarray  # int32[1], 1 while a worker has the tree
    losses: int  # the visits of reward 0 for a simulation in flight
    opened: np.ndarray  # int8[nodes], CLOSED, OPENING or OPEN; int8[1] with a lock
    size: np.ndarray  # int64[1], nodes that workers have reserved
    lot: int  # the most simulations that a thread makes below one busy node


class TogetherPlayer(Sharing):
    """Builds a new tree for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        searcher, playouts = agent.searcher(), agent.total_playouts(budget)
        nodes = capacity(game, agent.max_nodes, playouts)
        self.free, self.block = self.is_free(searcher), nodes - 1
        if self.free and agent.workers > 1:  # blocks are left unfinished
            nodes = min(agent.max_nodes, nodes + agent.workers * BLOCK * game.max_moves)
            self.block = max(game.max_moves, min(BLOCK * game.max_moves, nodes // (4 * agent.workers)))
        self.one = OneSearch(searcher, game, nodes, playouts)
        self.rule = searcher.search_rule(game, self.free)
        own = agent.policy == "own"
        self.memories = [searcher.worker_memory(self.one.memory, own, agent.workers) for _ in range(agent.workers)]
        self.lanes = searcher.leaf_playouts()
        opened = np.zeros(len(self.tree.visits) if self.free else 1, np.int8)
        lock, size = zeros_apart(1, np.int32), zeros_apart(1, np.int64)
        self.company = Company(lock, agent.losses() * self.lanes, opened, size, agent.most_in_lot())
        # of each worker: its next node, the end of its block, and how many nodes it has left in earlier ones
        self.rooms = [zeros_apart(3, np.int64) for _ in range(agent.workers)]

    def is_free(self, searcher) -> bool:
        """Whether threads search without a lock."""
        return False

    @property
    def tree(self) -> Tree:
        return self.one.tree

    def decide(self, state, rng):
        agent, (first, *others) = self.one.agent, self.memories
        self.company.opened[: max(1, self.company.size[0])] = CLOSED
        self.company.size[0] = 1
        for room in self.rooms:
            room[:] = 0
        clear(self.tree)
        agent.forget(first)
        for memory in others:
            agent.forget_own(memory)
        self.seed(0, rng)
        agent.begin_search(self.game, first, replace(self.budget, playouts=self.agent.total_playouts(self.budget)), rng)
        rngs = self.streams(rng)
        work = self.simulate(state, rngs) if self.agent.simulated else self.search(state, rngs)
        rng[0] = rngs[0, 0]
        if self.free:
            self.tree.size[0] = self.company.size[0]
        nodes = int(self.tree.size[0]) - sum(int(end - begin + left) for begin, end, left in self.rooms)
        best = agent.last_choice(self.tree, first)
        decision = decision_from(self.tree, work.playouts, int(self.game.player(state)), best)
        return replace(decision, playouts_each=work.each, virtual_time=work.virtual_time, nodes=nodes)

    def words(self):
        return [self.company.lock]

    def seed(self, worker, rng):
        self.one.agent.seed(self.memories[worker], rng)

    def search_of(self, worker: int) -> Search:
        """A worker's search, with room for a simulation."""
        self.memories[worker] = self.one.agent.with_room(self.game, self.memories[worker])
        return Search(self.tree, self.memories[worker], self.one.options)

    def run(self, state, worker, rng):
        company = self.company
        if not self.free:
            return lambda n: together_kernel(self.game, self.rule, self.search_of(worker), company, state, n, rng)
        room, block = self.rooms[worker], self.block

        def free(n):
            search = self.search_of(worker)
            own = search._replace(tree=search.tree._replace(size=room[:1]))
            return free_kernel(self.game, self.rule, own, company, room, block, state, n, rng)

        return free

    def listed(self):
        """All workers' searches, for kernels."""
        return listed(self.game, [self.search_of(worker) for worker in range(self.agent.workers)])

    def simulate(self, state: np.ndarray, rngs: np.ndarray) -> Work:
        """Search by simulated workers: each begins a simulation, and after a unit of time ends it and begins another.

        Task i, of as many simulations as the agent says, draws from rngs[i].
        """
        left = self.simulations() or 0
        crew = new_crew(self.game, state, self.agent.workers, left, self.agent.task_size(left))
        while not turns_kernel(self.game, self.rule, self.listed(), self.company, crew, rngs):
            pass  # a worker's memory was full, and is larger now
        return Work(int(crew.made.sum()), int(crew.made.max()), float(crew.made.max()))


class Crew(NamedTuple):
    """Simulated workers: row i of every array is worker i's, if not said otherwise."""

    walks: Walk  # each array but the root with one more axis, the first
    flying: np.ndarray  # bool[workers], whether a simulation is in flight
    scores: np.ndarray  # float64[workers], the result of that
    made: np.ndarray  # int64[workers], simulations
    tasks: np.ndarray  # int64[workers], the current task
    next: np.ndarray  # int64[3]: the worker in turn, the simulations left to begin, the next task
    grain: int  # simulations of a task


def new_crew(game, state: np.ndarray, workers: int, simulations: int, grain: int) -> Crew:
    """Simulated workers before a search of that many simulations."""
    made, tasks = np.zeros((2, workers), np.int64)
    walks, flying = new_walks(game, state, workers), np.zeros(workers, np.bool_)
    return Crew(walks, flying, np.zeros(workers), made, tasks, np.array([0, simulations, 0]), grain)


@kernel
def free_kernel(game, rule, search, company, room, block, root, simulations, rng):
    """Run up to that many simulations beside other threads without a lock; returns how many.

    search.tree.size is the worker's own: the next node of the block that it has reserved, which ends at room[1].
    """
    walk, trunk, done, ran = new_walk(game, root), new_walk(game, root), 0, 1
    acquire(company.lock, 0)
    reserve(game, search.tree, company, room, block)
    open_root(game, rule, search, walk, rng)
    company.opened[ROOT] = OPEN
    release(company.lock, 0)
    while done < simulations and ran > 0:
        lot = min(lot_of(search.tree, company, rule.lanes), simulations - done)
        counted, total, ran = descend_busy(game, rule, search, company, trunk, lot), 0.0, 0
        while ran < lot and goes_on(game, rule, search):
            reserve(game, search.tree, company, room, block)
            begin_at(game, walk, trunk)
            descend_free(game, rule, search, company, walk, rng)
            count_free(rule, search.tree, walk, counted, company.losses)
            result = result_of(game, rule, search, walk, rng)
            reward = rule.lanes * 0.5 * (1.0 + result)
            back_up_free(rule, search.tree, walk, counted, reward, (rule.lanes, company.losses))
            rule.chain.learn(game, search, walk, result)
            rule.prover.prove(search.tree, walk)
            total += reward
            ran += 1
        if counted > 0:
            back_up_free(rule, search.tree, trunk, np.int64(0), total, (ran * rule.lanes, lot * company.losses))
        done += ran
    return done


@helper
def lot_of(tree, company, lanes):
    """The simulations of a thread's next lot: more as the tree grows."""
    return max(1, min(company.lot, np.int64(tree.visits[ROOT]) // (PER_LOT * lanes)))


@helper
def descend_busy(game, rule, search, company, trunk, lot):
    """Select through busy nodes, and count the losses of a whole lot there; returns how many nodes: 0 without a lot."""
    begin_walk(game, trunk)
    if lot == 1:
        return 0
    tree, node = search.tree, np.uint64(ROOT)
    atomic_add(tree.visits, node, np.int32(lot * company.losses))
    while not game.is_over(trunk.state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        mover = game.player(trunk.state)
        if atomic_load(company.opened, node) != OPEN or (game.has_chance and mover == CHANCE):
            break
        node = np.uint64(rule.best_child(game, search, trunk, node))
        if tree.visits[node] < BUSY * lot * rule.lanes:
            break
        atomic_add(tree.visits, node, np.int32(lot * company.losses))
        rule.note(tree, node)
        step(game, trunk, node, tree.move[node], mover)
    return trunk.length[0]


@helper
def begin_at(game, walk, trunk):
    """Put the walk where another one has come to."""
    copy_state(game, trunk.state, walk.state)
    walk.length[0] = trunk.length[0]
    for i in range(trunk.length[0]):
        walk.path[i], walk.movers[i] = trunk.path[i], trunk.movers[i]


@helper
def reserve(game, tree, company, room, block):
    """See that the worker has room for the children of a node; if the tree is full, none."""
    if tree.size[0] + game.max_moves <= room[1]:
        return
    room[2] += room[1] - room[0]
    first = atomic_add(company.size, 0, np.int64(block))
    if first + block <= len(tree.visits):
        room[0], room[1] = first, first + block
    else:
        atomic_add(company.size, 0, np.int64(-block))
        room[0] = room[1] = len(tree.visits)


@inlined
def descend_free(game, rule, search, company, walk, rng):
    """`descend`, where one thread expands a leaf and others pass through it when it is open."""
    tree, node = search.tree, np.uint64(last_node(walk))
    while not game.is_over(walk.state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        if atomic_load(company.opened, node) != OPEN:
            if tree.visits[node] == 0 or tree.size[0] + game.max_moves > len(tree.visits):
                break
            if not atomic_compare_exchange(company.opened, node, np.int8(CLOSED), np.int8(OPENING)):
                break
            rule.grow(game, search, walk, node, rng)
            atomic_store(company.opened, node, np.int8(OPEN))
        mover = game.player(walk.state)
        if game.has_chance and mover == CHANCE:
            node = np.uint64(child_of_move(tree, node, game.random_outcome(walk.state, rng)))
        else:
            node = np.uint64(rule.best_child(game, search, walk, node))
        step(game, walk, node, tree.move[node], mover)


@inlined
def count_free(rule, tree, walk, begin, losses):
    """Count visits of reward 0 along the path from path[begin] on, by atomic additions."""
    if losses != 0:
        for i in range(begin, walk.length[0]):
            atomic_add(tree.visits, walk.path[i], np.int32(losses))
            rule.note(tree, walk.path[i])


@helper
def back_up_free(rule, tree, walk, begin, reward, counts):
    """`back_up` from path[begin] on by atomic additions; counts: playouts, and losses, which are visits already."""
    playouts, losses = counts
    for i in range(begin, walk.length[0]):
        node = walk.path[i]
        if playouts != losses:
            atomic_add(tree.visits, node, np.int32(playouts - losses))
        if i > 0:
            atomic_add(tree.value, node, np.float64(reward if walk.movers[i] == 0 else playouts - reward))
            rule.note(tree, node)


@kernel
def together_kernel(game, rule, search, company, root, simulations, rng):
    """Run up to that many simulations beside other threads; returns how many, as `search_kernel` does."""
    walk, done = new_walk(game, root), 0
    acquire(company.lock, 0)
    open_root(game, rule, search, walk, rng)
    while done < simulations and goes_on(game, rule, search):
        descend(game, rule, search, walk, rng)
        count_losses(rule, search.tree, walk, company.losses)
        release(company.lock, 0)
        score = result_of(game, rule, search, walk, rng)
        acquire(company.lock, 0)
        count_losses(rule, search.tree, walk, -company.losses)
        finish(game, rule, search, walk, score)
        done += 1
    release(company.lock, 0)
    return done


@kernel
def turns_kernel(game, rule, searches, company, crew, rngs):
    """Search by simulated workers in turns, to the end; or until one's memory is full, which returns False."""
    walk = new_walk(game, crew.walks.root)
    open_root(game, rule, searches[0], walk, rngs[0])
    while crew.next[1] > 0 or crew.flying.any():
        worker = crew.next[0]
        search = searches[worker]
        land(game, rule, search, company, crew, worker)
        if crew.next[1] > 0 and not rule.chain.has_room(game, search):
            return False
        take_off(game, rule, search, company, crew, worker, rngs)
        crew.next[0] = (worker + 1) % len(crew.made)
    return True


@helper
def land(game, rule, search, company, crew, worker):
    """End a worker's simulation in flight, if any."""
    if crew.flying[worker]:
        walk = walk_of(crew.walks, worker)
        count_losses(rule, search.tree, walk, -company.losses)
        finish(game, rule, search, walk, crew.scores[worker])
        crew.flying[worker] = False


@helper
def take_off(game, rule, search, company, crew, worker, rngs):
    """Begin a worker's next simulation, if one is left and has a purpose."""
    if not goes_on(game, rule, search):
        crew.next[1] = 0
    if crew.next[1] == 0:
        return
    if crew.made[worker] % crew.grain == 0:
        crew.tasks[worker] = crew.next[2]
        crew.next[2] += 1
    walk = walk_of(crew.walks, worker)
    descend(game, rule, search, walk, rngs[crew.tasks[worker]])
    count_losses(rule, search.tree, walk, company.losses)
    crew.scores[worker] = result_of(game, rule, search, walk, rngs[crew.tasks[worker]])
    crew.flying[worker] = True
    crew.made[worker] += 1
    crew.next[1] -= 1


@helper
def count_losses(rule, tree, walk, losses):
    """Count visits of reward 0 along the path."""
    for i in range(walk.length[0]):
        tree.visits[walk.path[i]] += losses
        rule.note(tree, walk.path[i])
