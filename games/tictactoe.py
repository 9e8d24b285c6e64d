"""Tic-tac-toe: three in a row on 3x3.

squares   3  6 7 8     a square is named by row and column: 1a is the lower left, 3c the upper right;
          2  3 4 5     a move is its square's number
          1  0 1 2
             a b c
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.boards.board import draw_sets, square_name
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game
from arena.games.core.lanes.lanes import choose
from arena.games.core.numbers.bits import ONE, WORD, image_of, list_bits, nth_bit, popcount
from arena.games.core.random import random_below

CENTRE, CORNERS = WORD(0o020), WORD(0o505)
FULL = WORD(0b111_111_111)
LINES = (0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124)
HAS_LINE = np.array([any(stones & line == line for line in LINES) for stones in range(512)])
OPEN_LINES = np.array([sum(stones & line == 0 for line in LINES) for stones in range(512)], np.int64)


def _images():
    """IMAGES[s, square]: where symmetry s (turns, then turns of the mirror image) takes each square."""
    square = np.arange(9).reshape(3, 3)
    turned = [np.rot90(board, turns) for board in (square, square[:, ::-1]) for turns in range(4)]
    return np.array([np.argsort(board.ravel()) for board in turned], np.int64)


IMAGES = _images()


@dataclass(frozen=True)
class TicTacToe(Game):
    """state: uint64[2] = crosses, noughts, as sets of squares.  Crosses, the first player, move when equal."""

    name = "tictactoe"
    rules = (
        "Three in a row, in any direction, win. X begins. A move is a square, by row and column: `2b` is the middle."
    )
    board_look = Look(pieces={"X": "red cross", "O": "blue ring"})
    state_size = 2
    move_limit = max_moves = max_plies = 9
    symmetries = 8
    lane_bits = 16
    term_weights = {"lines": 1.0, "centre": 0.0, "corners": 0.0}

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return (popcount(state[0]) + popcount(state[1])) & 1

    def legal_moves(self, state, moves):
        return list_bits(FULL & ~(state[0] | state[1]), moves, 0, 1, 0)

    def play(self, state, move):
        state[self.player(state)] |= ONE << WORD(move)

    def is_over(self, state):
        return HAS_LINE[state[0]] or HAS_LINE[state[1]] or (state[0] | state[1]) == FULL

    def score(self, state):
        return 1.0 if HAS_LINE[state[0]] else (-1.0 if HAS_LINE[state[1]] else 0.0)

    def move_name(self, state, move):
        return square_name(move, 3)

    def render(self, state):
        return draw_sets((2, 1, 0), 3, {"X": state[0], "O": state[1]})

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        return state[0] | state[1] << WORD(9)

    def transform(self, state, symmetry, target):
        for side in range(2):
            target[side] = image_of(state[side], IMAGES, symmetry)

    def transform_move(self, move, symmetry):
        return IMAGES[symmetry, move]

    def random_playout(self, state, moves, rng):
        side, free = self.player(state), popcount(FULL & ~(state[0] | state[1]))
        own, other = state[1 - side], state[side]  # own: of the last mover
        lined, plies = HAS_LINE[own], 0
        while not lined and plies != free:
            own, other = other | nth_bit(FULL & ~(own | other), random_below(rng, free - plies)), own
            plies += 1
            lined = HAS_LINE[own]
        winner = 1.0 if (side + plies) & 1 == 1 else -1.0
        return (winner if lined else 0.0), plies

    def lane_start(self, state, zero):
        side = self.player(state)
        return zero + state[1 - side], zero + state[side]

    def lane_step(self, words, rng):
        own, other = words  # own: of the last mover
        free = FULL & ~(own | other)
        own, other = other | nth_bit(free, random_below(rng, popcount(free))), own
        stones, lined = own | other, self.has_three(own)
        winner = choose(popcount(stones) & 1 == 1, 1, -1)
        return (own, other), 1, lined | (stones == FULL), choose(lined, winner, 0)

    def has_three(self, stones):
        """HAS_LINE[stones], computed."""
        across = stones & stones >> 1 & stones >> 2 & 0o111 | stones & stones >> 3 & stones >> 6 & 0o007
        diagonal = stones & stones >> 4 & stones >> 8 & 0o001 | stones & stones >> 2 & stones >> 4 & 0o004
        return across | diagonal != 0

    # -- For strength ------------------------------------------------------------------------------------------

    def planes(self, state):
        return state[0], state[1]

    @property
    def grid(self):
        return np.arange(9).reshape(3, 3)

    def counts(self, state, side):
        own = state[side]
        return OPEN_LINES[state[1 - side]], popcount(own & CENTRE), popcount(own & CORNERS)

    def evaluate(self, state):
        """Open lines: the difference over 9 (it is at most 8)."""
        return (OPEN_LINES[state[1]] - OPEN_LINES[state[0]]) / 9.0
