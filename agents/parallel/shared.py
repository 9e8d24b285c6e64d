"""A tree that several simulations search at once: what the schemes that share a tree are made of.

A simulation in flight has left its mark on its path (`tree.in_flight`) and not yet its result.  Others see it in one of
two ways:

    virtual loss (Chaslot, Winands & van den Herik 2008)    each mark counts as `virtual_loss` visits of reward 0
    WU-UCT (Liu et al. 2020)                                each mark counts as a visit in both places of the bound,
                                                            the mean stays that of the finished simulations

Without marks in the way, selection, expansion and the random numbers drawn are those of `uct`: one simulation at a
time gives the same tree, node for node.  Children are published by one release store after they are written
(Enzenberger & Mueller 2009), so that no thread ever counts a child that is not there.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

from agents.core.atomics import atomic_add, atomic_compare_exchange, atomic_load, atomic_store, sched_yield
from agents.core.tree import LEAF, ROOT, shuffled_moves, write_children
from agents.montecarlo.search import child_of_move
from games.core.game import CHANCE
from games.core.jit import helper

EXPANDING = np.int32(-1)  # the number of children of a node while one simulation writes them
FREE, LOCAL, GLOBAL = range(3)  # locks: none; one a node, while it is read or written; one for all but the playout
ONE = np.int32(1)


class Options(NamedTuple):
    """How a shared tree is searched."""

    exploration: float
    virtual_loss: float  # visits without reward that a simulation in flight counts as; of no meaning with wu
    wu: bool             # WU-UCT instead
    lock: int            # FREE, LOCAL or GLOBAL


@helper
def acquire(locks, node):
    """Wait for the lock of a node, and take it."""
    while not atomic_compare_exchange(locks, node, np.int32(0), ONE):
        sched_yield()


@helper
def release(locks, node):
    """Give the lock of a node back."""
    atomic_store(locks, node, np.int32(0))


@helper
def descend_shared(game, tree, state, path, movers, moves, options, rng):
    """Select down to a leaf, marking the path and expanding the leaf if it is not the first visit; the path's length.

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
    """Begin a path at the root, and mark it; returns its length."""
    path[0] = ROOT
    atomic_add(tree.in_flight, ROOT, ONE)
    return 1


@helper
def step_down(game, tree, state, path, movers, length, options, rng):
    """Select a child of the path's last node, which has children, and mark it; returns the new length."""
    node = path[length - 1]
    movers[length] = game.player(state)
    if options.lock == LOCAL:
        acquire(tree.lock, node)
    if game.has_chance and movers[length] == CHANCE:
        child = child_of_move(tree, node, game.random_outcome(state, rng))
    else:
        child = best_child_shared(tree, node, options)
    atomic_add(tree.in_flight, child, ONE)
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
    first_visit = tree.visits[node] == 0 and tree.in_flight[node] <= 1 and node != ROOT
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
    tree.first_child[node] = first
    atomic_store(tree.children, node, np.int32(count))
    return True


@helper
def best_child_shared(tree, node, options):
    """The first child that nobody has visited or is visiting, or the one with the largest bound."""
    first = tree.first_child[node]
    others = tree.in_flight[node] - 1  # simulations in flight through the node, but for this one
    weight = 1.0 if options.wu else options.virtual_loss
    visits_here = tree.visits[node] + weight * others
    scale = np.float32(options.exploration * options.exploration * log(max(visits_here, 1.0)))
    best, best_bound = first, np.float32(-1.0)
    for child in range(first, first + tree.children[node]):
        visits = np.float32(tree.visits[child])
        marked = visits + np.float32(weight * tree.in_flight[child])
        if marked == 0:
            return child
        share = np.float32(1.0) / marked
        counted = max(visits, np.float32(1.0)) if options.wu else marked
        bound = np.float32(tree.value[child]) * (np.float32(1.0) / counted) + sqrt(scale * share)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@helper
def back_up_shared(tree, path, movers, length, reward, simulations, lock):
    """Take the marks off the path, and count the visits and their summed reward, which is the first player's.

    `simulations` is how many playouts the path's leaf has had.
    """
    if lock == GLOBAL:
        acquire(tree.lock, ROOT)
    for i in range(length):
        node = path[i]
        if lock == LOCAL:
            acquire(tree.lock, node)
        if i > 0:
            atomic_add(tree.value, node, reward if movers[i] == 0 else simulations - reward)
        atomic_add(tree.visits, node, np.int32(simulations))
        atomic_add(tree.in_flight, node, -ONE)
        if lock == LOCAL:
            release(tree.lock, node)
    if lock == GLOBAL:
        release(tree.lock, ROOT)
