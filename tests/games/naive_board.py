"""What naive versions of board games share."""

import numpy as np


def board_of(game, state):
    """The board of characters that `render` shows, its lowest row first: str[rows, columns]."""
    return np.array([line.split()[1:] for line in reversed(game.render(state).splitlines()[:-1])])
