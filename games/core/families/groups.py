"""Stones on the points of a board, in chains with liberties, for Go and its relatives.

A state holds two sets of points.  To find chains, methods lay it out in `board: uint16[room]`, with a border, so that
no neighbour needs a test.  Points there, of 3x3, with their moves:

    16 17 18 19 20
    12 13 14 15         moves   6 7 8         a point's neighbours are 1 and `stride` = width + 1 away;
     8  9 10 11                 3 4 5         the column left of the board is also the one right of it
     4  5  6  7                 0 1 2
     0  1  2  3

A board has parts of `region` words: the colours of points; at `chain`, the stone that stands for a chain; at `next`, a
chain's next stone, in a ring; and at `liberties`, for the stone that stands for it, the chain's pseudo-liberties: an
empty point counts once for each stone next to it, so that additions keep them up to date, and 0 means no liberty (as in
Lukasz Lew's libego).  Points without a stone have chain 0, which absorbs their counts.  At `empties` the empty points
are listed; `spare` and `seen` are at the games' disposal.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import Rectangle, draw, turns
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game
from arena.games.core.numbers import wide
from arena.games.core.numbers.bits import ONE, WORD, popcount
from arena.games.core.random import random_below

LETTERS = "abcdefghjklmnopqrst"  # of columns: Go leaves out the i
EMPTY, BLACK, WHITE, BORDER = WORD(0), WORD(1), WORD(2), WORD(4)
BOTH = BLACK + WHITE
MANY = WORD(1 << 15)  # liberties of chain 0, never 0


@dataclass(frozen=True)
class StoneGame(Rectangle, Game):
    """state: uint64, first the sets of black and of white stones, `words` words each; bit m stands for move m."""

    may_allocate = True  # boards of chains

    size: int = 9

    board_look = Look("points")
    stable_names = True
    rows = columns = 0  # of a rectangular board, in games with these parameters
    ranges = {"size": (2, 13)}

    @cached_property
    def words(self):
        return (self.area + 63) // 64

    @cached_property
    def stride(self):
        return WORD(self.width + 1)

    @cached_property
    def region(self):
        """The words of each part of a board: a power of 2, above all points and their neighbours."""
        return WORD(256 if (self.width + 1) * (self.height + 2) < 256 else 512)

    @cached_property
    def room(self):
        return 7 * int(self.region)

    @cached_property
    def chain(self):
        return self.region

    @cached_property
    def next(self):
        return WORD(2) * self.region

    @cached_property
    def liberties(self):
        return WORD(3) * self.region

    @cached_property
    def empties(self):
        return WORD(4) * self.region

    @cached_property
    def spare(self):
        return WORD(5) * self.region

    @cached_property
    def seen(self):
        return WORD(6) * self.region

    def move_name(self, state, move):
        return "pass" if move == self.area else f"{LETTERS[move % self.width]}{move // self.width + 1}"

    def render(self, state):
        def symbol(row, column):
            return ".XO"[int(self.stone(state, row * self.width + column))]

        *rows, letters = draw(reversed(range(self.height)), self.width, symbol).splitlines()
        margin = len(letters) - len(letters.lstrip())
        return "\n".join([*rows, " " * margin + " ".join(LETTERS[: self.width])])

    def point(self, move):
        return WORD(move + move // self.width + self.width + 2)

    def move_at(self, point):
        n = np.int64(point) - (self.width + 2)
        return n - n // (self.width + 1)

    def around(self, point):
        return point - ONE, point + ONE, point - self.stride, point + self.stride

    def stone(self, state, move):
        word, bit = move >> 6, WORD(move & 63)
        return (state[word] >> bit & ONE) | (state[self.words + word] >> bit & ONE) << ONE

    def lay_out(self, state, board):
        """Write the board of `state`; returns the number of empty points."""
        board[: self.chain] = BORDER
        board[self.chain : self.next] = 0
        board[self.liberties] = MANY
        empties = WORD(0)
        for move in range(self.area):
            point = self.point(move)
            board[point] = self.stone(state, move)
            if board[point] == EMPTY:
                board[self.empties + empties] = point
                empties += ONE
        for move in range(self.area):
            point = self.point(move)
            if board[point] != EMPTY:
                self.start_chain(board, point)
                self.join(board, point, point - ONE)
                self.join(board, point, point - self.stride)
        return empties

    def start_chain(self, board, point):
        liberties = 0
        for neighbour in self.around(point):
            liberties += board[neighbour] == EMPTY
        board[self.chain + point] = board[self.next + point] = point
        board[self.liberties + point] = liberties

    def join(self, board, point, neighbour):
        """Join two chains, unless they are one or of two colours."""
        keep, gone = WORD(board[self.chain + neighbour]), WORD(board[self.chain + point])
        if board[neighbour] == board[point] and keep != gone:
            board[self.liberties + keep] += board[self.liberties + gone]
            stone = point
            while board[self.chain + stone] != keep:
                board[self.chain + stone] = keep
                stone = WORD(board[self.next + stone])
            board[self.next + point], board[self.next + neighbour] = (
                board[self.next + neighbour],
                board[self.next + point],
            )

    def press(self, board, point):
        """Take the liberty of a point to be played at from the chains around it."""
        for neighbour in self.around(point):
            board[self.liberties + WORD(board[self.chain + neighbour])] -= ONE

    def release(self, board, point):
        for neighbour in self.around(point):
            board[self.liberties + WORD(board[self.chain + neighbour])] += ONE

    def breathes(self, board, point, colour):
        """True if a stone at a pressed point has a liberty without capturing."""
        found = False
        for neighbour in self.around(point):
            alive = board[self.liberties + WORD(board[self.chain + neighbour])] != 0
            found |= (board[neighbour] == EMPTY) | ((board[neighbour] == colour) & alive)
        return found

    def captures(self, board, point, colour):
        """True if a stone at a pressed point captures."""
        found = False
        for neighbour in self.around(point):
            dead = board[self.liberties + WORD(board[self.chain + neighbour])] == 0
            found |= (board[neighbour] == BOTH - colour) & dead
        return found

    def put(self, board, point, colour):
        board[point] = colour
        self.start_chain(board, point)
        for neighbour in self.around(point):
            self.join(board, point, neighbour)

    def take(self, board, point, empties):
        """Take a chain off; returns the number of empty points, which was `empties`."""
        stone, colour = point, board[point]
        while board[stone] == colour:
            board[stone] = EMPTY
            board[self.chain + stone] = 0
            for neighbour in self.around(stone):
                board[self.liberties + WORD(board[self.chain + neighbour])] += ONE
            board[self.empties + empties] = stone
            empties += ONE
            stone = WORD(board[self.next + stone])
        return empties

    # -- For speed ---------------------------------------------------------------------------------------------

    @property
    def symmetries(self):
        return 8 if self.height == self.width else 4

    def put_stone(self, state, move, colour):
        state[(move >> 6) + (self.words if colour == WHITE else 0)] |= ONE << WORD(move & 63)

    @cached_property
    def images(self):
        return turns(self.height, self.width, self.symmetries)

    def image(self, move, symmetry):
        return move if move == self.area else self.images[symmetry, move]

    def transform_move(self, move, symmetry):
        return self.image(move, symmetry)

    def transform(self, state, symmetry, target):
        for i in range(2 * self.words, self.state_size):
            target[i] = state[i]
        self.transform_stones(state, symmetry, target)

    def transform_stones(self, state, symmetry, target):
        for i in range(2 * self.words):
            target[i] = 0
        for move in range(self.area):
            colour = self.stone(state, move)
            if colour != EMPTY:
                self.put_stone(target, self.image(move, symmetry), colour)

    # -- For strength ------------------------------------------------------------------------------------------

    def feature_code(self, state, move):
        """The move code with the eight points around: empty, own, the other's or off the board.

        Cazenave, "Playout policy adaptation with move features", 2016, without captures and atari, which would need a
        board.
        """
        pattern, own = np.int64(0), BLACK + WORD(self.player(state))
        if move != self.area:
            row, column = move // self.width, move % self.width
            for r in range(row - 1, row + 2):
                for c in range(column - 1, column + 2):
                    what = 3
                    if 0 <= r < self.height and 0 <= c < self.width:
                        colour = self.stone(state, r * self.width + c)
                        what = 0 if colour == EMPTY else (1 if colour == own else 2)
                    pattern = pattern << 2 | what
        return self.move_code(state, move) << 18 | pattern


@dataclass(frozen=True)
class PlacingGame(StoneGame):
    """Games without passes, which end when the player to move has no legal move, or with a capture.

    Moves are found by floods over the sets of a state; only playouts lay out a board, which they keep up to date.

    state: behind the stones, 1 if the game is over.
    """

    has_draws = False
    last_mover_wins = True  # false in a misere game
    may_capture = True

    @property
    def state_size(self):
        return 2 * self.words + 1

    move_limit = max_moves = max_plies = Rectangle.area

    @cached_property
    def points(self):
        return self.table(lambda row, column: True)

    @cached_property
    def left(self):
        return self.table(lambda row, column: column == 0)

    @cached_property
    def right(self):
        return self.table(lambda row, column: column == self.width - 1)

    stones = wide.stones

    def table(self, condition):
        return wide.table(self.height, self.width, condition)

    def start(self, state):
        state[:] = 0

    def player(self, state):
        stones = 0
        for i in range(2 * self.words):
            stones += popcount(state[i])
        return stones & 1

    def empty(self, own, other):
        return wide.without(wide.without(self.points, own), other)

    def beside(self, x):
        """All neighbours of a set of points."""
        across = wide.union(wide.forward(wide.without(x, self.right), 1), wide.backward(wide.without(x, self.left), 1))
        along = wide.union(wide.forward(x, self.width), wide.backward(x, self.width))
        return wide.common(wide.union(across, along), self.points)

    def whole_chain(self, chain, own):
        """The chain that has a part of it."""
        before = wide.without(chain, chain)
        while not wide.is_empty(wide.difference(chain, before)):
            before = chain
            chain = wide.union(chain, wide.common(self.beside(chain), own))
        return chain

    def liberties_of(self, own, empty):
        """(the last liberties of chains that have one, the liberties of those that have more)."""
        last = more = wide.without(own, own)
        while not wide.is_empty(own):
            chain = self.whole_chain(wide.lowest(own), own)
            own = wide.without(own, chain)
            found = wide.common(self.beside(chain), empty)
            if wide.size_of(found) == 1:
                last = wide.union(last, found)
            else:
                more = wide.union(more, found)
        return last, more

    def breathing(self, empty, more):
        """The points at which a stone has a liberty without capturing; more: from liberties_of its colour."""
        return wide.union(wide.common(empty, self.beside(empty)), more)

    def legal_points(self, own, other):
        """Where the player who has the stones `own` may play."""
        empty = self.empty(own, other)
        breathing = self.breathing(empty, self.liberties_of(own, empty)[1])
        captures = self.liberties_of(other, empty)[0]
        return wide.union(breathing, captures) if self.may_capture else wide.without(breathing, captures)

    def legal_moves(self, state, moves):
        side = self.player(state)
        legal = self.legal_points(self.stones(state, side), self.stones(state, 1 - side))
        return wide.list_cells(legal, moves, self.words)

    def play(self, state, move):
        side = self.player(state)
        own, other = wide.union(self.stones(state, side), wide.single(move)), self.stones(state, 1 - side)
        captured = self.takes(wide.single(move), other, self.empty(own, other))
        state[(move >> 6) + side * self.words] |= ONE << WORD(move & 63)
        state[2 * self.words] = captured or not self.can_move(other, own)

    def takes(self, stone, other, empty):
        """True if a new stone has taken the last liberty of a chain."""
        beside, captured = wide.common(self.beside(stone), other), False
        while not wide.is_empty(beside):
            chain = self.whole_chain(wide.lowest(beside), other)
            beside = wide.without(beside, chain)
            captured |= wide.is_empty(wide.common(self.beside(chain), empty))
        return captured

    def can_move(self, own, other):
        """True if the player has a legal move: at once if some point has no stone around."""
        apart = wide.without(self.empty(own, other), self.beside(wide.union(own, other)))
        return not wide.is_empty(apart) or not wide.is_empty(self.legal_points(own, other))

    def is_over(self, state):
        return state[2 * self.words] != 0

    def score(self, state):
        return 1.0 if (self.player(state) == 1) == self.last_mover_wins else -1.0

    # -- For speed ---------------------------------------------------------------------------------------------

    def random_playout(self, state, moves, rng):
        """Play as by random_move: draw points without repetition until one is legal."""
        board, colour = np.empty(self.room, np.uint16), BLACK + WORD(self.player(state))
        empties = self.lay_out(state, board)
        over, plies, left = self.is_over(state), 0, empties  # left: points not tried on this ply
        while not over:
            i = self.empties + WORD(random_below(rng, left))
            point = WORD(board[i])
            self.press(board, point)
            over = self.captures(board, point, colour)
            if (self.may_capture or not over) and (over or self.breathes(board, point, colour)):
                self.put(board, point, colour)
                empties -= ONE
                board[i] = board[self.empties + empties]
                left, colour = empties, BOTH - colour
                plies += 1
            else:
                over = False
                self.release(board, point)
                left -= ONE
                board[i], board[self.empties + left] = board[self.empties + left], point
            over |= left == 0
        return (1.0 if (colour == WHITE) == self.last_mover_wins else -1.0), plies
