"""Sequential halving: the simulations of a node go to its moves in rounds, and after each the worse half is dropped (Z.
Karnin, T. Koren & O. Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013).

    rounds = ceil(log2 moves)          each round gives every remaining move  budget / (remaining * rounds)

At the root alone, with UCT below, it is SH+UCT.  With `below`, a node halves too if its first round gives every move at
least that many simulations: H-MCTS (T. Pepels, T. Cazenave, M. Winands & M. Lanctot, "Minimizing simple and cumulative
regret in Monte-Carlo tree search", CGW 2014), and with below = 1 SHOT (T. Cazenave, "Sequential halving applied to
trees", IEEE TCIAIG 7, 2015).  As in SHOT, earlier visits count, and a move gets its share of a round in succession.
The best of the last moves is played.  It needs a budget of playouts alone.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import ROOT, UNPROVEN, last_node, proven_result
from arena.agents.montecarlo.method import NONE, Method
from arena.games.core.jit import helper


class Rounds(NamedTuple):
    """The remaining moves of each node, and their simulations."""

    order: np.ndarray  # int32[nodes], from a node's first child on: its children, the remaining ones first
    left: np.ndarray  # int32[nodes], how many remain; 0: not begun
    turn: np.ndarray  # int32[nodes], index of the move in turn
    target: np.ndarray  # int64[nodes], each move's visits at the end of this round
    given: np.ndarray  # int64[nodes], its simulations
    rank: np.ndarray  # float64[max_moves], a node's sort keys
    extra: tuple  # of a derived method


@dataclass(frozen=True)
class Rounded(Method):
    """Base of the methods that halve: by default at the root, by the means."""

    part: ClassVar[str] = "allocation, last choice"
    alone: ClassVar[tuple[str, ...]] = ("divide the root's simulations",)
    keeps: ClassVar[bool] = False
    own_visits: ClassVar[bool] = True

    def new_memory(self, game, nodes):
        small, large, rank = np.zeros((3, nodes), np.int32), np.zeros((2, nodes), np.int64), np.zeros(game.max_moves)
        return Rounds(*small, *large, rank, self.new_extra(game))

    def new_extra(self, game) -> tuple:
        return ()

    def forget(self, memory):
        memory.left[ROOT] = 0

    def begin_search(self, game, memory, budget, rng):
        memory.left[ROOT], memory.given[ROOT] = 0, budget.playouts

    def unsuited(self, budget):
        if budget.playouts and budget.seconds is None:
            return None
        return "needs a budget of playouts alone, which it divides; anytime does not"

    def choose(self, tree, memory):
        return int(memory.order[tree.first_child[ROOT]]) if memory.left[ROOT] else None

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        for child in range(tree.first_child[node], tree.first_child[node] + tree.children[node]):
            memory.left[child] = memory.given[child] = 0

    def goes_to(self, game, search, walk):
        tree, memory, node = search.tree, search.memory, last_node(walk)
        if not self.halves(search, node):
            return NONE
        if memory.left[node] == 0:
            self.begin(game, search, walk, node)
        first = tree.first_child[node]
        while memory.left[node] > 1:
            child = memory.order[first + memory.turn[node]]
            if tree.visits[child] < memory.target[node] and tree.proven[child] == UNPROVEN:
                return give(memory, child, memory.target[node])
            memory.turn[node] += 1
            if memory.turn[node] == memory.left[node]:
                self.leave(game, search, walk, (memory.left[node] + 1) // 2)
        child = memory.order[first]
        return NONE if tree.proven[child] != UNPROVEN else give(memory, child, memory.given[node])

    def halves(self, search, node):
        return node == ROOT

    def moves_in(self, search, node):
        return search.tree.children[node]

    def begin(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first, count = tree.first_child[node], tree.children[node]
        for i in range(count):
            memory.order[first + i] = first + i
        memory.left[node], memory.turn[node], memory.target[node] = count, 0, 0
        raise_target(memory, node, self.moves_in(search, node))

    def leave(self, game, search, walk, kept):
        """Keep only the `kept` best moves, and begin the next round."""
        memory, node = search.memory, last_node(walk)
        self.sort(game, search, node, walk.state)
        memory.left[node], memory.turn[node] = kept, 0
        raise_target(memory, node, self.moves_in(search, node))

    def sort(self, game, search, node, state):
        """Sort a node's remaining moves, the best one first."""
        memory = search.memory
        order = memory.order[search.tree.first_child[node] :]
        for i in range(memory.left[node]):
            memory.rank[i] = self.rank(game, search, state, order[i])
        sort_by_rank(order, memory.rank, memory.left[node])

    def rank(self, game, search, state, child):
        return value_of(search.tree, child, game.player(state))

    def learn(self, game, search, walk, result):
        self.end(game, search, walk)

    def end(self, game, search, walk):
        """Sort by the results of the current round after the last simulation."""
        if search.tree.visits[ROOT] >= search.memory.given[ROOT]:
            self.sort(game, search, ROOT, walk.root)


@dataclass(frozen=True)
class Halving(Rounded):
    """below: a node below the root halves if its first round gives each move this many simulations; 0: none does"""

    below: int = 0

    name: ClassVar[str] = "halving"
    data_fields: ClassVar[tuple[str, ...]] = ("below",)
    ranges: ClassVar[dict] = {"below": (0,)}

    @property
    def apart(self):
        return ("graph",) if self.below > 0 else ()

    def halves(self, search, node):
        below, given, moves = search.options.below, search.memory.given[node], search.tree.children[node]
        return node == ROOT or (below > 0 and given > 0 and round_of(given, moves, moves) >= below)


@helper
def raise_target(memory, node, moves):
    """Add the next round's share to the target, of as many moves as the first round had."""
    memory.target[node] += round_of(memory.given[node], memory.left[node], moves)


@helper
def round_of(given, left, moves):
    """The simulations for each of the `left` moves of a node in a round, of `given` in all."""
    rounds = 0
    while moves > 1:
        rounds, moves = rounds + 1, (moves + 1) // 2
    return max(1, given // max(1, left * rounds))


@helper
def give(memory, child, target):
    """Give a child simulations up to the target; a new target restarts its rounds."""
    if memory.given[child] != target:
        memory.given[child], memory.left[child] = target, 0
    return np.int64(child)


@helper
def sort_by_rank(order, rank, count):
    """Sort the first `count` nodes by falling rank, with the ranks; ties keep their order."""
    for i in range(1, count):
        node, value, k = order[i], rank[i], i
        while k > 0 and rank[k - 1] < value:
            order[k], rank[k] = order[k - 1], rank[k - 1]
            k -= 1
        order[k], rank[k] = node, value


@helper
def value_of(tree, node, player):
    """A node's mean reward for the player who moves to it, or the proven one; -1 without visits."""
    if tree.proven[node] != UNPROVEN:
        return 0.5 * (1.0 + proven_result(tree.proven[node]) * (1.0 if player == 0 else -1.0))
    return tree.value[node] / tree.visits[node] if tree.visits[node] > 0 else -1.0
