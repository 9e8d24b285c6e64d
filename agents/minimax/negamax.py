"""Negamax: minimax as one short recursion, since one player's gain is the other's loss (Knuth & Moore, "An analysis of
alpha-beta pruning", 1975, section 2, where it is F2 with pruning).

    value(s) = max over moves m of  -value(s after m),  with + where the same player moves again

Values are those of alphabeta: for the player to move, WIN - p for a win in p plies, an evaluation between -1 and 1 at
the greatest depth.  Read it before agents/minimax/depthfirst.py, which is tested against it.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.agent import Agent, Decision, Player
from arena.agents.core.children import moves_of, put_after
from arena.agents.core.needs import Needs
from arena.agents.core.sides import result_of, side_to_move
from arena.agents.minimax.stack import INFINITE, WIN
from arena.games.core.jit import kernel
from arena.games.core.random import random_below

NODES, LEAVES = range(2)  # of counts


class NegamaxOptions(NamedTuple):
    """The options of a search."""

    depth: int
    pruning: bool


@dataclass(frozen=True)
class Negamax(Agent):
    """Negamax to `depth`; ties between moves are broken at random.

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
    """Keeps its arrays from move to move, but no results."""

    def __init__(self, agent, game, depth):
        self.game, self.options = game, NegamaxOptions(depth, agent.pruning)
        self.states = np.zeros((depth + 1, game.state_size), game.dtype)
        self.moves = np.zeros((depth + 1, game.max_moves), np.int32)
        self.counts = np.zeros(2, np.int64)

    def decide(self, state, rng):
        values, counts = self.values(state), self.counts
        best = max(values.values())
        moves = [move for move, value in values.items() if value == best]
        if self.options.pruning:  # of later moves only a bound is known
            moves = moves[:1]
        return Decision(
            move=moves[int(random_below(rng, len(moves)))],
            value=max(-1.0, min(1.0, best)),
            nodes=int(counts[NODES]),
            depth=self.options.depth,
            counts={"leaves": int(counts[LEAVES])},
        )

    def values(self, state) -> dict[int, float]:
        """The mover's value of each move; with pruning an upper bound except for the best."""
        best, values, child = -INFINITE, {}, self.states[1]
        self.counts[:] = 0
        for move in moves_of(self.game, state):
            put_after(self.game, state, move, child)
            turns = self.game.player(child) != self.game.player(state)
            low, high = (best if self.options.pruning else -INFINITE), INFINITE
            window = (-high, -low) if turns else (low, high)
            value = negamax_kernel(self.game, self.states, self.moves, self.counts, self.options, 1, window)
            value = -value if turns else value
            values[move], best = value, max(best, value)
        return values


@kernel
def negamax_kernel(game, states, moves, counts, options, ply, window):
    """The mover's value of states[ply]; with pruning, a bound if outside the window (alpha, beta)."""
    state, (alpha, beta) = states[ply], window
    counts[NODES] += 1
    side = side_to_move(game, state)
    if game.is_over(state):
        counts[LEAVES] += 1
        return side * result_of(game.score(state)) * (WIN - ply)
    if ply == options.depth:
        counts[LEAVES] += 1
        return side * game.evaluate(state)
    best = -INFINITE
    for i in range(game.legal_moves(state, moves[ply])):
        child = states[ply + 1]
        game.play_into(state, moves[ply, i], child)
        if game.player(child) == game.player(state):
            value = negamax_kernel(game, states, moves, counts, options, ply + 1, (alpha, beta))
        else:
            value = -negamax_kernel(game, states, moves, counts, options, ply + 1, (-beta, -alpha))
        best = max(best, value)
        if options.pruning:
            alpha = max(alpha, best)
            if alpha >= beta:
                break
    return best
