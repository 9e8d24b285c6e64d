"""The tree that a depth-first search explores, node by node, as data: for teaching, and for drawings.

The search is the one that agents play with, let on one node at a time; so what is shown is what it does.  Values and
windows are MAX's, the first player's: alpha is what MAX is sure of, beta what MIN is.
"""

from dataclasses import dataclass, field

import numpy as np

from agents.core.agent import Budget, Unsuited
from agents.minimax.deepening import DepthFirst, DepthFirstPlayer
from agents.minimax.depthfirst import search_kernel
from agents.minimax.root import put_root
from agents.minimax.stack import (
    AGAIN,
    BEST,
    BETA,
    DRAFT,
    END,
    FLOOR,
    FROM_TABLE,
    GUESS,
    INFINITE,
    KIND,
    NODES,
    OPEN,
    PLY,
    TOO_LATE,
    TOTAL,
    TRIED,
    restart,
)

KINDS = {OPEN: "open", FROM_TABLE: "table", TOO_LATE: "late", END: "end", GUESS: "guess"}


class TooLarge(Unsuited):
    """A tree of more nodes than were asked for."""


@dataclass
class Explored:
    """A node that the search has been at."""

    move: str  # that leads to it; of the root ""
    player: int | None  # to move, 0 is MAX and 1 MIN; None at an end
    kind: str  # open; end; guess: evaluated; table: known; late: a quicker win is known
    value: float = 0.0  # MAX's
    exact: bool = True  # or else a bound:
    at_least: bool = False  # of which kind
    alpha: float = -np.inf  # the window that it was entered with
    beta: float = np.inf
    again: bool = False  # searched a second time, now with an open window
    children: list["Explored"] = field(default_factory=list)
    pruned: list[str] = field(default_factory=list)  # moves that were not tried

    @property
    def nodes(self) -> int:
        """How many there are, with this one."""
        return 1 + sum(child.nodes for child in self.children)


def explore(agent: DepthFirst, game, state: np.ndarray, limit: int = 1000) -> Explored:
    """What `agent` explores from `state`, to the depth of its own budget or to the end; moves in the game's order.

    Unsuited if the agent is no depth-first search, or refuses the game; TooLarge if there are more than `limit` nodes.
    """
    if not isinstance(agent, DepthFirst):
        raise Unsuited(f"{agent.name} is no depth-first search: a tree can be shown of alphabeta and minimax")
    if game.is_over(state):
        raise Unsuited("the game is over: there is no tree to search")
    player = agent.player(game, Budget(depth=agent.depth or game.max_plies))
    put_root(game, player.stack, state, None, player.options.symmetries and not player.options.table)
    restart(player.stack, player.deepest)
    root = Explored("", int(game.player(state)), "open")
    path, stack = [root], player.stack
    while stack.counts[PLY] >= 0:
        if stack.counts[NODES] == limit:
            raise TooLarge(f"the tree has more than {limit} nodes: give a smaller depth, or a higher limit")
        with np.errstate(over="ignore"):  # where the kernel runs as plain Python
            step(player, path)
    return root


def step(player: DepthFirstPlayer, path: list[Explored]) -> None:
    """Let the search try one move, and write down what comes of it."""
    game, stack, ply = player.game, player.stack, int(player.stack.counts[PLY])
    tried, again = int(stack.node[ply, TRIED]), bool(stack.node[ply, AGAIN])
    to_horizon = stack.node[ply, DRAFT] == 1 and not player.options.quiescence
    search_kernel(game, stack, player.table, player.options, stack.counts[NODES] + 1)
    del path[ply + 1 :]
    state, below = stack.states[ply], stack.states[ply + 1]
    over, kind = bool(game.is_over(below)), KINDS[int(stack.node[ply + 1, KIND])]
    move = game.move_name(state, int(stack.moves[ply, tried]))
    child = Explored(move, None if over else int(game.player(below)), kind, again=again)
    path[ply].children.append(child)
    path.append(child)
    if over or to_horizon:
        child.value = sign(game, state) * float(stack.window[ply + 1, BEST])
        del path[ply + 1 :]
    elif kind in ("open", "guess"):
        child.alpha, child.beta = window(game, stack, ply + 1)
    for row in range(len(path) - 1, int(stack.counts[PLY]), -1):
        finish(game, stack, row, path[row])


def finish(game, stack, row: int, node: Explored) -> None:
    """Write down what the node at a row of the stack has come to."""
    best, side = float(stack.window[row, BEST]), sign(game, stack.states[row])
    floor, beta = stack.window[row, FLOOR], stack.window[row, BETA]
    rest = stack.moves[row, stack.node[row, TRIED] : stack.node[row, TOTAL]]
    node.value = side * best
    node.pruned = [game.move_name(stack.states[row], int(move)) for move in rest]
    known = not node.pruned and bool(node.children) and all(child.exact for child in node.children)
    node.exact = bool(known or floor < best < beta)
    node.at_least = bool((best >= beta) == (side > 0))


def sign(game, state) -> float:
    """1 where MAX is to move, else -1."""
    return 1.0 if game.player(state) == 0 else -1.0


def window(game, stack, row: int) -> tuple[float, float]:
    """The window that a row was entered with, as MAX sees it; without a bound it is infinite."""
    low, high = (float(bound) for bound in (stack.window[row, FLOOR], stack.window[row, BETA]))
    low, high = (low, high) if sign(game, stack.states[row]) > 0 else (-high, -low)
    return (-np.inf if low <= -INFINITE else low), (np.inf if high >= INFINITE else high)
