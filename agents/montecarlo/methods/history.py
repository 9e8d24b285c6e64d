"""Progressive history: a move that has done well anywhere has a larger bound, until it loses here (J. Nijssen & M.
Winands, "Enhancements for multi-player Monte-Carlo tree search", CG 2010).

    bonus = s_a / n_a * weight / (n - s + 1)

n and s are the visits of the child and the sum of its rewards; n_a and s_a those of all simulations in which a move of
the same code was made, in the tree or in the playout.  The paper's weight is 5 in Chinese checkers, 3 in Focus.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.averages import Averaging, empty, mean_of


@dataclass(frozen=True)
class History(Averaging):
    """weight: of a move's history
    memory: whether histories are kept from move to move
    """

    weight: float = 5.0
    memory: bool = True

    name: ClassVar[str] = "history"
    part: ClassVar[str] = "selection"
    data_fields: ClassVar[tuple[str, ...]] = ("weight",)
    ranges: ClassVar[dict] = {"weight": (0,)}

    def begin_search(self, game, memory, budget, rng):
        if not self.memory:
            empty(memory)

    def bonus(self, game, search, walk, child):
        tree, memory = search.tree, search.memory
        mean = mean_of(memory, game.move_code(walk.state, tree.move[child]), 0.0)
        return mean * search.options.weight / (tree.visits[child] - tree.value[child] + 1.0)
