"""Flat Monte-Carlo: the same number of random playouts after each move, and the move with the best mean (Bruegmann,
"Monte Carlo Go", 1993).

The mean and the standard deviation of a move's results are sums over its playouts: mean = s / n and
deviation = sqrt(s2 / n - mean^2).  For games of two players.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from agents.core.agent import Agent, Decision, MoveStatistics, Player
from agents.core.chunks import run_chunks
from games.core.jit import kernel
from games.core.playout import copy_state, reward_of


@dataclass(frozen=True)
class Flat(Agent):
    """Plays the move with the best mean result of random playouts, which the moves take in turn."""

    playouts: int | None = None
    seconds: float | None = None

    name: ClassVar[str] = "flat"
    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")

    def new_player(self, game, budget):
        return FlatPlayer(game, budget)


class FlatPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game, budget):
        self.game, self.budget = game, budget

    def decide(self, state, rng):
        moves = np.array(self.game.moves(state), np.int32)
        sums = np.zeros((3, len(moves)))
        playouts = run_chunks(
            lambda n: playouts_kernel(self.game, state, moves, sums, n, rng), self.budget.playouts, self.budget.seconds
        )
        counts = np.maximum(sums[0], 1)
        means = np.where(sums[0] > 0, sums[1] / counts, np.nan)  # a move without a playout is not played
        deviations = np.sqrt(np.maximum(sums[2] / counts - means**2, 0))
        best = int(np.nanargmax(means))
        return Decision(
            move=int(moves[best]),
            value=float(means[best]),
            playouts=playouts,
            depth=1,
            principal_variation=(int(moves[best]),),
            statistics=MoveStatistics(moves, sums[0].astype(np.int64), means, deviations),
        )


@kernel
def playouts_kernel(game, root, moves, sums, count, rng):
    """`count` playouts, each after the move that has had the fewest; returns count.

    sums: float64[3, moves], playouts of each move, sum of their results for the player to move, sum of the squares.
    """
    state, scratch = root.copy(), np.empty(game.max_moves, np.int32)
    side = 1.0 if game.player(root) == 0 else -1.0
    turn = np.int64(sums[0].sum())
    for i in range(turn, turn + count):
        k = i % len(moves)
        copy_state(game, root, state)
        game.play(state, moves[k])
        score, _ = game.random_playout(state, scratch, rng)
        result = 2.0 * reward_of(score) - 1.0
        sums[0, k] += 1
        sums[1, k] += side * result
        sums[2, k] += result * result
    return count
