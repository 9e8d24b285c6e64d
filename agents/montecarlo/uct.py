"""UCT: Monte-Carlo tree search with the UCB1 rule (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006).

The child with the largest  value + K sqrt(ln N / n)  is selected, unvisited children first; N and n are the visits of
the node and of the child, value the child's mean reward for the player who moves at the node.  With
`first_play_urgency` u an unvisited child has the bound u instead (Gelly & Wang, "Exploration exploitation in Go",
2006), so that a good child may be visited again before all have been.  For games for two players.
"""

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.selection import largest_bound, log_of, prefetch
from agents.core.tree import UNPROVEN, last_node, proven_result
from agents.montecarlo.search import Rule, TreeSearch
from games.core.jit import helper


class UCBOptions(NamedTuple):
    """The numbers of UCB1."""

    exploration: float
    urgency: float  # the bound of unvisited children, where the rule has `urgency`


@dataclass(frozen=True)
class UCB1(Rule):
    """urgency: whether unvisited children have a bound of their own, rather than coming first."""

    urgency: bool = False

    def best_child(self, game, search, walk):
        """The first unvisited child, or the one with the largest bound.

        Single precision, and the bound as q/n + sqrt((K^2 ln N)/n), make a search of Connect 4 a fifth faster.
        """
        tree, options, node = search.tree, search.options, last_node(walk)
        first, count = tree.first_child[node], tree.children[node]
        scale = np.float32(options.exploration * options.exploration * log_of(tree.visits[node]))
        if self.solver or self.urgency:
            return self.best_of_each(game, search, walk, scale)
        for column in (tree.move, tree.first_child, tree.children):  # what is read next, of one of the children
            prefetch(column, first)
        return largest_bound(tree.visits, tree.value, first, count, scale)

    def best_of_each(self, game, search, walk, scale):
        """The same, where proven or unvisited children have bounds of their own."""
        tree, node = search.tree, last_node(walk)
        first = tree.first_child[node]
        best, best_bound = first, np.float32(-2.0)
        for child in range(first, first + tree.children[node]):
            visits = tree.visits[child]
            if self.solver and tree.proven[child] != UNPROVEN:
                bound = np.float32(certain_bound(tree, child, game.player(walk.state)))
            elif visits > 0:
                share = np.float32(1.0) / np.float32(visits)
                bound = np.float32(tree.value[child]) * share + sqrt(scale * share)
            elif self.urgency:
                bound = np.float32(search.options.urgency)
            else:
                return child
            if bound > best_bound:
                best, best_bound = child, bound
        return best


@helper
def certain_bound(tree, child, player):
    """The bound of a proven child: above all others if it is won for `player`, who moves to it, below all if lost."""
    result = proven_result(tree.proven[child]) * (1.0 if player == 0 else -1.0)
    return 1000.0 if result > 0.0 else (-1.0 if result < 0.0 else 0.5)


def check_exploration(exploration: float) -> None:
    """ValueError unless the constant K is 0 or more."""
    if not exploration >= 0:
        raise ValueError(f"exploration = {exploration} is out of range: it can be 0 or more")


@dataclass(frozen=True)
class UCT(TreeSearch):
    """Monte-Carlo tree search with UCB1.

    exploration: the constant K of the bound, for rewards from 0 to 1
    first_play_urgency: the bound of unvisited children; none: they come first
    """

    exploration: float = 0.4
    first_play_urgency: float | None = None

    name: ClassVar[str] = "uct"

    def __post_init__(self):
        super().__post_init__()
        check_exploration(self.exploration)

    def search_rule(self, game):
        return UCB1(self.solver, self.first_play_urgency is not None)

    def options(self):
        return UCBOptions(self.exploration, self.first_play_urgency or 0.0)
