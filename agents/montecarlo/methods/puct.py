"""PUCT: UCT with prior probabilities of moves (C. Rosin, "Multi-armed bandits with episode context", 2011, in the form
of D. Silver et al., "Mastering the game of Go without human knowledge", 2017).

    bound = value + c P sqrt(N) / (1 + n)           P = exp(h / t) / sum over the moves of exp(h / t)

N and n are the visits of the node and of the child, whose value without visits is `unvisited`.  h is the rank of a
move: Game.move_order, scaled from 0 for the lowest of the node to 1 for the highest; with `prior = "evaluation"` the
evaluation after the move, 0 to 1 for the player who makes it; with `prior = "file:PATH"` its logit in a learned policy.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.learned import Learned
from arena.agents.core.tree_arrays import last_node
from arena.agents.montecarlo.priors import Guided, probabilities


class Priors(NamedTuple):
    """Priors of nodes."""

    prior: np.ndarray  # float64[nodes], the probability of the move to the node
    learned: Learned
    state: np.ndarray  # dtype[state_size], scratch


@dataclass(frozen=True)
class PUCT(Guided):
    """c: weight of the exploration term
    temperature: t of the priors
    prior: source of the priors: "order", "evaluation", or file:PATH of a learned policy
    unvisited: value of a child without visits
    """

    c: float = 1.0
    temperature: float = 0.5
    prior: str = "order"
    unvisited: float = 0.5

    name: ClassVar[str] = "puct"
    part: ClassVar[str] = "selection"
    alone: ClassVar[tuple[str, ...]] = ("replace the exploration term",)
    data_fields: ClassVar[tuple[str, ...]] = ("c", "temperature", "unvisited")
    per_node: ClassVar[tuple[str, ...]] = ("prior",)
    priors: ClassVar[tuple[str, ...]] = ("order", "evaluation")
    ranges: ClassVar[dict] = {"c": (0,), "temperature": (0.01,), "unvisited": (0, 1)}

    def new_memory(self, game, nodes):
        return Priors(np.zeros(nodes), self.learned(game), np.zeros(game.state_size, game.dtype))

    def expanded(self, game, search, walk, node):
        prior, first = search.memory.prior, search.tree.first_child[node]
        end = first + search.tree.children[node]
        for child in range(first, end):
            prior[child] = self.hint(game, search, walk.state, search.tree.move[child])
        probabilities(prior, first, end, search.options.temperature, self.is_relative)

    def mean(self, game, search, walk, child, mean):
        return search.options.unvisited if search.tree.visits[child] == 0 else mean

    def explore(self, game, search, walk, child, term, constant):
        tree = search.tree
        share = sqrt(float(tree.visits[last_node(walk)])) / (1.0 + tree.visits[child])
        return search.options.c * search.memory.prior[child] * share
