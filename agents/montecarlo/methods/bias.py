"""Progressive bias: the evaluation of a move takes part in its bound, less and less as it is visited (G. Chaslot,
M. Winands, J. van den Herik, J. Uiterwijk & B. Bouzy, "Progressive strategies for Monte-Carlo tree search", 2008).

    bonus = weight * h / (n + 1)

h is the game's evaluation after the move, 0 to 1 for the player who makes it.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.montecarlo.method import Method
from agents.montecarlo.outlook import reward_after
from games.core.game import check_range


class Heuristic(NamedTuple):
    """Of nodes, for the player who moves to them."""

    value: np.ndarray  # float64[nodes], 0 to 1
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class Bias(Method):
    """weight: of the evaluation of a move that has not been visited"""

    weight: float = 1.0

    name: ClassVar[str] = "bias"
    part: ClassVar[str] = "selection"
    data_fields: ClassVar[tuple[str, ...]] = ("weight",)
    per_node: ClassVar[tuple[str, ...]] = ("value",)

    def __post_init__(self):
        check_range("weight", self.weight, 0)

    def new_memory(self, game, nodes):
        return Heuristic(np.zeros(nodes), np.zeros(game.state_size, game.dtype))

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first, player = tree.first_child[node], game.player(walk.state)
        for child in range(first, first + tree.children[node]):
            memory.value[child] = reward_after(game, walk.state, tree.move[child], player, memory.state)

    def bonus(self, game, search, walk, child):
        return search.options.weight * search.memory.value[child] / (search.tree.visits[child] + 1.0)
