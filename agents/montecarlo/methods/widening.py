"""Progressive widening: a node begins with its few best moves by the evaluation, and gets others as it is visited (R.
Coulom, "Computing Elo ratings of move patterns in the game of Go", 2007; under the name progressive unpruning in
Chaslot et al., "Progressive strategies for Monte-Carlo tree search", 2008).

    move number k + 1 takes part from visit t(k + 1) = t(k) + step * growth^(k - first) on,  t(first) = 0

Coulom has first = 1 for learned patterns, step = 40 and growth = 1.4; the default of `first` is larger, since an
evaluation ranks moves less well.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import last_node
from arena.agents.montecarlo.method import Method
from arena.agents.montecarlo.outlook import reward_after


class Ranks(NamedTuple):
    """Room to rank the moves of a node in, and the width of the current one."""

    value: np.ndarray  # float64[max_moves]
    state: np.ndarray  # dtype[state_size]
    width: np.ndarray  # int64[1]


@dataclass(frozen=True)
class Widening(Method):
    """first: moves that take part at once
    step, growth: of the visits that each further move takes
    """

    first: int = 5
    step: float = 40.0
    growth: float = 1.4

    name: ClassVar[str] = "widening"
    part: ClassVar[str] = "selection"
    sorts: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = Ranks._fields
    lockless: ClassVar[bool] = True
    data_fields: ClassVar[tuple[str, ...]] = ("first", "step", "growth")
    ranges: ClassVar[dict] = {"first": (1,), "step": (0,), "growth": (1,)}

    def new_memory(self, game, nodes):
        return Ranks(np.zeros(game.max_moves), np.zeros(game.state_size, game.dtype), np.zeros(1, np.int64))

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first, player = tree.first_child[node], game.player(walk.state)
        for i in range(tree.children[node]):
            move, k = tree.move[first + i], i
            value = reward_after(game, walk.state, move, player, memory.state)
            while k > 0 and memory.value[k - 1] < value:
                memory.value[k], tree.move[first + k] = memory.value[k - 1], tree.move[first + k - 1]
                k -= 1
            memory.value[k], tree.move[first + k] = value, move

    def look(self, game, search, walk):
        options, node = search.options, last_node(walk)
        width, visits, step = options.first, float(search.tree.visits[node]), options.step
        while visits >= step and width < search.tree.children[node]:
            width, visits, step = width + 1, visits - step, step * options.growth
        search.memory.width[0] = np.int64(width)

    def takes(self, game, search, walk, child):
        return child - search.tree.first_child[last_node(walk)] < search.memory.width[0]
