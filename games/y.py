"""Y (Claude Shannon, 1950s; Craige Schensted and Charles Titus, 1953): join all three sides of a triangle.

A corner belongs to two sides.  On a full board exactly one player has a chain.  `swap`, the optional first move of the
second player, changes the stone's colour.  Rules: C. Schensted and C. Titus, "Mudcrack Y & Poly-Y" (1975); the board is
a plain triangle.  Hex's reduction, which is Y's own, finds the chain: see `games/hex.py`.

    cells of size 3     a b c           a cell is named by column and row, as in `b2`, which is number 4;
                      1  0 1 2          the numbers are those of Hex: the triangle is the upper left half of its
                       2  3 4           rhombus, with the same neighbours
                        3  6
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import letters
from arena.games.core.boards.drawing import NO_CELL, Board, board_drawing
from arena.games.core.numbers import wide
from arena.games.core.numbers.bits import ONE, ZERO
from arena.games.hex import OUTSIDE, Hex


@dataclass(frozen=True)
class Y(Hex):
    """state: as of Hex; cells beyond the triangle stay free."""

    name = "y"
    rules = (
        "Join all three sides of the triangle by a chain of stones; a corner belongs to two. X begins. A move is the "
        "cell of a new stone, by column and row: `b2`; with the parameter swap, O may answer the first stone by swap, "
        "which takes it over."
    )
    sgf_number = None
    may_allocate = True  # for the evaluation
    symmetries = 6

    @cached_property
    def board(self):
        return self.table(lambda row, column: row + column < self.size)

    @property
    def max_moves(self):
        return self.size * (self.size + 1) // 2 + self.swap

    max_plies = max_moves

    def swapped(self, stone):
        """The stone stays in its place."""
        return stone

    def has_chain(self, own, side):
        return self.joins_rows(own)

    def joins_rows(self, x):
        """Whether x joins the three sides, its complement being the other player's."""
        for _ in range(self.size - 1):
            beside, below = wide.backward(x, 1), wide.backward(x, self.size)
            x = wide.union(wide.common(x, wide.union(beside, below)), wide.common(beside, below))
        return x[0] & ONE != ZERO

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def images(self):
        """int64[6, cells]: where each symmetry takes a cell."""
        found = np.zeros((6, self.cells), np.int64)
        for row, column in np.ndindex(self.size, self.size):
            sides = row, column, self.size - 1 - row - column
            if sides[2] >= 0:
                for symmetry, (i, j) in enumerate(((0, 1), (1, 0), (1, 2), (2, 1), (2, 0), (0, 2))):
                    found[symmetry, row * self.size + column] = sides[i] * self.size + sides[j]
        return found

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Chances in the reduction: a free cell is either player's with 1/2, three have a majority by the chances of
        each alone; the last cell gives the first player's (J. van Rijswijck, "Search and evaluation in Hex", 2002,
        section 4)."""
        chances = np.empty(self.cells, np.float64)
        for row in range(self.size):
            for column in range(self.size - row):
                colour = self.colour(state, row, column)
                chances[row * self.size + column] = 0.5 if colour == 0 else (1.0 if colour == 1 else 0.0)
        for left in range(self.size - 1, 0, -1):
            for row in range(left):
                for column in range(left - row):
                    cell = row * self.size + column
                    a, b, c = chances[cell], chances[cell + 1], chances[cell + self.size]
                    chances[cell] = a * b + a * c + b * c - 2.0 * a * b * c
        return 0.999 * (2.0 * chances[0] - 1.0)

    def colour(self, state, row, column):
        if row < 0 or column < 0 or row + column >= self.size:
            return OUTSIDE
        return self.stone(state, row * self.size + column)

    # -- For people --------------------------------------------------------------------------------------------

    def drawn_board(self, state):
        empty = [NO_CELL] * self.size
        colours = [
            [".XO"[self.colour(state, row, column)] for column in range(self.size - row)] for row in range(self.size)
        ]
        names = [str(row + 1) for row in range(self.size)], letters(self.size)
        return Board(tuple((*cells, *empty[len(cells) :]) for cells in colours), *map(tuple, names))

    def drawing(self, state, moves):
        return board_drawing(self.drawn_board(state), moves, self.board_look)
