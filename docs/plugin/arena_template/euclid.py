"""Euclid (Cole & Davie, 1969): take a multiple of the smaller number from the larger; who makes a 0 wins."""

from dataclasses import dataclass

import numpy as np

from arena.games.core.game import Game, check_range


@dataclass(frozen=True)
class Euclid(Game):
    """state: int64[3] = the larger number, the smaller, player to move.  A move is the multiple."""

    first: int = 34
    second: int = 21

    name = "euclid"
    has_draws = False
    dtype = np.int64
    state_size = 3

    def __post_init__(self):
        check_range("first", self.first, 1, 1000)
        check_range("second", self.second, 1, 1000)

    @property
    def max_moves(self):
        return max(self.first, self.second)

    @property
    def move_limit(self):
        return self.max_moves + 1

    @property
    def max_plies(self):
        return self.first + self.second

    def start(self, state):
        state[0] = max(self.first, self.second)
        state[1] = min(self.first, self.second)
        state[2] = 0

    def player(self, state):
        return state[2]

    def legal_moves(self, state, moves):
        count = state[0] // state[1]
        for i in range(count):
            moves[i] = i + 1
        return count

    def play(self, state, move):
        rest = state[0] - move * state[1]
        state[0] = max(state[1], rest)
        state[1] = min(state[1], rest)
        state[2] = 1 - state[2]

    def is_over(self, state):
        return state[1] == 0

    def score(self, state):
        return 1.0 if state[2] == 1 else -1.0  # who has moved last has won

    def move_name(self, state, move):
        return str(move)

    def render(self, state):
        return f"{state[0]} and {state[1]}"
