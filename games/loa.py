"""Lines of Action (Claude Soucie, about 1960): join all your pieces into one group.

Black, the first player, has the lower and the upper edge, White the left and the right one, without corners.  A piece
moves along a line by as many squares as it has pieces, over its own side's but not the other's, and takes one that it
lands on.  A player whose pieces are all joined has won; a capture that joins both players' is a draw.  A player who
cannot move passes.  Rules: S. Sackson, "A Gamut of Games" (1969); M. H. M. Winands, "Informed Search in Complex Games"
(2004), section 1.4, but with a draw after `horizon` moves, not by repetition.

    squares  8  56 57 ... 63     a square is named by column and row: b1; a move is 64 * origin + target, or PASS,
             :                   and is named b1-b3, or b1xb3 if it takes a piece.  A smaller board has the numbers
             1   0  1 ...  7     of the lower left corner of 8x8.
                 a  b      h
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import point_name
from arena.games.core.boards.drawing import Look
from arena.games.core.families.eight import PASS, SteppingGame
from arena.games.core.families.horizon import END, PLIES
from arena.games.core.numbers.bits import ONE, WORD, ZERO, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below

EIGHT = WORD(8)
BLACK_WINS, WHITE_WINS, DRAWN = ONE, WORD(2), WORD(3)  # in state[END]; 0 while the game goes on
NOT_FIRST, NOT_LAST = WORD(0xFEFEFEFEFEFEFEFE), WORD(0x7F7F7F7F7F7F7F7F)  # columns of 8x8
TRIES = 64  # draws of a random move, before listing all; one in three succeeds
CAPTURE = 8  # in the order of moves
# rows and columns of a step; 2 * axis and 2 * axis + 1 are opposite
STEPS = np.array([(0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1), (1, -1), (-1, 1)])


@dataclass(frozen=True)
class LinesOfAction(SteppingGame):
    """state: uint64[4] = Black's pieces, White's, moves so far, how the game has ended or 0.

    horizon: moves after which the game is a draw
    """

    size: int = 8
    horizon: int = 500

    name = "loa"
    rules = (
        "Join all your pieces into one group, also diagonally; B begins. A piece moves in any direction by as many "
        "squares as there are pieces on that line, over its own side's only: `b1-b3`, or `c1xa3` if it takes one. "
        "Without a move one passes."
    )
    sgf_number = 9
    board_look = Look("checkered")
    status = "counted"
    sizes = "size 5 to 8, horizon 1 to 10000"
    colour_exchange = "swap"
    ranges = {"size": (5, 8), "horizon": (1, 10_000)}

    @property
    def max_moves(self):
        return 8 * 2 * (self.size - 2)

    @cached_property
    def rays(self):
        """uint64[64, 8]: the squares up to the edge in each direction."""
        found = np.zeros((64, 8), WORD)
        for row, column, direction in np.ndindex(self.size, self.size, 8):
            r, c = STEPS[direction] + (row, column)
            while 0 <= r < self.size and 0 <= c < self.size:
                found[8 * row + column, direction] |= ONE << WORD(8 * r + c)
                r, c = STEPS[direction] + (r, c)
        return found

    @cached_property
    def lines(self):
        return self.rays[:, ::2] | self.rays[:, 1::2] | (ONE << np.arange(64, dtype=WORD))[:, None]

    @cached_property
    def steps(self):
        """int64[8]: to the next square, by direction."""
        return STEPS @ (8, 1)

    def start(self, state):
        state[:] = 0
        for i in range(1, self.size - 1):
            state[0] |= ONE << WORD(i) | ONE << WORD(8 * (self.size - 1) + i)
            state[1] |= ONE << WORD(8 * i) | ONE << WORD(8 * i + self.size - 1)

    def legal_moves(self, state, moves):
        side = state[PLIES] & ONE
        own, other, count = state[side], state[ONE - side], 0
        left = own
        while left != ZERO:
            square = trailing_zeros(left)
            left &= left - ONE
            for direction in range(8):
                target = self.target(own, other, square, direction)
                if target >= 0:
                    moves[count] = 64 * square + target
                    count += 1
        if count == 0:
            moves[0] = PASS
            count = 1
        return count

    def play(self, state, move):
        side, joined = state[PLIES] & ONE, ZERO
        state[PLIES] += ONE
        if move != PASS:
            there = ONE << WORD(move & 63)
            state[side] ^= ONE << WORD(move >> 6) | there
            taken = state[ONE - side] & there
            state[ONE - side] ^= taken
            joined = ONE << side if self.is_joined(state[side]) else ZERO
            if taken != ZERO and self.is_joined(state[ONE - side]):
                joined |= ONE << ONE - side
        state[END] = DRAWN if joined == ZERO and state[PLIES] >= WORD(self.horizon) else joined

    def score(self, state):
        return 1.0 if state[END] == BLACK_WINS else (-1.0 if state[END] == WHITE_WINS else 0.0)

    def move_name(self, state, move):
        if move == PASS:
            return "pass"
        origin, target = point_name(move >> 6, 8), point_name(move & 63, 8)
        return origin + ("x" if self.captures(state, move) else "-") + target

    def target(self, own, other, square, direction):
        """A move's target; -1 if the piece cannot move."""
        count = popcount(self.lines[square, direction >> 1] & (own | other))
        target, ray = square + count * self.steps[direction], self.rays[square, direction]
        if not 0 <= target < 64 or ray >> WORD(target) & ONE == ZERO:
            return -1
        there = ONE << WORD(target)
        between = ray & ~self.rays[target, direction] & ~there
        return -1 if between & other | there & own != ZERO else target

    def around(self, pieces):
        """The squares beside those of a set; beyond a smaller board's edge too."""
        across = (pieces & NOT_LAST) << ONE | (pieces & NOT_FIRST) >> ONE
        return across | (across | pieces) << EIGHT | (across | pieces) >> EIGHT

    def group(self, pieces, first):
        found, grown = first, first | self.around(first) & pieces
        while grown != found:
            found = grown
            grown = found | self.around(found) & pieces
        return found

    def is_joined(self, pieces):
        """Tests first for the usual case, a piece alone."""
        first = pieces & (~pieces + ONE)
        if pieces != first and pieces & ~self.around(pieces) != ZERO:
            return False
        return self.group(pieces, first) == pieces

    def captures(self, state, move):
        return move != PASS and state[1 - self.player(state)] >> WORD(move & 63) & ONE != ZERO

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_move(self, state, moves, rng):
        """Draws a piece and a direction until the move is legal: all are equally likely."""
        side = state[PLIES] & ONE
        own, other, square, target, tries = state[side], state[ONE - side], 0, -1, 0
        count = popcount(own)
        while target < 0 and tries < TRIES:
            choice = random_below(rng, 8 * count)
            square = trailing_zeros(nth_bit(own, choice >> 3))
            target = self.target(own, other, square, choice & 7)
            tries += 1
        if target >= 0:
            return 64 * square + target
        return np.int64(moves[random_below(rng, self.legal_moves(state, moves))])

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Concentration: the mean distance of pieces from their centre of mass, in king's moves; White's less Black's,
        over the sum and 1 (M. H. M. Winands, L. Kocsis, J. W. H. M. Uiterwijk and H. J. van den Herik, "Learning in
        Lines of Action", BNAIC 2002)."""
        black, white = self.spread(state[0]), self.spread(state[1])
        return (white - black) / (white + black + 1.0)

    def spread(self, pieces):
        rows = columns = distance = 0.0
        count, left = float(popcount(pieces)), pieces
        while left != ZERO:
            square = trailing_zeros(left)
            rows, columns = rows + (square >> 3), columns + (square & 7)
            left &= left - ONE
        left = pieces
        while left != ZERO:
            square = trailing_zeros(left)
            distance += max(abs((square >> 3) - rows / count), abs((square & 7) - columns / count))
            left &= left - ONE
        return distance / count

    def evaluate_mobility(self, state):
        """Possible moves of either player: the difference over the sum and 1."""
        black, white = self.count_moves(state[0], state[1]), self.count_moves(state[1], state[0])
        return (black - white) / (black + white + 1.0)

    def count_moves(self, own, other):
        count, left = 0, own
        while left != ZERO:
            for direction in range(8):
                count += self.target(own, other, trailing_zeros(left), direction) >= 0
            left &= left - ONE
        return count

    def evaluate_groups(self, state):
        """White's groups less Black's, over both."""
        black, white = self.count_groups(state[0]), self.count_groups(state[1])
        return (white - black) / (white + black + 0.0)

    def count_groups(self, pieces):
        count = 0
        while pieces != ZERO:
            pieces &= ~self.group(pieces, pieces & (~pieces + ONE))
            count += 1
        return count

    def is_unstable(self, state, move):
        return self.captures(state, move)

    def move_order(self, state, move):
        if move == PASS:
            return 0
        inwards = self.ring(move & 63) - self.ring(move >> 6)
        return inwards + (CAPTURE if self.captures(state, move) else 0)

    def ring(self, square):
        row, column, last = square >> 3, square & 7, self.size - 1
        return min(min(row, last - row), min(column, last - column))

    def feature_code(self, state, move):
        return self.move_code(state, move) << 1 | (1 if self.captures(state, move) else 0)

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.size}
