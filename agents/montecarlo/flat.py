"""Flat Monte-Carlo: the same number of random playouts after each move, and the move with the best mean (Bruegmann,
"Monte Carlo Go", 1993).

With s, s2 the sums of n results and of their squares, mean = s / n and deviation = sqrt(s2 / n - mean^2).  If the game
has lanes, playouts are made in rounds of one in each lane after each move, and the rest of the budget one by one.

With `scores`, the move with the best mean score is played, so that a high win counts more than a narrow one.  Values
are still expected results; in a game for one player they are mean scores.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.agents.core.agent import Agent, Decision, MoveStatistics, Player
from arena.agents.core.children import moves_of
from arena.agents.core.chunks import run_chunks
from arena.agents.core.needs import Needs, unscored
from arena.agents.core.sides import result_of, side_to_move
from arena.games.core.jit import kernel
from arena.games.core.lanes.lane_playout import lane_playout_kernel
from arena.games.core.lanes.lanes import streams_of

PLAYOUTS, RESULTS, SQUARES, SCORES = range(4)  # rows of sums


@dataclass(frozen=True)
class Flat(Agent):
    """Plays the move with the best mean result of random playouts, which the moves take in turn.

    scores: play for the game's score (discs, say) rather than for a win
    """

    playouts: int | None = None
    seconds: float | None = None
    scores: bool = False

    name: ClassVar[str] = "flat"
    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")
    needs: ClassVar[Needs] = Needs(players=(1, 2))

    def misfit(self, game):
        return unscored(self, game)

    def new_player(self, game, budget):
        return FlatPlayer(game, budget, SCORES if self.scores else RESULTS)


class FlatPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game, budget, compared):
        self.game, self.budget, self.compared = game, budget, compared

    def decide(self, state, rng):
        moves = np.array(moves_of(self.game, state, rng), np.int32)  # ties favour no move
        sums = np.zeros((4, len(moves)))
        playouts = run_chunks(self.runner(state, moves, sums, rng), self.budget.playouts, self.budget.seconds)
        played = sums[PLAYOUTS] > 0
        averages = np.where(played, sums / np.maximum(sums[PLAYOUTS], 1), np.nan)
        means = averages[RESULTS]
        deviations = np.sqrt(np.maximum(averages[SQUARES] - means**2, 0))
        best = int(np.where(played, averages[self.compared], -np.inf).argmax())
        return Decision(
            move=int(moves[best]),
            value=float(means[best]),
            playouts=playouts,
            depth=1,
            principal_variation=(int(moves[best]),),
            statistics=MoveStatistics(moves, sums[PLAYOUTS].astype(np.int64), means, deviations),
        )

    def runner(self, state, moves, sums, rng):
        """run(n), for run_chunks: n more playouts, or rounds in lanes, whose results do not depend on n."""
        game, limit = self.game, self.budget.playouts
        each = len(moves) * game.lanes  # playouts of a round
        in_lanes = each > 0 and game.players == 2 and (limit is None or each <= limit)
        streams = streams_of(game, rng) if in_lanes else None

        def run(n):
            rounds = max(1, n // each) if in_lanes else 0
            if limit is not None and in_lanes:
                rounds = min(rounds, (limit - int(sums[PLAYOUTS].sum())) // each)
            if rounds > 0:
                return rounds_kernel(game, state, moves, sums, rounds, streams)
            return playouts_kernel(game, state, moves, sums, n, rng)

        return run


@kernel
def rounds_kernel(game, root, moves, sums, rounds, streams):
    """Make a playout in every lane after each move, in each round; returns their number."""
    state, lanes = root.copy(), streams.width.count * len(streams.states)
    side = side_to_move(game, root)
    for _ in range(rounds):
        for k in range(len(moves)):
            game.play_into(root, moves[k], state)
            if game.is_over(state):
                score = game.score(state)
                wins, draws, total = lanes * (score > 0.0), lanes * (score == 0.0), lanes * score
            else:
                wins, draws, total, _ = lane_playout_kernel(game, state, lanes, streams)
            sums[PLAYOUTS, k] += lanes
            sums[RESULTS, k] += side * (2 * wins + draws - lanes)
            sums[SQUARES, k] += lanes - draws
            sums[SCORES, k] += side * total
    return rounds * len(moves) * lanes


@kernel
def playouts_kernel(game, root, moves, sums, count, rng):
    """`count` playouts, each after the move with the fewest so far; returns count.

    sums: float64[4, moves], playouts of each move, sum of their results for the player to move, sum of the squares, sum
    of the scores; with one player, the score is the result
    """
    state, scratch = root.copy(), np.empty(game.max_moves, np.int32)
    side = side_to_move(game, root)
    turn = np.int64(sums[PLAYOUTS].sum())
    for i in range(turn, turn + count):
        k = i % len(moves)
        game.play_into(root, moves[k], state)
        score, _ = game.random_playout(state, scratch, rng)
        result = score if game.players == 1 else result_of(score)
        sums[PLAYOUTS, k] += 1
        sums[RESULTS, k] += side * result
        sums[SQUARES, k] += result * result
        sums[SCORES, k] += side * score
    return count
