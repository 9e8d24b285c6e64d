"""One tree and one memory, searched by several workers: any search, with its methods; plain UCT is one without.

The workers share the search's memory, except the arrays of one simulation, such as its line of moves, and the policy of
its playouts unless `policy` is "shared".  Others see a simulation in flight in one of two ways:

    virtual loss (Chaslot, Winands & van den Herik 2008)    as `losses` visits of reward 0
    WU-UCT (Liu et al. 2020)                                as a visit in both places of the bound, the mean stays that
                                                            of the finished simulations

Without a lock for the whole, where all methods allow it (`Method.lockless`), as in Enzenberger & Mueller's "A lock-free
multithreaded Monte-Carlo tree search algorithm" (2009):

    expand      the thread that claims the leaf, into its own part of the tree; others use the children once it is open
    back up     by atomic additions
    learn       sums of methods by atomic additions, or some are lost: each is one word, read as it was or as it will be
    lots        several simulations below one busy node

Lots, since every simulation changes the nodes near the root, whose cache lines then travel between processor cores: a
thread goes down to the last busy node, counts a whole lot there and above at once, makes it below, and adds its results
at once.  Lots are small in small trees, since simulations in flight are chosen without each other's results.

With one lock, for other methods and by `lock = "global"`:

    with the lock       descend, expand, and count the simulation along the path
    without it          play out
    with the lock       back up, learn and prove

Simulated workers bring results back in the order of a virtual clock, so that W simulations are in flight.  Without
others in flight, the random numbers and the nodes are those of the search by itself.
"""

from dataclasses import dataclass, field, replace
from math import sqrt
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
from arena.agents.montecarlo.parallel.scheme import PLAYOUT_TIMES, Searching, playout_time
from arena.agents.montecarlo.parallel.shares import Sharing, Work
from arena.agents.montecarlo.search import OneSearch, Search, child_of_move, descend, goes_on, open_root, result_of
from arena.agents.montecarlo.workers import listed, new_walks, walk_of, zeros_apart
from arena.games.core.game import CHANCE, check_choice
from arena.games.core.jit import Compilable, helper, inlined, kernel
from arena.games.core.play.playout import copy_state

CLOSED, OPENING, OPEN = range(3)  # whether a node has children, for other threads
BLOCK = 64  # times a position's most moves: the nodes that a thread reserves
PER_LOT = 256  # visits of the root for each simulation of a lot, to keep few in flight
BUSY = 16  # lots whose visits make a node busy


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

    def access(self, searcher) -> "Access":
        """How the workers share the tree of a search."""
        return Access()


@dataclass(frozen=True)
class Access(Compilable):
    """How workers share a tree; its fields are constants in kernels.

    one: one lock for all but the playout, or simulated workers; without it threads need rules made for threads
    local: a lock for each node that is read or changed
    wu: a simulation in flight is a visit without a result
    """

    one: bool = True
    local: bool = False
    wu: bool = False


class Company(NamedTuple):
    """What the workers share, apart from the search."""

    lock: np.ndarray  # int32[1], 1 while a worker has the tree
    locks: np.ndarray  # int32[nodes], 1 while a worker has a node; int32[1] if nodes have none
    losses: int  # the visits of a simulation in flight
    flying: np.ndarray  # int32[nodes], visits in flight, for WU-UCT; else int32[1]
    opened: np.ndarray  # int8[nodes], CLOSED, OPENING or OPEN; int8[1] with one lock
    size: np.ndarray  # int64[1], nodes that workers have reserved
    lot: int  # the most simulations that a thread makes below one busy node


class NewNodes(NamedTuple):
    """Where a worker writes new nodes, if several write at a time."""

    room: np.ndarray  # int64[3]: its next node, the end of its block, and how many nodes it has left in earlier ones
    block: int  # the nodes that it reserves at a time


class TogetherPlayer(Sharing):
    """Builds a new tree for each move."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        searcher, playouts = agent.searcher(), agent.total_playouts(budget)
        nodes = capacity(game, agent.max_nodes, playouts)
        self.access, block = agent.access(searcher), nodes - 1
        self.free = not self.access.one
        if self.free and agent.workers > 1:  # blocks are left unfinished
            nodes = min(agent.max_nodes, nodes + agent.workers * BLOCK * game.max_moves)
            block = max(game.max_moves, min(BLOCK * game.max_moves, nodes // (4 * agent.workers)))
        self.one = OneSearch(searcher, game, nodes, playouts)
        self.rule = searcher.search_rule(game, self.free)
        own = agent.policy == "own"
        self.memories = [searcher.worker_memory(self.one.memory, own, agent.workers) for _ in range(agent.workers)]
        self.lanes = searcher.leaf_playouts()
        locks, flying, opened = (len(self.tree.visits) if used else 1 for used in self.by_node())
        self.company = Company(
            zeros_apart(1, np.int32),
            np.zeros(locks, np.int32),
            agent.losses() * self.lanes,
            np.zeros(flying, np.int32),
            np.zeros(opened, np.int8),
            zeros_apart(1, np.int64),
            agent.most_in_lot(),
        )
        self.new_nodes = [NewNodes(zeros_apart(3, np.int64), block) for _ in range(agent.workers)]

    def by_node(self) -> tuple[bool, bool, bool]:
        """Whether nodes have locks, counts in flight, and marks of who may read their children."""
        return self.access.local, self.access.wu, self.free

    @property
    def tree(self) -> Tree:
        return self.one.tree

    def decide(self, state, rng):
        agent, (first, *others) = self.one.agent, self.memories
        self.company.opened[: max(1, self.company.size[0])] = CLOSED
        self.company.flying[: max(1, self.company.size[0])] = 0
        self.company.size[0] = 1
        for new_nodes in self.new_nodes:
            new_nodes.room[:] = 0
        clear(self.tree)
        agent.forget(first)
        for memory in others:
            agent.forget_own(memory)
        self.seed(0, rng)
        agent.begin_search(self.game, first, replace(self.budget, playouts=self.agent.total_playouts(self.budget)), rng)
        self.open(state, rng)
        rngs = self.streams(rng)
        work = self.simulate(state, rngs) if self.agent.simulated else self.search(state, rngs)
        rng[0] = rngs[0, 0]
        nodes = int(self.tree.size[0])
        if self.free:  # less what workers have reserved and not used
            nodes = int(self.company.size[0]) - sum(int(end - begin + left) for (begin, end, left), _ in self.new_nodes)
            self.tree.size[0] = max(new_nodes.room[0] for new_nodes in self.new_nodes)
        best = agent.last_choice(self.tree, first)
        decision = decision_from(self.tree, work.playouts, int(self.game.player(state)), best)
        return replace(decision, playouts_each=work.each, virtual_time=work.virtual_time, nodes=nodes)

    def words(self):
        return [self.company.lock, self.company.locks]

    def seed(self, worker, rng):
        self.one.agent.seed(self.memories[worker], rng)

    def search_of(self, worker: int) -> Search:
        """A worker's search, with room for a simulation."""
        self.memories[worker] = self.one.agent.with_room(self.game, self.memories[worker])
        tree = self.tree._replace(size=self.new_nodes[worker].room[:1]) if self.free else self.tree
        return Search(tree, self.memories[worker], self.one.options)

    def open(self, state, rng) -> None:
        """Give the root its children, before several workers try to."""
        search, new_nodes = self.search_of(0), self.new_nodes[0]
        open_kernel(self.game, self.rule, search, self.company, self.access, new_nodes, state, rng)

    def run(self, state, worker, rng):
        company, access, new_nodes = self.company, self.access, self.new_nodes[worker]

        def run(n):
            search = self.search_of(worker)
            return together_kernel(self.game, self.rule, search, company, access, new_nodes, state, n, rng)

        return run

    def listed(self):
        """All workers' searches, for kernels; one, if all are the same."""
        workers = self.agent.workers if self.rule.learns else 1
        return listed(self.game, [self.search_of(worker) for worker in range(workers)])

    def simulate(self, state: np.ndarray, rngs: np.ndarray) -> Work:
        """Search by simulated workers: each begins a simulation, ends it when its playout is done, and begins another.

        Task i, of as many simulations as the agent says, draws from rngs[i].
        """
        left = self.simulations() or 0
        crew = new_crew(self.game, state, self.agent, left)
        while not crew_kernel(self.game, self.rule, self.listed(), self.company, self.access, crew, rngs):
            pass  # a worker's memory was full, and is larger now
        return Work(int(crew.made.sum()), int(crew.made.max()), float(crew.now[0]))


class Crew(NamedTuple):
    """Simulated workers: row i of every array is worker i's, if not said otherwise."""

    walks: Walk  # each array but the root with one more axis, the first
    flying: np.ndarray  # bool[workers], whether a simulation is in flight
    scores: np.ndarray  # float64[workers], the result of that
    done_at: np.ndarray  # float64[workers], when its playout will be done
    made: np.ndarray  # int64[workers], simulations
    tasks: np.ndarray  # int64[workers], the current task
    next: np.ndarray  # int64[2]: the simulations left to begin, the next task
    now: np.ndarray  # float64[1]
    grain: int  # simulations of a task
    clock: int  # CONSTANT or PLIES: the time of a playout


def new_crew(game, state: np.ndarray, agent, simulations: int) -> Crew:
    """An agent's simulated workers before a search of that many simulations."""
    workers, grain, clock = agent.workers, agent.task_size(simulations), PLAYOUT_TIMES[agent.playout_time]
    made, tasks = np.zeros((2, workers), np.int64)
    scores, done_at = np.zeros((2, workers))
    walks, flying, left = new_walks(game, state, workers), np.zeros(workers, np.bool_), np.array([simulations, 0])
    return Crew(walks, flying, scores, done_at, made, tasks, left, np.zeros(1), grain, clock)


@kernel
def open_kernel(game, rule, search, company, access, new_nodes, root, rng):
    """Give the root its children."""
    if not access.one:
        reserve(game, search.tree, company, new_nodes)
        company.opened[ROOT] = OPEN
    open_root(game, rule, search, new_walk(game, root), rng)


@kernel
def together_kernel(game, rule, search, company, access, new_nodes, root, simulations, rng):
    """Run up to that many simulations beside other threads; returns how many.

    Without one lock, search.tree.size is the worker's own: the next node of the block that it has reserved.
    """
    walk, trunk, done, ran = new_walk(game, root), new_walk(game, root), 0, 1
    while done < simulations and ran > 0:
        lot = min(lot_of(search.tree, company, rule.lanes), simulations - done)
        counted, total, ran = descend_busy(game, rule, search, company, access, trunk, lot), 0.0, 0
        take(company, access)
        while ran < lot and goes_on(game, rule, search):
            if access.one:
                descend(game, rule, search, walk, rng)
            else:
                reserve(game, search.tree, company, new_nodes)
                begin_at(game, walk, trunk)
                descend_beside(game, rule, search, company, access, walk, rng)
            count(rule, search.tree, company, access, walk, counted)
            leave(company, access)
            result = result_of(game, rule, search, walk, rng)
            take(company, access)
            total += come_back(game, rule, search, company, access, walk, counted, result)
            ran += 1
        leave(company, access)
        if counted > 0:
            counts = ran * rule.lanes, (lot - 1) * company.losses
            back_up_beside(rule, search.tree, company, access, trunk, np.int64(0), total, counts)
        done += ran
    return done


@kernel
def crew_kernel(game, rule, searches, company, access, crew, rngs):
    """Search by simulated workers, to the end; or until one's memory is full, which returns False."""
    first = searches[0]
    while crew.next[0] > 0 or crew.flying.any():
        worker = np.argmin(crew.done_at)
        search = searches[worker] if rule.learns else first  # to read it from the list takes as long as a ply
        land(game, rule, search, company, access, crew, worker)
        if crew.next[0] > 0 and not rule.chain.has_room(game, search):
            return False
        take_off(game, rule, search, company, access, crew, worker, rngs)
    return True


@helper
def land(game, rule, search, company, access, crew, worker):
    """End a worker's simulation in flight, if any."""
    if crew.flying[worker]:
        walk = walk_of(crew.walks, worker)
        come_back(game, rule, search, company, access, walk, np.int64(0), crew.scores[worker])
        crew.flying[worker], crew.now[0] = False, crew.done_at[worker]


@helper
def take_off(game, rule, search, company, access, crew, worker, rngs):
    """Begin a worker's next simulation, if one is left and has a purpose."""
    if not goes_on(game, rule, search):
        crew.next[0] = 0
    if crew.next[0] == 0:
        crew.done_at[worker] = np.inf
        return
    if crew.made[worker] % crew.grain == 0:
        crew.tasks[worker] = crew.next[1]
        crew.next[1] += 1
    walk, rng = walk_of(crew.walks, worker), rngs[crew.tasks[worker]]
    descend(game, rule, search, walk, rng)
    count(rule, search.tree, company, access, walk, np.int64(0))
    crew.scores[worker] = result_of(game, rule, search, walk, rng)
    crew.flying[worker] = True
    crew.done_at[worker] += playout_time(crew.clock, walk.length[1])
    crew.made[worker] += 1
    crew.next[0] -= 1


@inlined
def take(company, access):
    """Wait for the lock, if there is one for all."""
    if access.one:
        acquire(company.lock, 0)


@inlined
def leave(company, access):
    """Free the lock, if there is one for all."""
    if access.one:
        release(company.lock, 0)


@helper
def lot_of(tree, company, lanes):
    """The simulations of a thread's next lot: more as the tree grows."""
    return max(1, min(company.lot, np.int64(tree.visits[ROOT]) // (PER_LOT * lanes)))


@helper
def descend_busy(game, rule, search, company, access, trunk, lot):
    """Select through busy nodes, and count a lot but for one there; returns how many nodes: 0 without a lot.

    Each simulation of the lot so sees the others in flight.
    """
    begin_walk(game, trunk)
    if lot == 1:
        return 0
    tree, node = search.tree, np.uint64(ROOT)
    count_node(rule, tree, company, access, node, lot - 1)
    while not game.is_over(trunk.state) and not (rule.solver and tree.proven[node] != UNPROVEN):
        mover = game.player(trunk.state)
        if atomic_load(company.opened, node) != OPEN or (game.has_chance and mover == CHANCE):
            break
        node = np.uint64(rule.best_child(game, search, trunk, node))
        if tree.visits[node] < BUSY * lot * rule.lanes:
            break
        count_node(rule, tree, company, access, node, lot - 1)
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
def reserve(game, tree, company, new_nodes):
    """See that the worker has room for the children of a node; if the tree is full, none."""
    room, block = new_nodes
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
def descend_beside(game, rule, search, company, access, walk, rng):
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
            here = node
            if access.local:
                acquire(company.locks, here)
            node = np.uint64(rule.best_child(game, search, walk, here))
            if access.local:
                release(company.locks, here)
        step(game, walk, node, tree.move[node], mover)


@inlined
def count(rule, tree, company, access, walk, begin):
    """Count a simulation in flight along the path from path[begin] on."""
    if company.losses != 0:
        for i in range(begin, walk.length[0]):
            count_node(rule, tree, company, access, np.uint64(walk.path[i]), 1)


@inlined
def count_node(rule, tree, company, access, node, simulations):
    """Count simulations in flight through a node."""
    visits = np.int32(simulations * company.losses)
    atomic_add(tree.visits, node, visits)
    if access.wu:
        atomic_add(company.flying, node, visits)
    note(rule, tree, company, access, node)


@inlined
def note(rule, tree, company, access, node):
    """A node has other visits and rewards."""
    if access.wu:
        visits = np.float32(tree.visits[node])
        finished = max(visits - np.float32(company.flying[node]), np.float32(1.0))
        tree.bounds[node, 0] = np.float32(tree.value[node]) * (np.float32(1.0) / finished)
        tree.bounds[node, 1] = np.float32(sqrt(np.float32(1.0) / max(visits, np.float32(1.0))))
    else:
        rule.note(tree, node)


@inlined
def come_back(game, rule, search, company, access, walk, begin, result):
    """`finish` from path[begin] on, of a simulation that is counted; returns the sum of the first player's rewards."""
    reward = rule.lanes * 0.5 * (1.0 + result)
    back_up_beside(rule, search.tree, company, access, walk, begin, reward, (rule.lanes, company.losses))
    rule.chain.learn(game, search, walk, result)
    rule.prover.prove(search.tree, walk)
    return reward


@helper
def back_up_beside(rule, tree, company, access, walk, begin, reward, counts):
    """`back_up` from path[begin] on by atomic additions; counts: playouts, and those that are visits already."""
    playouts, losses = counts
    for i in range(begin, walk.length[0]):
        node = np.uint64(walk.path[i])
        if access.local:
            acquire(company.locks, node)
        if playouts != losses:
            atomic_add(tree.visits, node, np.int32(playouts - losses))
        if access.wu:
            atomic_add(company.flying, node, np.int32(-losses))
        if i > 0:
            atomic_add(tree.value, node, np.float64(reward if walk.movers[i] == 0 else playouts - reward))
            note(rule, tree, company, access, node)
        if access.local:
            release(company.locks, node)
