"""Transpositions: a position reached by several lines has its moves once, and the tree is a graph (A. Saffidine, T.
Cazenave & J. Mehat, "UCD: upper confidence bound for rooted directed acyclic graphs", Knowledge-Based Systems 34,
2012).

UCD has three depths: of a child's mean (d1), of its node's visits (d2), and of its own visits (d3).  At depth 0, a
count is of simulations through the node itself; at depth 1, the largest here, of simulations through its position, plus
the child's own visits before it had moves.  (0, 0, 0) shares only the subtrees.

Positions are the same if their keys and distances from the root are, so the graph has no cycles.  Methods that compute
nodes' values from their children's exclude it.  In Go it shares nothing, since a key contains the history of the game.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.probing import FILLED, find_slot, places_for
from arena.agents.core.selection import log_of
from arena.agents.core.tree_arrays import LEAF, ROOT, last_node
from arena.agents.montecarlo.method import Method
from arena.games.core.jit import helper
from arena.games.core.random import mix

PLACES = 1 << 20  # at most


class Positions(NamedTuple):
    """A table of the positions in the tree; a position's simulations are counted at its first child's row."""

    keys: np.ndarray  # uint64[a power of two], 0 or a key
    nodes: np.ndarray  # int32[the same], a node with the position's children
    used: np.ndarray  # int64[1]
    visits: np.ndarray  # int64[nodes]
    value: np.ndarray  # float64[nodes], sums of the first player's rewards
    own_visits: np.ndarray  # int32[nodes], visits of a node before it had children
    own_value: np.ndarray  # float64[nodes], their rewards for the player who moved to it


@dataclass(frozen=True)
class Graph(Method):
    """d1, d2, d3: depths of a child's mean, of its node's visits and of its own: 0 or 1"""

    d1: int = 1
    d2: int = 1
    d3: int = 0

    name: ClassVar[str] = "graph"
    part: ClassVar[str] = "expansion, selection, back-up"
    keeps: ClassVar[bool] = False
    own_visits: ClassVar[bool] = True
    unshared: ClassVar[str] = "has its own counts of visits, which lack simulations in flight"
    ranges: ClassVar[dict] = {"d1": (0, 1), "d2": (0, 1), "d3": (0, 1)}

    @property
    def alone(self):
        return ("replace the exploration term",) if self.d2 or self.d3 else ()

    def new_memory(self, game, nodes):
        places = places_for(nodes, PLACES)
        table = np.zeros(places, np.uint64), np.zeros(places, np.int32), np.zeros(1, np.int64)
        through = np.zeros(nodes, np.int64), np.zeros(nodes)
        return Positions(*table, *through, np.zeros(nodes, np.int32), np.zeros(nodes))

    def forget(self, memory):
        memory.keys[:] = 0
        memory.used[0] = 0

    def expand(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        memory.own_visits[node], memory.own_value[node] = tree.visits[node], 0.0 if node == ROOT else tree.value[node]
        place = place_of(memory, key_of(game, walk))
        if memory.keys[place] == 0:
            return False
        source = memory.nodes[place]
        tree.first_child[node], tree.children[node] = tree.first_child[source], tree.children[source]
        return True

    def expanded(self, game, search, walk, node):
        tree, memory, key = search.tree, search.memory, key_of(game, walk)
        first = tree.first_child[node]
        memory.visits[first], memory.value[first] = 0, 0.0
        if memory.used[0] < FILLED * len(memory.keys):  # a fuller one takes no new positions
            place = place_of(memory, key)
            memory.keys[place], memory.nodes[place] = key, node
            memory.used[0] += 1

    def learn(self, game, search, walk, result):
        tree, memory = search.tree, search.memory
        for i in range(walk.length[0] - 1):
            first = tree.first_child[walk.path[i]]
            memory.visits[first] += 1
            memory.value[first] += 0.5 * (1.0 + result)

    def mean(self, game, search, walk, child, mean):
        tree, memory = search.tree, search.memory
        if self.d1 == 0 or tree.visits[child] == 0 or tree.children[child] == LEAF:
            return mean
        first = tree.first_child[child]
        below = memory.value[first] if game.player(walk.state) == 0 else memory.visits[first] - memory.value[first]
        return (memory.own_value[child] + below) / (memory.own_visits[child] + memory.visits[first])

    def explore(self, game, search, walk, child, term, constant):
        tree, memory, node = search.tree, search.memory, last_node(walk)
        if tree.visits[child] == 0 or (self.d2 == 0 and self.d3 == 0):
            return term
        through = memory.visits[tree.first_child[node]] if self.d2 == 1 else np.int64(tree.visits[node])
        at = np.int64(tree.visits[child])
        if self.d3 == 1 and tree.children[child] != LEAF:
            at = memory.own_visits[child] + memory.visits[tree.first_child[child]]
        return constant * sqrt(log_of(through) / at)


@helper
def key_of(game, walk):
    """The key of the walk's position, at its depth; not 0."""
    key = mix(mix(game.key(walk.state)) + np.uint64(walk.length[0]))  # a key may be a small number
    return key if key != 0 else np.uint64(1)


@helper
def place_of(memory, key):
    """The place of a key, or the empty place where it belongs."""
    return find_slot(memory.keys, memory.keys, np.uint64(0), key, key)
