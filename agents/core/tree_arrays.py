"""The tree of Monte-Carlo tree search as arrays: a node is an index, and a node's children are adjacent."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from arena.agents.core.reuse import leave, taken
from arena.agents.core.selection import UNVISITED, new_bounds
from arena.games.core.game import Game
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.play.playout import copy_state
from arena.games.core.random import random_below

ROOT = 0
LEAF = 0  # the number of children of a node that is not expanded
UNPROVEN = 0


class Tree(NamedTuple):
    """Row i of every array is node i; only the first `size[0]` rows mean anything.  A node takes 33 bytes."""

    visits: np.ndarray  # int32[capacity]
    value: np.ndarray  # float64[capacity], sum of rewards, 0 to 1, for the player who moved into the node
    bounds: np.ndarray  # float32[capacity, 2], see set_bound; for rules that select by vectors
    move: np.ndarray  # int32[capacity], to the node
    first_child: np.ndarray  # int32[capacity]
    children: np.ndarray  # int32[capacity], LEAF or their number
    size: np.ndarray  # int64[1], nodes in use
    proven: np.ndarray  # int8[capacity], UNPROVEN or see proof_of


class Walk(NamedTuple):
    """The current simulation: its path down the tree, and the state at its end."""

    root: np.ndarray  # dtype[state_size], where simulations begin
    state: np.ndarray  # dtype[state_size]
    moves: np.ndarray  # int32[max_moves], scratch
    path: np.ndarray  # int32[max_plies + 1], from the root
    movers: np.ndarray  # int64[max_plies + 1], the player who moved into each; movers[0] means nothing
    length: np.ndarray  # int64[2], of the path, and the plies of plain UCT's playout from its end


def new_tree(room: int) -> Tree:
    """A root with room for `room` nodes."""
    tree = taken(("tree", room), lambda: _fresh_tree(room))
    clear(tree)
    return tree


def leave_tree(tree: Tree) -> None:
    """Leave a tree that is not used any more to the next `new_tree` of its size."""
    touched = sum(column[: tree.size[0]].nbytes for column in tree)  # the rest of its memory is not provided yet
    leave(("tree", len(tree.visits)), tree, touched)


def _fresh_tree(room):
    visits, move, first_child, children = (np.empty(room, np.int32) for _ in range(4))
    value, bounds, size = np.empty(room), new_bounds(room), np.zeros(1, np.int64)
    return Tree(visits, value, bounds, move, first_child, children, size, proven=np.zeros(room, np.int8))


def capacity(game: Game, most: int, simulations: int | None) -> int:
    """The nodes that a tree needs room for: `most`, or fewer if `simulations` cannot make that many.

    The pages of a large array, of up to 2 MiB, are cleared when they are first written.
    """
    needed = most if simulations is None else (simulations + 2) * game.max_moves + 1
    return max(min(most, needed), 1 + game.max_moves)


def clear(tree: Tree) -> None:
    """Reduce it to one node."""
    if tree.proven[: tree.size[0]].any():
        tree.proven[: tree.size[0]] = UNPROVEN
    for column in (tree.visits, tree.value, tree.first_child, tree.children):
        column[ROOT] = 0
    tree.move[ROOT] = -1
    tree.size[0] = 1


def child_by_move(tree: Tree, node: int, move: int) -> int | None:
    """The child that a move leads to; None if the node is not expanded."""
    first = tree.first_child[node]
    for child in range(first, first + tree.children[node]):
        if tree.move[child] == move:
            return child
    return None


def most_visited_child(tree: Tree, node: int) -> int:
    """The child with the most visits; ties go to the larger value, then to the first."""
    first = int(tree.first_child[node])
    rows = slice(first, first + int(tree.children[node]))
    found = list(zip(tree.visits[rows].tolist(), tree.value[rows].tolist()))
    return first + found.index(max(found))


def principal_variation(tree: Tree, child: int) -> tuple[int, ...]:
    """The move to a child of the root, then to the most visited child of each node."""
    node, moves = child, [int(tree.move[child])]
    while tree.children[node] != LEAF:
        node = most_visited_child(tree, node)
        if tree.visits[node] == 0:
            break
        moves.append(int(tree.move[node]))
    return tuple(moves)


@kernel
def new_walk(game, root):
    """A walk, made by the thread that uses it: threads' arrays share no cache line."""
    plies = game.max_plies + 1
    path, movers = np.empty(plies, np.int32), np.empty(plies, np.int64)
    return Walk(root, root.copy(), np.empty(game.max_moves, np.int32), path, movers, np.zeros(2, np.int64))


@helper
def begin_walk(game, walk):
    """Put the walk at the root."""
    copy_state(game, walk.root, walk.state)
    walk.path[0] = ROOT
    walk.length[0] = 1


@helper
def last_node(walk):
    """The node at the end of the walk."""
    return walk.path[walk.length[0] - 1]


@helper
def step(game, walk, node, move, mover):
    """Walk to a child, `node`, which `mover` reaches by `move`."""
    length = np.uint64(walk.length[0])
    walk.path[length], walk.movers[length] = node, mover
    walk.length[0] = length + np.uint64(1)
    game.play(walk.state, move)


@helper
def proof_of(result):
    """The mark of a result, -1, 0 or 1 for the first player."""
    return np.int8(result + 2.0)


@helper
def proven_result(proof):
    """-1.0, 0.0 or 1.0 for the first player."""
    return np.float64(proof) - 2.0


@inlined
def shuffled_moves(game, state, moves, rng):
    """Write the legal moves in random order, so that the game's order favours no child."""
    count = game.legal_moves(state, moves)
    for i in range(count - 1, 0, -1):
        j = random_below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]
    return count


@inlined
def write_children(tree, first, moves, count):
    """Make unvisited leaves from `first` on for moves[:count]; the caller sets their values and bounds."""
    for i in range(count):
        child = np.uint64(first + i)
        tree.visits[child] = 0
        tree.move[child] = moves[i]
        tree.children[child] = LEAF


@inlined
def set_bound(tree, node):
    """Write mean and 1 / sqrt(visits) of a node for the selection, where nothing waits for them."""
    if tree.visits[node] == 0:
        tree.bounds[node, 0], tree.bounds[node, 1] = UNVISITED, np.float32(0.0)
        return
    share = np.float32(1.0) / np.float32(tree.visits[node])
    tree.bounds[node, 0] = np.float32(tree.value[node]) * share
    tree.bounds[node, 1] = np.float32(sqrt(share))


@kernel
def copy_subtree(game, tree, root, target):
    """Make `target` the subtree at `root`; returns its nodes' numbers in `tree`: int32[nodes]."""
    origin = np.empty(len(target.visits), np.int32)
    origin[ROOT] = root
    target.move[ROOT] = -1
    used, node = 1, 0
    while node < used:
        source = origin[node]
        target.visits[node] = tree.visits[source]
        target.value[node] = tree.value[source]
        target.bounds[node] = tree.bounds[source]
        target.children[node] = tree.children[source]
        target.proven[node] = tree.proven[source]
        target.first_child[node] = used
        for i in range(tree.children[source]):
            origin[used] = tree.first_child[source] + i
            target.move[used] = tree.move[origin[used]]
            used += 1
        node += 1
    target.size[0] = used
    return origin[:used]
