"""The tree of a search whose leaves are jobs: who is given which leaf, and what the others take it for meanwhile.

    give out   descend to the most-proving leaf that is not in flight, and update it before its job begins
    answer     the leaf takes the children that the job has found, with their numbers; what it was taken for is undone

Every node also has virtual numbers, which follow from those of the leaves in flight as a policy sees them:

    win           proved
    loss          disproved
    equivalence   what they were

Descents go by virtual numbers, which prove nothing.  With flagging, they pass by nodes with nothing open below that is
not in flight; a node that a virtual number settles comes last, by its real numbers.  Without it, they pass by whatever
a virtual number settles, and a worker for which nothing is left waits.

With postponed siblings, a node's children are given out one at a time: while one without children is in flight, its
siblings of the kind wait for its answer.

Wu, Lin, Sun, Kao, Lin, Chan & Chen, "Job-level proof number search", 2013.  There a job finds one more child of a node;
here it searches below a position, whose moves are known.
"""

from typing import NamedTuple

import numpy as np

from arena.agents.proof.bestfirst import (
    LEAF,
    OR_NODE,
    QUEUED,
    ROOT,
    ProofTree,
    TreeSearch,
    expand,
    holder,
    in_ring,
    is_open,
    make_move,
    update,
)
from arena.agents.proof.numbers import INFINITE, combine
from arena.agents.proof.pn2 import adopt
from arena.agents.proof.transpositions import is_graph
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import copy_state

WIN, LOSS, EQUIVALENCE = range(3)
POLICIES = {"win": WIN, "loss": LOSS, "equivalence": EQUIVALENCE}
SERVER_BYTES = 13  # of a node, besides the tree's: virtual numbers, flag, and place in the queue


class Policy(NamedTuple):
    """What is done with leaves in flight."""

    taken_for: int  # WIN, LOSS or EQUIVALENCE
    flagging: bool
    postponed: bool


class Server(NamedTuple):
    """A search and its virtual part: row i of every array is node i."""

    search: TreeSearch
    policy: Policy
    proof: np.ndarray  # int32[capacity], virtual
    disproof: np.ndarray  # int32[capacity], virtual
    flagged: np.ndarray  # bool[capacity]: a leaf in flight, or a node with nothing to give out below it


class LeafMoves(NamedTuple):
    """A leaf's moves with their numbers, as a job has found them."""

    move: np.ndarray  # int32[n]
    proof: np.ndarray  # int32[n]
    disproof: np.ndarray  # int32[n]


def new_server(search: TreeSearch, policy: Policy) -> Server:
    """A server of a tree of one leaf."""
    tree: ProofTree = search.tree
    capacity = len(tree.proof)
    search = search._replace(tree=tree._replace(queue=np.empty(capacity, np.int32)))
    virtual = np.empty(capacity, np.int32), np.empty(capacity, np.int32)
    server = Server(search, policy, *virtual, np.zeros(capacity, np.bool_))
    server.proof[ROOT], server.disproof[ROOT] = tree.proof[ROOT], tree.disproof[ROOT]
    return server


@kernel
def give_out_kernel(game, server):
    """Put the leaf to search next in flight, the line leading there: (leaf, its ply), or (-1, 0) if there is none."""
    tree, line, node, ply = server.search.tree, server.search.line, ROOT, 0
    while tree.children[node] != LEAF:
        row = chosen_child(server, node, game.player(line.states[ply]) == 0)
        if row < 0:
            return -1, 0
        make_move(game, server.search, ply, tree.move[row])
        node, ply = holder(tree, row), ply + 1
    if server.flagged[node]:
        return -1, 0
    show_leaf(server, node, True)
    return node, ply


@kernel
def number_kernel(game, server, leaf, proof, disproof, in_flight):
    """Give a leaf other numbers, and say whether it is still in flight."""
    tree, row = server.search.tree, np.int64(leaf)
    while row >= 0:
        tree.proof[row], tree.disproof[row] = proof, disproof
        parent = np.int64(tree.parent[row])
        if parent >= 0 and is_open(tree, parent):
            update(server.search, parent, 0)
        row = next_row(tree, row)
    show_leaf(server, leaf, in_flight)


@kernel
def grow_kernel(game, server, leaf, ply, state, answer):
    """Give a leaf in the position `state` the answer's children, or all legal ones if there are none."""
    search, tree = server.search, server.search.tree
    first = tree.size[0]
    copy_state(game, state, search.line.states[ply])
    if len(answer.move) > 0:
        adopt(game, search, leaf, ply, answer, 0, len(answer.move))
    else:
        expand(game, search, leaf, ply)
    for row in range(first, tree.size[0]):
        known = holder(tree, row)
        if known == row:
            server.proof[row], server.disproof[row], server.flagged[row] = tree.proof[row], tree.disproof[row], False
        else:
            show(server, known, row)
    update(search, leaf, 0)
    show_all_above(server, leaf, 0)


@kernel
def matter_kernel(game, server, leaves, found):
    """Write to `found`, bool[n], from which of n leaves open nodes lead up to the root."""
    for i in range(len(leaves)):
        found[i] = matters(server.search.tree, leaves[i])


@helper
def chosen_child(server, node, or_node):
    """The row of the child to descend to; -1 if there is none."""
    tree, flagging = server.search.tree, server.policy.flagging
    busy, best, last, least = is_busy(server, node), -1, True, INFINITE
    for row in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
        settled = server.proof[row] == 0 or server.disproof[row] == 0
        if not can_be_given_out(server, row, busy) or (settled and not flagging):
            continue
        number = np.int64(server.proof[row] if or_node else server.disproof[row])
        if settled:
            number = np.int64(tree.proof[row] if or_node else tree.disproof[row])
        if best < 0 or (last and not settled) or (last == settled and number < least):
            best, last, least = row, settled, number
    return best


@helper
def is_busy(server, node):
    """Whether a leaf keeps its siblings waiting."""
    tree = server.search.tree
    if server.policy.postponed:
        for row in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
            if server.flagged[row] and is_open(tree, row) and tree.children[holder(tree, row)] == LEAF:
                return True
    return False


@helper
def can_be_given_out(server, row, busy):
    """Whether anything is open below a row that is not in flight; `busy`: whether a new row is kept waiting."""
    tree = server.search.tree
    if not is_open(tree, row) or (server.policy.flagging and server.flagged[row]):
        return False
    return not (busy and tree.children[holder(tree, row)] == LEAF)


@helper
def show_leaf(server, leaf, in_flight):
    """Write what a leaf is taken for, and all that follows above it."""
    tree, taken_for = server.search.tree, server.policy.taken_for
    server.proof[leaf], server.disproof[leaf] = tree.proof[leaf], tree.disproof[leaf]
    if in_flight and taken_for == WIN:
        server.proof[leaf], server.disproof[leaf] = 0, INFINITE
    if in_flight and taken_for == LOSS:
        server.proof[leaf], server.disproof[leaf] = INFINITE, 0
    server.flagged[leaf] = in_flight
    show_all_above(server, leaf, show_rows(server, leaf))


@helper
def show_all_above(server, node, tail):
    """Work out virtual numbers and flags upwards from the queue, or from `node` if it is empty."""
    tree, head = server.search.tree, 0
    if tail == 0 and tree.children[node] != LEAF:
        tree.queue[0], tail = node, 1
        tree.flags[node] |= QUEUED
    while head < tail:
        node = np.int64(tree.queue[in_ring(tree.queue, head)])
        tree.flags[node] &= ~QUEUED
        head += 1
        if work_out(server, node):
            tail = show_rows_after(server, node, tail)


@helper
def work_out(server, node):
    """Work out a node's virtual numbers and flag; returns whether they have changed."""
    tree, first, count = server.search.tree, server.search.tree.first_child[node], server.search.tree.children[node]
    or_node = tree.flags[node] & OR_NODE != 0
    proof, disproof = combine(server.proof, server.disproof, first, count, or_node, server.search.task.weak)
    busy, flagged = is_busy(server, node), True
    for row in range(first, first + count):
        flagged &= not can_be_given_out(server, row, busy)
    same = proof == server.proof[node] and disproof == server.disproof[node] and flagged == server.flagged[node]
    server.proof[node], server.disproof[node], server.flagged[node] = proof, disproof, flagged
    return not same


@helper
def show_rows(server, node):
    """Copy a node's row to the others of its position, and begin a queue of their parents; returns its length."""
    return show_rows_after(server, node, 0)


@helper
def show_rows_after(server, node, tail):
    """`show_rows` with parents added to a queue of length `tail`; returns its new length."""
    tree, row = server.search.tree, np.int64(node)
    while row >= 0:
        show(server, node, row)
        parent = tree.parent[row]
        if parent >= 0 and not tree.flags[parent] & QUEUED:
            tree.flags[parent] |= QUEUED
            tree.queue[in_ring(tree.queue, tail)] = parent
            tail += 1
        row = next_row(tree, row)
    return tail


@helper
def show(server, node, row):
    """Write to a row what another one of its position has."""
    server.proof[row], server.disproof[row] = server.proof[node], server.disproof[node]
    server.flagged[row] = server.flagged[node]


@helper
def next_row(tree, row):
    """The next row of the same position, or -1."""
    return np.int64(tree.positions.next[row]) if is_graph(tree.positions) else np.int64(-1)


@helper
def matters(tree, leaf):
    """Whether a way of open nodes leads from a leaf up to the root."""
    head, tail, found = 0, 1, False
    tree.queue[0] = leaf
    tree.flags[leaf] |= QUEUED
    while head < tail and not found and is_open(tree, ROOT):
        row = np.int64(tree.queue[head])
        head += 1
        while row >= 0 and not found:
            parent = np.int64(tree.parent[row])
            found = parent < 0
            if not found and is_open(tree, parent) and not tree.flags[parent] & QUEUED:
                tree.flags[parent] |= QUEUED
                tree.queue[tail] = parent
                tail += 1
            row = next_row(tree, row)
    for place in range(tail):
        tree.flags[tree.queue[place]] &= ~QUEUED
    return found
