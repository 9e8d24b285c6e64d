"""Anytime sequential halving at the root, with UCT below, which needs no budget of playouts (D. Sagers, M. Winands & D.
Soemers, "Anytime sequential halving in Monte-Carlo tree search", CG 2024, arXiv 2411.07171).

It repeats passes of halving.  Each round of a pass has as many simulations as the root has moves, and the remaining
moves take them in turn, twice as many each after a halving; when two remain after a round, a new pass begins with all
moves.  The move of the largest mean is played.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import ROOT, UNPROVEN
from arena.agents.montecarlo.method import NONE, Method
from arena.agents.montecarlo.methods.halving import sort_by_rank, value_of

LEFT, DONE = 0, 1


class Pass(NamedTuple):
    """The current pass."""

    order: np.ndarray  # int32[max_moves], children of the root, the remaining ones first
    rank: np.ndarray  # float64[max_moves], the sort key
    counts: np.ndarray  # int64[2], how many remain, 0 before a pass; simulations of this round


@dataclass(frozen=True)
class Anytime(Method):
    """See the top of the file."""

    name: ClassVar[str] = "anytime"
    part: ClassVar[str] = "allocation"
    alone: ClassVar[tuple[str, ...]] = ("divide the root's simulations",)

    def new_memory(self, game, nodes):
        return Pass(np.zeros(game.max_moves, np.int32), np.zeros(game.max_moves), np.zeros(2, np.int64))

    def begin_search(self, game, memory, budget, rng):
        memory.counts[:] = 0

    def choose(self, tree, memory):
        first = int(tree.first_child[ROOT])
        rows = slice(first, first + int(tree.children[ROOT]))
        if not tree.visits[rows].any():
            return None
        return first + int(np.argmax(tree.value[rows] / np.maximum(tree.visits[rows], 1)))

    def goes_to(self, game, search, walk):
        tree, order, counts = search.tree, search.memory.order, search.memory.counts
        if walk.length[0] > 1:
            return NONE
        moves = tree.children[ROOT]
        if counts[DONE] == moves:
            counts[DONE] = 0
            if counts[LEFT] > 2:
                for i in range(counts[LEFT]):
                    search.memory.rank[i] = value_of(tree, order[i], game.player(walk.state))
                sort_by_rank(order, search.memory.rank, counts[LEFT])
                counts[LEFT] = (counts[LEFT] + 1) // 2
            else:
                counts[LEFT] = 0
        if counts[LEFT] == 0:
            for i in range(moves):
                order[i] = tree.first_child[ROOT] + i
            counts[LEFT] = moves
        child = np.int64(order[counts[DONE] % counts[LEFT]])
        counts[DONE] += 1
        return child if tree.proven[child] == UNPROVEN else NONE
