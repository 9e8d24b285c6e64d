"""Hex (Piet Hein, 1942; John Nash, 1948): two players join opposite sides of a rhombus of hexagons.

X joins top and bottom, O left and right; on a full board exactly one has a chain.  `swap`, the optional first move of
the second player, turns the stone into one of the second player's, mirrored in the long diagonal from a1.

    cells of size 3     a b c           a cell is named by column and row, as in `c2`, which is number 5;
                      1  0 1 2          a move is its cell's number, or size * size for `swap`
                       2  3 4 5
                        3  6 7 8        4 touches 1, 2, 3, 5, 6 and 7

Chains are found by the micro reduction of Y (van Rijswijck, "Search and evaluation in Hex", 2002): a full triangle has
the winner of the next smaller one, whose cells have the majority of three touching cells.  Hex is Y with a corner of X
below and one of O at the right.  So all cells take the majority of themselves, their right neighbour and the one below,
2 * (size - 1) times; the upper left one then has the chain's colour.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from arena.games.core.boards.board import letters, point_name, sgf_square
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game
from arena.games.core.lanes.lanes import choose
from arena.games.core.numbers import wide
from arena.games.core.numbers.bits import ONE, WORD, ZERO, trailing_zeros
from arena.games.core.random import next_word, random_below

MENDING = 3
OUTSIDE = 3  # the colour of cells beyond two borders
NEIGHBOURS = ((-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1))  # (rows down, columns to the right), in a circle
TOP, RIGHT, BOTTOM, LEFT = 0, 1, 3, 4  # the first neighbour by which a bridge leads to each edge


@dataclass(frozen=True)
class Hex(Game):
    """state: uint64[2 * words + 2] = the first player's stones, the second's, player to move, 1 if the game is over.

    A set of cells is `words` words in a state, cell c being bit c % 64 of word c // 64, and a tuple of four elsewhere;
    the compiler drops constant 0.
    """

    size: int = 11
    swap: bool = False

    name = "hex"
    rules = (
        "X joins top and bottom, O left and right, by a chain of stones. X begins. A move is the cell of a new stone, "
        "by column and row: `c2`; with the parameter swap, O may answer the first stone by swap, which takes it over, "
        "mirrored."
    )
    board_look = Look("hexagons", {"X": "red disc", "O": "blue disc"})
    sgf_number: ClassVar[int | None] = 11
    stable_names = True
    has_draws = False
    sizes = "size 2 to 14"
    symmetries = 2
    ranges = {"size": (2, 14)}

    @property
    def cells(self):
        return self.size * self.size

    @property
    def words(self):
        return (self.cells + 63) // 64

    @property
    def state_size(self):
        return 2 * self.words + 2

    @property
    def move_limit(self):
        return self.cells + self.swap

    max_moves, max_plies = cells, move_limit

    @cached_property
    def board(self):
        return self.table(lambda row, column: True)

    @cached_property
    def bottom(self):
        return self.table(lambda row, column: row == self.size - 1)

    @cached_property
    def right(self):
        return self.table(lambda row, column: column == self.size - 1)

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return np.int64(state[2 * self.words])

    def legal_moves(self, state, moves):
        count = wide.list_cells(self.free(state), moves, self.words)
        if self.can_swap(state):
            moves[count] = self.cells
            count += 1
        return count

    def play(self, state, move):
        side, words = self.player(state), self.words
        if move == self.cells:
            stone = wide.nth_cell(self.stones(state, 0), 0, self.words)
            state[stone >> 6] = ZERO
            move = self.swapped(stone)
        state[side * words + (move >> 6)] |= ONE << WORD(move & 63)
        own = self.stones(state, side)
        if wide.size_of(own) >= self.size:
            state[2 * words + 1] = ONE if self.has_chain(own, side) else ZERO
        state[2 * words] = WORD(1 - side)

    def is_over(self, state):
        return state[2 * self.words + 1] != ZERO

    def score(self, state):
        return 1.0 if self.player(state) == 1 else -1.0

    def move_name(self, state, move):
        if move == self.cells:
            return "swap"
        return point_name(move, self.size)

    def render(self, state):
        lines, side = [" " * 3 + " ".join(letters(self.size))], range(self.size)
        for row in side:
            colours = [self.colour(state, row, column) for column in side]
            lines.append(f"{row + 1:>{row + 2}} " + " ".join(".XO"[colour] for colour in colours if colour < OUTSIDE))
        return "\n".join(lines)

    stones = wide.stones

    def table(self, condition):
        return wide.table(self.size, self.size, condition)

    def free(self, state):
        return wide.without(wide.without(self.board, self.stones(state, 0)), self.stones(state, 1))

    def can_swap(self, state):
        return self.swap and self.player(state) == 1 and wide.is_empty(self.stones(state, 1))

    def swapped(self, stone):
        return stone % self.size * self.size + stone // self.size

    def has_chain(self, own, side):
        """Whether the stones would join the side's edges if all other cells were the other player's."""
        if side == 0:
            return self.joins_rows(own)
        return not self.joins_rows(wide.without(self.board, own))

    def joins_rows(self, x):
        """Whether x joins top and bottom, its complement being the second player's."""
        for _ in range(2 * self.size - 2):
            beside = wide.without(wide.backward(x, 1), self.right)
            below = wide.union(wide.backward(x, self.size), self.bottom)
            x = wide.union(wide.common(x, wide.union(beside, below)), wide.common(beside, below))
        return x[0] & ONE != ZERO

    def colour(self, state, row, column):
        """0 for a free cell, 1 and 2 for a player's, OUTSIDE beyond two borders."""
        outside = (0 if 0 <= row < self.size else 1) | (0 if 0 <= column < self.size else 2)
        return outside if outside != 0 else self.stone(state, row * self.size + column)

    def stone(self, state, cell):
        word, bit = cell >> 6, ONE << WORD(cell & 63)
        return (1 if state[word] & bit != ZERO else 0) | (2 if state[self.words + word] & bit != ZERO else 0)

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def images(self):
        """int64[symmetries, cells]: where each symmetry takes a cell."""
        return np.stack([np.arange(self.cells), np.arange(self.cells)[::-1]])

    def transform(self, state, symmetry, target):
        for i in range(self.state_size):
            target[i] = state[i] if symmetry == 0 or i >= 2 * self.words else ZERO
        for i in range(2 * self.words if symmetry > 0 else 0):
            word, side = state[i], i // self.words
            while word != ZERO:
                cell = self.images[symmetry, 64 * (i - side * self.words) + trailing_zeros(word)]
                target[side * self.words + (cell >> 6)] |= ONE << WORD(cell & 63)
                word &= word - ONE

    def transform_move(self, move, symmetry):
        return move if move == self.cells else self.images[symmetry, move]

    def random_move(self, state, moves, rng):
        free = self.free(state)
        count = wide.size_of(free)
        choice = random_below(rng, count + (1 if self.can_swap(state) else 0))
        return wide.nth_cell(free, choice, self.words) if choice < count else self.cells

    def random_playout(self, state, moves, rng):
        """Fill the board at random: the player with a chain then was the first to have one."""
        plies = 0
        if self.can_swap(state) and self.random_move(state, moves, rng) == self.cells:
            self.play(state, self.cells)
            plies = 1
        if self.is_over(state):
            result = self.score(state)
        else:
            free = self.free(state)
            count = wide.size_of(free)
            first = self.random_subset(free, (count + 1 - self.player(state)) >> 1, rng)
            result = 1.0 if self.joins_rows(wide.union(self.stones(state, 0), first)) else -1.0
            plies += count
        return result, plies

    def random_subset(self, x, size, rng):
        """A uniformly random subset of a size: each cell with probability 1/2, then some out or in at random."""
        words = self.words
        coins = (
            next_word(rng),
            next_word(rng) if words > 1 else ZERO,
            next_word(rng) if words > 2 else ZERO,
            next_word(rng) if words > 3 else ZERO,
        )
        subset = wide.common(x, coins)
        excess = wide.size_of(subset) - size
        pool = subset if excess > 0 else wide.without(x, subset)
        in_pool = wide.size_of(pool)
        for _ in range(abs(excess)):
            cell = wide.single(wide.nth_cell(pool, random_below(rng, in_pool), self.words))
            pool, subset = wide.difference(pool, cell), wide.difference(subset, cell)
            in_pool -= 1
        return subset

    lane_registers = 4, 2

    @property
    def lane_bits(self):
        return 0 if self.swap else 64

    def lane_start(self, state, zero):
        """(free cells, the first player's stones, free cells that this player gets, all free cells)."""
        free, own = self.free(state), self.stones(state, 0)
        count = wide.size_of(free)
        first = (count + 1 - self.player(state)) >> 1
        return self.lifted(free, zero), self.lifted(own, zero), zero + first, zero + count

    def lifted(self, x, zero):
        return zero + x[0], zero + x[1], zero + x[2], zero + x[3]

    def lane_step(self, words, rng):
        """A whole playout; a lane whose subset is not mended in time starts again."""
        free, own, size, count = words
        first, wrong = self.lane_subset(free, size, rng)
        won, over = self.joins_rows(wide.union(own, first)), wrong == 0
        return words, choose(over, count, 0), over, choose(won, 1, -1)

    def lane_subset(self, x, size, rng):
        """(subset as by random_subset, cells still to be put in or taken out): eight tries with the bits of each draw.

        The number of draws is fixed: no lane depends on another.
        """
        subset = (
            x[0] & next_word(rng),
            x[1] & next_word(rng) if self.words > 1 else x[1],
            x[2] & next_word(rng) if self.words > 2 else x[2],
            x[3] & next_word(rng) if self.words > 3 else x[3],
        )
        count, numbers = wide.size_of(subset), (1 << self.number_bits) - 1
        excess = count > size
        pool, wrong = choose(excess, subset, wide.without(x, subset)), choose(excess, count - size, size - count)
        for _ in range(MENDING):
            drawn = next_word(rng)
            for _ in range(8):
                bit, word = choose(wrong != 0, 1, 0) << (drawn & numbers & 63), (drawn & numbers) >> 6
                bits = choose(word == 0, bit, 0), choose(word == 1, bit, 0), choose(word == 2, bit, 0)
                cell = wide.common(pool, (*bits, choose(word == 3, bit, 0)))
                pool, subset = wide.without(pool, cell), wide.difference(subset, cell)
                wrong -= wide.size_of(cell)
                drawn >>= 8
        return subset, wrong

    @property
    def number_bits(self):
        return (self.cells - 1).bit_length()

    # -- For strength ------------------------------------------------------------------------------------------

    @cached_property
    def top(self):
        return self.table(lambda row, column: row == 0)

    @cached_property
    def left(self):
        return self.table(lambda row, column: column == 0)

    def around(self, x):
        """All neighbours, with cells beyond the last row."""
        inner_left, inner_right, size = wide.without(x, self.left), wide.without(x, self.right), self.size
        beside = wide.union(wide.backward(inner_left, 1), wide.forward(inner_right, 1))
        above = wide.union(wide.backward(x, size), wide.backward(inner_right, size - 1))
        below = wide.union(wide.forward(x, size), wide.forward(inner_left, size - 1))
        return wide.union(beside, wide.union(above, below))

    def toward(self, x, direction):
        """The neighbours in a direction, an index into NEIGHBOURS, or 6 more."""
        direction %= 6
        if direction == 0:
            moved = wide.backward(x, self.size)
        elif direction == 1:
            moved = wide.backward(wide.without(x, self.right), self.size - 1)
        elif direction == 2:
            moved = wide.forward(wide.without(x, self.right), 1)
        elif direction == 3:
            moved = wide.forward(x, self.size)
        elif direction == 4:
            moved = wide.forward(wide.without(x, self.left), self.size - 1)
        else:
            moved = wide.backward(wide.without(x, self.left), 1)
        return wide.common(moved, self.board)

    def foreseen(self, state):
        """A player who has joined both edges by neighbours and bridges wins; so does the player to move who can with
        one stone.

        A bridge leads to a stone two steps away, or to the edge from the second row, over two free cells, of
        which the other player can take one.  No two bridges here share a cell.
        """
        if self.can_swap(state):
            return 0, True
        side, free, near, bridges = self.player(state), self.free(state), self.board, 0
        for of in (1 - side, side):  # a loop, so that its methods are compiled once
            joined, near, bridges = self.links(self.stones(state, of), free, of)
            if joined:
                return (2 * bridges - 1 if of == side else -2 * bridges), bridges == 1
        return (0, True) if wide.is_empty(near) else (2 * bridges + 1, bridges == 0)

    def links(self, own, free, side):
        """(whether neighbours and bridges join a side's edges, free cells next to both, number of bridges)."""
        begin, end = (self.top, self.bottom) if side == 0 else (self.left, self.right)
        first, last, bridges = own, own, 0
        for edge in (TOP, BOTTOM) if side == 0 else (LEFT, RIGHT):
            reached, free, more = self.linked(own, free, edge)
            first, last, bridges = last, reached, bridges + more
        near = wide.common(wide.union(begin, self.around(first)), wide.union(end, self.around(last)))
        return not wide.is_empty(wide.common(first, last)), wide.common(near, free), bridges

    def linked(self, own, free, edge):
        """(stones linked to an edge by neighbours and bridges, free cells left, number of bridges)."""
        border = self.borders[edge]
        reached = self.grown(wide.common(own, border), own)
        bridges = misses = direction = 0
        while misses <= 6:
            if direction == 6:  # over two cells of the edge
                way, one = edge + 3, wide.common(free, border)
                other = one
            else:
                way = direction
                one = wide.common(self.toward(reached, way), free)
                other = wide.common(self.toward(reached, way + 1), free)
            ends = wide.common(self.toward(one, way + 1), self.toward(other, way))
            ends = wide.without(wide.common(ends, own), reached)
            if wide.is_empty(ends):
                misses += 1
                direction = (direction + 1) % 7
            else:
                end = wide.lowest(ends)
                free = wide.without(free, wide.union(self.toward(end, way + 3), self.toward(end, way + 4)))
                reached = self.grown(wide.union(reached, end), own)
                bridges, misses = bridges + 1, 0
        return reached, free, bridges

    @cached_property
    def borders(self):
        return self.top, self.right, self.board, self.bottom, self.left

    def grown(self, reached, own):
        """The chains of `own` that have a cell of `reached`."""
        before = wide.without(reached, reached)
        while not wide.is_empty(wide.difference(reached, before)):
            before = reached
            reached = wide.union(reached, wide.common(self.around(reached), own))
        return reached

    def evaluate(self, state):
        """The difference d of the stones that the shortest chains need, as d / (2 + abs(d)).

        The player to move is half a stone ahead.
        """
        first, second, free = self.stones(state, 0), self.stones(state, 1), self.free(state)
        ahead = self.distance(second, free, self.left, self.right) - self.distance(first, free, self.top, self.bottom)
        balance = ahead + (0.5 if self.player(state) == 0 else -0.5)
        return balance / (2.0 + abs(balance))

    def distance(self, own, free, start, goal):
        """The fewest free cells that join two sides with the stones; more than all cells if none do."""
        reached, stones = wide.common(start, own), 0
        while wide.is_empty(wide.common(reached, goal)) and stones <= self.cells:
            border = wide.union(start, self.around(reached))
            grown = wide.union(reached, wide.common(border, own))
            if wide.is_empty(wide.without(grown, reached)):  # no own stone to go on to: place another
                grown = wide.union(reached, wide.common(border, free))
                stones += 1
            reached = grown
        return stones

    def feature_code(self, state, move):
        """The move code with the six neighbours, two bits each: free, the first player's or the second's.  Borders
        count as stones of the player who joins them, cells beyond two borders as both players'."""
        code = np.int64(move) + self.move_limit * self.player(state)
        row, column = move // self.size, move % self.size
        for down, right in NEIGHBOURS:
            code = code << 2 | (self.colour(state, row + down, column + right) if move < self.cells else 0)
        return code

    # -- For people --------------------------------------------------------------------------------------------

    def sgf_properties(self):
        return {"SZ": self.size}

    def sgf_move(self, name):
        return "swap-pieces" if name == "swap" else name

    def sgf_name(self, point):
        """Little Golem writes two letters, from the top left."""
        if point.lower() in ("swap", "swap-pieces"):
            if not self.swap:
                raise ValueError(f"swaps, which is a rule of {replace(self, swap=True)}")
            return "swap"
        if point == "swap-sides":
            raise ValueError("has swap-sides, which turns the board; swap-pieces is read")
        if not point[1:].isdecimal():
            column, row = sgf_square(point, self.size, self.size)
            return point_name(row * self.size + column, self.size)
        return point

    def from_sgf(self, root):
        """A game in which somebody swaps has that rule."""
        swaps = any(point.lower().startswith("swap") for point in (*root["B"][:2], *root["W"][:2]))
        return replace(super().from_sgf(root), swap=self.swap or swaps)
