"""The most visited nodes of a Monte-Carlo search tree, as data: for teaching and drawings.

Values are expected results of the first player, MAX: 1 if it wins, 0 for a draw, -1 if it loses.
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited, closing
from arena.agents.core.tree_arrays import ROOT, Tree
from arena.agents.core.tree_node import Node, Said, Searched, check_searchable, counted, hundredths
from arena.agents.montecarlo.search import TreeSearchPlayer
from arena.games.core.game import Game, check_range
from arena.games.core.random import stream


@dataclass
class Grown(Node):
    """A node that the search has visited; the most visited children come first."""

    visits: int  # simulations that passed through it
    value: float  # the mean of their results, for MAX; at the root, over its children

    legend = "In a node the mean result of MAX, from -1 to 1, beside it the visits."

    @property
    def said(self):
        data = {"value": self.value, "visits": self.visits}
        return Said(hundredths(self.value), data, f"{self.visits:,}", counted(self.visits, "visit"))

    def title(self) -> str:
        return f"{self.visits:,} visits: the {self.nodes} most visited nodes"


def grow(
    agent: Agent, game: Game, state: np.ndarray, *, seed: int, budget: Budget | None = None, nodes: int = 30
) -> Grown:
    """Search once, and return the tree's `nodes` most visited nodes.

    Raises Unsuited if the agent grows no such tree: `uct`, `grave`, `ppa`, `mast` and searches derived from them do.
    """
    check_range("nodes", nodes, 1)
    check_searchable(agent, game, state)
    with closing(agent.player(game, budget)) as player:
        if not isinstance(player, TreeSearchPlayer):
            raise Unsuited(f"{agent.name} grows no tree on one thread; for example uct, grave, ppa and mast do")
        player.choose(state.copy(), stream(seed))
        return MostVisited(game, state, player.tree).shown(nodes)


@dataclass
class MostVisited(Searched[int]):
    """A tree of playouts; the highlighted line is that of the most visited moves."""

    game: Game
    state: np.ndarray
    tree: Tree
    root = ROOT

    def shown(self, limit: int) -> Grown:
        root = node = super().shown(limit)
        root.value = root.value if root.player == 0 else -root.value  # of its children
        for parent in root.all():
            for child in parent.children if parent.player != 0 else ():
                child.value = -child.value
        while node.children:
            node = node.children[0]
            node.marked = True
        return root

    def children(self, node: int) -> range:
        first = int(self.tree.first_child[node])
        return range(first, first + int(self.tree.children[node]))

    def below(self, node):
        """The visited children, of which the most visited come first."""
        for child in self.children(node):
            if self.tree.visits[child] > 0:
                yield -float(self.tree.visits[child]), int(self.tree.move[child]), child

    def node(self, node, player):
        """Its value is, at first, that of the player who moved to it."""
        tree, below = self.tree, list(self.children(node))
        rows = below if node == ROOT else [node]
        mean = float(2 * tree.value[rows].sum() / max(int(tree.visits[rows].sum()), 1) - 1)
        unvisited = [child for child in below if not tree.visits[child]]
        return Grown("", player, int(tree.visits[node]), mean, hidden=len(unvisited))
