"""Sets of up to 256 cells as tuples of four words: cell c is bit c % 64 of word c // 64.

The compiler drops words that are constantly 0.  All but the functions for one cell and `list_cells` take lanes, too.
"""

from collections.abc import Callable

from arena.games.core.boards.board import squares
from arena.games.core.jit.parts import part
from arena.games.core.numbers.bits import ONE, WORD, ZERO, list_bits, nth_bit, popcount, trailing_zeros


def table(rows: int, columns: int, condition: Callable[[int, int], bool]) -> tuple:
    """The cells of a board, numbered by rows, of which a condition of row and column holds."""
    cells = [cell for cell in range(rows * columns) if condition(*divmod(cell, columns))]
    return tuple(squares(cell - 64 * i for cell in cells if cell // 64 == i) for i in range(4))


def stones(self, state, side):
    """A method of games whose states begin with the two players' sets, of `words` words each: one player's."""
    start, words = side * self.words, self.words
    return (
        state[start],
        state[start + 1] if words > 1 else ZERO,
        state[start + 2] if words > 2 else ZERO,
        state[start + 3] if words > 3 else ZERO,
    )


@part
def union(x, y):
    """Cells of x or y."""
    return x[0] | y[0], x[1] | y[1], x[2] | y[2], x[3] | y[3]


@part
def common(x, y):
    """Cells of both."""
    return x[0] & y[0], x[1] & y[1], x[2] & y[2], x[3] & y[3]


@part
def without(x, y):
    """Cells of x, but not of y."""
    return x[0] & ~y[0], x[1] & ~y[1], x[2] & ~y[2], x[3] & ~y[3]


@part
def difference(x, y):
    """Cells of one of them alone."""
    return x[0] ^ y[0], x[1] ^ y[1], x[2] ^ y[2], x[3] ^ y[3]


@part
def is_empty(x):
    """Whether there are no cells."""
    return x[0] | x[1] | x[2] | x[3] == ZERO


@part
def size_of(x):
    """The number of cells."""
    return popcount(x[0]) + popcount(x[1]) + popcount(x[2]) + popcount(x[3])


@part
def forward(x, n):
    """Each cell's number plus n, 1 to 63."""
    up, down = WORD(n), WORD(64 - n)
    return x[0] << up, x[1] << up | x[0] >> down, x[2] << up | x[1] >> down, x[3] << up | x[2] >> down


@part
def backward(x, n):
    """Each cell's number less n, 1 to 63."""
    up, down = WORD(64 - n), WORD(n)
    return x[0] >> down | x[1] << up, x[1] >> down | x[2] << up, x[2] >> down | x[3] << up, x[3] >> down


@part
def single(cell):
    """The set of one cell."""
    word, bit = cell >> 6, ONE << WORD(cell & 63)
    return (
        bit if word == 0 else ZERO,
        bit if word == 1 else ZERO,
        bit if word == 2 else ZERO,
        bit if word == 3 else ZERO,
    )


@part
def lowest(x):
    """The lowest cell of x, not empty, as a set."""
    one, two, three = x[0] == ZERO, x[0] | x[1] == ZERO, x[0] | x[1] | x[2] == ZERO
    return (
        nth_bit(x[0], 0) if not one else ZERO,
        nth_bit(x[1], 0) if one and not two else ZERO,
        nth_bit(x[2], 0) if two and not three else ZERO,
        nth_bit(x[3], 0) if three else ZERO,
    )


@part
def first_cell(x):
    """The number of the lowest cell of x, not empty."""
    if x[0] | x[1] != ZERO:
        return trailing_zeros(x[0]) if x[0] != ZERO else 64 + trailing_zeros(x[1])
    return 128 + trailing_zeros(x[2]) if x[2] != ZERO else 192 + trailing_zeros(x[3])


@part
def nth_cell(x, n, words):
    """The number of the n-th cell of x, from 0, within its first `words` words."""
    word, base = x[0], 0
    for i in range(1, words):
        before = popcount(word)
        if n >= before:
            n -= before
            word, base = x[i], 64 * i
    return base + trailing_zeros(nth_bit(word, n))


@part
def list_cells(x, moves, words):
    """Write the cells of x as moves; return their number."""
    count = 0
    for i in range(words):
        count = list_bits(x[i], moves, count, 1, 64 * i)
    return count
