"""The player to whom a number belongs: rules score for the first player, a search for the player to move."""

from numba.extending import register_jitable

from arena.games.core.jit import inlined


@register_jitable(_nrt=False)
def side_to_move(game, state):
    """1.0 if the first player is to move, else -1.0: the first player's values become the mover's, and back."""
    return 1.0 if game.player(state) == 0 else -1.0


@register_jitable(_nrt=False)
def result_of(score):
    """The first player's result: 1.0 for a win, 0.0 for a draw, -1.0 for a loss."""
    return 1.0 if score > 0.0 else (-1.0 if score < 0.0 else 0.0)


@inlined
def same_side(game, search, ply):
    """1 if the same player moves before and after a ply, else -1."""
    return 1 if game.player(search.states[ply]) == game.player(search.states[ply + 1]) else -1
