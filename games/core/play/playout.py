"""Random playouts in bulk, and perft; a single playout is `Game.random_playout` (games/core/interface/speed.py)."""

from typing import NamedTuple

import numpy as np

from arena.games.core.game import Game, check_range
from arena.games.core.jit import helper, kernel
from arena.games.core.lanes.lane_playout import lane_playouts
from arena.games.core.random import stream


class PlayoutSummary(NamedTuple):
    """Random playouts from one position, summed up."""

    playouts: int
    wins: int  # of the first player
    draws: int
    losses: int
    score: float  # of the first player's
    plies: int  # of all playouts


def playouts(game: Game, count: int, *, seed: int, state: np.ndarray | None = None) -> PlayoutSummary:
    """Play `count` random games, in lanes if there are any, from `state` or the initial position."""
    check_range("count", count, 1)
    root = game.initial() if state is None else state
    play = lane_playouts if game.lanes and not game.is_over(root) else playout_kernel
    wins, draws, score, plies, *_ = play(game, root, count, stream(seed))
    return PlayoutSummary(count, wins, draws, count - wins - draws, score, plies)


def perft(game: Game, depth: int, state: np.ndarray | None = None) -> int:
    """The move sequences of exactly `depth` plies from `state` or the initial position."""
    check_range("depth", depth, 0)
    root = game.initial() if state is None else state
    states = np.empty((depth + 1, len(root)), root.dtype)
    states[0] = root
    return perft_kernel(game, states, np.empty((depth + 1, game.max_moves), np.int32), 0)


@helper
def copy_state(game, source, target):
    """target[:] = source, as a loop of constant length, which is unrolled."""
    for i in range(game.state_size):
        target[i] = source[i]


@helper
def reward_of(score):
    """1 for a win of the first player, 1/2 for a draw, 0 for a loss."""
    return 1.0 if score > 0.0 else (0.5 if score == 0.0 else 0.0)


@kernel
def playout_kernel(game, root, count, rng):
    """Random playouts from root: (first player's wins, draws, sum of scores, sum of plies, sum of squared scores)."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    wins = draws = plies = 0
    total = squares = 0.0
    for _ in range(count):
        copy_state(game, root, state)
        score, length = game.random_playout(state, moves, rng)
        wins += score > 0.0
        draws += score == 0.0
        total += score
        squares += score * score
        plies += length
    return wins, draws, total, plies, squares


@kernel
def perft_kernel(game, states, moves, ply):
    """Leaves below states[ply], as deep as `states` has room for."""
    if ply == len(states) - 1:
        return 1
    if game.is_over(states[ply]):
        return 0
    leaves = 0
    for i in range(game.legal_moves(states[ply], moves[ply])):
        game.play_into(states[ply], moves[ply, i], states[ply + 1])
        leaves += perft_kernel(game, states, moves, ply + 1)
    return leaves
