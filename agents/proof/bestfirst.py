"""The best-first tree of proof-number search, which PNS, PN2, PDS-PN and RPPNS grow.

    descend   to the most-proving leaf: by least proof number at OR nodes, by least disproof number at AND nodes
    expand    give the leaf its children, and evaluate them at once
    update    the numbers of its ancestors, as far as they change; the next descent begins where the change ended

Allis, van der Meulen & van den Herik, "Proof-number search", 1994.
"""

from typing import NamedTuple

import numpy as np

from agents.proof.numbers import LIMIT, NODES, Task, combine, first_numbers, verdict
from games.core.jit import helper
from games.core.playout import copy_state

ROOT = 0
LEAF = 0  # the number of children of a node that has not been expanded
NODE_BYTES = 24


class ProofTree(NamedTuple):
    """Row i of every array is node i; children of a node lie side by side."""

    proof: np.ndarray  # int32[capacity]
    disproof: np.ndarray  # int32[capacity]
    move: np.ndarray  # int32[capacity], the move that leads to the node
    parent: np.ndarray  # int32[capacity]
    first_child: np.ndarray  # int32[capacity]
    children: np.ndarray  # int32[capacity], LEAF or their number
    size: np.ndarray  # int64[1], nodes in use


class TreeLine(NamedTuple):
    """The line from the root to the current node, and scratch space."""

    states: np.ndarray  # dtype[max_plies + 2, state_size]; row p is p plies below the root
    moves: np.ndarray  # int32[max_moves]
    others: np.ndarray  # int32[max_moves]


class TreeSearch(NamedTuple):
    """A search: a tree, what is to be proved, and all that it works with."""

    tree: ProofTree
    line: TreeLine
    task: Task
    counts: np.ndarray  # int64[3], see agents/proof/numbers.py


def new_proof_tree(capacity: int) -> ProofTree:
    """A tree of one leaf.  The operating system provides memory when it is first written."""
    columns = {name: np.empty(capacity, np.int32) for name in ProofTree._fields if name != "size"}
    tree = ProofTree(**columns, size=np.zeros(1, np.int64))
    restart_tree.py_func(tree)
    return tree


def new_tree_line(game) -> TreeLine:
    """Room for the deepest line of a game."""
    states = np.zeros((game.max_plies + 2, game.state_size), game.dtype)
    return TreeLine(states, np.zeros(game.max_moves, np.int32), np.zeros(game.max_moves, np.int32))


@helper
def restart_tree(tree):
    """Make it a tree of one leaf again."""
    tree.proof[ROOT] = tree.disproof[ROOT] = 1
    tree.move[ROOT] = tree.parent[ROOT] = -1
    tree.children[ROOT] = LEAF
    tree.size[0] = 1


@helper
def is_open(tree, node):
    """Whether a node is neither proved nor disproved."""
    return tree.proof[node] != 0 and tree.disproof[node] != 0


@helper
def has_room(game, search):
    """Whether one more leaf can be expanded."""
    tree, counts = search.tree, search.counts
    return tree.size[0] + game.max_moves <= len(tree.proof) and counts[NODES] + game.max_moves <= counts[LIMIT]


@helper
def most_proving(game, tree, line, node, ply):
    """Descend from a node to its most-proving leaf; (leaf, ply).  line.states follows."""
    while tree.children[node] != LEAF:
        state, after = line.states[ply], line.states[ply + 1]
        node = best_child(tree, node, game.player(state) == 0)
        copy_state(game, state, after)
        game.play(after, tree.move[node])
        ply += 1
    return node, ply


@helper
def best_child(tree, node, or_node):
    """The first child of least proof number at an OR node, of least disproof number at an AND node."""
    first = tree.first_child[node]
    numbers = tree.proof if or_node else tree.disproof
    best = first
    for child in range(first, first + tree.children[node]):
        if numbers[child] < numbers[best]:
            best = child
    return best


@helper
def expand(game, search, node, ply):
    """Give the leaf at `ply` its children, with their first numbers."""
    tree, line, task, counts = search.tree, search.line, search.task, search.counts
    state, after = line.states[ply], line.states[ply + 1]
    count, first = game.sound_moves(state, line.moves), tree.size[0]
    for i in range(count):
        copy_state(game, state, after)
        game.play(after, line.moves[i])
        outcome = verdict(game, task, after, ply + 1, counts)
        numbers = first_numbers(game, task, after, outcome, line.others)
        write_child(tree, first + i, node, line.moves[i], numbers)
    counts[NODES] += count
    tree.size[0] = first + count
    tree.first_child[node] = first
    tree.children[node] = count


@helper
def write_child(tree, child, parent, move, numbers):
    """A new leaf."""
    tree.proof[child], tree.disproof[child] = numbers
    tree.move[child], tree.parent[child], tree.children[child] = move, parent, LEAF


@helper
def update(game, tree, line, node, ply):
    """Recompute numbers from the children's, upwards as long as they change; (node, ply) to descend from next."""
    while True:
        or_node = game.player(line.states[ply]) == 0
        proof, disproof = combine(tree.proof, tree.disproof, tree.first_child[node], tree.children[node], or_node)
        if proof == tree.proof[node] and disproof == tree.disproof[node]:
            return node, ply
        tree.proof[node], tree.disproof[node] = proof, disproof
        if node == ROOT:
            return node, ply
        node, ply = np.int64(tree.parent[node]), ply - 1


@helper
def best_first(game, search, ply, until):
    """Grow the tree, whose root is line.states[ply], until it is settled, has `until` nodes or cannot grow."""
    tree, line, node = search.tree, search.line, ROOT
    while is_open(tree, ROOT) and tree.size[0] < until and has_room(game, search):
        node, ply = most_proving(game, tree, line, node, ply)
        expand(game, search, node, ply)
        node, ply = update(game, tree, line, node, ply)
