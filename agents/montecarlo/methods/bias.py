"""Progressive bias: prior knowledge of a move is part of its bound, with an influence that fades with visits (G.
Chaslot, M. Winands, J. van den Herik, J. Uiterwijk & B. Bouzy, "Progressive strategies for Monte-Carlo tree search",
2008).

    bonus = weight * h / (n + 1)

h is the game's evaluation after the move, 0 to 1 for the player who makes it; with `prior = "file:PATH"` the move's
probability in a learned policy.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.learned import Learned
from arena.agents.montecarlo.priors import Guided, softmax


class Heuristic(NamedTuple):
    """Prior knowledge of nodes, for the player who moves to them."""

    value: np.ndarray  # float64[nodes], 0 to 1
    learned: Learned
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class Bias(Guided):
    """weight: of the knowledge of a move that has not been visited
    prior: source of the knowledge: "evaluation", or file:PATH of a learned policy
    """

    weight: float = 1.0
    prior: str = "evaluation"

    name: ClassVar[str] = "bias"
    part: ClassVar[str] = "selection"
    data_fields: ClassVar[tuple[str, ...]] = ("weight",)
    per_node: ClassVar[tuple[str, ...]] = ("value",)
    priors: ClassVar[tuple[str, ...]] = ("evaluation",)
    ranges: ClassVar[dict] = {"weight": (0,)}

    def new_memory(self, game, nodes):
        return Heuristic(np.zeros(nodes), self.learned(game), np.zeros(game.state_size, game.dtype))

    def expanded(self, game, search, walk, node):
        value, first = search.memory.value, search.tree.first_child[node]
        end = first + search.tree.children[node]
        for child in range(first, end):
            value[child] = self.hint(game, search, walk.state, search.tree.move[child])
        if self.is_learned:
            softmax(value, first, end, 1.0)

    def bonus(self, game, search, walk, child):
        return search.options.weight * search.memory.value[child] / (search.tree.visits[child] + 1.0)
