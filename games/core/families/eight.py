"""Square boards of up to 8x8 in one word, and their eight symmetries."""

from functools import cached_property

import numpy as np

from arena.games.core.boards.board import draw_sets, squares
from arena.games.core.families.horizon import END, PLIES, HorizonGame
from arena.games.core.game import Game
from arena.games.core.numbers.bits import WORD

PASS = 64 * 64

# (mask, distance): exchanges bits of the mask with those the distance above
MIRROR_COLUMNS = (
    (WORD(0x5555555555555555), WORD(1)),
    (WORD(0x3333333333333333), WORD(2)),
    (WORD(0x0F0F0F0F0F0F0F0F), WORD(4)),
)
MIRROR_ROWS = (
    (WORD(0x00FF00FF00FF00FF), WORD(8)),
    (WORD(0x0000FFFF0000FFFF), WORD(16)),
    (WORD(0x00000000FFFFFFFF), WORD(32)),
)
TRANSPOSE = (
    (WORD(0x00AA00AA00AA00AA), WORD(7)),
    (WORD(0x0000CCCC0000CCCC), WORD(14)),
    (WORD(0x00000000F0F0F0F0), WORD(28)),
)


class EightWide(Game):
    """Base of games on a square of `size` up to 8, a corner of 8x8: square 8 * row + column is that bit of a word."""

    size: int

    symmetries = 8

    @cached_property
    def board(self):
        return squares(8 * row + column for row in range(self.size) for column in range(self.size))

    def render(self, state):
        return draw_sets(reversed(range(self.size)), self.size, {"B": state[0], "W": state[1]}, 8)

    def image(self, cells, symmetry):
        """A set's image: bits 0, 1 and 2 of a symmetry mirror columns and rows, and exchange them."""
        if symmetry & 1:
            cells = self.exchange(cells, MIRROR_COLUMNS) >> WORD(8 - self.size)
        if symmetry & 2:
            cells = self.exchange(cells, MIRROR_ROWS) >> WORD(8 * (8 - self.size))
        if symmetry & 4:
            cells = self.exchange(cells, TRANSPOSE)
        return cells

    def exchange(self, word, steps):
        for mask, distance in steps:
            different = (word ^ word >> distance) & mask
            word ^= different | different << distance
        return word

    def image_of_square(self, square, symmetry):
        row, column = square >> 3, square & 7
        if symmetry & 1:
            column = self.size - 1 - column
        if symmetry & 2:
            row = self.size - 1 - row
        return 8 * column + row if symmetry & 4 else 8 * row + column

    # -- For strength ------------------------------------------------------------------------------------------

    @cached_property
    def grid(self):
        return 8 * np.arange(self.size)[:, None] + np.arange(self.size)

    def planes(self, state):
        return state[0], state[1]


class SteppingGame(HorizonGame, EightWide):
    """Base of games whose moves are 64 * origin + target, or PASS."""

    move_limit = PASS + 1

    # -- For speed ---------------------------------------------------------------------------------------------

    def transform(self, state, symmetry, target):
        target[0], target[1] = self.image(state[0], symmetry), self.image(state[1], symmetry)
        target[PLIES], target[END] = state[PLIES], state[END]

    def transform_move(self, move, symmetry):
        if move == PASS:
            return move
        return 64 * self.image_of_square(move >> 6, symmetry) + self.image_of_square(move & 63, symmetry)
