"""Flat Monte-Carlo: the same number of random playouts after each move, and the move with the best mean (Bruegmann,
"Monte Carlo Go", 1993).

With s, s2 the sums of n results and of their squares, mean = s / n and deviation = sqrt(s2 / n - mean^2).  If the game
has lanes, playouts are made in rounds of one in each lane after each move, and the rest of the budget one by one.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Agent, Decision, MoveStatistics, Player
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import run_chunks
from arena.games.core.jit import kernel
from arena.games.core.lane_playout import lane_playout_kernel
from arena.games.core.lanes import streams_of
from arena.games.core.playout import reward_of


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
        moves = np.array(moves_of(self.game, state, rng), np.int32)  # ties favour no move
        sums = np.zeros((3, len(moves)))
        playouts = run_chunks(self.runner(state, moves, sums, rng), self.budget.playouts, self.budget.seconds)
        counts = np.maximum(sums[0], 1)
        means = np.where(sums[0] > 0, sums[1] / counts, np.nan)  # a move without playouts is not played
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

    def runner(self, state, moves, sums, rng):
        """run(n), for run_chunks: n more playouts, or rounds in lanes, whose results do not depend on n."""
        game, limit = self.game, self.budget.playouts
        each = len(moves) * game.lanes  # playouts of a round
        in_lanes = each > 0 and (limit is None or each <= limit)
        streams = streams_of(game, rng) if in_lanes else None

        def run(n):
            rounds = max(1, n // each) if in_lanes else 0
            if limit is not None and in_lanes:
                rounds = min(rounds, (limit - int(sums[0].sum())) // each)
            if rounds > 0:
                return rounds_kernel(game, state, moves, sums, rounds, streams)
            return playouts_kernel(game, state, moves, sums, n, rng)

        return run


@kernel
def rounds_kernel(game, root, moves, sums, rounds, streams):
    """Make a playout in every lane after each move, in each round; returns their number."""
    state, lanes = root.copy(), streams.width.count * len(streams.states)
    side = 1.0 if game.player(root) == 0 else -1.0
    for _ in range(rounds):
        for k in range(len(moves)):
            game.play_into(root, moves[k], state)
            if game.is_over(state):
                reward = reward_of(game.score(state))
                wins, draws = lanes * (reward == 1.0), lanes * (reward == 0.5)
            else:
                wins, draws, _, _ = lane_playout_kernel(game, state, lanes, streams)
            sums[0, k] += lanes
            sums[1, k] += side * (2 * wins + draws - lanes)
            sums[2, k] += lanes - draws
    return rounds * len(moves) * lanes


@kernel
def playouts_kernel(game, root, moves, sums, count, rng):
    """`count` playouts, each after the move with the fewest so far; returns count.

    sums: float64[3, moves], playouts of each move, sum of their results for the player to move, sum of the squares
    """
    state, scratch = root.copy(), np.empty(game.max_moves, np.int32)
    side = 1.0 if game.player(root) == 0 else -1.0
    turn = np.int64(sums[0].sum())
    for i in range(turn, turn + count):
        k = i % len(moves)
        game.play_into(root, moves[k], state)
        score, _ = game.random_playout(state, scratch, rng)
        result = 2.0 * reward_of(score) - 1.0
        sums[0, k] += 1
        sums[1, k] += side * result
        sums[2, k] += result * result
    return count
