"""The value of a small game by exhaustive search in plain Python: minimax, with the mean at chance."""

import numpy as np

from arena.games.core.game import CHANCE


def exact_value(game, state, known=None):
    """The first player's expected score if both play to make the most of it; `known` keeps values by position."""
    known = {} if known is None else known
    place = state.tobytes()
    if place not in known:
        known[place] = game.score(state) if game.is_over(state) else _value_of_moves(game, state, known)
    return known[place]


def _value_of_moves(game, state, known):
    moves, probabilities = np.empty(game.max_moves, np.int32), np.empty(game.max_moves)
    if game.player(state) == CHANCE:
        count = game.chance(state, moves, probabilities)
        values = [exact_value(game, game.after(state, int(move)), known) for move in moves[:count]]
        return sum(float(p) * value for p, value in zip(probabilities, values))
    choose = max if game.player(state) == 0 else min
    return choose(exact_value(game, game.after(state, move), known) for move in game.moves(state))
