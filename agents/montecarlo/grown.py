"""The most visited nodes of a Monte-Carlo search tree, as data: for teaching and drawings.

Values are expected results of the first player, MAX: 1 if it wins, 0 for a draw, -1 if it loses.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited, closing
from arena.agents.core.tree_arrays import ROOT, Tree
from arena.agents.core.tree_node import Node, after, check_searchable, counted, foremost, hundredths, odds_of
from arena.agents.montecarlo.search import TreeSearchPlayer
from arena.games.core.game import CHANCE, Game, check_range
from arena.games.core.random import stream


@dataclass
class Grown(Node):
    """A node that the search has visited; the most visited children come first."""

    visits: int  # simulations that passed through it
    value: float  # the mean of their results, for MAX; at the root, over its children

    @property
    def legend(self) -> str:
        return "In a node the mean result of MAX, from -1 to 1, beside it the visits."

    @property
    def label(self) -> str:
        return hundredths(self.value)

    @property
    def note(self) -> str:
        return f"{self.visits:,}"

    @property
    def spoken(self) -> str:
        return counted(self.visits, "visit")

    def title(self) -> str:
        return f"{self.visits:,} visits: the {self.nodes} most visited nodes"

    def data(self):
        return {"value": self.value, "visits": self.visits}


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
        root = shown(game, player.tree, state, most_visited(player.tree, nodes), ROOT)
        mark(root)
        return root


def most_visited(tree: Tree, nodes: int) -> set[int]:
    """The nodes with the most visits, each with its parent."""

    def below(node: int) -> Iterator[tuple[float, int]]:
        for child in children_of(tree, node):
            if tree.visits[child] > 0:
                yield -float(tree.visits[child]), child

    return foremost(ROOT, below, nodes)


def children_of(tree: Tree, node: int) -> range:
    """The numbers of a node's children."""
    first = int(tree.first_child[node])
    return range(first, first + int(tree.children[node]))


def shown(game: Game, tree: Tree, state: np.ndarray, chosen: set[int], node: int, mover: int = 0) -> Grown:
    """A node in the position `state`, into which `mover` has moved, with its chosen children."""
    player = None if game.is_over(state) else int(game.player(state))
    kept = sorted(chosen.intersection(children_of(tree, node)), key=lambda child: (-tree.visits[child], child))
    below = [shown(game, tree, after(game, state, int(tree.move[child])), chosen, child, player or 0) for child in kept]
    odds = odds_of(game, state) if player == CHANCE else {}
    for child, one in zip(kept, below):
        move = int(tree.move[child])
        one.move, one.odds = game.move_name(state, move), odds.get(move, "")
    visits, side = int(tree.visits[node]), 1 if mover == 0 else -1
    value = of_children(tree, node, player or 0) if node == ROOT else side * (2 * tree.value[node] / visits - 1)
    return Grown("", player, visits, float(value), children=below, hidden=int(tree.children[node]) - len(kept))


def mark(root: Grown) -> None:
    """Mark the line of the most visited moves."""
    while root.children:
        root = root.children[0]
        root.marked = True


def of_children(tree: Tree, node: int, mover: int) -> float:
    """The mean of all results of a node's children, for MAX."""
    rows = list(children_of(tree, node))
    mean = 2 * tree.value[rows].sum() / max(int(tree.visits[rows].sum()), 1) - 1
    return float(mean if mover == 0 else -mean)
