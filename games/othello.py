"""Othello: discs shut in between a new disc and another of its colour are turned over.

Black, the first player, and White place discs in turn; each must turn over at least one, in any of the eight
directions.  A player who cannot passes; when neither can, the player with more discs wins.  Rules: World Othello
Federation; on 4x4, 6x6 and 8x8.

    squares   1   0  1  2  3 ...     a square is named by column and row, rows counted from the top: d3;
              2   8  9 10 11         a move is its square's number, or 64 for a pass.  A smaller board is the upper
              3  16 17 18 19         left corner of that of 8x8, and has its numbers.
                  a  b  c  d
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import draw_sets, point_name, sgf_point, sgf_square, squares
from arena.games.core.boards.drawing import Look
from arena.games.core.families.eight import EightWide
from arena.games.core.game import check_choice
from arena.games.core.lanes.lanes import choose
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below

PASS = 64
OVER = WORD(2)  # in a state's last word
CORNER_WEIGHT = 8


@dataclass(frozen=True)
class Othello(EightWide):
    """state: uint64[4] = Black's discs, White's, squares that the player to move can play on, player to move | OVER.

    The third word follows from others, but `play` must find it anyway.
    """

    size: int = 8

    name = "othello"
    rules = (
        "More discs in the end win; B begins. A move is the square of a new disc, `d3`, with rows counted from the "
        "top, and turns over enemies in a line between it and another own disc, one at least. Without such a move one "
        "must `pass`."
    )
    board_look = Look("felt")
    colour_exchange = "swap"
    sgf_number = 2
    stable_names = True
    sizes = "size 4, 6 or 8"
    term_weights = {"moves": 1.0, "corners": float(CORNER_WEIGHT), "discs": 0.0}
    term_scale = 32.0
    summed = ""
    state_size = 4
    move_limit = PASS + 1
    lane_bits = 64

    def __post_init__(self):
        check_choice("size", self.size, (4, 6, 8))

    @property
    def max_moves(self):
        return self.size * self.size - 4

    @property
    def max_plies(self):
        """Each square takes one move, and between two there is at most one pass."""
        return 2 * self.max_moves - 1

    @cached_property
    def inner(self):
        """All but the first and last columns, where no row or diagonal shuts a disc in."""
        return squares(8 * row + column for row in range(self.size) for column in range(1, self.size - 1))

    def start(self, state):
        centre = 9 * (self.size // 2)  # lower right of the middle
        state[0] = ONE << WORD(centre - 8) | ONE << WORD(centre - 1)
        state[1] = ONE << WORD(centre - 9) | ONE << WORD(centre)
        state[2] = self.playable(state[0], state[1])
        state[3] = ZERO

    def player(self, state):
        return np.int64(state[3] & ONE)

    def legal_moves(self, state, moves):
        count = list_bits(state[2], moves, 0, 1, 0)
        if count == 0:
            moves[0] = PASS
            count = 1
        return count

    def play(self, state, move):
        side = state[3]
        own, other = state[side], state[ONE - side]
        if move != PASS:
            square = ONE << WORD(move)
            turned = self.turned(square, own, other)
            own ^= square | turned
            other ^= turned
            state[side], state[ONE - side] = own, other
        state[2] = self.playable(other, own)
        over = state[2] == ZERO and self.playable(own, other) == ZERO
        state[3] = ONE - side | (OVER if over else ZERO)

    def is_over(self, state):
        return state[3] >= OVER

    def score(self, state):
        """Black's discs less White's; empty squares, which tournaments give to the winner, do not count."""
        return float(popcount(state[0]) - popcount(state[1]))

    def move_name(self, state, move):
        return "pass" if move == PASS else point_name(move, 8)

    def render(self, state):
        return draw_sets(range(self.size), self.size, {"B": state[0], "W": state[1]}, 8)

    def runs_up(self, source, through, step):
        """The discs of `through` without a gap from `source`, one every `step` bits upwards.

        At most six; doubles the step on the way (Kogge and Stone's parallel prefix).
        """
        run = through & source << step
        run |= through & run << step
        pairs = through & through << step
        run |= pairs & run << (step + step)
        return run | pairs & run << (step + step)

    def runs_down(self, source, through, step):
        """The discs of `through` without a gap from `source`, one every `step` bits downwards."""
        run = through & source >> step
        run |= through & run >> step
        pairs = through & through >> step
        run |= pairs & run >> (step + step)
        return run | pairs & run >> (step + step)

    def playable_along(self, own, through, step):
        """The squares behind runs of `through` from own discs, both ways along a direction."""
        return self.runs_up(own, through, step) << step | self.runs_down(own, through, step) >> step

    def playable(self, own, other):
        inner = other & self.inner
        ends = (
            self.playable_along(own, inner, WORD(1))
            | self.playable_along(own, other, WORD(8))
            | self.playable_along(own, inner, WORD(7))
            | self.playable_along(own, inner, WORD(9))
        )
        return ends & self.board & ~(own | other)

    def turned_along(self, square, own, through, step):
        """The runs of `through` from the square to own discs, both ways along a direction."""
        up, down = self.runs_up(square, through, step), self.runs_down(square, through, step)
        return choose(up << step & own != ZERO, up, ZERO) | choose(down >> step & own != ZERO, down, ZERO)

    def turned(self, square, own, other):
        """The discs that a new disc turns over; the square is a set of one."""
        inner = other & self.inner
        return (
            self.turned_along(square, own, inner, WORD(1))
            | self.turned_along(square, own, other, WORD(8))
            | self.turned_along(square, own, inner, WORD(7))
            | self.turned_along(square, own, inner, WORD(9))
        )

    # -- For speed ---------------------------------------------------------------------------------------------

    def transform(self, state, symmetry, target):
        for i in range(3):
            target[i] = self.image(state[i], symmetry)
        target[3] = state[3]

    def transform_move(self, move, symmetry):
        if move == PASS:
            return move
        return self.image_of_square(move, symmetry)

    def random_move(self, state, moves, rng):
        """Draw from the set of squares; a pass takes no random number."""
        if state[2] == ZERO:
            return PASS
        return trailing_zeros(nth_bit(state[2], random_below(rng, popcount(state[2]))))

    def random_playout(self, state, moves, rng):
        black = state[3] & ONE == ZERO
        own, other = (state[0], state[1]) if black else (state[1], state[0])
        free, over, plies = state[2], self.is_over(state), 0
        while not over:
            if free != ZERO:
                square = nth_bit(free, random_below(rng, popcount(free)))
                turned = self.turned(square, own, other)
                own ^= square | turned
                other ^= turned
            own, other = other, own
            plies += 1
            black = not black
            free = self.playable(own, other)
            over = free == ZERO and self.playable(other, own) == ZERO
        difference = popcount(own) - popcount(other)
        return float(difference if black else -difference), plies

    def lane_start(self, state, zero):
        side = state[3] & ONE
        return zero + state[side], zero + state[ONE - side], zero + side, zero

    def lane_step(self, words, rng):
        """A move or a pass.  After two passes the plies are those before the first."""
        own, other, side, passed = words  # passed: 1 after a pass
        free = self.playable(own, other)
        square = nth_bit(free, random_below(rng, popcount(free)))
        turned = self.turned(square, own, other)
        own, other, side = other ^ turned, own ^ (square | turned), side ^ 1
        over = (free == 0) & (passed != 0)
        difference = popcount(own) - popcount(other)
        score = choose(side == 0, difference, 0 - difference)
        return (own, other, side, choose(free == 0, 1, 0)), choose(over, -1, 1), over, score

    # -- For strength ------------------------------------------------------------------------------------------

    @cached_property
    def corners(self):
        last = self.size - 1
        return squares((0, last, 8 * last, 9 * last))

    def plies_left(self, state):
        """Each empty square may be played on, after a pass."""
        return 2 * popcount(self.board & ~(state[0] | state[1])) - (0 if state[2] == ZERO else 1)

    def foreseen(self, state):
        """The winner with one empty square, or with stable discs on over half the squares."""
        side = state[3] & ONE
        own, other = state[side], state[ONE - side]
        empty = self.board & ~(own | other)
        if empty & (empty - ONE) == ZERO:
            return self.last_square(own, other, empty)
        half, plies = self.size * self.size // 2, np.int64(self.plies_left(state))
        if popcount(own) > half and popcount(self.stable(own, empty)) > half:
            return plies, False
        if popcount(other) > half and popcount(self.stable(other, empty)) > half:
            return -plies, False
        return 0, True

    def last_square(self, own, other, empty):
        """`foreseen` with one empty square, on which a side can play."""
        plies, turned = 1, self.turned(empty, own, other)
        sign = 1
        if turned == ZERO:
            plies, sign, turned = 2, -1, self.turned(empty, other, own)
        ahead = popcount(own) - popcount(other) + sign * (2 * popcount(turned) + 1)
        return (plies if ahead > 0 else -plies if ahead < 0 else 0), True

    def stable(self, own, empty):
        """Discs that can never be turned over: each of the four lines is full, or has an edge or a stable own disc
        beside the disc."""
        across, upright = self.full(empty, WORD(1), self.not_last), self.full(empty, WORD(8), self.board)
        left, right = self.full(empty, WORD(7), self.not_first), self.full(empty, WORD(9), self.not_last)
        stable, before = own & across & upright & left & right, own
        while stable != before:
            before = stable
            safe = (across | self.leaning(before, WORD(1), self.not_last)) & own
            safe &= upright | self.leaning(before, WORD(8), self.board)
            safe &= left | self.leaning(before, WORD(7), self.not_first)
            stable |= safe & (right | self.leaning(before, WORD(9), self.not_last))
        return stable

    @cached_property
    def not_first(self):
        return squares(8 * row + column for row in range(self.size) for column in range(1, self.size))

    @cached_property
    def not_last(self):
        return self.not_first >> ONE

    def along(self, x, step, start):
        """Neighbours both ways; those of `start` have a next one upwards, or it is the last row."""
        return (x & start) << step & self.board | x >> step & start

    def full(self, empty, step, start):
        """Squares whose line in a direction has no empty square."""
        for _ in range(self.size - 1):
            empty |= self.along(empty, step, start)
        return self.board & ~empty

    def leaning(self, discs, step, start):
        """Squares that have one of the discs, or the edge, beside them on a line."""
        up, down = (self.board & start) << step & self.board, self.board >> step & start
        return self.along(discs, step, start) | self.board & ~(up & down)

    def evaluate(self, state):
        """Mobility and corners: possible moves of either player, and 8 a corner; the difference d as d / (32 + |d|)."""
        side = state[3] & ONE
        mobility = popcount(state[2]) - popcount(self.playable(state[ONE - side], state[side]))
        corners = popcount(state[0] & self.corners) - popcount(state[1] & self.corners)
        difference = CORNER_WEIGHT * corners + (mobility if side == ZERO else -mobility)
        return difference / (32.0 + abs(difference))

    def counts(self, state, side):
        mover = np.int64(state[3] & ONE)
        moves = state[2] if side == mover else self.playable(state[1 - mover], state[mover])
        return popcount(moves), popcount(state[side] & self.corners), popcount(state[side])

    def evaluate_discs(self, state):
        """Discs, as beginners count: the difference over the squares."""
        return (popcount(state[0]) - popcount(state[1])) / float(self.size * self.size)

    def move_order(self, state, move):
        """Few replies, those into corners twice; a corner is worth two."""
        if move == PASS:
            return 0
        side, square = state[3] & ONE, ONE << WORD(move)
        turned = self.turned(square, state[side], state[ONE - side])
        replies = self.playable(state[ONE - side] ^ turned, state[side] ^ (square | turned))
        return 2 * popcount(square & self.corners) - popcount(replies) - popcount(replies & self.corners)

    def feature_code(self, state, move):
        turned = 0
        if move != PASS:
            side = state[3]
            turned = popcount(self.turned(ONE << WORD(move), state[side], state[ONE - side]))
        return self.move_code(state, move) << 5 | turned

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.size}

    def sgf_move(self, name):
        return "" if name == "pass" else sgf_point(ord(name[0]) - ord("a"), int(name[1:]) - 1)

    def sgf_name(self, point):
        """Some programs write squares, as in `f5`."""
        if point.lower() in ("", "tt", "pass"):
            return "pass"
        if point[1:].isdecimal():
            return point.lower()
        column, row = sgf_square(point, self.size, self.size)
        return point_name(row * self.size + column, self.size)

    def sgf_start(self, stones, mover):
        """The four discs of the beginning may be written."""
        low, high = "abcdefgh"[self.size // 2 - 1 : self.size // 2 + 1]
        row = self.size // 2
        standard = {"W": {f"{low}{row}", f"{high}{row + 1}"}, "B": {f"{low}{row + 1}", f"{high}{row}"}}
        return (
            []
            if {colour: set(names) for colour, names in stones.items()} == standard
            else super().sgf_start(stones, mover)
        )
