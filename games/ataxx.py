"""Ataxx (Dave Crummack and Craig Galley, 1988): pieces multiply or jump, and convert the enemy pieces beside them.

Black, the first player, begins in the upper left and lower right corners, White in the others.  A move puts a new piece
beside an own one, or moves one to a square two rows or columns away; all enemies beside it change colour.  A player who
cannot move passes.  When the board is full, a player has no pieces, neither can move, or after `horizon` moves, the
player with more pieces wins.  Rules: the arcade game of 1990, https://en.wikipedia.org/wiki/Ataxx, without blocks.

    squares   7  48 49 ...      a square is named by column and row, as the numbers of a corner of 8x8; a move is
              :                 64 * origin + target.  A new piece leads to the same position wherever it comes from:
              1   0  1  2       it is one move, whose origin is its target, named after that
                 a  b  c        square, `c2`.  A jump is named after both, `a1c2`.  PASS is 4096.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import point_name, squares
from arena.games.core.families.eight import PASS, SteppingGame
from arena.games.core.families.horizon import END, PLIES
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Ataxx(SteppingGame):
    """state: uint64[4] = Black's pieces, White's, moves so far, 1 if the game is over.

    horizon: moves after which the pieces are counted
    """

    size: int = 7
    horizon: int = 500

    name = "ataxx"
    rules = (
        "B begins, and more pieces in the end win. A move puts a piece on a square beside an own one, `b6`, or an own "
        "piece jumps to one at a distance of two, `a7c6`; all enemies beside it change colour. A player who cannot "
        "move passes."
    )
    sgf_number = 10
    sizes = "size 3 to 8, horizon 1 to 10000"
    colour_exchange = "swap"
    ranges = {"size": (3, 8), "horizon": (1, 10_000)}

    @cached_property
    def max_moves(self):
        """A bound: new pieces on all squares, and jumps between any two."""
        cells = self.size * self.size
        return cells + sum(popcount(self.ring(2, cell)) for cell in range(64) if int(self.board) >> cell & 1)

    @cached_property
    def rings(self):
        """uint64[64, 2]: the squares at distance 1 and 2."""
        return np.array([[self.ring(1, square), self.ring(2, square)] for square in range(64)])

    def start(self, state):
        last = self.size - 1
        state[:] = 0
        state[0] = ONE << WORD(8 * last) | ONE << WORD(last)
        state[1] = ONE | ONE << WORD(9 * last)

    def legal_moves(self, state, moves):
        side = state[PLIES] & ONE
        own, empty = state[side], self.board & ~(state[0] | state[1])
        count = list_bits(self.beside(own) & empty, moves, 0, 65, 0)
        while own != ZERO:
            origin = trailing_zeros(own)
            own &= own - ONE
            count = list_bits(self.rings[origin, 1] & empty, moves, count, 1, 64 * origin)
        if count == 0:
            moves[0] = PASS
            count = 1
        return count

    def play(self, state, move):
        side = state[PLIES] & ONE
        state[PLIES] += ONE
        own, other = state[side], state[ONE - side]
        if move != PASS:
            target = move & 63
            turned = self.rings[target, 0] & other
            own = (own | ONE << WORD(target) | turned) & ~(ZERO if move >> 6 == target else ONE << WORD(move >> 6))
            other ^= turned
            state[side], state[ONE - side] = own, other
        stuck = not (self.can_move(other, own) or self.can_move(own, other))
        state[END] = ONE if stuck or other == ZERO or state[PLIES] >= WORD(self.horizon) else ZERO

    def score(self, state):
        return float(popcount(state[0]) - popcount(state[1]))

    def move_name(self, state, move):
        if move == PASS:
            return "pass"
        origin, target = point_name(move >> 6, 8), point_name(move & 63, 8)
        return target if origin == target else origin + target

    def ring(self, distance, square):
        """The squares at exactly that distance in king's moves."""
        row, column = divmod(square, 8)
        cells = ((r, c) for r in range(self.size) for c in range(self.size))
        return squares(8 * r + c for r, c in cells if max(abs(r - row), abs(c - column)) == distance)

    def beside(self, pieces):
        """A set and the squares beside it; beyond a smaller board's edge too."""
        not_first, not_last = WORD(0xFEFEFEFEFEFEFEFE), WORD(0x7F7F7F7F7F7F7F7F)
        wide = pieces | (pieces & not_last) << ONE | (pieces & not_first) >> ONE
        return wide | wide << WORD(8) | wide >> WORD(8)

    def can_move(self, own, other):
        return self.beside(self.beside(own) & self.board) & self.board & ~(own | other) != ZERO

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_move(self, state, moves, rng):
        """Counts the moves of each origin, and finds the one drawn without a list."""
        side = state[PLIES] & ONE
        own, empty = state[side], self.board & ~(state[0] | state[1])
        new = self.beside(own) & empty
        jumps, left = 0, own
        while left != ZERO:
            jumps += popcount(self.rings[trailing_zeros(left), 1] & empty)
            left &= left - ONE
        n_new = popcount(new)
        if n_new + jumps == 0:
            return PASS
        choice = random_below(rng, n_new + jumps)
        if choice < n_new:
            return 65 * trailing_zeros(nth_bit(new, choice))
        choice -= n_new
        origin = trailing_zeros(own)
        targets = self.rings[origin, 1] & empty
        while choice >= popcount(targets):
            choice -= popcount(targets)
            own &= own - ONE
            origin = trailing_zeros(own)
            targets = self.rings[origin, 1] & empty
        return 64 * origin + trailing_zeros(nth_bit(targets, choice))

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Pieces: the difference over the sum and 1."""
        black, white = popcount(state[0]), popcount(state[1])
        return (black - white) / (black + white + 1.0)

    def evaluate_safe(self, state):
        """Pieces; those that none can turn now, without an empty square beside them, count twice."""
        shut_in = ~self.beside(self.board & ~(state[0] | state[1]))
        black = popcount(state[0]) + popcount(state[0] & shut_in)
        white = popcount(state[1]) + popcount(state[1] & shut_in)
        return (black - white) / (black + white + 1.0)

    def turns(self, state, move):
        if move == PASS:
            return 0
        return popcount(self.rings[move & 63, 0] & state[1 - self.player(state)])

    def is_unstable(self, state, move):
        return self.turns(state, move) >= 4

    def move_order(self, state, move):
        """Pieces turned, and a new one."""
        return 2 * self.turns(state, move) + (1 if move >> 6 == move & 63 else 0)

    def feature_code(self, state, move):
        return self.move_code(state, move) * 9 + self.turns(state, move)

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.size}
