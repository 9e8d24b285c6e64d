"""Connect 4: drop stones into columns; four in a row, in any direction, wins.

A column has one more bit, always empty, than rows, so that no line runs from one into the next.  Of 6x7, by bit:

    .   6 13 20 27 34 41 48    always empty        A move is its column's number from 0; people, and the test sets
    6   5 12 19 26 33 40 47                        of the literature, name columns from 1.
    5   4 11 18 25 32 39 46
    4   3 10 17 24 31 38 45    The idea of this layout, and of adding to find the free squares, is John Tromp's
    3   2  9 16 23 30 37 44    ("Fhourstones").
    2   1  8 15 22 29 36 43
    1   0  7 14 21 28 35 42
        1  2  3  4  5  6  7
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import squares
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game, check_range
from arena.games.core.lanes.lanes import choose
from arena.games.core.numbers.bits import ONE, WORD, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Connect4(Game):
    """state: uint64[2] = stones of the player to move, stones of both.  The first player moves when these are even."""

    rows: int = 6
    columns: int = 7

    name = "connect4"
    rules = (
        "Four stones in a row, in any direction, win. X begins. A move drops a stone into a column, to the lowest "
        "free square, and is the column's number: `4`."
    )
    board_look = Look("holes", {"X": "red disc", "O": "yellow disc"})
    sizes = "rows and columns 2 to 14, (rows + 1) * columns up to 64"
    state_size = 2
    symmetries = 2
    lane_bits = 64
    lane_registers = 2, 2
    quick_keys = True
    soonest_win = 3
    soonest_loss = 4
    ranges = {"rows": (2, 14), "columns": (2, 14)}

    def __post_init__(self):
        super().__post_init__()
        check_range("(rows + 1) * columns", (self.rows + 1) * self.columns, 1, 64)

    @property
    def move_limit(self):
        return self.columns

    max_moves = move_limit

    @property
    def max_plies(self):
        return self.rows * self.columns

    @property
    def height(self):
        """Bits from one column to the next."""
        return WORD(self.rows + 1)

    @cached_property
    def bottom(self):
        return squares(column * (self.rows + 1) for column in range(self.columns))

    @cached_property
    def board(self):
        return squares(column * (self.rows + 1) + row for column in range(self.columns) for row in range(self.rows))

    @property
    def column_mask(self):
        return squares(range(self.rows))

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return popcount(state[1]) & 1

    def legal_moves(self, state, moves):
        return self.list_columns(self.free_squares(state[1]), moves)

    def play(self, state, move):
        square = self.free_squares(state[1]) & self.column_mask << WORD(move) * self.height
        state[0] ^= state[1]
        state[1] |= square

    def is_over(self, state):
        return state[1] == self.board or self.has_line(state[0] ^ state[1])

    def score(self, state):
        if not self.has_line(state[0] ^ state[1]):
            return 0.0
        return 1.0 if self.player(state) == 1 else -1.0

    def move_name(self, state, move):
        return str(move + 1)

    def render(self, state):
        first, second = map(int, self.stones(state))
        lines = []
        for row in reversed(range(self.rows)):
            bits = [1 << column * (self.rows + 1) + row for column in range(self.columns)]
            lines.append("  ".join("X" if first & bit else ("O" if second & bit else ".") for bit in bits))
        return "\n".join([*lines, "".join(f"{column + 1:<3}" for column in range(self.columns)).rstrip()])

    def free_squares(self, stones):
        """The lowest free square of each column, unless full."""
        return (stones + self.bottom) & self.board

    def has_line(self, stones):
        return (
            self.fours(stones, ONE)
            | self.fours(stones, self.height)
            | self.fours(stones, self.height - ONE)
            | self.fours(stones, self.height + ONE)
        ) != 0

    def fours(self, stones, step):
        """Where four of the stones begin, `step` bits apart."""
        pairs = stones & stones >> step
        return pairs & pairs >> (step + step)

    def list_columns(self, free, moves):
        """Write the column of each square; return their number."""
        count = 0
        while free != 0:
            moves[count] = trailing_zeros(free) // (self.rows + 1)
            free &= free - ONE
            count += 1
        return count

    def stones(self, state):
        first = state[0] if self.player(state) == 0 else state[0] ^ state[1]
        return first, state[1] ^ first

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        """Exact: the mover's stones, and a bit above each column."""
        return state[0] + state[1] + self.bottom

    def transform(self, state, symmetry, target):
        for i in range(2):
            image = WORD(0)
            for column in range(self.columns):
                stones = state[i] >> WORD(column) * self.height & self.column_mask
                image |= stones << WORD(self.transform_move(column, symmetry)) * self.height
            target[i] = image

    def transform_move(self, move, symmetry):
        return self.columns - 1 - move if symmetry == 1 else move

    def random_playout(self, state, moves, rng):
        own, stones, side = state[0] ^ state[1], state[1], self.player(state)  # own: of the last mover
        lined, plies = self.has_line(own), 0
        while not lined and stones != self.board:
            free = self.free_squares(stones)
            own ^= stones
            square = nth_bit(free, random_below(rng, popcount(free)))
            own |= square
            stones |= square
            plies += 1
            lined = self.has_line(own)
        winner = 1.0 if (side + plies) & 1 == 1 else -1.0
        return (winner if lined else 0.0), plies

    def lane_start(self, state, zero):
        return zero + (state[0] ^ state[1]), zero + state[1], zero + (1 if popcount(state[1]) & ONE == 1 else -1)

    def lane_step(self, words, rng):
        """A stone into a random column; the lane waits if it is full."""
        own, stones, mover = words  # own: of the last mover, 1 or -1
        square = self.free_squares(stones) & self.column_mask << random_below(rng, self.columns) * self.height
        moved = square != 0
        own = choose(moved, own ^ stones | square, own)
        stones |= square
        mover = choose(moved, 0 - mover, mover)
        lined = self.has_line(own)
        return (own, stones, mover), choose(moved, 1, 0), lined | (stones == self.board), choose(lined, mover, 0)

    # -- For strength ------------------------------------------------------------------------------------------

    def foreseen(self, state):
        """A win at once; a loss in two plies, if the other player makes a four in any case."""
        own, stones = state[0], state[1]
        free, threats = self.free_squares(stones), self.winning_squares(own ^ stones, stones)
        if self.winning_squares(own, stones) & free != 0:
            return 1, True
        forced = threats & free
        answers = forced if forced != 0 else free
        lost = popcount(forced) > 1 or answers & ~(threats >> ONE) == 0  # the square above is a threat, too
        return (-2 if lost else 0), True

    def plies_left(self, state):
        return self.rows * self.columns - popcount(state[1])

    def planes(self, state):
        """Each player's stones, and where the next stone can fall."""
        first, second = self.stones(state)
        return first, second, self.free_squares(state[1])

    @cached_property
    def grid(self):
        return np.arange(self.rows)[:, None] + np.arange(self.columns) * (self.rows + 1)

    def evaluate(self, state):
        """Open fours: four squares in line without opposing stones, weighted by own ones (1, 4 and 16 for one to
        three), the first player's sum less the second's."""
        first, second = self.stones(state)
        total = 0
        for step in (ONE, self.height, self.height - ONE, self.height + ONE):
            total += self.open_fours(first, second, step) - self.open_fours(second, first, step)
        return total / (32.0 + abs(total))

    def open_fours(self, own, other, step):
        """The weight of the fours in a direction without stones of `other`.

        All at once: `odd` and `two` are binary digits of the number of stones in the four from each square.
        """
        fours = self.fours(self.board & ~other, step)
        second, third, fourth = own >> step, own >> step + step, own >> step + step + step
        low, high, low_pair, high_pair = own ^ second, third ^ fourth, own & second, third & fourth
        odd, two = low ^ high, low_pair ^ high_pair ^ (low & high)
        ones, twos, threes = fours & odd & ~two, fours & two & ~odd, fours & odd & two
        return popcount(ones) + 4 * popcount(twos) + 16 * popcount(threes) + 64 * popcount(fours & low_pair & high_pair)

    def winning_squares(self, own, stones):
        """All free squares where a stone would make four of `own`."""
        up = ONE
        wins = own << up & own << up + up & own << up + up + up
        for step in (self.height, self.height - ONE, self.height + ONE):
            above, below = own << step & own << step + step, own >> step & own >> step + step
            wins |= above & (own << step + step + step | own >> step)
            wins |= below & (own >> step + step + step | own << step)
        return wins & self.board & ~stones

    def sound_moves(self, state, moves):
        """A winning move alone; else moves that leave no immediate four (Pascal Pons' tutorial on solving Connect 4,
        "Anticipate direct losing moves")."""
        own, stones = state[0], state[1]
        free, threats = self.free_squares(stones), self.winning_squares(own ^ stones, stones)
        wins, forced = self.winning_squares(own, stones) & free, threats & free
        if wins != 0:
            safe = wins
        elif forced != 0:
            safe = nth_bit(forced, 0)
        else:
            safe = free & ~(threats >> ONE)
            safe = safe if safe != 0 else nth_bit(free, 0)
        return self.list_columns(safe, moves)

    def move_order(self, state, move):
        """The squares that would then make four count first, then nearness to the centre."""
        square = self.free_squares(state[1]) & self.column_mask << WORD(move) * self.height
        threats = popcount(self.winning_squares(state[0] | square, state[1] | square))
        return threats * self.columns - abs(2 * move - self.columns + 1)

    def move_code(self, state, move):
        square = trailing_zeros(self.free_squares(state[1]) & self.column_mask << WORD(move) * self.height)
        return 2 * square + self.player(state)

    @property
    def code_limit(self):
        return 128

    # -- For people --------------------------------------------------------------------------------------------

    @cached_property
    def move_names(self):
        return {str(column + 1): column for column in range(self.columns)}
