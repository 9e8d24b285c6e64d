"""Negamax: minimax as one short recursion, since what a position is worth to one player it costs the other (Knuth &
Moore, "An analysis of alpha-beta pruning", 1975, section 2, where it is F2 with pruning).

    value(s) = max over moves m of  -value(s after m),  with + where the same player moves again

Values are those of alphabeta: for the player to move, WIN - p for a win in p plies, an evaluation between -1 and 1 at
the greatest depth.  The whole tree is searched in one go, so that its budget is a depth alone; the text to read before
agents/minimax/depthfirst.py, and the yardstick of its tests.  For games of two players and no chance.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.core.agent import Agent, Decision, Player
from agents.core.needs import Needs
from agents.core.sides import result_of, side_to_move
from agents.minimax.stack import INFINITE, WIN
from games.core.jit import kernel
from games.core.playout import copy_state
from games.core.random import random_below

NODES, LEAVES = range(2)  # of counts


@dataclass(frozen=True)
class Negamax(Agent):
    """Negamax to `depth`; moves of equal value are chosen from at random.

    pruning: alpha-beta's cut-offs
    """

    depth: int | None = None
    pruning: bool = False

    name: ClassVar[str] = "negamax"
    budgets: ClassVar[tuple[str, ...]] = ("depth",)
    needs: ClassVar[Needs] = Needs(chance=False)

    def new_player(self, game, budget):
        return NegamaxPlayer(self, game, min(budget.depth, game.max_plies))


class NegamaxPlayer(Player):
    """Keeps room for the positions and moves of one line."""

    def __init__(self, agent, game, depth):
        self.agent, self.game, self.depth = agent, game, depth
        self.states = np.zeros((depth + 1, game.state_size), game.dtype)
        self.moves = np.zeros((depth + 1, game.max_moves), np.int32)

    def decide(self, state, rng):
        values, counts = self.values(state)
        best = max(values.values())
        moves = [move for move, value in values.items() if value == best]
        if self.agent.pruning:  # of later moves no more than a bound is known
            moves = moves[:1]
        return Decision(
            move=moves[int(random_below(rng, len(moves)))],
            value=max(-1.0, min(1.0, best)),
            nodes=int(counts[NODES]),
            depth=self.depth,
            counts={"leaves": int(counts[LEAVES])},
        )

    def values(self, state) -> tuple[dict[int, float], np.ndarray]:
        """What each move is worth to the player to move (with pruning, at most, but for the best), and the counts."""
        counts, best, values = np.zeros(2, np.int64), -INFINITE, {}
        for move in self.game.moves(state):
            self.states[1] = self.game.after(state, move)
            turns = self.game.player(self.states[1]) != self.game.player(state)
            sign = -1.0 if turns else 1.0
            low, high = (best if self.agent.pruning else -INFINITE), INFINITE
            low, high = (-high, -low) if turns else (low, high)
            value = sign * negamax_kernel(
                self.game, self.states, self.moves, self.depth, 1, (low, high), self.agent.pruning, counts
            )
            values[move], best = value, max(best, value)
        return values, counts


@kernel
def negamax_kernel(game, states, moves, depth, ply, window, pruning, counts):
    """The value of states[ply], which is `ply` plies below the root, for its player to move."""
    state, (alpha, beta) = states[ply], window
    counts[NODES] += 1
    side = side_to_move(game, state)
    if game.is_over(state):
        counts[LEAVES] += 1
        return side * result_of(game.score(state)) * (WIN - ply)
    if ply == depth:
        counts[LEAVES] += 1
        return side * game.evaluate(state)
    best = -INFINITE
    for i in range(game.legal_moves(state, moves[ply])):
        child = states[ply + 1]
        copy_state(game, state, child)
        game.play(child, moves[ply, i])
        if game.player(child) == game.player(state):
            value = negamax_kernel(game, states, moves, depth, ply + 1, (alpha, beta), pruning, counts)
        else:
            value = -negamax_kernel(game, states, moves, depth, ply + 1, (-beta, -alpha), pruning, counts)
        best = max(best, value)
        if pruning:
            alpha = max(alpha, best)
            if alpha >= beta:
                break
    return best
