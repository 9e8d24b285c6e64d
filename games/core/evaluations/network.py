"""N-tuple networks: an evaluation that is a sum of numbers looked up in tables, made for a game by learning.

What the cells of a tuple hold are the digits of its place in a table of weights; the value is a sigmoid of the sum
(Bledsoe & Browning, "Pattern recognition and reading by machine", 1959; Lucas, "Learning to play Othello with n-tuple
systems", 2008).  A tuple's images under symmetries share its table, as do the players if colours can be exchanged.

Each byte of `Game.planes` has a row with a number for each tuple; the rows add up to the places of all tuples.  Weights
are whole numbers in units of SCALE, so that sums are equal in any order.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from arena.games.core.jit import inlined
from arena.games.core.numbers.bits import WORD, popcount
from arena.games.core.random import stream

SCALE = 2.0**-20  # the addend to the sum for 1 in a weight
LARGEST = 2.0**10  # larger sums are cut, so that values stay between -1 and 1
MOST_ENTRIES = 1 << 16  # of one tuple's table
MOST_WEIGHTS = 1 << 27
MOST_TUPLES = 4096
WIDTH = 16  # divides the number of tuples, filled up with tuples of no cells
COUNT, STRIDE, SIDE_ROWS, SIDE_BLOCK, SIGN, STAGES = range(6)  # of Network.layout; from STAGES on, by number of stones

Tuple = tuple[int, ...]  # places in the flattened grid; the first is the lowest digit


@dataclass(frozen=True, eq=False)
class Network:
    """Tables of weights, and how to find places in them.

    orbits: for each table, the tuples that share it
    weights: int32[blocks * stride], in units of SCALE; a block of tables for each stage, or for each side and stage
    places: int32[sides * planes * bytes * 256 * tuples], the rows that add up to places
    layout: int64[STAGES + 65]: tuples, weights in a block, the second player's offsets of rows and places, and the sign
        of that player's values; then the start of the block for each number of stones
    card: its origin, as described in its file
    """

    orbits: tuple[tuple[Tuple, ...], ...]
    stages: int
    weights: np.ndarray
    places: np.ndarray
    layout: np.ndarray
    card: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def tuples(self) -> int:
        return sum(map(len, self.orbits))


@inlined
def place_of(game, places, words, at, count):
    """The place of one tuple in a block: the sum over the bytes of the words.

    at: the tuple's number, its place in the first row; count: the length of a row.  Both are words.
    """
    place = np.int64(0)
    for i in range(len(words)):
        for byte in range(game.plane_bytes):
            value = words[i] >> WORD(8 * byte) & WORD(255)
            place += places[at + value * count]
            at += WORD(256) * count
    return place


@inlined
def block_of(layout, words, side):
    """The start of a position's block; side: 1 if the second player is to move, else 0."""
    return layout[STAGES + popcount(words[0] | words[1])] + side * layout[SIDE_BLOCK]


@inlined
def tuple_sum(game, weights, places, layout, words, side):
    """The sum of a position's weights (int64); times `sign_of`, it is the first player's."""
    row, block, count, total = side * layout[SIDE_ROWS], block_of(layout, words, side), layout[COUNT], np.int64(0)
    for index in range(count):
        total += weights[WORD(block + place_of(game, places, words, WORD(row + index), WORD(count)))]
    return total


@inlined
def sign_of(layout, side):
    """1, or -1 where the sum is the second player's."""
    return layout[SIGN] if side == 1 else np.int64(1)


@inlined
def sigmoid(total):
    """A sum of weights as a value between -1 and 1: x / sqrt(1 + x^2)."""
    x = min(max(total * SCALE, -LARGEST), LARGEST)
    return x / np.sqrt(1.0 + x * x)


def board_of(game, state) -> np.ndarray:
    """int64[rows, columns]: for each cell 0, or 1 and the number of the plane that has it."""
    grid = game.grid
    held = np.zeros(grid.shape, np.int64)
    for number, word in enumerate(game.planes(state), 1):
        held[(np.uint64(word) >> grid.astype(np.uint64) & np.uint64(1)) == 1] = number
    return held


def contents_of(game) -> int:
    """The number of different contents of a cell."""
    return 1 + len(game.planes(game.initial()))


# -- Tuples ------------------------------------------------------------------------------------------------------------


def windows(shape: str, rows: int, columns: int) -> list[Tuple]:
    """All places of a shape: `3x4` is rows by columns, `lines` all straight lines of 4 to 8 cells, of longer ones the
    parts of 8.  ValueError for other shapes."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    if shape == "lines":
        return [line for full in _lines(cells) for line in _parts(full, 4, 8)]
    try:
        height, width = map(int, shape.split("x"))
        if height < 1 or width < 1:
            raise ValueError
    except ValueError:
        raise ValueError(f"tuples: {shape!r} is neither `lines` nor rows x columns such as 3x3") from None
    corners = np.ndindex(max(rows - height + 1, 0), max(columns - width + 1, 0))
    return [tuple(cells[r : r + height, c : c + width].ravel().tolist()) for r, c in corners]


def _lines(cells: np.ndarray) -> list[list[int]]:
    rows, columns = cells.shape
    straight = [*cells.tolist(), *cells.T.tolist()]
    offsets = range(1 - rows, columns)
    return straight + [board.diagonal(i).tolist() for board in (cells, cells[:, ::-1]) for i in offsets]


def _parts(line: list[int], least: int, most: int) -> list[Tuple]:
    length = min(len(line), most)
    return [tuple(line[i : i + length]) for i in range(len(line) - length + 1)] if length >= least else []


def images(game) -> list[np.ndarray]:
    """The game's symmetries as images of cells, the identity first.

    Turns and mirror images only, found by `transform` along random games.
    """
    cells = np.arange(game.grid.size).reshape(game.grid.shape)
    turned = [np.rot90(board, turns) for board in (cells, cells[:, ::-1]) for turns in range(4)]
    candidates = [board.ravel() for board in turned if board.shape == cells.shape]
    states = list(_random_states(game, 8))
    found, target = [np.arange(cells.size)], np.zeros(game.state_size, game.dtype)
    for symmetry in range(1, game.symmetries):
        left = candidates
        for state in states:
            game.transform(state, symmetry, target)
            board, image = board_of(game, state).ravel(), board_of(game, target).ravel()
            left = [one for one in left if np.array_equal(board[one], image)]
        found += [np.argsort(left[0])] if left else []
    return found


def _random_states(game, games: int) -> Iterable[np.ndarray]:
    rng = stream(1)
    moves = np.empty(game.max_moves, np.int32)
    with np.errstate(over="ignore"):
        for _ in range(games):
            state = game.initial()
            while not game.is_over(state):
                yield state.copy()
                game.random_step(state, moves, rng)


def make_orbits(game, shapes: str) -> tuple[tuple[Tuple, ...], ...]:
    """The tuples of the shapes, separated by blanks, each with its images under the game's symmetries.

    ValueError if a shape is unknown, none fits on the board, or a table would be too large.
    """
    taken, orbits, symmetries = set(), [], images(game)
    for shape in shapes.split():
        for cells in windows(shape, *game.grid.shape):
            if frozenset(cells) in taken or any(game.grid.ravel()[cell] < 0 for cell in cells):
                continue
            orbit = tuple(sorted({tuple(image[list(cells)].tolist()) for image in symmetries}))
            taken |= {frozenset(image) for image in orbit}
            orbits.append(orbit)
    if not orbits:
        raise ValueError(f"tuples: none of {shapes!r} fits on the board of {game}")
    longest = max(len(orbit[0]) for orbit in orbits)
    if contents_of(game) ** longest > MOST_ENTRIES:
        raise ValueError(
            f"tuples of {longest} cells, with {contents_of(game)} contents each, have more than {MOST_ENTRIES} entries"
        )
    return tuple(orbits)


# -- Networks ----------------------------------------------------------------------------------------------------------


def new_network(game, orbits, stages: int, weights: np.ndarray | None = None, card: dict | None = None) -> Network:
    """A network, by default with all weights 0.  ValueError if there would be too many."""
    sizes = [contents_of(game) ** len(orbit[0]) for orbit in orbits]
    starts = 1 + np.cumsum([0, *sizes])  # place 0: the bias, a tuple without cells
    stride = int(starts[-1])
    blocks = stages * (1 if game.colour_exchange else 2)
    if stride * blocks > MOST_WEIGHTS:
        raise ValueError(f"{stride * blocks:,} weights: the most are {MOST_WEIGHTS:,}; take fewer tuples or stages")
    count = (sum(map(len, orbits)) // WIDTH + 1) * WIDTH
    if count > MOST_TUPLES:
        raise ValueError(f"{sum(map(len, orbits)):,} tuples, with images: the most are {MOST_TUPLES - 1:,}")
    places = np.stack([_rows(game, orbits, starts, count, side) for side in range(2 if game.colour_exchange else 1)])
    cells = int(np.count_nonzero(game.grid >= 0))
    by_stones = [min(stones * stages // (cells + 1), stages - 1) * stride for stones in range(65)]
    side_rows, side_block = (places[0].size, 0) if game.colour_exchange else (0, stages * stride)
    layout = np.array([count, stride, side_rows, side_block, -1 if game.colour_exchange else 1, *by_stones], np.int64)
    if weights is None:
        weights = np.zeros(blocks * stride, np.int32)
    return Network(orbits, stages, weights, places.ravel(), layout, card or {})


def _rows(game, orbits, starts, count: int, side: int) -> np.ndarray:
    """int32[planes, bytes, 256, count]: what each byte's values add to the places, as `side` sees the board."""
    contents, planes = contents_of(game), contents_of(game) - 1
    grid = game.grid[::-1] if side == 1 and game.colour_exchange == "turn" else game.grid
    of_bit = np.zeros((planes, game.plane_bytes, 8, count), np.int32)
    first = np.zeros(count, np.int32)
    placed = [(start, cells) for start, orbit in zip(starts, orbits) for cells in orbit]
    for index, (start, cells) in enumerate(placed):
        first[index] = start
        for i, cell in enumerate(cells):
            byte, bit = divmod(int(grid.ravel()[cell]), 8)
            for plane in range(planes):
                seen = 1 - plane if side == 1 and plane < 2 else plane
                of_bit[plane, byte, bit, index] += (seen + 1) * contents**i
    bits = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(np.int32)
    rows = np.einsum("vj,pbjt->pbvt", bits, of_bit).astype(np.int32)
    rows[0, 0] += first
    return rows
