"""A tree that several simulations search at once, for the schemes that share a tree.

Each node counts in `counts` the simulations that have begun to pass through it, on their way down, and the finished
ones with their rewards, on their way up.  The difference is in flight.  Others see it in one of two ways:

    virtual loss (Chaslot, Winands & van den Herik 2008)    each counts as `virtual_loss` visits of reward 0
    WU-UCT (Liu et al. 2020)                                each counts as a visit in both places of the bound, the
                                                            mean stays that of the finished simulations

Finished simulations and their reward are one word, next to the other count, so a simulation costs a node two atomic
additions in one cache line.

One simulation at a time gives the same tree as `uct`, node for node and with the same random numbers.  Children are
published by one release store after they are written (Enzenberger & Mueller 2009), so no thread ever counts a missing
child.
"""

from dataclasses import replace
from math import sqrt
from typing import NamedTuple

import numpy as np

from arena.agents.core.agent import Decision
from arena.agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store
from arena.agents.core.locks import acquire, release
from arena.agents.core.selection import SPARE, largest_bound_in_flight, prefetch, root_of_log
from arena.agents.core.threads import ThreadedPlayer
from arena.agents.core.tree_arrays import (
    LEAF,
    ROOT,
    Tree,
    begin_walk,
    capacity,
    clear,
    last_node,
    most_visited_child,
    new_tree,
    shuffled_moves,
    step,
    write_children,
)
from arena.agents.montecarlo.decision import decision_from
from arena.agents.montecarlo.parallel.shares import Work
from arena.agents.montecarlo.search import child_of_move, expand
from arena.games.core.game import CHANCE
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.numbers.elementary import log

EXPANDING = np.int32(-1)  # instead of the number of children, while one simulation writes them
FREE, LOCAL, GLOBAL = range(3)  # locks: none; one for each node in use; one for all but the playout
LOCKS = {"free": FREE, "local": LOCAL, "global": GLOBAL}
ONE = np.int32(1)
BEGUN, DONE = range(2)  # columns of SharedTree.counts


class SharedTree(NamedTuple):
    """A tree with atomic counts.  A node takes 53 bytes."""

    nodes: Tree  # whose visits and values settle_values alone writes
    counts: np.ndarray  # int64[capacity, 2], by BEGUN and DONE; DONE is a result_word
    locks: np.ndarray  # int32[capacity], 1 while a simulation holds the node's; 0 between searches


class SharedOptions(NamedTuple):
    """How a shared tree is searched."""

    exploration: float
    virtual_loss: float = 0.0  # visits of reward 0 for each simulation in flight; ignored with wu
    wu: bool = False  # WU-UCT instead
    lock: int = FREE


class SharedTreePlayer(ThreadedPlayer):
    """One game's tree, emptied for each move; `search` and `simulate` run a scheme's workers on it."""

    def __init__(self, agent, game, budget):
        super().__init__(agent, game, budget)
        self.tree = new_shared_tree(capacity(game, agent.max_nodes, agent.total_playouts(budget)))
        self.options = agent.options()

    def words(self):
        return [self.tree.locks]

    def prepare(self, state: np.ndarray, rng: np.ndarray) -> None:
        prepare_kernel(self.game, self.tree, state, rng)

    def search(self, state: np.ndarray, rngs: np.ndarray) -> Work:
        """Search on threads; worker i draws from rngs[i]."""
        raise NotImplementedError

    def simulate(self, state: np.ndarray, rngs: np.ndarray) -> Work:
        raise NotImplementedError

    def decide(self, state, rng):
        clear_shared(self.tree)
        self.prepare(state, rng)
        rngs = self.streams(rng)
        work = self.simulate(state, rngs) if self.agent.simulated else self.search(state, rngs)
        rng[0] = rngs[0, 0]
        return decision_from_shared(self.tree, work, int(self.game.player(state)))


def new_shared_tree(room: int) -> SharedTree:
    """A tree of one node with that much room, whose memory is taken as it is first written."""
    tree = SharedTree(new_tree(room), np.empty((room + SPARE, 2), np.int64)[:room], np.zeros(room, np.int32))
    clear_shared(tree)
    return tree


def clear_shared(tree: SharedTree) -> None:
    """Reduce it to one node."""
    clear(tree.nodes)
    tree.counts[ROOT] = 0


@kernel
def prepare_kernel(game, tree, root, rng):
    """Expand the root, before several workers try to."""
    expand(game, tree.nodes, ROOT, root, np.empty(game.max_moves, np.int32), rng)
    tree.counts[1 : tree.nodes.size[0]] = 0


@inlined
def enter(game, tree, walk, options):
    """Put the walk at the root, and count the visit."""
    begin_walk(game, walk)
    atomic_add(tree.counts, (ROOT, BEGUN), np.int64(1))


@inlined
def step_down(game, tree, walk, options, rng):
    """Select a child of the walk's last node, and count the visit."""
    nodes, node, mover = tree.nodes, np.int64(last_node(walk)), game.player(walk.state)
    if options.lock == LOCAL:
        acquire(tree.locks, node)
    if game.has_chance and mover == CHANCE:
        child = child_of_move(nodes, node, game.random_outcome(walk.state, rng))
    else:
        child = best_child_shared(tree, node, options)
    atomic_add(tree.counts, (child, BEGUN), np.int64(1))
    if options.lock == LOCAL:
        release(tree.locks, node)
    step(game, walk, child, nodes.move[child], mover)


@inlined
def has_children(game, tree, walk, options, rng):
    """Whether the walk's last node is expanded, perhaps now, since it was visited before."""
    nodes, node = tree.nodes, last_node(walk)
    children = atomic_load(nodes.children, node)
    if children != LEAF:
        return children != EXPANDING
    first_visit = tree.counts[node, BEGUN] == 1 and node != ROOT
    if first_visit or nodes.size[0] + game.max_moves > len(nodes.visits):
        return False
    if not atomic_compare_exchange(nodes.children, node, np.int32(LEAF), EXPANDING):
        return atomic_load(nodes.children, node) > LEAF
    count = shuffled_moves(game, walk.state, walk.moves, rng)
    first = atomic_add(nodes.size, 0, np.int64(count))
    if first + count > len(nodes.visits):  # another simulation has taken the room
        atomic_add(nodes.size, 0, np.int64(-count))
        atomic_store(nodes.children, node, np.int32(LEAF))
        return False
    write_children(nodes, first, walk.moves, count)
    tree.counts[first : first + count] = 0
    nodes.first_child[node] = first
    atomic_store(nodes.children, node, np.int32(count))
    return True


@helper
def best_child_shared(tree, node, options):
    """The first child that no simulation has reached, else the one with the largest bound."""
    nodes, first = tree.nodes, tree.nodes.first_child[node]
    for column in (nodes.move, nodes.first_child, nodes.children):  # the next reads of one of the children
        prefetch(column, first)
    weight = np.float32(1.0 if options.wu else options.virtual_loss)
    finished_here = finished(tree.counts[node, DONE])
    others = tree.counts[node, BEGUN] - 1 - finished_here  # others in flight through the node
    visits_here = finished_here + weight * others
    whole = np.int64(visits_here)
    root = root_of_log(whole) if whole == visits_here else np.float32(sqrt(log(max(visits_here, 1.0))))
    scale = np.float32(options.exploration) * root
    return largest_bound_in_flight(tree.counts, first, nodes.children[node], scale, weight, options.wu)


@helper
def back_up_shared(tree, walk, reward, options):
    """Add the first player's reward to the nodes of the walk."""
    if options.lock == GLOBAL:
        acquire(tree.locks, ROOT)
    for i in range(walk.length[0]):
        node = walk.path[i]
        if options.lock == LOCAL:
            acquire(tree.locks, node)
        atomic_add(tree.counts, (node, DONE), result_word(1, reward if walk.movers[i] == 0 else 1 - reward))
        if options.lock == LOCAL:
            release(tree.locks, node)
    if options.lock == GLOBAL:
        release(tree.locks, ROOT)


@helper
def result_word(playouts, reward):
    """An addition to DONE: the count in the lower half, in the upper twice the reward, since draws give halves."""
    return (np.int64(2.0 * reward) << 32) + np.int64(playouts)


@helper
def finished(result):
    """The finished simulations in a word of DONE."""
    return result & np.int64(0xFFFFFFFF)


@helper
def reward_sum(result):
    """A DONE word's total reward for the player who moved into the node."""
    return 0.5 * (result >> 32)


def decision_from_shared(tree: SharedTree, work: Work, player: int) -> Decision:
    """The decision for `player`, who is to move, when all workers have finished."""
    settle_values(tree)
    decision = decision_from(tree.nodes, work.playouts, player)
    return replace(decision, playouts_each=work.each, virtual_time=work.virtual_time)


def settle_values(tree: SharedTree) -> None:
    """Write visits and value of the nodes that a decision reads: children along the principal variation."""
    nodes, node = tree.nodes, ROOT
    nodes.visits[ROOT] = tree.counts[ROOT, BEGUN]
    while nodes.children[node] != LEAF:
        children = slice(nodes.first_child[node], nodes.first_child[node] + nodes.children[node])
        nodes.visits[children] = tree.counts[children, BEGUN]
        nodes.value[children] = 0.5 * (tree.counts[children, DONE] >> 32)
        node = most_visited_child(nodes, node)
