"""The positions after the moves of a root, for drivers in plain Python."""

from arena.games.core.jit import kernel


@kernel
def put_after(game, state, move, after):
    """Write the state after a move to `after`: much faster than `Game.after`, in plain Python 17 ms in Amazons."""
    game.play_into(state, move, after)
