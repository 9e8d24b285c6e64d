"""Left Move: choose left or right `depth` times; the score is the number of lefts (one player).

The simplest problem on which a learned policy must beat random play.  The first test of nested search in T. Cazenave,
"Nested Monte-Carlo Search" (IJCAI 2009).

    move 0   left, L        The code of a move is 2 * depth + move, where depth is the number of moves made before it.
    move 1   right, R
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.game import Game
from arena.games.core.numbers.bits import ONE, WORD, popcount
from arena.games.core.random import next_word

LEFT = 0


@dataclass(frozen=True)
class LeftMove(Game):
    """state: uint64[2] = moves made, lefts among them.

    depth: moves of a game, which is the best score
    """

    depth: int = 60

    name = "leftmove"
    rules = "The score is the number of moves to the left. A move is `L` for left or `R` for right."
    players = 1
    sizes = "depth 1 to 10000"
    state_size = 2
    move_limit = max_moves = 2
    ranges = {"depth": (1, 10_000)}

    @property
    def max_plies(self):
        return self.depth

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return 0

    def legal_moves(self, state, moves):
        moves[0], moves[1] = 0, 1
        return 2

    def play(self, state, move):
        state[0] += ONE
        state[1] += ONE if move == LEFT else WORD(0)

    def is_over(self, state):
        return state[0] == WORD(self.depth)

    def score(self, state):
        return float(state[1])

    def move_name(self, state, move):
        return "L" if move == LEFT else "R"

    def render(self, state):
        return f"{int(state[1])} left of {int(state[0])} moves, {self.depth - int(state[0])} to go"

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        return state[0] << WORD(32) | state[1]

    def random_playout(self, state, moves, rng):
        """Bits of random words are choices; a set bit is a left."""
        plies = waiting = self.depth - np.int64(state[0])
        lefts = np.int64(state[1])
        while waiting > 0:
            lefts += popcount(next_word(rng) >> WORD(max(64 - waiting, 0)))
            waiting -= 64
        return float(lefts), plies

    # -- For strength ------------------------------------------------------------------------------------------

    def move_code(self, state, move):
        return 2 * np.int64(state[0]) + np.int64(move)

    @property
    def code_limit(self):
        return 2 * self.depth
