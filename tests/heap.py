"""The rules that the tests' own games have in common; tests change one of them at a time."""

from dataclasses import dataclass

import numpy as np

from arena.games.core.game import Game


@dataclass(frozen=True)
class Heap(Game):
    """Take one or two of `heap`; who takes the last one wins.  Not registered: it has no name of its own."""

    heap: int = 9

    state_size = 2
    move_limit = 3
    max_moves = 2

    @property
    def max_plies(self):
        return self.heap

    def start(self, state):
        state[0], state[1] = self.heap, 0

    def player(self, state):
        return np.int64(state[1])

    def legal_moves(self, state, moves):
        moves[0], moves[1] = 1, 2
        return 2 if state[0] > 1 else 1 if state[0] > 0 else 0

    def play(self, state, move):
        state[0] -= np.uint64(move)
        state[1] = np.uint64(1) - state[1]

    def is_over(self, state):
        return state[0] == 0

    def score(self, state):
        return 1.0 if state[1] == 1 else -1.0

    def move_name(self, state, move):
        return str(move)

    def render(self, state):
        return "|" * int(state[0])
