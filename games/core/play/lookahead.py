"""Looking a few plies ahead by the rules alone, to verify what solvers claim."""

from typing import NamedTuple

import numpy as np

from arena.games.core.game import Game
from arena.games.core.jit import kernel
from arena.games.core.play.playout import copy_state

WON, NOT_WON, UNKNOWN = 1, 0, -1


class Lookahead(NamedTuple):
    """Room to look some plies ahead."""

    line: np.ndarray  # dtype[plies + 1, state_size], positions on the way
    moves: np.ndarray  # int32[plies + 1, max_moves], legal ones of each
    tried: np.ndarray  # int64[plies + 1, 2], how many were tried, and how many there are


def new_lookahead(game: Game, plies: int) -> Lookahead:
    """Room to look `plies` ahead."""
    return Lookahead(
        np.zeros((plies + 1, game.state_size), game.dtype),
        np.zeros((plies + 1, game.max_moves), np.int32),
        np.zeros((plies + 1, 2), np.int64),
    )


@kernel
def wins_within(game, ahead, state, winner, limit):
    """WON if a player can force a win within the plies that there is room for.

    NOT_WON if not, UNKNOWN if that takes more than `limit` positions.
    """
    line, moves, tried = ahead
    copy_state(game, state, line[0])
    ply, won, entering = 0, False, True
    while ply >= 0:
        if entering:
            entering = False
            limit -= 1
            if limit < 0:
                return UNKNOWN
            if game.is_over(line[ply]):
                score = game.score(line[ply])
                won = score > 0.0 if winner == 0 else score < 0.0
                ply -= 1
                continue
            if ply + 1 == len(line):
                won = False
                ply -= 1
                continue
            tried[ply, 0], tried[ply, 1] = 0, game.legal_moves(line[ply], moves[ply])
        elif won == (game.player(line[ply]) == winner):  # the last move tried decides the position
            ply -= 1
            continue
        if tried[ply, 0] == tried[ply, 1]:  # no move of the winner wins, or all of the other's lose
            won = game.player(line[ply]) != winner
            ply -= 1
            continue
        game.play_into(line[ply], np.int64(moves[ply, tried[ply, 0]]), line[ply + 1])
        tried[ply, 0] += 1
        ply += 1
        entering = True
    return WON if won else NOT_WON
