"""The tree that a Monte-Carlo tree search has grown, its most visited nodes, as data: for teaching, and for drawings.

Values are the expected results of the first player, MAX: 1 it wins, 0 a draw, -1 the second player wins.
"""

import heapq
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from agents.core.agent import Agent, Budget, Unsuited, closing
from agents.core.tree import ROOT, Tree
from agents.montecarlo.search import TreeSearchPlayer
from games.core.game import CHANCE, Game, check_range
from games.core.random import stream


@dataclass
class Grown:
    """A node that the search has visited."""

    move: str  # that leads to it; of the root ""
    player: int | None  # to move, 0 is MAX and 1 MIN; None for chance, and at an end
    visits: int  # simulations that passed through it
    value: float  # the mean of their results, MAX's; of the root that of its children together
    children: list["Grown"] = field(default_factory=list)  # those that are shown, the most visited first
    hidden: int = 0  # children that are not

    again: ClassVar[bool] = False
    words: ClassVar[str] = ""
    pruned: ClassVar[tuple[str, ...]] = ()

    @property
    def nodes(self) -> int:
        """The number of nodes that are shown from here on, this one included."""
        return 1 + sum(child.nodes for child in self.children)

    @property
    def label(self) -> str:
        """Its value with two digits: `.25`."""
        return f"{self.value:.2f}".replace("0.", ".")

    @property
    def note(self) -> str:
        """Its visits."""
        return f"{self.visits:,}"

    @property
    def wider(self) -> float:
        """Pixels for the visits."""
        return 5.0 * len(self.note)

    def _repr_svg_(self) -> str:
        """The picture of the tree, for notebooks."""
        from agents.core.tree_drawing import as_svg

        return as_svg(self, f"{self.visits:,} visits: the {self.nodes} most visited nodes")


def grow(
    agent: Agent, game: Game, state: np.ndarray, *, seed: int, budget: Budget | None = None, nodes: int = 30
) -> Grown:
    """Search once, and show of the tree the `nodes` nodes that were visited most.

    Unsuited if the agent grows no such tree: `uct`, `grave`, `ppa` and `mast` do, and searches derived from them.
    """
    check_range("nodes", nodes, 1)
    if game.is_over(state):
        raise Unsuited("the game is over: there is no tree to grow")
    with closing(agent.player(game, budget)) as player:
        if not isinstance(player, TreeSearchPlayer):
            raise Unsuited(f"{agent.name} grows no tree on one thread; for example uct, grave, ppa and mast do")
        player.choose(state.copy(), stream(seed))
        return shown(game, player.tree, state, most_visited(player.tree, nodes), ROOT)


def most_visited(tree: Tree, nodes: int) -> set[int]:
    """The nodes with the most visits, each with its parent."""
    found, waiting = set[int](), [(0, ROOT)]
    while waiting and len(found) < nodes:
        node = heapq.heappop(waiting)[1]
        found.add(node)
        for child in children_of(tree, node):
            if tree.visits[child] > 0:
                heapq.heappush(waiting, (-int(tree.visits[child]), child))
    return found


def children_of(tree: Tree, node: int) -> range:
    """The children of a node, by number."""
    first = int(tree.first_child[node])
    return range(first, first + int(tree.children[node]))


def shown(game: Game, tree: Tree, state: np.ndarray, chosen: set[int], node: int, mover: int = 0) -> Grown:
    """A node, whose position is `state` and into which `mover` has moved, with its children that are chosen."""
    player = None if game.is_over(state) else int(game.player(state))
    kept = sorted(chosen.intersection(children_of(tree, node)), key=lambda child: (-tree.visits[child], child))
    below = [shown(game, tree, game.after(state, int(tree.move[child])), chosen, child, player or 0) for child in kept]
    for child, one in zip(kept, below):
        one.move = game.move_name(state, int(tree.move[child]))
    visits, side = int(tree.visits[node]), 1 if mover == 0 else -1
    value = of_children(tree, node, player or 0) if node == ROOT else side * (2 * tree.value[node] / visits - 1)
    return Grown(
        "", None if player == CHANCE else player, visits, float(value), below, int(tree.children[node]) - len(kept)
    )


def of_children(tree: Tree, node: int, mover: int) -> float:
    """The mean of all results of the children of a node, MAX's."""
    rows = list(children_of(tree, node))
    mean = 2 * tree.value[rows].sum() / max(int(tree.visits[rows].sum()), 1) - 1
    return float(mean if mover == 0 else -mean)
