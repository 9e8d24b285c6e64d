"""Progressive history: a move that has done well anywhere has a larger bound, until it has lost here (J. Nijssen &
M. Winands, "Enhancements for multi-player Monte-Carlo tree search", CG 2010).

    bonus = s_a / n_a * weight / (n - s + 1)

n and s are the visits of the child and the sum of its rewards; n_a and s_a those of all simulations in which a move of
the same code was made, in the tree or in the playout.  The paper's weight is 5 in Chinese checkers, 3 in Focus.
"""

from dataclasses import dataclass
from typing import ClassVar

from agents.montecarlo.averages import LINE, add_move, begin_line, empty, learn_line, mean_of, new_averages
from agents.montecarlo.method import Method
from games.core.game import check_range


@dataclass(frozen=True)
class History(Method):
    """weight: of a move's history
    memory: whether histories are kept from move to move
    """

    weight: float = 5.0
    memory: bool = True

    name: ClassVar[str] = "history"
    part: ClassVar[str] = "selection"
    data_fields: ClassVar[tuple[str, ...]] = ("weight",)
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = LINE

    def __post_init__(self):
        check_range("weight", self.weight, 0)

    def new_memory(self, game, nodes):
        return new_averages(game, 1 << 17)

    def begin_search(self, game, memory, budget, rng):
        if not self.memory:
            empty(memory)

    def arrive(self, game, search, walk):
        begin_line(game, search.memory, search.tree, walk)

    def made(self, game, search, walk, move):
        add_move(game, search.memory, walk.state, move)

    def learn(self, game, search, walk, result):
        learn_line(search.memory, result, 1)

    def bonus(self, game, search, walk, child):
        tree, memory = search.tree, search.memory
        mean = mean_of(memory, game.move_code(walk.state, tree.move[child]), 0.0)
        return mean * search.options.weight / (tree.visits[child] - tree.value[child] + 1.0)
