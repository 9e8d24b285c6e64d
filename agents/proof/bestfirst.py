"""The best-first tree of proof-number search, for PNS, PN2, PDS-PN and RPPNS, and its form as a graph.

    descend   to the most-proving leaf: by least proof number at OR nodes, by least disproof number at AND nodes
    expand    give the leaf its children, and evaluate them at once
    update    the numbers of its ancestors, as far as they change; the next descent begins where the change ended

Allis, van der Meulen & van den Herik, "Proof-number search", 1994.

In a graph (agents/proof/transpositions.py), each move still has its own row, so that the numbers of a node's children
are adjacent; the first row of a position *holds* it, and the others copy its numbers.  An update goes up to the parents
of all its rows, breadth first.
"""

from typing import NamedTuple

import numpy as np

from arena.agents.proof.numbers import LIMIT, NODES, OPEN, Task, combine, first_numbers, verdict
from arena.agents.proof.transpositions import Index, forget, index_bytes, is_graph, joined, new_index, new_row, orient
from arena.games.core.jit import helper, inlined

ROOT = 0
LEAF = 0  # the number of children of a node that has not been expanded
NODE_BYTES = 28
TREE_QUEUE = 1024  # entries: in a tree, one node at a time waits
OR_NODE, QUEUED, PLY = 1, 2, 2  # of a node's flags: two bits, and the first of the others


class ProofTree(NamedTuple):
    """Row i of every array is node i; a node's children are adjacent."""

    proof: np.ndarray  # int32[capacity]
    disproof: np.ndarray  # int32[capacity]
    move: np.ndarray  # int32[capacity], the move to the node
    parent: np.ndarray  # int32[capacity]
    first_child: np.ndarray  # int32[capacity]
    children: np.ndarray  # int32[capacity], LEAF or their number
    flags: np.ndarray  # int32[capacity], OR_NODE if expanded as one, QUEUED; from bit PLY on, its ply on the line + 1
    queue: np.ndarray  # int32[capacity in a graph], a ring of nodes to recompute
    positions: Index  # the rows that hold positions
    size: np.ndarray  # int64[1], nodes in use


class TreeLine(NamedTuple):
    """The line from the root to the current node, and scratch space."""

    states: np.ndarray  # dtype[max_plies + 2, state_size]; row p is p plies below the root
    moves: np.ndarray  # int32[max_moves]
    others: np.ndarray  # int32[max_moves]
    path: np.ndarray  # int32[max_plies + 2], the nodes
    image: np.ndarray  # dtype[state_size]


class TreeSearch(NamedTuple):
    """A search: a tree, its task, and its working data."""

    tree: ProofTree
    line: TreeLine
    task: Task
    counts: np.ndarray  # int64[3], see agents/proof/numbers.py


def new_proof_tree(capacity: int, graph: bool = False) -> ProofTree:
    """A tree or graph of one leaf, whose memory is taken as it is first written."""
    rows = ("proof", "disproof", "move", "parent", "first_child", "children", "flags")
    columns = {name: np.empty(capacity, np.int32) for name in rows}
    queue, positions = np.empty(capacity if graph else TREE_QUEUE, np.int32), new_index(capacity * graph)
    tree = ProofTree(**columns, queue=queue, positions=positions, size=np.ones(1, np.int64))
    # restart_tree would be compiled in every process that makes a tree, for half a second
    tree.proof[ROOT] = tree.disproof[ROOT] = 1
    tree.move[ROOT], tree.parent[ROOT], tree.children[ROOT], tree.flags[ROOT] = -1, -1, LEAF, 0
    if graph:
        positions.key[ROOT], positions.first[ROOT], positions.next[ROOT] = 0, ROOT, -1
    return tree


def tree_bytes(tree: ProofTree, rows: int | None = None) -> int:
    """The bytes of that many rows, or of those in use."""
    rows = int(tree.size[0]) if rows is None else rows
    return NODE_BYTES * rows + index_bytes(tree.positions, rows)


def new_tree_line(game) -> TreeLine:
    """Room for the deepest line of a game."""
    states, moves = np.zeros((game.max_plies + 2, game.state_size), game.dtype), np.zeros(game.max_moves, np.int32)
    return TreeLine(states, moves, moves.copy(), np.zeros(len(states), np.int32), states[0].copy())


@helper
def restart_tree(tree):
    """Reduce it to one leaf."""
    forget(tree.positions)
    tree.proof[ROOT] = tree.disproof[ROOT] = 1
    write_row(tree, ROOT, -1, -1)
    tree.size[0] = 1


@helper
def write_row(tree, row, parent, move):
    """Write a new leaf, without its numbers."""
    tree.move[row], tree.parent[row], tree.children[row], tree.flags[row] = move, parent, LEAF, 0
    new_row(tree.positions, row)


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
def most_proving(game, search, node, ply):
    """Descend from a node to its most-proving leaf: (leaf, ply).  The line follows."""
    tree, line = search.tree, search.line
    put_on_line(tree, line, node, ply)
    while tree.children[node] != LEAF:
        row = best_child(tree, node, game.player(line.states[ply]) == 0)
        make_move(game, search, ply, tree.move[row])
        node, ply = holder(tree, row), ply + 1
        put_on_line(tree, line, node, ply)
    return node, ply


@helper
def put_on_line(tree, line, node, ply):
    """Note that the line leads through a node."""
    line.path[ply] = node
    tree.flags[node] = tree.flags[node] & (OR_NODE | QUEUED) | (ply + 1) << PLY


@helper
def make_move(game, search, ply, move):
    """Write the position after a move at `ply` into the line's next row."""
    line = search.line
    after = line.states[ply + 1]
    game.play_into(line.states[ply], move, after)
    orient(game, search.task, after, line.image)


@helper
def holder(tree, row):
    """The row that holds a row's position."""
    return np.int64(tree.positions.first[row]) if is_graph(tree.positions) else np.int64(row)


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
    count, first = game.sound_moves(line.states[ply], line.moves), tree.size[0]
    after = line.states[ply + 1]
    for row in range(first, first + count):
        move = line.moves[row - first]
        make_move(game, search, ply, move)
        write_row(tree, row, node, move)
        outcome = verdict(game, task, after, ply + 1, counts)
        known = joined(game, task, tree.positions, row, after, ply + 1) if outcome == OPEN else row
        if known == row:
            tree.proof[row], tree.disproof[row] = first_numbers(game, task, after, outcome, line.others)
        else:
            tree.proof[row], tree.disproof[row] = tree.proof[known], tree.disproof[known]
    counts[NODES] += count
    give_children(tree, node, count, game.player(line.states[ply]) == 0)


@helper
def give_children(tree, node, count, or_node):
    """Make the next `count` rows the children of a leaf."""
    tree.first_child[node], tree.children[node] = tree.size[0], count
    tree.size[0] += count
    if or_node:
        tree.flags[node] |= OR_NODE


@helper
def update(search, node, ply):
    """Recompute numbers upwards as long as they change; returns the first changed node of the line, (node, ply)."""
    tree, line, task = search.tree, search.line, search.task
    leaf, top, head, tail = ply, ply, 0, 0
    line.path[ply] = node
    while True:
        flags = np.int64(tree.flags[node])
        if flags >> PLY > 0:
            top = min(top, (flags >> PLY) - 1)
        first, count = tree.first_child[node], tree.children[node]
        proof, disproof = combine(tree.proof, tree.disproof, first, count, flags & OR_NODE != 0, task.weak)
        if proof != tree.proof[node] or disproof != tree.disproof[node]:
            tail = hand_up(tree, node, (proof, disproof), tail)
        if head == tail:
            break
        node = np.int64(tree.queue[in_ring(tree.queue, head)])
        tree.flags[node] &= ~QUEUED
        head += 1
    for below in range(top + 1, leaf + 1):
        tree.flags[line.path[below]] &= OR_NODE | QUEUED
    return np.int64(line.path[top]), top


@helper
def hand_up(tree, node, numbers, tail):
    """Give a position's rows its new numbers, and queue their parents; returns the queue's new end."""
    row = np.int64(node)
    while row >= 0:
        tree.proof[row], tree.disproof[row] = numbers
        parent = tree.parent[row]
        if parent >= 0 and not tree.flags[parent] & QUEUED and is_open(tree, parent):
            tree.flags[parent] |= QUEUED
            tree.queue[in_ring(tree.queue, tail)] = parent
            tail += 1
        row = np.int64(tree.positions.next[row]) if is_graph(tree.positions) else np.int64(-1)
    return tail


@inlined
def in_ring(queue, number):
    """The place of an entry; most updates are short, and need no division."""
    return number if number < len(queue) else number % len(queue)


@helper
def best_first(game, search, ply, until):
    """Grow the tree, whose root is line.states[ply], until it is settled, has `until` nodes or cannot grow."""
    tree, node = search.tree, ROOT
    while is_open(tree, ROOT) and tree.size[0] < until and has_room(game, search):
        node, ply = most_proving(game, search, node, ply)
        expand(game, search, node, ply)
        node, ply = update(search, node, ply)
