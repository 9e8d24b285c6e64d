"""A tree that several simulations search at once: what the schemes that share a tree are made of.

Each node counts in `tree.shared` the simulations that have begun to pass through it, on their way down, and those that
have finished, with their rewards, on their way up.  The difference is in flight.  Others see it in one of two ways:

    virtual loss (Chaslot, Winands & van den Herik 2008)    each counts as `virtual_loss` visits of reward 0
    WU-UCT (Liu et al. 2020)                                each counts as a visit in both places of the bound, the
                                                            mean stays that of the finished simulations

How many have finished and their rewards are one word, and it lies beside the other count: a simulation costs a node two
atomic additions in one cache line.  What threads wait for are those lines, of the nodes near the root.

Without others in flight, selection, expansion and the random numbers drawn are those of `uct`: one simulation at a
time gives the same tree, node for node.  Children are published by one release store after they are written
(Enzenberger & Mueller 2009), so that no thread ever counts a child that is not there.
"""

from dataclasses import replace
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store
from agents.core.locks import acquire, release
from agents.core.tree import LEAF, ROOT, most_visited_child, shuffled_moves, write_children
from agents.montecarlo.search import child_of_move, decision_from
from games.core.game import CHANCE
from games.core.jit import helper

EXPANDING = np.int32(-1)  # the number of children of a node while one simulation writes them
FREE, LOCAL, GLOBAL = range(3)  # locks: none; one a node, while it is read or written; one for all but the playout
ONE = np.int32(1)
BEGUN, DONE = range(2)  # columns of Tree.shared


class Options(NamedTuple):
    """How a shared tree is searched."""

    exploration: float
    virtual_loss: float  # visits without reward that a simulation in flight counts as; of no meaning with wu
    wu: bool  # WU-UCT instead
    lock: int  # FREE, LOCAL or GLOBAL


@helper
def descend_shared(game, tree, state, path, movers, moves, options, rng):
    """Select down to a leaf, counting the visits and expanding the leaf if it is not the first; the path's length.

    path[i] is the node i plies below the root, movers[i] the player who moved into it; `state` follows.
    """
    if options.lock == GLOBAL:
        acquire(tree.lock, ROOT)
    length = enter(tree, path)
    while not game.is_over(state) and has_children(game, tree, path[length - 1], state, moves, rng):
        length = step_down(game, tree, state, path, movers, length, options, rng)
    if options.lock == GLOBAL:
        release(tree.lock, ROOT)
    return length


@helper
def enter(tree, path):
    """Begin a path at the root, and count the visit; returns its length."""
    path[0] = ROOT
    atomic_add(tree.shared, (ROOT, BEGUN), np.int64(1))
    return 1


@helper
def step_down(game, tree, state, path, movers, length, options, rng):
    """Select a child of the path's last node, which has children, and count the visit; returns the new length."""
    node = path[length - 1]
    movers[length] = game.player(state)
    if options.lock == LOCAL:
        acquire(tree.lock, node)
    if game.has_chance and movers[length] == CHANCE:
        child = child_of_move(tree, node, game.random_outcome(state, rng))
    else:
        child = best_child_shared(tree, node, options)
    atomic_add(tree.shared, (child, BEGUN), np.int64(1))
    if options.lock == LOCAL:
        release(tree.lock, node)
    game.play(state, tree.move[child])
    path[length] = child
    return length + 1


@helper
def has_children(game, tree, node, state, moves, rng):
    """Whether to select on from a node: true if it is expanded, or was visited before and can be expanded now."""
    children = atomic_load(tree.children, node)
    if children != LEAF:
        return children != EXPANDING
    first_visit = tree.shared[node, BEGUN] == 1 and node != ROOT
    if first_visit or tree.size[0] + game.max_moves > len(tree.visits):
        return False
    if not atomic_compare_exchange(tree.children, node, np.int32(LEAF), EXPANDING):
        return atomic_load(tree.children, node) > LEAF
    count = shuffled_moves(game, state, moves, rng)
    first = atomic_add(tree.size, 0, np.int64(count))
    if first + count > len(tree.visits):  # another simulation has taken the room meanwhile
        atomic_add(tree.size, 0, np.int64(-count))
        atomic_store(tree.children, node, np.int32(LEAF))
        return False
    write_children(tree, first, moves, count)
    tree.shared[first : first + count] = 0
    tree.first_child[node] = first
    atomic_store(tree.children, node, np.int32(count))
    return True


@helper
def best_child_shared(tree, node, options):
    """The first child that nobody has visited or is visiting, or the one with the largest bound."""
    first = tree.first_child[node]
    weight = np.float32(1.0 if options.wu else options.virtual_loss)
    finished_here = finished(tree.shared[node, DONE])
    others = tree.shared[node, BEGUN] - 1 - finished_here  # simulations in flight through the node, but for this one
    visits_here = finished_here + weight * others
    scale = np.float32(options.exploration * options.exploration * log(max(visits_here, 1.0)))
    best, best_bound = first, np.float32(-1.0)
    for child in range(first, first + tree.children[node]):
        result = tree.shared[child, DONE]
        visits = np.float32(finished(result))
        counted = visits + weight * (np.float32(tree.shared[child, BEGUN]) - visits)
        if counted <= 0:
            return child
        divisor = max(visits, np.float32(1.0)) if options.wu else counted
        bound = np.float32(reward_sum(result)) * (np.float32(1.0) / divisor) + sqrt(scale * (np.float32(1.0) / counted))
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@helper
def back_up_shared(tree, path, movers, length, reward, simulations, lock):
    """Add the path's result: `simulations` playouts of its leaf, and their summed reward, which is the first player's."""
    if lock == GLOBAL:
        acquire(tree.lock, ROOT)
    for i in range(length):
        node = path[i]
        if lock == LOCAL:
            acquire(tree.lock, node)
        if simulations > 1:  # one was counted on the way down
            atomic_add(tree.shared, (node, BEGUN), np.int64(simulations - 1))
        atomic_add(
            tree.shared, (node, DONE), result_word(simulations, reward if movers[i] == 0 else simulations - reward)
        )
        if lock == LOCAL:
            release(tree.lock, node)
    if lock == GLOBAL:
        release(tree.lock, ROOT)


@helper
def result_word(simulations, reward):
    """What is added to DONE: twice the reward, since draws give halves, in the word's upper half, the count below."""
    return (np.int64(2.0 * reward) << 32) + np.int64(simulations)


@helper
def finished(result):
    """The simulations that a word of DONE counts."""
    return result & np.int64(0xFFFFFFFF)


@helper
def reward_sum(result):
    """The reward that a word of DONE has summed, for the player who moved into the node."""
    return 0.5 * (result >> 32)


def decision_from_shared(game, tree, state, playouts, each, virtual_time=None):
    """The decision, once all workers have finished; `each` is how many playouts the most busy of them made."""
    settle_values(tree)
    decision = decision_from(tree, playouts, int(game.player(state)))
    return replace(decision, playouts_each=each, virtual_time=virtual_time)


def settle_values(tree) -> None:
    """Write visits and value of the nodes that a decision reads: the children all along the principal variation."""
    node, tree.visits[ROOT] = ROOT, tree.shared[ROOT, BEGUN]
    while tree.children[node] != LEAF:
        children = slice(tree.first_child[node], tree.first_child[node] + tree.children[node])
        tree.visits[children] = tree.shared[children, BEGUN]
        tree.value[children] = 0.5 * (tree.shared[children, DONE] >> 32)
        node = most_visited_child(tree, node)
