"""The tree that expectiminimax searches, node by node, as data for teaching and drawings.

It repeats the recursion of `value_kernel` (agents/minimax/expectiminimax.py), with the kernel's own windows at chance.
Values and windows are MAX's.
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.agent import Agent, Budget, Unsuited
from arena.agents.core.tree_node import after, check_searchable, fraction, uncompiled
from arena.agents.minimax.expectiminimax import (
    Expectiminimax,
    ExpectiminimaxOptions,
    ExpectiminimaxPlayer,
    list_outcomes,
    new_line,
    outcome_window,
    value_of_leaf,
)
from arena.agents.minimax.trace import UNBOUNDED, Explored, TooLarge, check_bounds, mark
from arena.games.core.game import CHANCE, Game

Window = tuple[float, float]


def explore_chances(
    agent: Agent, game: Game, state: np.ndarray, limit: int = 1000, *, bounds: Window = UNBOUNDED
) -> Explored:
    """The tree that `agent` searches from `state`, where chance may move first, to its own depth or to the end.

    bounds: the least and the greatest possible value for MAX, if known: Star1 cuts off by them
    Unsuited if the agent is not expectiminimax or expectimax, or refuses the game; TooLarge beyond `limit` nodes.
    """
    if not isinstance(agent, Expectiminimax):
        raise Unsuited(f"{agent.name} does not search chance: say expectiminimax or expectimax")
    check_searchable(agent, game, state)
    player = agent.new_player(game, agent.budget(Budget(depth=game.max_plies)))
    options = player.options(max(int(game.player(state)), 0))  # before chance, the first player's search
    if bounds != UNBOUNDED and not options.pruning:
        raise Unsuited(f"{agent} cuts no moves off, whatever the bounds of values: leave pruning=false out")
    if options.scores or bounds != UNBOUNDED:
        options = options._replace(least=bounds[0], most=bounds[1])
    search = ChanceSearch(player, options, limit)
    root = search.searched("", state, 0, bounds if options.pruning else UNBOUNDED)
    for node in root.all():
        node.pruning = options.pruning
    mark(root)
    return root


@dataclass
class ChanceSearch:
    """A search, and the number of nodes that it may still visit."""

    player: ExpectiminimaxPlayer
    options: ExpectiminimaxOptions
    left: int

    def __post_init__(self):
        self.most, self.line = self.left, new_line(self.player.game, self.player.depth)

    def searched(self, name: str, state: np.ndarray, ply: int, window: Window) -> Explored:
        """The node of a position and its subtree; `name` is the move to it."""
        if self.left < 0:
            raise TooLarge(f"the tree has more than {self.most} nodes: give a smaller depth, or a higher limit")
        self.left -= 1
        game = self.player.game
        if game.is_over(state) or ply == self.player.depth:
            over = bool(game.is_over(state))
            value = float(uncompiled(value_of_leaf)(game, state, self.options))
            check_bounds(value, (self.options.least, self.options.most))
            return Explored(name, None if over else int(game.player(state)), "end" if over else "evaluated", value)
        player = int(game.player(state))
        if player in (CHANCE, self.options.random):
            return self.at_chance(Explored(name, CHANCE, "chance"), state, ply, window)
        return self.at_choice(Explored(name, player, "open"), state, ply, window)

    def at_choice(self, node: Explored, state: np.ndarray, ply: int, window: Window) -> Explored:
        """MAX or MIN, with the cut-offs of alpha-beta."""
        game, (alpha, beta), best = self.player.game, window, max if node.player == 0 else min
        node.alpha, node.beta = window
        node.value = -np.inf if node.player == 0 else np.inf
        moves = game.moves(state)
        for i, move in enumerate(moves):
            child = self.searched(game.move_name(state, move), after(game, state, move), ply + 1, (alpha, beta))
            node.children.append(child)
            node.value = best(node.value, child.value)
            if self.options.pruning:
                alpha, beta = (max(alpha, node.value), beta) if node.player == 0 else (alpha, min(beta, node.value))
                if alpha >= beta:
                    node.pruned = [game.move_name(state, other) for other in moves[i + 1 :]]
                    break
        self.finish(node)
        return node

    def at_chance(self, node: Explored, state: np.ndarray, ply: int, window: Window) -> Explored:
        """Chance, or a player who moves at random, with the cut-offs of Star1."""
        game, options, known, rest = self.player.game, self.options, 0.0, 1.0
        node.alpha, node.beta = window
        self.line.states[ply] = state
        count = uncompiled(list_outcomes)(game, self.line, ply, int(game.player(state)))
        moves, shares = self.line.moves[ply, :count].tolist(), self.line.probabilities[ply, :count].tolist()
        for i, (move, share) in enumerate(zip(moves, shares)):
            rest = max(rest - share, 0.0) if i < count - 1 else 0.0
            low, high = uncompiled(outcome_window)(options, known, rest, share, window)
            inner = max(low, options.least), min(high, options.most)
            child = self.searched(game.move_name(state, move), after(game, state, move), ply + 1, inner)
            child.odds = fraction(share)
            node.children.append(child)
            known += share * child.value
            if options.pruning and (child.value <= low or child.value >= high):
                node.pruned = [game.move_name(state, other) for other in moves[i + 1 :]]
                known += rest * (options.most if child.value <= low else options.least) if rest > 0.0 else 0.0
                known = min(known, window[0]) if child.value <= low else max(known, window[1])
                break
        node.value = known
        self.finish(node)
        return node

    def finish(self, node: Explored) -> None:
        """Note whether a node's value is exact, or which bound."""
        known = not node.pruned and all(child.exact for child in node.children)
        node.exact = known or node.alpha < node.value < node.beta
        node.at_least = node.value >= node.beta
        node.exact |= node.value == (self.options.most if node.at_least else self.options.least)
