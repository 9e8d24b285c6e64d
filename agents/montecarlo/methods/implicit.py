"""Implicit minimax: minimax values of an evaluation, combined with the mean rewards (M. Lanctot, M. Winands, T. Pepels
& N. Sturtevant, "Monte Carlo tree search with heuristic evaluations using implicit minimax backups", CIG 2014).

    mean' = (1 - alpha) mean + alpha v          v = evaluation of a leaf, or the best v of the children

v is on the scale of rewards, for the player who moves to the node.  New nodes are evaluated, and every simulation backs
values up along its path.  The less reliable the evaluation, the smaller the best alpha: the paper finds 0.4 for
Breakthrough with a good evaluation, 0.1 to 0.2 elsewhere.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.needs import Needs
from arena.agents.montecarlo.method import Method
from arena.agents.montecarlo.outlook import reward_after


class Evaluations(NamedTuple):
    """Values of nodes, for the player who moves to them."""

    value: np.ndarray  # float64[nodes], 0 to 1
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class Implicit(Method):
    """alpha: the share of the minimax value in a child's value"""

    alpha: float = 0.2

    name: ClassVar[str] = "implicit"
    part: ClassVar[str] = "selection"
    needs: ClassVar[Needs] = Needs(chance=False)
    apart: ClassVar[tuple[str, ...]] = ("graph",)
    data_fields: ClassVar[tuple[str, ...]] = ("alpha",)
    per_node: ClassVar[tuple[str, ...]] = ("value",)
    private: ClassVar[tuple[str, ...]] = ("state",)
    lockless: ClassVar[bool] = True  # the last value backed up stays, until the next simulation
    ranges: ClassVar[dict] = {"alpha": (0, 1)}

    def new_memory(self, game, nodes):
        return Evaluations(np.zeros(nodes), np.zeros(game.state_size, game.dtype))

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first, player = tree.first_child[node], game.player(walk.state)
        for child in range(first, first + tree.children[node]):
            memory.value[child] = reward_after(game, walk.state, tree.move[child], player, memory.state)

    def mean(self, game, search, walk, child, mean):
        alpha = search.options.alpha
        return mean if search.tree.visits[child] == 0 else (1.0 - alpha) * mean + alpha * search.memory.value[child]

    def learn(self, game, search, walk, result):
        tree, value, i = search.tree, search.memory.value, walk.length[0] - 2
        while i > 0:
            node = walk.path[i]
            best = value[tree.first_child[node]]
            for child in range(tree.first_child[node] + 1, tree.first_child[node] + tree.children[node]):
                best = max(best, value[child])
            backed = best if walk.movers[i + 1] == walk.movers[i] else 1.0 - best
            if backed == value[node]:
                break
            value[node] = backed
            i -= 1
