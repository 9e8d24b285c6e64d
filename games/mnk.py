"""m,n,k-games: players place stones in turn; the first with k or more in a row, in any direction, wins.

mnk(3, 3, 3) is tic-tac-toe, and mnk(15, 15, 5), the default, Gomoku without restrictions on either player's moves.

    squares of 3 rows      3  8  9 10 11     a square is named by column and row: a1 is the lower left, d3 the upper
    and 4 columns          2  4  5  6  7     right, h8 the middle of a Gomoku board;
                           1  0  1  2  3     a move is its square's number
                              a  b  c  d
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import draw, point_name, sgf_point, sgf_square, turns
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game, check_range
from arena.games.core.lanes.lanes import choose, narrowest
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import GAMMA, mix, random_below

HALF = WORD(32)
FIRST = WORD(0xFFFFFFFF)  # the first player's half of a line's word
LINED = WORD(1 << 16)  # in a state's last word


@dataclass(frozen=True)
class MNK(Game):
    """state: uint64[lines + 1] = a word for each line of the board, number of stones | LINED once there are k in a row.

    Lines are the rows, columns, diagonals (of constant row - column) and antidiagonals.  The first player's stones are
    bits 0 to 18 of a word, the second's bits 32 to 50, by column, but by row in columns.  The rows define the position;
    the others help to find k in a row.

    k: stones in a row that win
    """

    rows: int = 15
    columns: int = 15
    k: int = 5

    name = "mnk"
    rules = (
        "The first with k stones in a row, in any direction, wins; k is 5 by default. X begins. A move is the square "
        "of a new stone, by column and row: `h8`."
    )
    board_look = Look("points")
    stable_names = True
    sizes = "rows and columns 2 to 19, k 2 to the longer of the two"
    ranges = {"rows": (2, 19), "columns": (2, 19)}

    def __post_init__(self):
        super().__post_init__()
        check_range("k", self.k, 2, max(self.rows, self.columns))

    @property
    def cells(self):
        return self.rows * self.columns

    move_limit = max_moves = max_plies = cells

    @property
    def first_column(self):
        return self.rows

    @property
    def first_diagonal(self):
        return self.first_column + self.columns

    @property
    def first_antidiagonal(self):
        return self.first_diagonal + self.rows + self.columns - 1

    @property
    def lines(self):
        return self.first_antidiagonal + self.rows + self.columns - 1

    @property
    def state_size(self):
        return self.lines + 1

    @property
    def row_mask(self):
        return (ONE << WORD(self.columns)) - ONE

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return np.int64(state[self.lines] & ONE)

    def legal_moves(self, state, moves):
        count = 0
        for row in range(self.rows):
            count = list_bits(self.free_in_row(state, row), moves, count, 1, row * self.columns)
        return count

    def play(self, state, move):
        half = HALF if state[self.lines] & ONE != ZERO else ZERO
        lined = self.place(state, move, half)
        state[self.lines] += ONE
        if lined:
            state[self.lines] |= LINED

    def is_over(self, state):
        return state[self.lines] >= WORD(self.cells)

    def score(self, state):
        if state[self.lines] < LINED:
            return 0.0
        return 1.0 if state[self.lines] & ONE == ONE else -1.0

    def move_name(self, state, move):
        return point_name(move, self.columns)

    def render(self, state):
        def symbol(row, column):
            stone = int(state[row]) >> column
            return "X" if stone & 1 else ("O" if stone >> 32 & 1 else ".")

        return draw(reversed(range(self.rows)), self.columns, symbol)

    def row_starts(self, stones):
        """Where k of the stones in a line begin, in both halves."""
        length = 1
        while 2 * length <= self.k:
            stones &= stones >> WORD(length)
            length *= 2
        return stones & stones >> WORD(self.k - length)

    def place(self, state, square, half):
        """Place a stone of the player whose half begins at bit `half`; True if it makes k in a row."""
        row, column = WORD(square) // WORD(self.columns), WORD(square) % WORD(self.columns)
        vertical = WORD(self.first_column) + column
        diagonal = WORD(self.first_diagonal + self.columns - 1) + row - column
        antidiagonal = WORD(self.first_antidiagonal) + row + column
        by_column, by_row = ONE << column + half, ONE << row + half
        state[row] |= by_column
        state[vertical] |= by_row
        state[diagonal] |= by_column
        state[antidiagonal] |= by_column
        return (
            self.row_starts(state[row])
            | self.row_starts(state[vertical])
            | self.row_starts(state[diagonal])
            | self.row_starts(state[antidiagonal])
        ) != ZERO

    def free_in_row(self, state, row):
        return self.row_mask & ~(state[row] | state[row] >> HALF)

    # -- For speed ---------------------------------------------------------------------------------------------

    @property
    def symmetries(self):
        return 8 if self.rows == self.columns else 4

    def key(self, state):
        """A hash of the rows; the rest follows."""
        word = ZERO
        for row in range(self.rows):
            word = mix(word + state[row] + GAMMA)
        return word

    def transform(self, state, symmetry, target):
        target[:] = 0
        for row in range(self.rows):
            stones = state[row]
            while stones != ZERO:
                bit = trailing_zeros(stones)
                stones &= stones - ONE
                square = row * self.columns + bit % 32
                self.place(target, self.transform_move(square, symmetry), HALF if bit >= 32 else ZERO)
        target[self.lines] = state[self.lines]

    @cached_property
    def images(self):
        return turns(self.rows, self.columns, self.symmetries)

    def transform_move(self, move, symmetry):
        return self.images[symmetry, move]

    def random_move(self, state, moves, rng):
        """The default's draw, without a list."""
        choice, row = random_below(rng, self.cells - np.int64(state[self.lines])), 0
        free = self.free_in_row(state, row)
        while choice >= popcount(free):
            choice -= popcount(free)
            row += 1
            free = self.free_in_row(state, row)
        return row * self.columns + trailing_zeros(nth_bit(free, choice))

    def random_playout(self, state, moves, rng):
        """Draws from a list of free squares that is not put into order again."""
        half = HALF if state[self.lines] & ONE != ZERO else ZERO
        free, plies, lined = self.legal_moves(state, moves), 0, state[self.lines] >= LINED
        while not lined and plies < free:
            choice = plies + random_below(rng, free - plies)
            move = moves[choice]
            moves[choice] = moves[plies]
            lined = self.place(state, move, half)
            half ^= HALF
            plies += 1
        winner = 1.0 if half == HALF else -1.0  # half: of the next player
        return (winner if lined else 0.0), plies

    @property
    def stride(self):
        """Bits from row to row in one word: the columns, and an empty one."""
        return self.columns + 1

    @property
    def lane_bits(self):
        return narrowest(self.rows * self.stride)

    @cached_property
    def word(self):
        return sum(int(self.row_mask) << self.stride * row for row in range(self.rows))

    def lane_start(self, state, zero):
        first, second = zero, zero
        for row in range(self.rows):
            first |= (zero + (state[row] & self.row_mask)) << self.stride * row
            second |= (zero + (state[row] >> HALF)) << self.stride * row
        return (second, first) if self.player(state) == 0 else (first, second)

    def lane_step(self, words, rng):
        own, other = words  # own: of the last mover
        free = self.word & ~(own | other)
        own, other = other | nth_bit(free, random_below(rng, popcount(free))), own
        stones, lined = own | other, self.has_row(own)
        winner = choose(popcount(stones) & 1 == 1, 1, -1)
        return (own, other), 1, lined | (stones == self.word), choose(lined, winner, 0)

    def has_row(self, stones):
        starts = self.run_starts(stones, 1)
        if self.rows >= self.k:
            for step in (self.stride - 1, self.stride, self.stride + 1):
                starts |= self.run_starts(stones, step)
        return starts != 0

    def run_starts(self, stones, step):
        """Where k of the stones begin, `step` bits apart."""
        length = 1
        while 2 * length <= self.k:
            stones &= stones >> step * length
            length *= 2
        return stones & stones >> step * (self.k - length)

    # -- For strength ------------------------------------------------------------------------------------------

    @cached_property
    def boards(self):
        """uint64[lines]: each line's squares, in both halves."""
        state = np.zeros(self.state_size, self.dtype)
        for square in range(self.cells):
            self.place(state, square, ZERO)
            self.place(state, square, HALF)
        return state[: self.lines]

    @cached_property
    def places(self):
        return sum(int(self.row_starts(squares)).bit_count() for squares in self.boards) // 2

    def evaluate(self, state):
        """Open lines: ways to place k in a row without opposing stones; the difference over all ways and 1."""
        difference = 0
        for line in range(self.lines):
            starts = self.open_starts(state, line)
            difference += popcount(starts & FIRST) - popcount(starts >> HALF)
        return difference / (self.places + 1.0)

    def open_starts(self, state, line):
        """Starts of k squares without opposing stones, in the player's half."""
        other = state[line] >> HALF | state[line] << HALF
        return self.row_starts(self.boards[line] & ~other)

    def evaluate_threats(self, state):
        """Threats: k squares in a row without opposing stones count 4 ** (own stones - 1), without own 0; the
        difference d as d / (2 * 4 ** (k - 2) + |d|)."""
        difference = 0
        for line in range(self.lines):
            if state[line] != ZERO:
                starts = self.open_starts(state, line)
                difference += self.threats(state[line] & FIRST, starts & FIRST)
                difference -= self.threats(state[line] >> HALF, starts >> HALF)
        return difference / (2.0 * 4.0 ** (self.k - 2) + abs(difference))

    def threats(self, stones, starts):
        """The weight of a player's stones in groups of k squares from `starts`."""
        weight = 0
        while starts != ZERO:
            start = WORD(trailing_zeros(starts))
            starts &= starts - ONE
            held = popcount(stones >> start & (ONE << WORD(self.k)) - ONE)
            if held > 0:
                weight += 1 << 2 * (held - 1)
        return weight

    def feature_code(self, state, move):
        row, column = move // self.columns, WORD(move % self.columns)
        around = np.int64(0)
        for near in range(row - 1, row + 2):
            around <<= 6
            if 0 <= near < self.rows:
                first, second = state[near] << ONE, state[near] >> HALF - ONE
                around |= np.int64((first >> column & WORD(7)) << WORD(3) | second >> column & WORD(7))
        return self.move_code(state, move) << 18 | around

    # -- For people --------------------------------------------------------------------------------------------

    @property
    def sgf_number(self):
        """SGF's number is Gomoku's."""
        return 4 if self.k == 5 else None

    def sgf_properties(self):
        return {"SZ": self.rows if self.rows == self.columns else f"{self.columns}:{self.rows}"}

    def sgf_move(self, name):
        return sgf_point(ord(name[0]) - ord("a"), self.rows - int(name[1:]))

    def sgf_name(self, point):
        column, row = sgf_square(point, self.columns, self.rows)
        return point_name((self.rows - 1 - row) * self.columns + column, self.columns)

    def from_sgf(self, root):
        """Without SZ the board is that of Gomoku."""
        columns, _, rows = root.get("SZ", ["15"])[0].strip().partition(":")
        if not columns.isdecimal() or not (rows or columns).isdecimal():
            raise ValueError(f"has SZ[{root['SZ'][0]}], which is no size of {self.name}")
        return replace(self, rows=int(rows or columns), columns=int(columns))
