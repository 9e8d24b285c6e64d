"""UCT: Monte-Carlo tree search with the UCB1 rule (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006).

The child with the largest  value + K sqrt(ln N / n)  is selected, unvisited children first; N and n are the visits of
the node and of the child, value the child's mean reward for the player who moves at the node.  With
`first_play_urgency` u an unvisited child has the bound u instead (Gelly & Wang, "Exploration exploitation in Go",
2006), so that a good child may be visited again before all have been.

`methods` are published additions, one in each file of agents/montecarlo/methods; agents/montecarlo/leaves.py explains
`lanes`.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.leaves import LANES, playouts_of
from arena.agents.montecarlo.method import methods_of, registry
from arena.agents.montecarlo.method_search import TreeSearch
from arena.agents.montecarlo.ucb1 import UCB1, ManyPlayouts
from arena.agents.montecarlo.workers import with_own
from arena.games.core.game import check_choice


@dataclass(frozen=True)
class UCT(TreeSearch):
    """Monte-Carlo tree search with UCB1.

    first_play_urgency: the bound of unvisited children; none: they come first
    lanes: playouts of each leaf, side by side if the game has lanes
    methods: additional methods, joined by +: "implicit(alpha=0.2) + halving"
    """

    first_play_urgency: float | None = None
    lanes: int = 1
    methods: str = ""

    name: ClassVar[str] = "uct"
    catalogue: ClassVar[dict] = {"methods": registry}

    def __post_init__(self):
        super().__post_init__()
        check_choice("lanes", self.lanes, LANES)
        if self.lanes > 1 and self.methods:
            raise ValueError(f"lanes = {self.lanes} and methods = {self.methods!r} exclude each other")

    @property
    def chosen(self):
        return methods_of(self.methods)

    @property
    def urgency(self):
        return self.first_play_urgency

    def search_rule(self, game, shared=False):
        if self.chosen:
            return super().search_rule(game, shared)
        urgent = self.urgency is not None
        if self.lanes == 1:
            return UCB1(self.solver, urgency=urgent)
        return ManyPlayouts(self.solver, self.lanes, urgent, way=playouts_of(game, self.lanes))

    def new_memory(self, game, nodes, playouts=None):
        return (
            super().new_memory(game, nodes, playouts)
            if self.lanes == 1
            else playouts_of(game, self.lanes).new_room(game)
        )

    def worker_memory(self, memory, policy, workers):
        return super().worker_memory(memory, policy, workers) if self.lanes == 1 else with_own(memory, memory._fields)

    def leaf_playouts(self):
        return max(self.lanes, super().leaf_playouts())

    def seed(self, memory, rng):
        if self.lanes > 1:
            memory.seed(rng)
