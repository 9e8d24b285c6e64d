"""The positions after the moves of a root, for drivers that are plain Python."""

from games.core.jit import kernel
from games.core.playout import copy_state


@kernel
def put_after(game, state, move, after):
    """Write the state after a move to `after`.

    `Game.after` does so in plain Python, which takes 17 ms in Amazons, times its 2,176 moves.
    """
    copy_state(game, state, after)
    game.play(after, move)
