"""The tree that a depth-first search explores, node by node, as data: for teaching, and for drawings.

The search is the one that agents play with, stepped node by node, so that what is shown is what it does.  Values and
windows are MAX's, the first player's: alpha is what MAX is sure of, beta what MIN is sure of.
"""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from agents.core.agent import Agent, Budget, Unsuited
from agents.core.sides import side_to_move
from agents.minimax.deepening import DepthFirstMinimax, DepthFirstPlayer
from agents.minimax.depthfirst import depth_first_kernel
from agents.minimax.root import put_root
from agents.minimax.stack import (
    DONE,
    END,
    EVALUATED,
    FORESEEN,
    FROM_TABLE,
    INFINITE,
    OPEN,
    TOO_LATE,
    DepthFirstSearch,
    restart,
)
from games.core.game import Game

KINDS = {OPEN: "open", FROM_TABLE: "table", TOO_LATE: "late", END: "end", EVALUATED: "evaluated", FORESEEN: "foreseen"}

WORDS = {"evaluated": "evaluated", "table": "from the table", "foreseen": "foreseen", "late": "a quicker win is known"}


class TooLarge(Unsuited):
    """A tree with more nodes than were allowed."""


@dataclass
class Explored:
    """A node that the search has visited."""

    move: str  # that leads to it; of the root ""
    player: int | None  # to move, 0 is MAX and 1 MIN; None at an end
    kind: str  # open; end; evaluated; foreseen; table: known from it; late: a quicker win is known
    value: float = 0.0  # MAX's
    exact: bool = True  # or else a bound:
    at_least: bool = False  # of which kind
    alpha: float = -np.inf  # the window that it was entered with
    beta: float = np.inf
    again: bool = False  # searched a second time, now with an open window
    children: list["Explored"] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)  # moves that were not tried

    wider: ClassVar[float] = 0.0  # an end has no note

    @property
    def nodes(self) -> int:
        """The number of nodes from here on, this one included."""
        return 1 + sum(child.nodes for child in self.children)

    @property
    def label(self) -> str:
        """Its value, or the bound that is known: `3`, `≥5`, `≤2`."""
        return ("" if self.exact else "≥" if self.at_least else "≤") + number(self.value)

    @property
    def note(self) -> str:
        """The window that it was entered with; nothing at an end."""
        return f"({number(self.alpha)}, {number(self.beta)})" if self.kind == "open" else ""

    @property
    def words(self) -> str:
        """Where its value comes from, unless from below."""
        return WORDS.get(self.kind, "")

    def _repr_svg_(self) -> str:
        """The picture of the tree, for notebooks."""
        from agents.core.tree_drawing import as_svg

        return as_svg(self, f"{self.nodes} nodes")


def number(value: float) -> str:
    """Four digits of a value; infinities as such."""
    return {np.inf: "∞", -np.inf: "-∞"}.get(value, f"{value:.4g}")


def explore(agent: Agent, game: Game, state: np.ndarray, limit: int = 1000) -> Explored:
    """The tree that `agent` explores from `state`, to its own depth or to the end; moves come in the game's order.

    Unsuited if the agent is no depth-first search, or refuses the game; TooLarge if there are more than `limit` nodes.
    """
    if not isinstance(agent, DepthFirstMinimax):
        raise Unsuited(f"{agent.name} is no depth-first search: a tree can be shown of alphabeta and minimax")
    if game.is_over(state):
        raise Unsuited("the game is over: there is no tree to search")
    if reason := agent.refuses(game):
        raise Unsuited(reason)
    player = agent.new_player(game, agent.budget(Budget(depth=game.max_plies)))
    search, counts = player.search, player.search.counts[0]
    put_root(game, search, state, None)
    restart(search, player.deepest)
    root = Explored("", int(game.player(state)), "open")
    path = [root]
    while counts["ply"] != DONE:
        if counts["nodes"] == limit:
            raise TooLarge(f"the tree has more than {limit} nodes: give a smaller depth, or a higher limit")
        with np.errstate(over="ignore"):  # where the kernel runs as plain Python
            step(player, path)
    return root


def step(player: DepthFirstPlayer, path: list[Explored]) -> None:
    """Let the search try one move, and record what comes of it."""
    game, search, counts = player.game, player.search, player.search.counts[0]
    ply = int(counts["ply"])
    node, below = search.nodes[ply], search.nodes[ply + 1]
    tried, again = int(node["tried"]), bool(node["again"])
    to_horizon = node["draft"] == 1 and not search.options.quiescence
    depth_first_kernel(game, search, counts["nodes"] + 1)
    del path[ply + 1 :]
    state, child_state = search.states[ply], search.states[ply + 1]
    over, kind = bool(game.is_over(child_state)), KINDS[int(below["kind"])]
    move = game.move_name(state, int(search.moves[ply, tried]))
    child = Explored(move, None if over else int(game.player(child_state)), kind, again=again)
    path[ply].children.append(child)
    path.append(child)
    if over or to_horizon or kind == "foreseen":
        child.value = side_to_move(game, state) * float(below["best"])
        del path[ply + 1 :]
    elif kind in ("open", "evaluated"):
        child.alpha, child.beta = window(game, search, ply + 1)
    for row in range(len(path) - 1, int(counts["ply"]), -1):
        finish(game, search, row, path[row])


def finish(game, search: DepthFirstSearch, row: int, explored: Explored) -> None:
    """Record the result of the node at a row of the search."""
    node, state = search.nodes[row], search.states[row]
    side, rest = side_to_move(game, state), search.moves[row, node["tried"] : node["total"]]
    explored.value = side * float(node["best"])
    explored.pruned = [game.move_name(state, int(move)) for move in rest]
    known = not explored.pruned and bool(explored.children) and all(child.exact for child in explored.children)
    explored.exact = bool(known or node["floor"] < node["best"] < node["beta"])
    explored.at_least = bool((node["best"] >= node["beta"]) == (side > 0))


def window(game, search: DepthFirstSearch, row: int) -> tuple[float, float]:
    """The window that a row was entered with, as MAX sees it; without a bound it is infinite."""
    low, high = float(search.nodes[row]["floor"]), float(search.nodes[row]["beta"])
    low, high = (low, high) if side_to_move(game, search.states[row]) > 0 else (-high, -low)
    return (-np.inf if low <= -INFINITE else low), (np.inf if high >= INFINITE else high)
