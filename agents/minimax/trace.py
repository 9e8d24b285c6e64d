"""The tree that a depth-first search explores, node by node, as data for teaching and drawings.

It steps the search that agents play with.  Values and windows are those of MAX, the first player: MAX is sure of alpha,
MIN of beta.
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited
from arena.agents.core.sides import side_to_move
from arena.agents.core.tree_node import Node, Said, check_searchable, finite, number
from arena.agents.minimax.deepening import DepthFirstMinimax, DepthFirstPlayer
from arena.agents.minimax.depthfirst import depth_first_kernel
from arena.agents.minimax.root_moves import put_root
from arena.agents.minimax.stack import (
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
from arena.games.core.game import Game

KINDS = {OPEN: "open", FROM_TABLE: "table", TOO_LATE: "late", END: "end", EVALUATED: "evaluated", FORESEEN: "foreseen"}

UNBOUNDED = (-np.inf, np.inf)
SIGNS = {None: "", "lower": "≥", "upper": "≤"}
WORDS = {"evaluated": "evaluated", "table": "from the table", "foreseen": "foreseen", "late": "a quicker win is known"}


class TooLarge(Unsuited):
    """A tree has more nodes than the limit."""


@dataclass
class Explored(Node):
    """A node that the search has visited."""

    kind: str  # open; end; evaluated; foreseen; table: known from it; late: a quicker win is known; chance
    value: float = 0.0  # for MAX; the best so far if under way
    exact: bool = True  # else a bound
    at_least: bool = False  # a lower one
    alpha: float = -np.inf  # the window at its entry; if under way, the current one
    beta: float = np.inf
    under_way: bool = False  # the search was stopped here or below
    pruning: bool = True  # the search looks at the window

    @property
    def legend(self) -> str:
        if not self.pruning:
            return "In a node its value."
        return "In a node its value, beside it the window (alpha, beta). Branches with a cross are cut off."

    @property
    def said(self):
        bound = None if self.exact else "lower" if self.at_least else "upper"
        window = {"alpha": finite(self.alpha), "beta": finite(self.beta)}
        spoken = f"({number(self.alpha)}, {number(self.beta)})" if self.kind in ("open", "chance") else ""
        return Said(
            label=SIGNS[bound] + number(self.value),
            data={"value": finite(self.value), "bound": bound, **window, "kind": self.kind, "again": self.again},
            note=spoken if self.pruning else "",
            spoken=spoken,
            words="under way" if self.under_way else WORDS.get(self.kind, ""),
        )

    @property
    def cut_off(self) -> int:
        """How many moves were cut off here and below."""
        return sum(len(node.pruned) for node in self.all())

    def settle(self, window: tuple[float, float], bounds: tuple[float, float]) -> None:
        """Note whether the value found with a window is exact, or which bound; beyond `bounds` there is nothing."""
        known = not self.pruned and bool(self.children) and all(child.exact for child in self.children)
        at_least = self.value >= window[1]
        self.exact = known or window[0] < self.value < window[1] or self.value == bounds[at_least]
        self.at_least = at_least and not self.exact


def explore(
    agent: Agent,
    game: Game,
    state: np.ndarray,
    limit: int = 1000,
    *,
    iterations: int | None = None,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Explored:
    """The tree that `agent` explores from `state`, to its own depth or to the end, with moves in the game's order.

    iterations: stop after that many positions, not counting the root
    bounds: the least and the greatest possible value for MAX, if known; the best for its player ends a node
    Unsuited if the agent is not a depth-first search or refuses the game; TooLarge if the tree has over `limit` nodes.
    """
    if not isinstance(agent, DepthFirstMinimax):
        raise Unsuited(f"{agent.name} is no depth-first search: a tree can be shown of alphabeta and minimax")
    check_searchable(agent, game, state)
    player = agent.new_player(game, agent.budget(Budget(depth=game.max_plies)))
    search, counts = player.search, player.search.counts[0]
    if bounds != UNBOUNDED and not search.options.pruning:
        raise Unsuited(f"{agent.name} cuts no moves off, whatever the bounds of values: say alphabeta")
    put_root(game, search, state, None)
    low, high = max(bounds[0], -INFINITE), min(bounds[1], INFINITE)
    restart(search, player.deepest, *((low, high) if game.player(state) == 0 else (-high, -low)))
    root = Explored("", int(game.player(state)), "open", pruning=search.options.pruning)
    root.alpha, root.beta = window(game, search, 0)
    path = [root]
    while counts["ply"] != DONE and counts["nodes"] != iterations:
        if counts["nodes"] == limit:
            raise TooLarge(f"the tree has more than {limit} nodes: give a smaller depth, or a higher limit")
        with np.errstate(over="ignore"):  # where the kernel runs as plain Python
            step(player, path, bounds)
    for row in range(int(counts["ply"]) + 1):
        path[row].under_way = True
        take(game, search, row, path[row], bounds)
    mark(root)
    return root


def mark(root: Explored) -> None:
    """Mark the best line so far, by the first of equal moves, until chance decides."""
    node: Explored | None = root
    while node is not None and node.children and node.kind == "open":
        best = max if node.player == 0 else min
        known = {child.move: child for child in node.children if not child.under_way}  # the last search of each move
        node = best(known.values(), key=lambda child: child.value) if known else None
        if node is not None:
            node.marked = True


def step(player: DepthFirstPlayer, path: list[Explored], bounds: tuple[float, float]) -> None:
    """Let the search try one move, and record the result."""
    game, search, counts = player.game, player.search, player.search.counts[0]
    ply = int(counts["ply"])
    node, below = search.nodes[ply], search.nodes[ply + 1]
    tried, again = int(node["tried"]), bool(node["again"])
    to_horizon = node["draft"] == 1 and not search.options.quiescence
    depth_first_kernel(game, player.guide, search, counts["nodes"] + 1)
    del path[ply + 1 :]
    state, child_state = search.states[ply], search.states[ply + 1]
    over, kind = bool(game.is_over(child_state)), KINDS[int(below["kind"])]
    move = game.move_name(state, int(search.moves[ply, tried]))
    player_below = None if over else int(game.player(child_state))
    child = Explored(move, player_below, kind, again=again, pruning=search.options.pruning)
    path[ply].children.append(child)
    path.append(child)
    if over or to_horizon or kind == "foreseen":
        child.value = side_to_move(game, state) * float(below["best"])
        check_bounds(child.value, bounds)
        del path[ply + 1 :]
    elif kind in ("open", "evaluated"):
        child.alpha, child.beta = window(game, search, ply + 1)
    for row in range(len(path) - 1, int(counts["ply"]), -1):
        take(game, search, row, path[row], bounds)


def check_bounds(value: float, bounds: tuple[float, float]) -> None:
    """Unsuited if the value is beyond its bounds."""
    if not bounds[0] <= value <= bounds[1]:
        raise Unsuited(f"a position has the value {value:g}, beyond the bounds {bounds[0]:g} and {bounds[1]:g}")


def take(game, search: DepthFirstSearch, row: int, explored: Explored, bounds: tuple[float, float]) -> None:
    """Record what is known of a node: its result, or if it is under way the best so far."""
    node, state = search.nodes[row], search.states[row]
    best, rest = float(node["best"]), search.moves[row, node["tried"] : node["total"]]
    names = [game.move_name(state, int(move)) for move in rest]
    explored.value = side_to_move(game, state) * (best if abs(best) < INFINITE else np.copysign(np.inf, best))
    if explored.under_way:
        explored.untried, (explored.alpha, explored.beta) = names, window(game, search, row, "alpha")
    else:
        explored.pruned = names
        explored.settle(window(game, search, row), bounds)


def window(game, search: DepthFirstSearch, row: int, lower: str = "floor") -> tuple[float, float]:
    """The window at a row's entry, or the current one by "alpha", for MAX; infinite where there is no bound."""
    node = search.nodes[row]
    low, high = float(node[lower]), float(node["beta"])
    low, high = (low, high) if side_to_move(game, search.states[row]) > 0 else (-high, -low)
    return (-np.inf if low <= -INFINITE else low), (np.inf if high >= INFINITE else high)
