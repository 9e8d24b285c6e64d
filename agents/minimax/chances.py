"""The tree that expectiminimax searches, node by node, as data for teaching and drawings.

`value_kernel` (agents/minimax/expectiminimax.py) runs as plain Python, and its calls are recorded.  Values and windows
are MAX's.
"""

from types import FunctionType
from typing import Any

import numpy as np

from arena.agents.core.agent import Budget, Unsuited
from arena.agents.core.tree_node import check_searchable, fraction, uncompiled
from arena.agents.minimax.expectiminimax import NODES, Expectiminimax, list_outcomes, value_kernel
from arena.agents.minimax.trace import UNBOUNDED, Explored, TooLarge, check_bounds, mark
from arena.games.core.game import CHANCE, Game


def explore_chances(
    agent: Expectiminimax, game: Game, state: np.ndarray, limit: int = 1000, *, bounds: tuple[float, float] = UNBOUNDED
) -> Explored:
    """The tree that `agent` searches from `state`, where chance may move first, to its own depth or to the end.

    bounds: the least and the greatest possible value for MAX, if known: Star1 cuts off by them
    Unsuited if the agent refuses the game; TooLarge beyond `limit` nodes.
    """
    check_searchable(agent, game, state)
    player = agent.new_player(game, agent.budget(Budget(depth=game.max_plies)))
    options = player.options(max(int(game.player(state)), 0))  # before chance, the first player's search
    if bounds != UNBOUNDED and not options.pruning:
        raise Unsuited(f"{agent} cuts no moves off, whatever the bounds of values: leave pruning=false out")
    if options.scores or bounds != UNBOUNDED:
        options = options._replace(least=bounds[0], most=bounds[1])
    player.line.states[0], recorder = state, Recorder(limit)
    with np.errstate(over="ignore"):  # words wrap, as they do in kernels
        recorder.call(player.game, player.line, player.depth, 0, *bounds, options)
    root = recorder.found[0]
    mark(root)
    return root


class Recorder:
    """Runs `value_kernel`, whose own calls of itself come here, and records each call as a node."""

    def __init__(self, limit: int):
        kernel: Any = uncompiled(value_kernel)
        scope = {name: uncompiled(value) for name, value in kernel.__globals__.items()}
        self.kernel = FunctionType(kernel.__code__, scope | {"value_kernel": self.call})
        self.limit, self.found = limit, list[Explored]()  # so far, below the call that is under way

    def call(self, game, line, depth, ply, alpha, beta, options) -> float:
        if line.counts[NODES] > self.limit:
            raise TooLarge(f"the tree has more than {self.limit} nodes: give a smaller depth, or a higher limit")
        before, self.found = self.found, []
        value = float(self.kernel(game, line, depth, ply, alpha, beta, options))
        node = recorded(game, line, ply, value, self.found, options)
        if node.children:
            node.alpha, node.beta = float(alpha), float(beta)
            node.settle((node.alpha, node.beta), (options.least, options.most))
        self.found = [*before, node]
        return value


def recorded(game, line, ply: int, value: float, children: list[Explored], options) -> Explored:
    """The node of a position whose value is known; names the moves to its children."""
    state, over = line.states[ply], bool(game.is_over(line.states[ply]))
    player = None if over else int(game.player(state))
    if not children:
        check_bounds(value, (options.least, options.most))
        return Explored("", player, "end" if over else "evaluated", value, pruning=options.pruning)
    chance, count = player in (CHANCE, options.random), uncompiled(list_outcomes)(game, line, ply, player)
    moves = [game.move_name(state, move) for move in line.moves[ply, :count].tolist()]
    for child, move, share in zip(children, moves, line.probabilities[ply]):
        child.move, child.odds = move, fraction(share) if chance else ""
    node = Explored("", CHANCE if chance else player, "chance" if chance else "open", value, pruning=options.pruning)
    node.children, node.pruned = children, moves[len(children) :]
    return node
