"""Domineering (Göran Andersson, about 1973), also called crosscram: dominoes on a board of squares.

The first player, Vertical, covers two free squares above each other; the second, Horizontal, two beside each other.  A
player who cannot move loses; in the misere game, wins.  Winners on small boards: D. M. Breuker, J. W. H. M. Uiterwijk
and H. J. van den Herik, "Solving 8x8 Domineering", Theoretical Computer Science 230 (2000).

    squares of 3 rows      3  8  9 10 11     a move is the lower or the left square of its domino, and 64 more if it
    and 4 columns          2  4  5  6  7     is horizontal; it is named by its two squares: `a1a2`, `a1b1`
                           1  0  1  2  3
                              a  b  c  d
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import BitBoard, draw_sets, point_name, turns
from arena.games.core.boards.drawing import CELL, board_drawing, corner, read_board
from arena.games.core.game import Game
from arena.games.core.lanes.lanes import choose, narrowest
from arena.games.core.numbers.bits import ONE, WORD, ZERO, image_of, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below

HORIZONTAL = 64  # added to Horizontal's moves

# around a vertical domino, as rows and columns from its lower square; exchanged for a horizontal one
AROUND = np.array([(-1, 0), (2, 0), (0, -1), (1, -1), (0, 1), (1, 1)])


@dataclass(frozen=True)
class Domineering(BitBoard, Game):
    """state: uint64[1] = covered squares.  Vertical, the first player, has the move when the dominoes are even."""

    rows: int = 8
    columns: int = 8

    name = "domineering"
    rules = (
        "A player who cannot move loses. A move is two free squares that a domino covers: the first player's lie "
        "above each other, `a1a2`, the second player's beside each other, `a1b1`."
    )
    sides = ("vertical dominoes", "horizontal dominoes")
    has_draws = False
    sizes = "rows 2 to 32, columns 1 to 26, up to 64 squares"
    status = "counted"
    state_size = 1
    quick_keys = True
    move_limit = 2 * HORIZONTAL
    code_limit = 2 * HORIZONTAL
    symmetries = 4  # which keep vertical dominoes vertical
    last_mover_wins = True
    ranges = {"rows": (2, 32), "columns": (1, 26), "rows * columns": (1, 64)}

    @property
    def max_moves(self):
        return max((self.rows - 1) * self.columns, self.rows * (self.columns - 1))

    @property
    def max_plies(self):
        return self.rows * self.columns // 2

    def start(self, state):
        state[0] = 0

    def player(self, state):
        return popcount(state[0]) >> 1 & 1

    def legal_moves(self, state, moves):
        side = self.player(state)
        return list_bits(self.places(state[0], side), moves, 0, 1, HORIZONTAL * side)

    def play(self, state, move):
        state[0] |= self.domino(ONE << WORD(move % HORIZONTAL), move // HORIZONTAL)

    def is_over(self, state):
        return self.places(state[0], self.player(state)) == ZERO

    def score(self, state):
        return 1.0 if (self.player(state) == 1) == self.last_mover_wins else -1.0

    def move_name(self, state, move):
        square, side = move % HORIZONTAL, move // HORIZONTAL
        ends = (square, square + (self.columns if side == 0 else 1))
        return "".join(point_name(end, self.columns) for end in ends)

    def render(self, state):
        return draw_sets(reversed(range(self.rows)), self.columns, {"#": state[0]})

    def places(self, covered, side):
        """The lower or left squares of that side's possible dominoes."""
        free = ~covered
        if side == 0:
            return free & free >> WORD(self.columns) & self.below
        return free & free >> ONE & self.left

    def domino(self, square, side):
        """The squares of dominoes, from the lower or left ones; both are sets."""
        return square | square << (WORD(self.columns) if side == 0 else ONE)

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        return state[0]

    @cached_property
    def images(self):
        return turns(self.rows, self.columns, self.symmetries)

    def transform(self, state, symmetry, target):
        target[0] = image_of(state[0], self.images, symmetry)

    def transform_move(self, move, symmetry):
        square, side = move % HORIZONTAL, move // HORIZONTAL
        other = square + (self.columns if side == 0 else 1)
        first, second = self.images[symmetry, square], self.images[symmetry, other]
        return min(first, second) + HORIZONTAL * side

    def random_move(self, state, moves, rng):
        side = self.player(state)
        places = self.places(state[0], side)
        return trailing_zeros(nth_bit(places, random_below(rng, popcount(places)))) + HORIZONTAL * side

    def random_playout(self, state, moves, rng):
        covered, side, plies = state[0], self.player(state), 0
        places = self.places(covered, side)
        while places != ZERO:
            covered |= self.domino(nth_bit(places, random_below(rng, popcount(places))), side)
            side = 1 - side
            places = self.places(covered, side)
            plies += 1
        return (1.0 if (side == 1) == self.last_mover_wins else -1.0), plies

    @property
    def lane_bits(self):
        return narrowest(self.rows * self.columns)

    def lane_start(self, state, zero):
        return zero + state[0], zero + self.player(state)

    def lane_step(self, words, rng):
        """A domino of Vertical and one of Horizontal; where Horizontal begins, Vertical first waits."""
        covered, begins = words
        waits, winner = begins != 0, 1 if self.last_mover_wins else -1
        places = self.places(covered, 0)
        places = choose(waits, 0, places)
        stuck = (places == 0) & ~waits
        covered |= self.random_domino(places, 0, rng)
        places = self.places(covered, 1)
        won = (places == 0) & ~stuck
        covered |= self.random_domino(places, 1, rng)
        plies = choose(stuck | waits, 0, 1) + choose(stuck | won, 0, 1)
        return (covered, begins ^ begins), plies, stuck | won, choose(won, winner, -winner)

    def random_domino(self, places, side, rng):
        return self.domino(nth_bit(places, random_below(rng, popcount(places))), side)

    # -- For strength ------------------------------------------------------------------------------------------

    def foreseen(self, state):
        """A side sure of more moves than the other can have wins, or of as many if it has just moved.

        Safe moves and the bound are Bullock's (see evaluate_room).
        """
        side, covered = self.player(state), state[0]
        mine = self.fitting(self.places(covered, side), side)
        theirs = self.fitting(self.places(covered, 1 - side), 1 - side)
        if self.sure_moves(covered, side, 2) > theirs:
            return 2 * theirs + 1, theirs == 0
        if self.sure_moves(covered, 1 - side, 0) >= mine:
            return -2 * mine, mine == 1
        return 0, True

    def sure_moves(self, covered, side, first):
        """A lower bound for a side's number of moves; first: 2 if it is to move, else 0.

        All safe moves and a third of the others, as a domino of the other side can spoil two of them.
        """
        safe = self.places(covered, side) & self.places(self.domino(self.places(covered, 1 - side), 1 - side), side)
        others = self.places(covered | self.domino(safe, side), side)
        return self.fitting(safe, side) + (self.fitting(others, side) + first) // 3

    def move_order(self, state, move):
        """Own room (see evaluate_room) less the other side's; in the misere game negated."""
        side = move // HORIZONTAL
        covered = state[0] | self.domino(ONE << WORD(move % HORIZONTAL), side)
        ahead = self.room(covered, side) - self.room(covered, 1 - side)
        return ahead if self.last_mover_wins else -ahead

    def plies_left(self, state):
        return (self.rows * self.columns - popcount(state[0])) // 2

    def evaluate(self, state):
        """Places for a domino: the difference over the sum and 1; in the misere game negated."""
        vertical, horizontal = popcount(self.places(state[0], 0)), popcount(self.places(state[0], 1))
        value = (vertical - horizontal) / (vertical + horizontal + 1.0)
        return value if self.last_mover_wins else -value

    def evaluate_room(self, state):
        """Moves to come: the most dominoes that a side can still place, plus those of them that the other cannot
        prevent; the difference over the sum and 1, in the misere game negated.

        After N. Bullock, "Domineering: solving large combinatorial search spaces", ICGA Journal 25 (2002), along each
        column and row alone.
        """
        vertical, horizontal = self.room(state[0], 0), self.room(state[0], 1)
        value = (vertical - horizontal) / (vertical + horizontal + 1.0)
        return value if self.last_mover_wins else -value

    def room(self, covered, side):
        places = self.places(covered, side)
        threatened = self.domino(self.places(covered, 1 - side), 1 - side)
        return self.fitting(places, side) + self.fitting(places & self.places(threatened, side), side)

    def fitting(self, places, side):
        """How many dominoes fit without overlap: from the start of each run, every other one."""
        step = WORD(self.columns) if side == 0 else ONE
        count = 0
        while places != ZERO:
            starts = places & ~(places << step)
            count += popcount(starts)
            places &= ~(starts | starts << step)
        return count

    def move_code(self, state, move):
        return np.int64(move)

    def feature_code(self, state, move):
        """The move code with a bit for each square around the domino: 1 if covered or off the board.

        After T. Cazenave, "Playout policy adaptation with move features" (2016).
        """
        square, side = move % HORIZONTAL, move // HORIZONTAL
        code = np.int64(move)
        for i in range(len(AROUND)):
            row = square // self.columns + AROUND[i, side]
            column = square % self.columns + AROUND[i, 1 - side]
            code = code << 1 | self.is_covered(state[0], row, column)
        return code

    def is_covered(self, covered, row, column):
        if row < 0 or row >= self.rows or column < 0 or column >= self.columns:
            return 1
        return np.int64(covered >> WORD(row * self.columns + column) & ONE)

    # -- For people --------------------------------------------------------------------------------------------

    def drawing(self, state, moves):
        board = read_board(self.render(state))
        dominoes, hidden = [], set()
        for name in moves:
            ends = sorted(board.places(name))
            x, y = corner(board, *ends[0])
            width, height = (CELL * (1 + ends[1][axis] - ends[0][axis]) - 8 for axis in (1, 0))
            place = f'x="{x + 4}" y="{y + 4}" width="{width}" height="{height}"'
            dominoes.append(f'<rect class="{"red" if height > width else "blue"}" {place} rx="8"/>')
            hidden |= set(ends)
        return board_drawing(board, moves, self.board_look, hidden, dominoes)


class MisereDomineering(Domineering):
    """Domineering in which a player who cannot move wins; its state is the same."""

    name = "misere_domineering"
    rules = (
        "A player who cannot move wins. A move is two free squares that a domino covers: the first player's lie above "
        "each other, `a1a2`, the second player's beside each other, `a1b1`."
    )
    plies_left, symmetries = Domineering.plies_left, Domineering.symmetries
    last_mover_wins = False
