"""What a nested search has found: the arrays that its kernels write, and what they share."""

from typing import NamedTuple

import numpy as np

from games.core.jit import inlined
from games.core.playout import reward_of

LOGGED = 256  # improvements that a kernel can note before it returns


class Found(NamedTuple):
    """What a search has found since it began, its restarts included."""

    moves: np.ndarray  # int32[max_plies], the best sequence
    length: np.ndarray  # int64[1], of it; -1 before the first playout
    score: np.ndarray  # float64[1], its score: with two players, a value for the player to move
    playouts: np.ndarray  # int64[1]
    searches: np.ndarray  # int64[2], how often the highest level has ended, and how often it may
    at: np.ndarray  # int64[LOGGED], playouts at the improvements since the log was last emptied
    scores: np.ndarray  # float64[LOGGED], their scores
    logged: np.ndarray  # int64[1], how many they are
    root_playouts: np.ndarray  # int64[max_moves], below each legal move of the root, in the order of the game
    root_sums: np.ndarray  # float64[max_moves], the sum of their results for the player to move


def new_found(game, restarts: bool) -> Found:
    """Nothing found yet."""
    return Found(
        np.zeros(game.max_plies, np.int32),
        np.full(1, -1),
        np.full(1, -np.inf),
        np.zeros(1, np.int64),
        np.array([0, 1 << 62 if restarts else 1]),
        np.zeros(LOGGED, np.int64),
        np.zeros(LOGGED),
        np.zeros(1, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves),
    )


@inlined
def note_best(found, moves, row, length, score):
    """Keep `moves[row, :length]` if its score is better than all before."""
    if score > found.score[0] or found.length[0] < 0:
        found.score[0] = score
        found.length[0] = length
        for ply in range(length):
            found.moves[ply] = moves[row, ply]
        found.at[found.logged[0]], found.scores[found.logged[0]] = found.playouts[0], score
        found.logged[0] += 1


@inlined
def may_go_on(found, until):
    """Whether there are playouts left to do, the last search has not ended, and there is room to note what is found."""
    return found.playouts[0] < until and found.logged[0] < LOGGED and found.searches[0] < found.searches[1]


@inlined
def value_of(game, score, player, plies):
    """The value of a game that is over: its score with one player; else `player`'s result over its length."""
    if game.players == 1:
        return score
    result = 2.0 * reward_of(score) - 1.0
    return (result if player == 0 else -result) / (plies + 1.0)
