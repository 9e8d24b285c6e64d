"""Games that count their moves in the state, and end after `horizon` of them."""

import numpy as np

from arena.games.core.game import Game
from arena.games.core.numbers.bits import ONE, ZERO
from arena.games.core.random import GAMMA, mix

PLIES, END = 2, 3  # of a state


class HorizonGame(Game):
    """state: uint64[4] = the first player's pieces, the second's, moves so far, how the game has ended or 0."""

    horizon: int

    state_size = 4

    @property
    def max_plies(self):
        return self.horizon

    def player(self, state):
        return np.int64(state[PLIES] & ONE)

    def is_over(self, state):
        return state[END] != ZERO

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        """The last word follows from the rest."""
        return mix(mix(mix(state[0] + GAMMA) + state[1]) + state[PLIES])

    # -- For strength ------------------------------------------------------------------------------------------

    def plies_left(self, state):
        return self.horizon - np.int64(state[PLIES])
