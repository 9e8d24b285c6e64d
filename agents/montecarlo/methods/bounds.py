"""Score-bounded search: each node has bounds on its result, which prove it, prune it and bias its selection (T.
Cazenave & A. Saffidine, "Score bounded Monte-Carlo tree search", CG 2010).

    pess, opti = 0, 1 at a leaf; the reward at an end; else the max, or where the other player moves the min, of the
    children's

A child is pruned if its best is no better than its node's worst: opti(child) <= pess(node), seen by the player to move.
A node whose bounds meet is proven.  gamma * pess + delta * opti is part of a child's bound.  Rewards are 0, 1/2 and 1,
so all that it adds to `solver` is pruning by draws.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.core.tree_arrays import ROOT, UNPROVEN, last_node, proof_of, proven_result
from arena.agents.montecarlo.method import Method
from arena.games.core.jit import helper


class Bounds(NamedTuple):
    """Bounds of nodes, for the first player."""

    pess: np.ndarray  # float32[nodes], its least reward
    opti: np.ndarray  # float32[nodes], its greatest reward
    root: np.ndarray  # int64[1], the player to move at the root


@dataclass(frozen=True)
class ScoreBounds(Method):
    """gamma: weight of a child's lower bound
    delta: weight of its upper bound
    """

    gamma: float = 0.0
    delta: float = 0.0

    name: ClassVar[str] = "bounds"
    part: ClassVar[str] = "back-up, selection, last choice"
    needs: ClassVar[Needs] = Needs(chance=False)
    apart: ClassVar[tuple[str, ...]] = ("graph",)
    data_fields: ClassVar[tuple[str, ...]] = ("gamma", "delta")
    per_node: ClassVar[tuple[str, ...]] = ("pess", "opti")
    proves: ClassVar[bool] = True
    ranges: ClassVar[dict] = {"gamma": (0,), "delta": (0,)}

    def new_memory(self, game, nodes):
        return Bounds(np.zeros(nodes, np.float32), np.zeros(nodes, np.float32), np.zeros(1, np.int64))

    def forget(self, memory):
        memory.pess[ROOT], memory.opti[ROOT] = 0.0, 1.0

    def choose(self, tree, memory):
        """The most visited child that is not pruned; of a proven root, the best child."""
        first = int(tree.first_child[ROOT])
        rows = slice(first, first + int(tree.children[ROOT]))
        low, high = memory.pess[rows], memory.opti[rows]
        if memory.root[0] == 1:
            low, high = 1.0 - high, 1.0 - low
        kept = (high > low.max()) | (low == low.max())
        order = np.lexsort((tree.value[rows], tree.visits[rows], low if tree.proven[ROOT] else 0 * low, kept))
        return first + int(order[-1])

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
            memory.pess[child], memory.opti[child] = 0.0, 1.0

    def arrive(self, game, search, walk):
        tree, memory, leaf = search.tree, search.memory, last_node(walk)
        if tree.proven[leaf] != UNPROVEN:
            memory.pess[leaf] = memory.opti[leaf] = 0.5 * (1.0 + proven_result(tree.proven[leaf]))

    def takes(self, game, search, walk, child):
        memory, node = search.memory, last_node(walk)
        if game.player(walk.state) == 0:
            return memory.opti[child] > memory.pess[node]
        return memory.pess[child] < memory.opti[node]

    def bonus(self, game, search, walk, child):
        options, low, high = search.options, search.memory.pess[child], search.memory.opti[child]
        if game.player(walk.state) == 1:
            low, high = 1.0 - high, 1.0 - low
        return options.gamma * low + options.delta * high

    def learn(self, game, search, walk, result):
        tree, memory, i = search.tree, search.memory, walk.length[0] - 2
        memory.root[0] = walk.movers[1]
        while i >= 0 and tighten(tree, memory, walk.path[i], walk.movers[i + 1]):
            i -= 1


@helper
def tighten(tree, memory, node, player):
    """Compute a node's bounds from its children's, where `player` moves; returns whether they have changed."""
    first = tree.first_child[node]
    low, high = memory.pess[first], memory.opti[first]
    for child in range(first + 1, first + tree.children[node]):
        if player == 0:
            low, high = max(low, memory.pess[child]), max(high, memory.opti[child])
        else:
            low, high = min(low, memory.pess[child]), min(high, memory.opti[child])
    changed = low != memory.pess[node] or high != memory.opti[node]
    memory.pess[node], memory.opti[node] = low, high
    if low == high and tree.proven[node] == UNPROVEN:
        tree.proven[node] = proof_of(2.0 * low - 1.0)
    return changed
