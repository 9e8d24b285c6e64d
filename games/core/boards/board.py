"""Drawing boards and naming squares, for the `render` and `move_name` of board games."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np


def square_name(square: int, columns: int) -> str:
    """`2a` for row 2, column a: squares are numbered along rows, rows named from 1."""
    return f"{square // columns + 1}{chr(ord('a') + square % columns)}"


def point_name(square, columns: int) -> str:
    """`a2` for row 2, column a."""
    return f"{chr(ord('a') + square % columns)}{square // columns + 1}"


def letters(columns: int) -> list[str]:
    """The names of columns: a, b, c, ..."""
    return [chr(ord("a") + column) for column in range(columns)]


def sgf_point(column: int, row: int) -> str:
    """A square as in the Smart Game Format: two letters, columns from the left, rows from the top."""
    return chr(ord("a") + column) + chr(ord("a") + row)


def sgf_square(point: str, columns: int, rows: int) -> tuple[int, int]:
    """(column, row from the top) of a point as `sgf_point` writes it; ValueError if the board has none."""
    if len(point) == 2 and point.isascii():
        column, row = (ord(letter) - ord("a") for letter in point)
        if 0 <= column < columns and 0 <= row < rows:
            return column, row
    raise ValueError(f"[{point}] is no point of {columns}x{rows}")


def draw(rows: Iterable[int], columns: int, symbol: Callable[[int, int], str]) -> str:
    """A board as text: rows as listed, from the top, with numbers from 1; columns from a."""
    rows = list(rows)
    width = len(str(max(rows) + 1))
    lines = [f"{row + 1:>{width}} " + " ".join(symbol(row, column) for column in range(columns)) for row in rows]
    return "\n".join([*lines, " " * (width + 1) + " ".join(letters(columns))])


def draw_sets(rows: Iterable[int], columns: int, sets: Mapping[str, np.uint64], width: int = 0) -> str:
    """A board as text, from sets with their symbols; squares are numbered along rows of `width`, or `columns`."""

    def symbol(row, column):
        square = row * (width or columns) + column
        return next((name for name, squares in sets.items() if int(squares) >> square & 1), ".")

    return draw(rows, columns, symbol)


def squares(cells: Iterable[int]) -> np.uint64:
    """The numbered squares as bits."""
    return np.uint64(sum(1 << cell for cell in cells))


def turns(rows: int, columns: int, symmetries: int) -> np.ndarray:
    """int64[symmetries, rows * columns]: where each symmetry takes a square.

    Bits 0, 1 and 2 of a symmetry mirror columns, mirror rows, then exchange them.
    """
    found = []
    for symmetry in range(symmetries):
        row, column = np.divmod(np.arange(rows * columns), columns)
        row, column = (rows - 1 - row if symmetry & 2 else row), (columns - 1 - column if symmetry & 1 else column)
        found.append(column * columns + row if symmetry & 4 else row * columns + column)
    return np.array(found)


class Rectangle:
    """Mixin of games on a square of `size`, or on `rows` x `columns` unless these are 0."""

    @property
    def height(self):
        return self.rows or self.size

    @property
    def width(self):
        return self.columns or self.size

    @property
    def area(self):
        return self.height * self.width


class BitBoard:
    """Mixin of games whose `rows` x `columns` squares fit into one word: some sets."""

    @cached_property
    def board(self):
        return squares(range(self.rows * self.columns))

    @cached_property
    def below(self):
        return squares(range((self.rows - 1) * self.columns))

    @cached_property
    def left(self):
        return squares(cell for cell in range(self.rows * self.columns) if (cell + 1) % self.columns)
