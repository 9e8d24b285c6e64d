"""Knowledge of new nodes: evaluations, and ends one move away."""

import numpy as np

from arena.games.core.jit import helper
from arena.games.core.play.playout import reward_of


@helper
def reward_for(game, state, player):
    """The evaluation of a position, or the result if it is over, 0 to 1 for a player."""
    reward = reward_of(game.score(state)) if game.is_over(state) else 0.5 * (1.0 + game.evaluate(state))
    return reward if player == 0 else 1.0 - reward


@helper
def reward_after(game, state, move, player, scratch):
    """The evaluation or the result after a move, 0 to 1 for a player."""
    game.play_into(state, move, scratch)
    return reward_for(game, scratch, player)


@helper
def wins_at_once(game, state, move, scratch):
    """Whether a move wins the game for the player who makes it."""
    game.play_into(state, move, scratch)
    if not game.is_over(scratch):
        return False
    return game.score(scratch) * (1.0 if game.player(state) == 0 else -1.0) > 0.0


@helper
def winning_move(game, state, moves, scratch):
    """The first move that wins at once, or -1; moves: int32[max_moves] and `scratch` are overwritten."""
    if game.soonest_win > 1 and game.foreseen(state)[0] != 1:
        return np.int64(-1)
    for i in range(game.legal_moves(state, moves)):
        if wins_at_once(game, state, moves[i], scratch):
            return np.int64(moves[i])
    return np.int64(-1)


@helper
def can_win_at_once(game, state, moves, scratch):
    """Whether there is such a move."""
    if game.soonest_win > 1:  # all wins at once are foreseen
        return game.foreseen(state)[0] == 1
    return winning_move(game, state, moves, scratch) != -1
