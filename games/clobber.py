"""Clobber (Michael Albert, J. P. Grossman, Richard Nowakowski and David Wolfe, 2001): stones take their neighbours.

The board starts full, like a checkerboard, the first player's stone in the upper left corner.  A stone moves onto an
enemy beside it, in a row or a column, and takes it.  A player who cannot move loses.  Rules: "An introduction to
Clobber", Integers 5(2) (2005).  Both players always have the same number of moves.

    squares of 3 rows      3  8  9 10 11     a move is a pair of neighbours, by its lower or left square: 2 * square if
    and 4 columns          2  4  5  6  7     they lie above each other, 2 * square + 1 if beside each other; it is
                           1  0  1  2  3     named by the squares that a stone leaves and takes: `a2a3`
                              a  b  c  d
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import BitBoard, draw_sets, point_name, squares
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game
from arena.games.core.lanes.lanes import choose, narrowest
from arena.games.core.numbers.bits import ONE, WORD, ZERO, image_of, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below

AROUND = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])  # rows and columns


@dataclass(frozen=True)
class Clobber(BitBoard, Game):
    """state: uint64[2] = stones of the first player, of the second.  Their number tells whose turn it is."""

    rows: int = 8
    columns: int = 8

    name = "clobber"
    rules = (
        "A player who cannot move loses. A stone moves onto an enemy beside it, in its row or column, and takes it; "
        "the first player has o. A move is two squares: `a2a1`."
    )
    board_look = Look("checkered", {"o": "blue disc", "x": "red disc"})
    has_draws = False
    sizes = "rows and columns 1 to 26, 2 to 64 squares"
    status = "counted"
    state_size = 2
    quick_keys = True
    move_limit = 128
    code_limit = 4 * move_limit
    ranges = {"rows": (1, 26), "columns": (1, 26), "rows * columns": (2, 64)}

    @property
    def max_moves(self):
        return (self.rows - 1) * self.columns + self.rows * (self.columns - 1)

    @property
    def max_plies(self):
        """The last stone has nothing to take."""
        return self.rows * self.columns - 1

    @cached_property
    def first_stones(self):
        cells = range(self.rows * self.columns)
        return squares(c for c in cells if (self.rows - 1 - c // self.columns + c % self.columns) % 2 == 0)

    def start(self, state):
        state[0] = self.first_stones
        state[1] = self.board & ~self.first_stones

    def player(self, state):
        return (self.rows * self.columns - popcount(state[0] | state[1])) & 1

    def legal_moves(self, state, moves):
        count = list_bits(self.pairs_above(state[0], state[1]), moves, 0, 2, 0)
        return list_bits(self.pairs_beside(state[0], state[1]), moves, count, 2, 1)

    def play(self, state, move):
        side, pair = self.player(state), self.pair(move)
        state[side] ^= pair
        state[1 - side] &= ~pair

    def is_over(self, state):
        return self.pairs_above(state[0], state[1]) | self.pairs_beside(state[0], state[1]) == ZERO

    def score(self, state):
        return 1.0 if self.player(state) == 1 else -1.0

    def move_name(self, state, move):
        pair = int(self.pair(move))
        origin = trailing_zeros(pair & int(state[self.player(state)]))
        target = trailing_zeros(pair ^ 1 << origin)
        return "".join(point_name(end, self.columns) for end in (origin, target))

    def render(self, state):
        return draw_sets(reversed(range(self.rows)), self.columns, {"o": state[0], "x": state[1]})

    def pairs_above(self, own, other):
        """Lower squares of the pairs of different colours above each other."""
        step = WORD(self.columns)
        return (own & other >> step | other & own >> step) & self.below

    def pairs_beside(self, own, other):
        """Left squares of the pairs of different colours beside each other."""
        return (own & other >> ONE | other & own >> ONE) & self.left

    def pair(self, move):
        square = ONE << WORD(move >> 1)
        return square | square << (ONE if move & 1 == 1 else WORD(self.columns))

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def images(self):
        """images[s, square]: the mirror images and turns that keep the initial position."""
        cells = np.arange(self.rows * self.columns).reshape(self.rows, self.columns)
        turns = (0, 1, 2, 3) if self.rows == self.columns else (0, 2)
        boards = [np.rot90(board, count).ravel() for board in (cells, cells[:, ::-1]) for count in turns]
        first = [int(self.first_stones) >> cell & 1 for cell in range(len(boards[0]))]
        kept = dict.fromkeys(tuple(np.argsort(b)) for b in boards if [first[cell] for cell in b] == first)
        return np.array(list(kept), np.int64)

    @property
    def symmetries(self):
        return len(self.images)

    def transform(self, state, symmetry, target):
        for side in range(2):
            target[side] = image_of(state[side], self.images, symmetry)

    def transform_move(self, move, symmetry):
        square = move >> 1
        first = self.images[symmetry, square]
        second = self.images[symmetry, square + (1 if move & 1 == 1 else self.columns)]
        beside = first // self.columns == second // self.columns
        return 2 * min(first, second) + (1 if beside else 0)

    def random_move(self, state, moves, rng):
        square, beside = self.random_pair(state[0], state[1], rng)
        return 2 * trailing_zeros(square) + (1 if beside else 0)

    def random_pair(self, own, other, rng):
        """A uniformly random move: its lower or left square, as a set, and whether it is horizontal."""
        above, beside = self.pairs_above(own, other), self.pairs_beside(own, other)
        n_above = popcount(above)
        choice = random_below(rng, n_above + popcount(beside))
        is_beside = choice >= n_above
        choice -= choose(is_beside, n_above, 0)
        return nth_bit(choose(is_beside, beside, above), choice), is_beside

    def random_playout(self, state, moves, rng):
        side = self.player(state)
        own, other, plies = state[side], state[1 - side], 0
        while self.pairs_above(own, other) | self.pairs_beside(own, other) != ZERO:
            square, is_beside = self.random_pair(own, other, rng)
            pair = square | square << (ONE if is_beside else WORD(self.columns))
            own, other = other & ~pair, own ^ pair
            plies += 1
        return (1.0 if (side + plies) & 1 == 1 else -1.0), plies

    @property
    def lane_bits(self):
        return narrowest(self.rows * self.columns)

    def lane_start(self, state, zero):
        side = self.player(state)
        return zero + state[side], zero + state[1 - side], zero + side

    def lane_step(self, words, rng):
        own, other, side = words
        square, is_beside = self.random_pair(own, other, rng)
        pair, stuck = square | square << choose(is_beside, ONE, WORD(self.columns)), square == 0
        own, other = other & ~pair, own ^ pair
        return (own, other, side ^ 1), choose(stuck, 0, 1), stuck, choose(side == 0, -1, 1)

    # -- For strength ------------------------------------------------------------------------------------------

    def foreseen(self, state):
        """The winner where no group has more than three stones: sums of the infinitesimals star and up.

        Two of different colours are star, and three with the odd one in the middle; three with the odd one at an end
        are up for the other colour.  Ups decide, but one up and star is a win for the player to move, as star is; no up
        and no star is a loss (E. Berlekamp, J. Conway and R. Guy, "Winning Ways", 1982).
        """
        stones, ups, stars, plies = state[0] | state[1], 0, 0, 0
        while stones != ZERO:
            group = self.group(nth_bit(stones, 0), stones)
            stones &= ~group
            first, size = group & state[0], popcount(group)
            count = popcount(first)
            if count == 0 or count == size:
                continue
            if size > 3:
                return 0, True
            odd = first if count == 1 else group & state[1]
            if size == 2 or popcount(self.beside(odd) & group) == 2:
                stars, plies = stars + 1, plies + 1
            else:
                ups, plies = ups + (-1 if odd == first else 1), plies + 2
        side, stars = self.player(state), stars & 1
        ahead = ups if side == 0 else -ups
        wins = ahead > 0 or (stars == 1 and ahead >= -1)
        plies -= 1 if (plies & 1 == 1) != wins else 0
        return (plies if wins else -plies), plies <= 2

    def beside(self, x):
        up = WORD(self.columns)
        return x >> ONE & self.left | (x & self.left) << ONE | x >> up | x << up & self.board

    def group(self, seed, stones):
        group, before = seed, ZERO
        while group != before:
            before = group
            group |= self.beside(group) & stones
        return group

    def planes(self, state):
        return state[0], state[1]

    @cached_property
    def grid(self):
        return np.arange(self.rows * self.columns).reshape(self.rows, self.columns)

    def evaluate(self, state):
        """Stones with an enemy within four steps over stones: the difference over the sum and 1."""
        return self.balance(state, 4)

    def evaluate_contact(self, state):
        """Stones with an enemy right beside them: the difference over the sum and 1."""
        return self.balance(state, 1)

    def balance(self, state, steps):
        first, second = self.in_play(state[0], state[1], steps), self.in_play(state[1], state[0], steps)
        return (first - second) / (first + second + 1.0)

    def in_play(self, own, other, steps):
        """How many of `own` have an enemy within so many steps over stones, in rows and columns."""
        stones, reached, up = own | other, other, WORD(self.columns)
        for _ in range(steps):
            across = reached >> ONE & self.left | (reached & self.left) << ONE
            reached |= (across | reached >> up | reached << up) & stones
        return popcount(own & reached)

    def evaluate_parity(self, state):
        """Favours who moves last if every move takes one pair off the board, more surely the fewer pairs there are."""
        pairs = popcount(self.pairs_above(state[0], state[1])) + popcount(self.pairs_beside(state[0], state[1]))
        return (1.0 if (pairs + self.player(state)) & 1 == 1 else -1.0) / (pairs + 1.0)

    def move_code(self, state, move):
        side = self.player(state)
        return 4 * np.int64(move) + 2 * np.int64(state[side] >> WORD(move >> 1) & ONE) + side

    def feature_code(self, state, move):
        """The move's code with what the four squares around the target hold: nothing, or a player's stone (T. Cazenave,
        "Playout policy adaptation with move features", 2016)."""
        target = trailing_zeros(self.pair(move) & state[1 - self.player(state)])
        code = self.move_code(state, move)
        for i in range(len(AROUND)):
            row, column = target // self.columns + AROUND[i, 0], target % self.columns + AROUND[i, 1]
            code *= 3
            if 0 <= row < self.rows and 0 <= column < self.columns:
                square = WORD(row * self.columns + column)
                code += np.int64(state[0] >> square & ONE) + 2 * np.int64(state[1] >> square & ONE)
        return code
