"""SHUSS, sequential halving using scores: halving at the root with moves sorted by their means and by another score,
whose influence fades (N. Fabiano & T. Cazenave, "Sequential halving using scores", ACG 2021).

    mean + weight * amaf / n

n is the visits of the move, amaf the mean reward of all simulations of this search in which the player to move made a
move of the same code.  Dividing the score by n, as in progressive bias, is our reading of it.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.averages import LINE, Averaging, empty, learn_line, mean_of, new_averages
from arena.agents.montecarlo.methods.halving import Rounded, value_of


@dataclass(frozen=True)
class SHUSS(Rounded, Averaging):
    """weight: of a move's score, relative to the mean of a move with one visit"""

    weight: float = 8.0

    name: ClassVar[str] = "shuss"
    private: ClassVar[tuple[str, ...]] = tuple(f"extra.{name}" for name in LINE)
    data_fields: ClassVar[tuple[str, ...]] = ("weight",)
    ranges: ClassVar[dict] = {"weight": (0,)}

    def new_extra(self, game):
        return new_averages(game, 1 << 17)

    def begin_search(self, game, memory, budget, rng):
        super().begin_search(game, memory, budget, rng)
        empty(memory.extra)

    def averages(self, memory):
        return memory.extra

    def learn(self, game, search, walk, result):
        learn_line(search.memory.extra, result, 1)
        self.end(game, search, walk)

    def rank(self, game, search, state, child):
        tree, code = search.tree, game.move_code(state, search.tree.move[child])
        score = mean_of(search.memory.extra, code, 0.5)
        return value_of(tree, child, game.player(state)) + search.options.weight * score / max(1, tree.visits[child])
