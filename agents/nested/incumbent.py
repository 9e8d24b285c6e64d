"""The best that a nested search has found so far, and its counts: arrays that its kernels write."""

from typing import NamedTuple

import numpy as np

from arena.games.core.jit import inlined
from arena.games.core.play.playout import reward_of

LOGGED = 256  # improvements that a kernel can note before it returns
ENDLESS = 1 << 62
DONE, LIMIT = range(2)  # of playouts and searches


class Incumbent(NamedTuple):
    """The best sequence since a search began, restarts included, and how it came about."""

    moves: np.ndarray  # int32[max_plies], the best sequence
    length: np.ndarray  # int64[1]; -1 before the first playout
    score: np.ndarray  # float64[1]; with two players, a value for the player to move
    playouts: np.ndarray  # int64[2], DONE, and the LIMIT at which the kernel returns
    searches: np.ndarray  # int64[2], ended searches of the highest level, and their limit
    at: np.ndarray  # int64[LOGGED], playouts at the improvements since the log was emptied
    scores: np.ndarray  # float64[LOGGED], their scores
    logged: np.ndarray  # int64[1], how many
    root_playouts: np.ndarray  # int64[max_moves], below each legal move of the root, in the order of the game
    root_sums: np.ndarray  # float64[max_moves], sums of their results for the player to move


def new_incumbent(game, restarts: bool) -> Incumbent:
    """Nothing found yet."""
    return Incumbent(
        np.zeros(game.max_plies, np.int32),
        np.full(1, -1),
        np.full(1, -np.inf),
        np.zeros(2, np.int64),
        np.array([0, ENDLESS if restarts else 1]),
        np.zeros(LOGGED, np.int64),
        np.zeros(LOGGED),
        np.zeros(1, np.int64),
        np.zeros(game.max_moves, np.int64),
        np.zeros(game.max_moves),
    )


@inlined
def note_best(incumbent, moves, row, length, score):
    """Keep `moves[row, :length]` if its score is better than all before."""
    if score > incumbent.score[0] or incumbent.length[0] < 0:
        incumbent.score[0] = score
        incumbent.length[0] = length
        for ply in range(length):
            incumbent.moves[ply] = moves[row, ply]
        place = incumbent.logged[0]
        incumbent.at[place], incumbent.scores[place] = incumbent.playouts[DONE], score
        incumbent.logged[0] = place + 1


@inlined
def may_go_on(incumbent):
    """Whether playouts and searches are left to do, and room to note an improvement."""
    playouts, searches = incumbent.playouts, incumbent.searches
    return playouts[DONE] < playouts[LIMIT] and incumbent.logged[0] < LOGGED and searches[DONE] < searches[LIMIT]


@inlined
def value_of(game, score, player, plies):
    """The value of a game that is over: its score with one player; else `player`'s result over its length."""
    if game.players == 1:
        return score
    result = 2.0 * reward_of(score) - 1.0
    return (result if player == 0 else -result) / (plies + 1.0)
