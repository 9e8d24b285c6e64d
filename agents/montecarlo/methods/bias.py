"""Progressive bias: the evaluation of a move takes part in its bound, less and less as it is visited (G. Chaslot,
M. Winands, J. van den Herik, J. Uiterwijk & B. Bouzy, "Progressive strategies for Monte-Carlo tree search", 2008).

    bonus = weight * h / (n + 1)

h is the game's evaluation after the move, 0 to 1 for the player who makes it.
"""

from dataclasses import dataclass
from typing import ClassVar

from agents.montecarlo.method import Method
from agents.montecarlo.outlook import evaluate_children, new_evaluations
from games.core.game import check_range


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
        return new_evaluations(game, nodes)

    def expanded(self, game, search, walk, node):
        evaluate_children(game, search, walk, node)

    def bonus(self, game, search, walk, child):
        return search.options.weight * search.memory.value[child] / (search.tree.visits[child] + 1.0)
