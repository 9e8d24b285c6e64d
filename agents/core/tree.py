"""The tree of Monte-Carlo tree search, as arrays: a node is an index, and a node's children are adjacent.

A simulation is a `Walk` down the tree and on to the end of the game.
"""

from typing import NamedTuple

import numpy as np

from arena.agents.core.selection import SPARE
from arena.games.core.game import Game
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.playout import copy_state
from arena.games.core.random import random_below

ROOT = 0
LEAF = 0  # the number of children of a node that has not been expanded
UNPROVEN = 0  # the mark of a node without a proven result


class Tree(NamedTuple):
    """Row i of every array is node i; only the first `size[0]` rows mean anything.  A node takes 25 bytes."""

    visits: np.ndarray  # int32[capacity], simulations that passed through the node
    value: np.ndarray  # float64[capacity], sum of their rewards, 0 to 1, for the player who moved into the node
    move: np.ndarray  # int32[capacity], the move to the node
    first_child: np.ndarray  # int32[capacity]
    children: np.ndarray  # int32[capacity], LEAF or their number
    size: np.ndarray  # int64[1], nodes in use
    proven: np.ndarray  # int8[capacity], UNPROVEN, or the mark of a result: see proof_of


class Walk(NamedTuple):
    """One simulation after another: the path through the tree, and the state at its end."""

    root: np.ndarray  # dtype[state_size], the state at which simulations begin
    state: np.ndarray  # dtype[state_size], the current simulation's
    moves: np.ndarray  # int32[max_moves], scratch
    path: np.ndarray  # int32[max_plies + 1], path[i] is the node i plies below the root
    movers: np.ndarray  # int64[max_plies + 1], movers[i] the player who moved into it; movers[0] means nothing
    length: np.ndarray  # int64[1], nodes on the path


def new_tree(room: int) -> Tree:
    """A tree of one node, the root, with room for `room`; the system provides memory as it is first written."""
    visits, move, first_child, children = (np.empty(room + SPARE, np.int32)[:room] for _ in range(4))
    value = np.empty(room + SPARE)[:room]
    tree = Tree(visits, value, move, first_child, children, size=np.zeros(1, np.int64), proven=np.zeros(room, np.int8))
    clear(tree)
    return tree


def capacity(game: Game, most: int, simulations: int | None) -> int:
    """The nodes that a tree needs room for: `most`, or fewer if `simulations` cannot make that many.

    A large array's memory comes in pages of up to 2 MiB, each of which is cleared when it is first written.
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
    """The child that a move leads to; None if the node has not been expanded."""
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
    """The move to a child of the root, followed by those to the most visited child of each node."""
    node, moves = child, [int(tree.move[child])]
    while tree.children[node] != LEAF:
        node = most_visited_child(tree, node)
        if tree.visits[node] == 0:
            break
        moves.append(int(tree.move[node]))
    return tuple(moves)


@kernel
def new_walk(game, root):
    """Room for simulations from `root`, made by the thread that uses it: threads' arrays share no cache line."""
    plies = game.max_plies + 1
    path, movers = np.empty(plies, np.int32), np.empty(plies, np.int64)
    return Walk(root, root.copy(), np.empty(game.max_moves, np.int32), path, movers, np.zeros(1, np.int64))


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
    """The mark of a proven result, -1, 0 or 1 for the first player."""
    return np.int8(result + 2.0)


@helper
def proven_result(proof):
    """The result behind a mark: -1.0, 0.0 or 1.0 for the first player."""
    return np.float64(proof) - 2.0


@inlined
def shuffled_moves(game, state, moves, rng):
    """Write the legal moves in random order, so that the game's order does not favour children."""
    count = game.legal_moves(state, moves)
    for i in range(count - 1, 0, -1):
        j = random_below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]
    return count


@inlined
def write_children(tree, first, moves, count):
    """Make unvisited leaves of the nodes from `first`, one for each of moves[:count]; the caller sets their values."""
    for i in range(count):
        child = np.uint64(first + i)
        tree.visits[child] = 0
        tree.move[child] = moves[i]
        tree.children[child] = LEAF


@kernel
def copy_subtree(game, tree, root, target):
    """Make `target` the subtree of `tree` at `root`; returns its nodes' numbers in `tree`: int32[nodes]."""
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
    return origin[:used]
