"""The tree of Monte-Carlo tree search, as arrays: a node is an index, and the children of a node lie side by side."""

from typing import NamedTuple

import numpy as np

from games.core.jit import helper, kernel
from games.core.random import random_below

ROOT = 0
LEAF = 0  # the number of children of a node that has not been expanded
UNPROVEN = 0  # of Tree.proven


class Tree(NamedTuple):
    """Row i of every array is node i; only the first `size[0]` rows mean anything."""

    visits: np.ndarray  # int32[capacity], simulations that passed through the node
    value: np.ndarray  # float64[capacity], sum of their rewards, 0 to 1, for the player who moved into the node
    move: np.ndarray  # int32[capacity], the move that leads to the node
    first_child: np.ndarray  # int32[capacity]
    children: np.ndarray  # int32[capacity], LEAF or their number
    size: np.ndarray  # int64[1], nodes in use
    shared: np.ndarray  # int64[capacity, 2], counts of a search by several at once: agents/parallel/shared.py
    proven: np.ndarray  # int8[capacity], UNPROVEN or, by proof_of, the result that is certain
    lock: np.ndarray  # int32[capacity], 1 while a simulation holds the node's lock; 0 between searches


def new_tree(capacity: int) -> Tree:
    """A tree of one node, the root, with room for `capacity`.

    The operating system provides the memory as it is first written, so that room which is not used costs nothing.
    """
    visits, move, first_child, children = (np.empty(capacity, np.int32) for _ in range(4))
    proven, lock = np.zeros(capacity, np.int8), np.zeros(capacity, np.int32)
    size, value, shared = np.zeros(1, np.int64), np.empty(capacity), np.empty((capacity, 2), np.int64)
    tree = Tree(visits, value, move, first_child, children, size, shared, proven, lock)
    clear(tree)
    return tree


def clear(tree: Tree) -> None:
    """Make it a tree of one node again."""
    if tree.proven[: tree.size[0]].any():
        tree.proven[: tree.size[0]] = UNPROVEN
    for column in (tree.visits, tree.value, tree.shared, tree.first_child, tree.children):
        column[ROOT] = 0
    tree.move[ROOT] = -1
    tree.size[0] = 1


def child_by_move(tree: Tree, node: int, move: int) -> int | None:
    """The child that a move leads to; None where the node has not been expanded."""
    first = tree.first_child[node]
    for child in range(first, first + tree.children[node]):
        if tree.move[child] == move:
            return child
    return None


def most_visited_child(tree: Tree, node: int) -> int:
    """The child with the most visits; among equals the one of more value, then the first."""
    first = tree.first_child[node]
    children = range(first, first + tree.children[node])
    return max(children, key=lambda child: (tree.visits[child], tree.value[child]))


def principal_variation(tree: Tree, child: int) -> tuple[int, ...]:
    """The move to a child of the root, and on along the most visited children."""
    node, moves = child, [int(tree.move[child])]
    while tree.children[node] != LEAF:
        node = most_visited_child(tree, node)
        if tree.visits[node] == 0:
            break
        moves.append(int(tree.move[node]))
    return tuple(moves)


@helper
def proof_of(result):
    """The mark of a certain result of the first player, -1, 0 or 1."""
    return np.int8(result + 2.0)


@helper
def proven_result(proof):
    """The first player's result that a mark stands for: -1.0, 0.0 or 1.0."""
    return np.float64(proof) - 2.0


@helper
def shuffled_moves(game, state, moves, rng):
    """Write the legal moves in random order, so that unvisited children are tried in no order of the game's."""
    count = game.legal_moves(state, moves)
    for i in range(count - 1, 0, -1):
        j = random_below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]
    return count


@helper
def write_children(tree, first, moves, count):
    """Make the nodes from `first` on unvisited leaves, one for each of `moves[:count]`; their values are the caller's."""
    for i in range(count):
        child = first + i
        tree.visits[child] = 0
        tree.move[child] = moves[i]
        tree.children[child] = LEAF


@kernel
def copy_subtree(game, tree, root, target):
    """Make `target` the part of `tree` below `root`: the tree that is left after a move."""
    origin = np.empty(len(target.visits), np.int32)
    origin[ROOT] = root
    target.move[ROOT] = -1
    used, node = 1, 0
    while node < used:
        source = origin[node]
        target.visits[node] = tree.visits[source]
        target.value[node] = tree.value[source]
        target.children[node] = tree.children[source]
        target.proven[node] = tree.proven[source]
        target.first_child[node] = used
        for i in range(tree.children[source]):
            origin[used] = tree.first_child[source] + i
            target.move[used] = tree.move[origin[used]]
            used += 1
        node += 1
    target.size[0] = used
