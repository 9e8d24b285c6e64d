"""The positions after the moves of a root, for drivers that are plain Python."""

from games.core.jit import kernel


@kernel
def put_after(game, state, move, after):
    """Write the state after a move to `after`.

    `Game.after` does so in plain Python, which takes 17 ms in Amazons, times its 2,176 moves.
    """
    game.play_into(state, move, after)
