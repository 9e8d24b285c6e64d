"""Sets in one word and in four, and the symmetries of rectangles, beside Python's own sets."""

import numpy as np
import pytest

from arena.games.core.boards.board import draw_sets, point_name, squares, turns
from arena.games.core.numbers import wide
from arena.games.core.numbers.bits import image_of, list_bits

pytestmark = pytest.mark.plain
rng = np.random.default_rng(5)


def packed(cells):
    return tuple(squares(cell - 64 * i for cell in cells if cell // 64 == i) for i in range(4))


def cells_of(x):
    return {64 * i + bit for i, word in enumerate(x) for bit in range(64) if int(word) >> bit & 1}


@pytest.mark.parametrize("size", [0, 1, 7, 90, 256])
def test_operations_on_four_words(size):
    a, b = (set(rng.choice(256, size, replace=False).tolist()) for _ in range(2))
    x, y = packed(a), packed(b)
    assert (cells_of(wide.union(x, y)), cells_of(wide.common(x, y))) == (a | b, a & b)
    assert (cells_of(wide.without(x, y)), cells_of(wide.difference(x, y))) == (a - b, a ^ b)
    assert (wide.is_empty(x), wide.size_of(x)) == (size == 0, size)
    for n in (1, 16, 63):
        assert cells_of(wide.forward(x, n)) == {cell + n for cell in a if cell + n < 256}
        assert cells_of(wide.backward(x, n)) == {cell - n for cell in a if cell >= n}
    moves = np.zeros(256, np.int32)
    assert moves[: wide.list_cells(x, moves, 4)].tolist() == sorted(a)
    if a:
        assert [wide.nth_cell(x, n, 4) for n in range(size)] == sorted(a)
        assert (
            cells_of(wide.lowest(x)) == {min(a)}
            and wide.first_cell(x) == min(a)
            and cells_of(wide.single(max(a))) == {max(a)}
        )


def test_lists_images_and_drawings_of_one_word():
    cells, moves, images = {0, 3, 5, 11}, np.zeros(9, np.int32), turns(3, 4, 4)
    assert list_bits(squares(cells), moves, 2, 65, -64) == 6
    assert moves[2:6].tolist() == [65 * cell - 64 for cell in sorted(cells)]
    board = np.arange(12).reshape(3, 4)
    for symmetry, image in enumerate((board, board[:, ::-1], board[::-1], board[::-1, ::-1])):
        assert images[symmetry].tolist() == np.argsort(image.ravel()).tolist()
        assert image_of(squares(cells), images, symmetry) == squares(images[symmetry, list(cells)].tolist())
    assert turns(3, 3, 8)[4].tolist() == [0, 3, 6, 1, 4, 7, 2, 5, 8]
    assert draw_sets((1, 0), 2, {"X": squares({1}), "O": squares({2})}) == "2 O .\n1 . X\n  a b"
    assert [point_name(square, 4) for square in (0, 7)] == ["a1", "d2"]
