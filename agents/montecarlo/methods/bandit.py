"""The classic rules of multi-armed bandits for the choice of a child, in place of UCB1.

n and N are the visits of the child and of its node, m and v the mean and the variance of the child's rewards, s their
sum; the bound of an unvisited child is above all others, but for Thompson sampling.

    tuned      m + scale sqrt(ln N / n min(1/4, v + sqrt(2 ln N / n)))      UCB1-Tuned
    ucbv       m + scale (sqrt(2 v ln N / n) + 3 ln N / n)                  UCB-V, with zeta = c = 1
    thompson   a draw from the distribution Beta(1 + s, 1 + n - s)          Thompson sampling

Sources: P. Auer, N. Cesa-Bianchi & P. Fischer, "Finite-time analysis of the multiarmed bandit problem", Machine
Learning 47, 2002; J. Audibert, R. Munos & C. Szepesvari, "Exploration-exploitation tradeoff using variance estimates in
multi-armed bandits", TCS 410, 2009; S. Agrawal & N. Goyal, "Analysis of Thompson sampling for the multi-armed bandit
problem", COLT 2012.  Rewards between 0 and 1 count as that share of a success, where the last source tosses a coin.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.selection import log_of
from arena.agents.core.tree_arrays import last_node
from arena.agents.montecarlo.method import Method
from arena.games.core.jit import helper
from arena.games.core.numbers.elementary import log
from arena.games.core.random import next_word, random_unit

BOUNDS = ("tuned", "ucbv", "thompson")


class Arms(NamedTuple):
    """What UCB1 does not know."""

    squares: np.ndarray  # float64[nodes], sums of the squares of the rewards for the player who moved into the node
    rng: np.ndarray  # uint64[1], of Thompson sampling


@dataclass(frozen=True)
class Bandit(Method):
    """bound: the rule: "tuned", "ucbv" or "thompson"
    scale: of the exploration term; Thompson sampling has none
    """

    bound: str = "tuned"
    scale: float = 1.0

    name: ClassVar[str] = "bandit"
    part: ClassVar[str] = "selection"
    alone: ClassVar[tuple[str, ...]] = ("replace the exploration term",)
    apart: ClassVar[tuple[str, ...]] = ("graph",)  # whose nodes have rewards of several paths
    per_node: ClassVar[tuple[str, ...]] = ("squares",)
    data_fields: ClassVar[tuple[str, ...]] = ("scale",)
    ranges: ClassVar[dict] = {"scale": (0,)}
    choices: ClassVar[dict] = {"bound": BOUNDS}

    def new_memory(self, game, nodes):
        return Arms(np.zeros(nodes), np.zeros(1, np.uint64))

    def begin_search(self, game, memory, budget, rng):
        memory.rng[0] = next_word(rng)

    def expanded(self, game, search, walk, node):
        first = search.tree.first_child[node]
        search.memory.squares[first : first + search.tree.children[node]] = 0.0

    def explore(self, game, search, walk, child, term, constant):
        tree, visits, total = search.tree, search.tree.visits[child], search.tree.value[child]
        mean = total / max(visits, 1)
        if self.bound == "thompson":
            return beta(1.0 + total, 1.0 + visits - total, search.memory.rng) - mean
        if visits == 0:
            return term
        rate = log_of(tree.visits[last_node(walk)]) / visits
        variance = max(0.0, search.memory.squares[child] / visits - mean * mean)
        if self.bound == "tuned":
            return search.options.scale * sqrt(rate * min(0.25, variance + sqrt(2.0 * rate)))
        return search.options.scale * (sqrt(2.0 * variance * rate) + 3.0 * rate)

    def learn(self, game, search, walk, result):
        for i in range(1, walk.length[0]):
            reward = 0.5 * (1.0 + result if walk.movers[i] == 0 else 1.0 - result)
            search.memory.squares[walk.path[i]] += reward * reward


@helper
def beta(a, b, rng):
    """A draw from Beta(a, b), for a and b of 1 or more."""
    x = gamma(a, rng)
    return x / (x + gamma(b, rng))


@helper
def gamma(shape, rng):
    """A draw from Gamma(shape, 1), for a shape of 1 or more (G. Marsaglia & W. Tsang, "A simple method for generating
    gamma variables", ACM TOMS 26, 2000).
    """
    d = shape - 1.0 / 3.0
    while True:
        x = normal(rng)
        root = 1.0 + x / sqrt(9.0 * d)
        v = root * root * root
        if v > 0.0 and log(1.0 - random_unit(rng)) < 0.5 * x * x + d * (1.0 - v + log(v)):
            return d * v


@helper
def normal(rng):
    """A draw from the standard normal distribution (G. Marsaglia & T. Bray, SIAM Review 6, 1964)."""
    while True:
        x, y = 2.0 * random_unit(rng) - 1.0, 2.0 * random_unit(rng) - 1.0
        square = x * x + y * y
        if 0.0 < square < 1.0:
            return x * sqrt(-2.0 * log(square) / square)
