"""Amazons (Walter Zamkauskas, 1988): queens that shoot arrows until someone cannot move.

A move is a queen's move of chess and an arrow from its target, which flies as a queen moves and stays.  Neither passes
over a queen or an arrow; nothing is taken.  A player who cannot move loses.  White, the first player, is below: on
10x10 on a4, d1, g1 and j4; on 6x6 on a2, b1, e1 and f2, as in OpenSpiel; other boards follow the same rule.

    squares of a corner   3  20 21 22 ...    a square is named by column and row, a move by three squares: a4-d7/g7;
    of 10x10              2  10 11 12        a move is (origin * squares + target) * squares + arrow, where
                          1   0  1  2        squares = rows * columns
                              a  b  c

A queen's reach is looked up by the occupied places of the four lines of a square, each a number.
"""

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import Rectangle, draw, point_name
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game, check_rectangle
from arena.games.core.numbers.bits import ONE, WORD, ZERO, popcount
from arena.games.core.random import GAMMA, mix, random_below

QUEENS = 4  # of each player
OFTEN = 8  # plies of a playout after which its bound of an arrow's reach is found anew


def free_beside(size, step):
    """table[place, line]: free places in a row next to a place, on the side `step`, -1 or 1."""
    table, lines = np.zeros((size, 1 << size), np.int8), np.arange(1 << size)
    for place in range(1, size) if step < 0 else reversed(range(size - 1)):
        table[place] = np.where(lines >> place + step & 1, 0, table[place + step] + 1)
    return table


@dataclass(frozen=True)
class Amazons(Rectangle, Game):
    """state: int16[3 * (rows + columns) + 7] = the lines, White's queens and Black's in ascending order, and the player
    to move.

    The lines are the occupied places of the rows, columns, diagonals and antidiagonals.  A square's place is its
    column, or in a column its row; places that a line does not have are occupied.

    rows, columns: of a rectangular board, instead of a square of `size`; 0 for none
    """

    size: int = 10
    rows: int = 0
    columns: int = 0

    name = "amazons"
    rules = (
        "White's queens (W) begin below, Black's above, and a player who cannot move loses. A move takes a queen as "
        "in chess and shoots an arrow from its target, which flies likewise and stays: `d1-d7/g7`. Neither passes "
        "over queens or arrows."
    )
    board_look = Look("checkered", {"W": "white queen", "B": "black queen"})
    has_draws = False
    sizes = "size 6 to 10, or rows and columns 5 to 10 and not both 5"
    status = "counted"
    sgf_number = 18
    dtype = np.int16
    symmetries = 2
    sides = ("W", "B")
    ranges = {"size": (6, 10)}

    def __post_init__(self):
        super().__post_init__()
        check_rectangle(self.rows, self.columns, 5, 10)
        if self.rows == self.columns == 5:
            raise ValueError("rows = columns = 5: two queens would stand on one square")

    @property
    def longer(self):
        return max(self.height, self.width)

    @property
    def n_lines(self):
        """Rows, columns and diagonals; the queens begin there in a state."""
        return 3 * (self.height + self.width) - 2

    @property
    def state_size(self):
        return self.n_lines + 2 * QUEENS + 1

    @property
    def move_limit(self):
        return self.area**3

    @property
    def max_plies(self):
        """Each arrow takes a square."""
        return self.area - 2 * QUEENS

    @cached_property
    def max_moves(self):
        """A bound: four times the moves of the best-placed queen on an empty board.

        The initial position of 10x10 has 2176; queens in the middle have more.
        """
        reach = (self.ranks >= 0).sum(axis=1)
        return QUEENS * max(int(reach[self.ranks[square] >= 0].sum()) for square in range(self.area))

    @cached_property
    def places(self):
        """places[square, axis]: a square's place on its row, column, diagonal and antidiagonal."""
        row, column = np.divmod(np.arange(self.area), self.width)
        return np.stack([column, row, column, column], axis=1)

    @cached_property
    def lines(self):
        """lines[square, axis]: the index in a state of a line."""
        row, column = np.divmod(np.arange(self.area), self.width)
        diagonals = self.height + self.width
        slanted = diagonals + self.width - 1 + row - column, 2 * diagonals - 1 + row + column
        return np.stack([row, self.height + column, *slanted], axis=1)

    @cached_property
    def steps(self):
        """steps[axis]: the distance from a square to the next on its line."""
        return np.array([1, self.width, self.width + 1, 1 - self.width])

    @cached_property
    def empty_lines(self):
        lines = np.full(self.n_lines, (1 << self.longer) - 1)
        np.subtract.at(lines, self.lines, 1 << self.places)
        return lines.astype(np.int16)

    @cached_property
    def free_before(self):
        """free_before[place, line]: free places in a row before a place."""
        return free_beside(self.longer, -1)

    @cached_property
    def free(self):
        """free[place, line]: free places in a row before and after a place."""
        return self.free_before + free_beside(self.longer, 1)

    @cached_property
    def ranks(self):
        """ranks[origin, target]: a target's number among those on an empty board, or -1."""
        row, column = np.divmod(np.arange(self.area), self.width)
        down, right = row[None] - row[:, None], column[None] - column[:, None]
        reached = ((down == 0) | (right == 0) | (abs(down) == abs(right))) & ~np.eye(self.area, dtype=bool)
        return np.where(reached, np.cumsum(reached, axis=1) - 1, -1)

    def start(self, state):
        row, column, width = self.height // 2 - 2, self.width // 2 - 2, self.width
        state[: self.n_lines] = self.empty_lines
        state[self.n_lines :] = 0
        first = sorted((column, width - 1 - column, row * width, row * width + width - 1))
        for i, square in enumerate(first):
            state[self.n_lines + i] = square
            state[self.n_lines + 2 * QUEENS - 1 - i] = self.area - 1 - square
            self.toggle(state, square)
            self.toggle(state, self.area - 1 - square)

    def player(self, state):
        return np.int64(state[self.state_size - 1])

    def legal_moves(self, state, moves):
        first = self.n_lines + QUEENS * self.player(state)
        count = 0
        for i in range(QUEENS):
            origin = np.int64(state[first + i])
            self.toggle(state, origin)  # arrows can fly over, and to, the square just left
            for j in range(self.reach(state, origin)):
                target = self.reached(state, origin, j)
                for k in range(self.reach(state, target)):
                    moves[count] = (origin * self.area + target) * self.area + self.reached(state, target, k)
                    count += 1
            self.toggle(state, origin)
        return count

    def play(self, state, move):
        origin, target, arrow = self.squares(move)
        side = self.player(state)
        low = self.n_lines + QUEENS * side
        high = low + QUEENS - 1
        i = low
        while state[i] != origin:
            i += 1
        while i < high and state[i + 1] < target:
            state[i] = state[i + 1]
            i += 1
        while i > low and state[i - 1] > target:
            state[i] = state[i - 1]
            i -= 1
        state[i] = target
        self.toggle(state, origin)
        self.toggle(state, target)
        self.toggle(state, arrow)
        state[self.state_size - 1] = 1 - side

    def is_over(self, state):
        return self.mobility(state, self.player(state)) == 0

    def score(self, state):
        return 1.0 if self.player(state) == 1 else -1.0

    def move_name(self, state, move):
        ends = [point_name(end, self.width) for end in self.squares(move)]
        return f"{ends[0]}-{ends[1]}/{ends[2]}"

    def render(self, state):
        white, black = state[self.n_lines : self.n_lines + QUEENS], state[self.n_lines + QUEENS : -1]

        def symbol(row, column):
            square = row * self.width + column
            if square in white or square in black:
                return "W" if square in white else "B"
            return "#" if state[row] >> column & 1 else "."

        return draw(reversed(range(self.height)), self.width, symbol)

    def toggle(self, state, square):
        for axis in range(4):
            state[self.lines[square, axis]] ^= 1 << self.places[square, axis]

    def reach(self, state, square):
        count = 0
        for axis in range(4):
            count += np.int64(self.free[self.places[square, axis], state[self.lines[square, axis]]])
        return count

    def reached(self, state, square, n):
        """The n-th square, from 0, that a queen there can reach; -1 if it reaches fewer."""
        found = -1
        for axis in range(4):
            place, line = self.places[square, axis], state[self.lines[square, axis]]
            count, before = np.int64(self.free[place, line]), np.int64(self.free_before[place, line])
            there = square + (n - before + (0 if n < before else 1)) * self.steps[axis]
            found = there if 0 <= n < count else found
            n -= count
        return found

    def mobility(self, state, side):
        count = 0
        for i in range(QUEENS):
            count += self.reach(state, state[self.n_lines + QUEENS * side + i])
        return count

    def squares(self, move):
        return move // (self.area * self.area), move // self.area % self.area, move % self.area

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def max_reach(self):
        return int(self.ranks.max()) + 1

    @cached_property
    def runs(self):
        """runs[line]: the most free places in a row."""
        table, run = np.zeros((2, 1 << self.longer), np.int8)
        for place in range(self.longer):
            run = np.where(np.arange(len(table)) >> place & 1, 0, run + 1)
            table = np.maximum(table, run)
        return table

    def key(self, state):
        """A hash of the rows and the queens, from which the rest follows."""
        word = key = ZERO
        for row in range(self.height):
            word = word << WORD(self.width) | WORD(state[row] & (1 << self.width) - 1)
            if row == 5:  # six rows are 60 bits at most
                key, word = mix(word + GAMMA), ZERO
        key = mix(key + word)
        word = WORD(self.player(state))
        for i in range(2 * QUEENS):
            word = word << WORD(7) | WORD(state[self.n_lines + i])
        return mix(key + word)

    def transform(self, state, symmetry, target):
        for line in range(self.n_lines):
            target[line] = self.empty_lines[line]
        for square in range(self.area):
            if state[square // self.width] >> square % self.width & 1 == 1:
                self.toggle(target, self.image(square, symmetry))
        for first in (self.n_lines, self.n_lines + QUEENS):
            for i in range(QUEENS):
                self.put_queen(target, first, i, self.image(state[first + i], symmetry))
        target[self.state_size - 1] = state[self.state_size - 1]

    def put_queen(self, state, first, count, square):
        """Insert a square among the `count` ascending ones behind `first`."""
        i = first + count
        while i > first and state[i - 1] > square:
            state[i] = state[i - 1]
            i -= 1
        state[i] = square

    def image(self, square, symmetry):
        return square + symmetry * (self.width - 1 - 2 * (square % self.width))

    def transform_move(self, move, symmetry):
        origin, target, arrow = self.squares(move)
        pair = self.image(origin, symmetry) * self.area + self.image(target, symmetry)
        return pair * self.area + self.image(arrow, symmetry)

    def random_move(self, state, moves, rng):
        return self.draw(state, self.after_leaving(state, self.longest(state)), rng)

    def random_playout(self, state, moves, rng):
        plies, longest = 0, self.longest(state)
        while True:
            if plies % OFTEN == OFTEN - 1:
                longest = self.longest(state)
            longest = self.after_leaving(state, longest)  # nothing else makes one longer
            move = self.draw(state, longest, rng)
            if move < 0:
                return self.score(state), plies
            self.play(state, move)
            plies += 1

    def draw(self, state, longest, rng):
        """A random move; -1 if there is none.

        Drawn are a queen's move and a number for the arrow, below a bound of its reach, until there is such an arrow:
        so a target is as likely as it has arrows.
        """
        first = self.n_lines + QUEENS * self.player(state)
        end0 = self.reach(state, state[first])
        end1 = end0 + self.reach(state, state[first + 1])
        end2 = end1 + self.reach(state, state[first + 2])
        end3 = end2 + self.reach(state, state[first + 3])
        if end3 == 0:
            return np.int64(-1)
        bound = longest[0] + longest[1] + longest[2] + longest[3] - 4  # a square does not reach itself
        origin = target = arrow = n = np.int64(0)
        while arrow >= n:
            n = random_below(rng, end3)
            start = (end2 if n >= end2 else end1) if n >= end1 else (end0 if n >= end0 else 0)
            origin = np.int64(state[first + (n >= end0) + (n >= end1) + (n >= end2)])
            target = self.reached(state, origin, n - start)
            arrow, n = random_below(rng, bound), self.reach_after(state, target, origin)
        self.toggle(state, origin)
        arrow = self.reached(state, target, arrow)
        self.toggle(state, origin)
        return (origin * self.area + target) * self.area + arrow

    def reach_after(self, state, square, left):
        """The reach of a square once a queen has left another."""
        count = 0
        for axis in range(4):
            number = self.lines[square, axis]
            line = state[number] ^ (self.lines[left, axis] == number) << self.places[left, axis]
            count += np.int64(self.free[self.places[square, axis], line])
        return count

    def longest(self, state):
        """The most free squares in a row on the rows, columns, diagonals and antidiagonals."""
        slanted, diagonals = self.height + self.width, self.height + self.width - 1
        return (
            self.longest_of(state, 0, self.height),
            self.longest_of(state, self.height, slanted),
            self.longest_of(state, slanted, slanted + diagonals),
            self.longest_of(state, slanted + diagonals, self.n_lines),
        )

    def longest_of(self, state, begin, end):
        longest = np.int64(0)
        for line in range(begin, end):
            longest = max(longest, np.int64(self.runs[state[line]]))
        return longest

    def after_leaving(self, state, longest):
        """The same whichever of the mover's queens has left its square."""
        return (
            self.after_leaving_on(state, 0, longest[0]),
            self.after_leaving_on(state, 1, longest[1]),
            self.after_leaving_on(state, 2, longest[2]),
            self.after_leaving_on(state, 3, longest[3]),
        )

    def after_leaving_on(self, state, axis, longest):
        first = self.n_lines + QUEENS * self.player(state)
        for i in range(first, first + QUEENS):
            line = state[self.lines[state[i], axis]] ^ 1 << self.places[state[i], axis]
            longest = max(longest, np.int64(self.runs[line]))
        return longest

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Territory by queen distance: free squares count for who needs fewer queen's moves to them, if equal a fifth
        for the mover; the difference over all squares.

        J. Lieberum, "An evaluation function for the game of Amazons", Theoretical Computer Science 349 (2005).
        """
        free0, free1 = self.free_squares(state)
        white0, white1 = self.queens(state, 0)
        black0, black1 = self.queens(state, 1)
        open0, open1 = free0, free1  # squares that nobody has reached
        balance = equal = 0
        growing = True
        while growing:
            w0, w1 = self.spread(white0, white1, free0, free1)
            b0, b1 = self.spread(black0, black1, free0, free1)
            balance += popcount(w0 & ~b0 & open0) + popcount(w1 & ~b1 & open1)
            balance -= popcount(b0 & ~w0 & open0) + popcount(b1 & ~w1 & open1)
            equal += popcount(w0 & b0 & open0) + popcount(w1 & b1 & open1)
            open0, open1 = open0 & ~(w0 | b0), open1 & ~(w1 | b1)
            growing = w0 ^ white0 | w1 ^ white1 | b0 ^ black0 | b1 ^ black1 != ZERO
            white0, white1, black0, black1 = w0, w1, b0, b1
        return (balance + (0.2 if self.player(state) == 0 else -0.2) * equal) / self.area

    def evaluate_mobility(self, state):
        """Queen's moves, not counting arrows: the difference over the sum and 1."""
        white, black = self.mobility(state, 0), self.mobility(state, 1)
        return (white - black) / (white + black + 1.0)

    def as_words(self, squares, row):
        """Squares of a row, by columns, as a set in two words with columns + 1 bits a row.

        A row's last bit is no square, so that no queen gets into the next row.
        """
        shift = row * (self.width + 1)
        if shift >= 64:
            return ZERO, WORD(squares) << WORD(shift - 64)
        return WORD(squares) << WORD(shift), (WORD(squares) >> WORD(64 - shift) if shift > 0 else ZERO)

    def free_squares(self, state):
        low = high = ZERO
        for row in range(self.height):
            squares = self.as_words(~np.int64(state[row]) & (1 << self.width) - 1, row)
            low, high = low | squares[0], high | squares[1]
        return low, high

    def queens(self, state, side):
        low = high = ZERO
        for i in range(QUEENS):
            square = np.int64(state[self.n_lines + QUEENS * side + i])
            squares = self.as_words(1 << square % self.width, square // self.width)
            low, high = low | squares[0], high | squares[1]
        return low, high

    def spread(self, low, high, free_low, free_high):
        """A set and all squares that queens on it reach."""
        all_low, all_high = low, high
        width, word = WORD(self.width + 1), WORD(64)
        for step in (ONE, width - ONE, width, width + ONE):
            up0, up1, down0, down1 = low, high, low, high
            while up0 | up1 | down0 | down1 != ZERO:
                up0, up1 = up0 << step & free_low, (up1 << step | up0 >> word - step) & free_high
                down0, down1 = (down0 >> step | down1 << word - step) & free_low, down1 >> step & free_high
                all_low |= up0 | down0
                all_high |= up1 | down1
        return all_low, all_high

    def move_code(self, state, move):
        """The player, the origin, and target and arrow by their numbers in reach: an eighth of a table of triples."""
        origin, target, arrow = self.squares(move)
        way, shot = self.ranks[origin, target], self.ranks[target, arrow]
        return ((np.int64(origin) * self.max_reach + way) * self.max_reach + shot) * 2 + self.player(state)

    @property
    def code_limit(self):
        return 2 * self.area * self.max_reach * self.max_reach

    def feature_code(self, state, move):
        first = self.n_lines + QUEENS * (1 - self.player(state))
        row, column = move % self.area // self.width, move % self.width
        beside = 0
        for i in range(QUEENS):
            queen = np.int64(state[first + i])
            if abs(queen // self.width - row) <= 1 and abs(queen % self.width - column) <= 1:
                beside += 1
        return self.move_code(state, move) * (QUEENS + 1) + beside

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.height if self.height == self.width else f"{self.width}:{self.height}"}

    def sgf_name(self, point):
        """Programs write the three squares with signs of their own between, or with none."""
        squares = re.findall(r"[a-z]\d+", point.lower())
        return "{}-{}/{}".format(*squares) if len(squares) == 3 else point

    def parse_move(self, state, text):
        """The move of that name, without the names of all legal moves, which are many."""
        match = re.fullmatch(r"([a-j])(\d+)-([a-j])(\d+)/([a-j])(\d+)", text.strip())
        if match:
            words = match.groups()
            ends = [
                (int(row) - 1) * self.width + ord(column) - ord("a") for column, row in zip(words[::2], words[1::2])
            ]
            move = (ends[0] * self.area + ends[1]) * self.area + ends[2]
            if self.is_legal(state, *ends) and self.move_name(state, move) == text.strip():
                return move
        return super().parse_move(state, text)

    def is_legal(self, state, origin, target, arrow):
        first, left = self.n_lines + QUEENS * self.player(state), state.copy()
        if origin not in state[first : first + QUEENS]:
            return False
        self.toggle(left, origin)
        reached = ([self.reached(left, start, n) for n in range(self.reach(left, start))] for start in (origin, target))
        return target in next(reached) and arrow in next(reached)
