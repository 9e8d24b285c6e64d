"""SameGame: take groups of cells of one colour off a board (one player).

Taking n cells of a colour joined by their sides, two or more, scores (n - 2)^2; cells above fall, and columns move left
into empty ones.  An empty board scores 1000 more.  Cells left cost nothing (T. Cazenave, "Nested Monte-Carlo Search",
IJCAI 2009); M. Schadd et al. ("Single-player Monte-Carlo tree search", 2008) take points off.

    bits of   .  15 31 47     always empty        Every column has 16 bits, four columns a word, whatever the size; a
    2 rows,   2   1 17 33                         move is the bit of the group's first cell: the lowest of its column
    3         1   0 16 32                         furthest to the left.
    columns       a  b  c
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.board import draw, square_name
from arena.games.core.boards.drawing import Look
from arena.games.core.game import Game, check_range
from arena.games.core.numbers import wide
from arena.games.core.numbers.bits import ONE, WORD, ZERO, trailing_zeros
from arena.games.core.random import GAMMA, mix, random_below, stream
from arena.games.core.shared.files import read_bounded

LANE = WORD(0xFFFF)  # the bits of a column
FLOORS = WORD(0x0001000100010001)  # the lowest cells of a word
WORDS = 4  # of a set of cells
SCORE, TABU, PLANES = 4, 5, 6  # places in a state; PLANES is where its planes start
CLEARED = 1000  # points for an empty board


@dataclass(frozen=True)
class SameGame(Game):
    """state: uint64[6 + 4 * layers] = possible first cells of groups, a set of four words; the score; the most frequent
    colour at the start; plane i: the cells whose colour has bit i.  Colours count from 1, as 0 is an empty cell;
    people's from 0.

    Possible first cells have no cell of their group below or to the left.  Without any, the game is over.

    colours: their number
    seed: of a random board, every cell of a colour drawn uniformly
    file: a file of boards instead: rows of colours from 0, the top row first; text after a # is a title
    board: the number of the board in the file, from 1
    """

    rows: int = 15
    columns: int = 15
    colours: int = 5
    seed: int = 0
    file: str = ""
    board: int = 1

    name = "samegame"
    rules = (
        "Score as many points as you can. A move takes a group of n cells of one colour joined by their sides, n at "
        "least 2, for (n - 2)^2 points, and is its first cell, by row and column: `1a`. An empty board scores 1000 "
        "more."
    )
    board_look = Look(pieces=dict.fromkeys("0123456789abcde", "tile"))
    players = 1
    has_tabu_moves = True
    sizes = "rows 2 to 15, columns 2 to 16, colours 1 to 15; any seed, or a file of boards"
    data_fields = ("seed", "file", "board")
    file_fields = ("file",)
    ranges = {"rows": (2, 15), "columns": (2, 16), "colours": (1, 15)}

    def __post_init__(self):
        super().__post_init__()
        _ = self.cells  # reads the file now: reports faults here, ignores later changes

    @property
    def layers(self):
        return self.colours.bit_length()

    @property
    def state_size(self):
        return PLANES + WORDS * self.layers

    @property
    def move_limit(self):
        return 16 * self.columns

    @property
    def max_moves(self):
        return self.rows * self.columns // 2

    @property
    def max_plies(self):
        return self.rows * self.columns // 2

    @cached_property
    def cells(self):
        """int64[rows, columns]: the initial colours from 0, lowest row first."""
        if self.file:
            return self.board_of_file()
        rng = stream(self.seed, self.name)
        colours = [random_below(rng, self.colours) for _ in range(self.rows * self.columns)]
        return np.array(colours, np.int64).reshape(self.rows, self.columns)

    def start(self, state):
        state[:] = 0
        for (row, column), colour in np.ndenumerate(self.cells):
            bit = 16 * column + row
            for plane in range(self.layers):
                state[PLANES + WORDS * plane + bit // 64] |= WORD((int(colour) + 1 >> plane & 1) << bit % 64)
        state[TABU] = np.bincount(self.cells.ravel()).argmax() + 1
        self.find_first_cells(state)

    def player(self, state):
        return 0

    def legal_moves(self, state, moves):
        return wide.list_cells(self.first_cells(state), moves, WORDS)

    def play(self, state, move):
        self.take(state, self.group(state, move))

    def is_over(self, state):
        return wide.is_empty(self.possible(state))

    def score(self, state):
        return float(state[SCORE])

    def move_name(self, state, move):
        return square_name(move % 16 * self.columns + move // 16, self.columns)

    def render(self, state):
        def symbol(row, column):
            colour = int(self.colour(state, 16 * column + row))
            return "0123456789abcde"[colour - 1] if colour else "."

        return f"{draw(reversed(range(self.rows)), self.columns, symbol)}\nscore {int(state[SCORE])}"

    def board_of_file(self):
        try:
            lines = read_bounded(self.file).decode().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"file = {self.file!r} cannot be read: {error}") from None
        boards = [[]]
        for line in (line.partition("#")[0].split() for line in lines):
            if line:
                boards[-1].append(line)
            elif boards[-1]:
                boards.append([])
        boards = [board for board in boards if board]
        check_range(f"file = {self.file!r}, board", self.board, 1, len(boards))
        board = boards[self.board - 1]
        if len(board) != self.rows or any(len(row) != self.columns for row in board):
            widths = sorted({len(row) for row in board})
            found = f"{len(board)} rows of {' or '.join(map(str, widths))} cells"
            raise ValueError(
                f"board {self.board} of file {self.file!r} has {found}, not rows = {self.rows} of "
                f"columns = {self.columns}"
            )
        allowed = {str(colour) for colour in range(self.colours)}
        for cell in (cell for row in board for cell in row if cell not in allowed):
            raise ValueError(
                f"board {self.board} of file {self.file!r}: {cell!r} is not a colour, which can be 0 to "
                f"{self.colours - 1} with colours = {self.colours}"
            )
        return np.array(board[::-1], np.int64)

    def find_first_cells(self, state):
        """Find the cells with a neighbour of their colour above or to the right, none below or to the left."""
        above = right = beside = ZERO
        for i in range(WORDS):
            before = beside
            above, beside = self.equal_neighbours(state, i)
            right = beside << WORD(16) | before >> WORD(48)  # cells whose left neighbour has their colour
            state[i] = (above | beside) & ~(above << ONE | right)

    def equal_neighbours(self, state, i):
        """Cells of word i whose neighbour above has their colour, and those whose right one has."""
        differ_above = differ_right = occupied = ZERO
        for plane in range(self.layers):
            word = state[PLANES + WORDS * plane + i]
            following = state[PLANES + WORDS * plane + i + 1] << WORD(48) if i < WORDS - 1 else ZERO
            differ_above |= word ^ word >> ONE
            differ_right |= word ^ (word >> WORD(16) | following)
            occupied |= word
        return occupied & ~differ_above, occupied & ~differ_right

    def occupied(self, state, i):
        cells = ZERO
        for plane in range(self.layers):
            cells |= state[PLANES + WORDS * plane + i]
        return cells

    def colour(self, state, cell):
        """The colour's number, from 1; 0 for an empty cell."""
        colour = ZERO
        for plane in range(self.layers):
            colour |= (state[PLANES + WORDS * plane + (cell >> 6)] >> WORD(cell & 63) & ONE) << WORD(plane)
        return colour

    def cells_of(self, state, colour):
        return (
            self.cells_in_word(state, colour, 0),
            self.cells_in_word(state, colour, 1),
            self.cells_in_word(state, colour, 2),
            self.cells_in_word(state, colour, 3),
        )

    def cells_in_word(self, state, colour, i):
        cells = ~ZERO
        for plane in range(self.layers):
            word = state[PLANES + WORDS * plane + i]
            cells &= word if colour >> WORD(plane) & ONE != ZERO else ~word
        return cells

    def group(self, state, cell):
        m0, m1, m2, m3 = self.cells_of(state, self.colour(state, cell))
        g0, g1, g2, g3 = wide.single(cell)
        grown = True
        while grown:  # word by word: quicker than by whole sets
            n0 = m0 & (g0 | g0 << ONE | g0 >> ONE | g0 << WORD(16) | g0 >> WORD(16) | g1 << WORD(48))
            n1 = m1 & (g1 | g1 << ONE | g1 >> ONE | g1 << WORD(16) | g1 >> WORD(16) | g0 >> WORD(48) | g2 << WORD(48))
            n2 = m2 & (g2 | g2 << ONE | g2 >> ONE | g2 << WORD(16) | g2 >> WORD(16) | g1 >> WORD(48) | g3 << WORD(48))
            n3 = m3 & (g3 | g3 << ONE | g3 >> ONE | g3 << WORD(16) | g3 >> WORD(16) | g2 >> WORD(48))
            grown = (n0 ^ g0 | n1 ^ g1 | n2 ^ g2 | n3 ^ g3) != ZERO
            g0, g1, g2, g3 = n0, n1, n2, n3
        return g0, g1, g2, g3

    def possible(self, state):
        return state[0], state[1], state[2], state[3]

    def first_cells(self, state):
        """The possible first cells, less those that forks rule out.

        Steps down and left by its colour lead each cell of a group to a possible first cell.  Only a fork, where the
        cell between the two steps has another colour, can lead to several.
        """
        cells = self.possible(state)
        forks = self.forks(state, 0), self.forks(state, 1), self.forks(state, 2), self.forks(state, 3)
        while not wide.is_empty(forks):
            group = self.group(state, wide.first_cell(forks))
            forks, own = wide.without(forks, group), wide.common(cells, group)
            cells = wide.without(cells, wide.without(own, wide.lowest(own)))
        return cells

    def forks(self, state, i):
        """The cells of word i with equal neighbours below and to the left, but another colour between."""
        above, beside = self.equal_neighbours(state, i)
        before = self.equal_neighbours(state, i - 1)[1] if i > 0 else ZERO
        below, left = above << ONE, beside << WORD(16) | before >> WORD(48)
        return below & left & ~(left << ONE)

    def take(self, state, group):
        size = wide.size_of(group)
        state[SCORE] += WORD((size - 2) * (size - 2))
        for i in range(WORDS):
            self.drop(state, group[i], i)
        self.close_gaps(state)
        self.find_first_cells(state)
        if self.occupied(state, 0) == ZERO:
            state[SCORE] += WORD(CLEARED)

    def drop(self, state, taken, i):
        """Let cells above those taken of word i fall, from the highest of each column down."""
        while taken != ZERO:
            column = LANE << WORD(trailing_zeros(taken) & 48)
            cells, taken = taken & column, taken & ~column
            while cells != ZERO:
                # lowest first: the others fall with what is above it
                lowest = cells & (~cells + ONE)
                above = column & ~(lowest - ONE)
                cells = (cells ^ lowest) >> ONE
                for plane in range(self.layers):
                    word = state[PLANES + WORDS * plane + i]
                    state[PLANES + WORDS * plane + i] = word & ~above | (word & (above ^ lowest)) >> ONE

    def close_gaps(self, state):
        used = ZERO  # columns that are not empty, as bits
        for i in range(WORDS):
            floor = self.occupied(state, i) & FLOORS
            used |= ((floor | floor >> WORD(15) | floor >> WORD(30) | floor >> WORD(45)) & WORD(15)) << WORD(4 * i)
        while used & used + ONE != ZERO:
            gap = ~used & used + ONE
            self.remove_column(state, trailing_zeros(gap))
            used = used & gap - ONE | used >> ONE & ~(gap - ONE)

    def remove_column(self, state, column):
        for plane in range(self.layers):
            first = PLANES + WORDS * plane
            i = column >> 2
            kept = (ONE << WORD(16 * (column & 3))) - ONE
            while i < WORDS:
                word = state[first + i]
                following = state[first + i + 1] << WORD(48) if i < WORDS - 1 else ZERO
                state[first + i] = word & kept | (word >> WORD(16) | following) & ~kept
                kept = ZERO
                i += 1

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        """A hash of the colours and the score; all else follows."""
        word = mix(state[SCORE])
        for i in range(WORDS * self.layers):
            word ^= mix(state[PLANES + i] + WORD(i + 1) * GAMMA)
        return word

    def random_group(self, state, cells, rng):
        """(first cell, group): a uniformly random one of those with some possible first cells.

        Any of its cells in the set may be drawn, but only the first is accepted.
        """
        count = wide.size_of(cells)
        cell = wide.nth_cell(cells, random_below(rng, count), WORDS)
        group = self.group(state, cell)
        while wide.first_cell(group) != cell:
            cell = wide.nth_cell(cells, random_below(rng, count), WORDS)
            group = self.group(state, cell)
        return cell, group

    def random_group_tabu(self, state, rng):
        """(first cell, group): a uniformly random one of those not of the tabu colour, or of all if there are none."""
        cells = self.possible(state)
        others = wide.without(cells, self.cells_of(state, state[TABU]))
        return self.random_group(state, cells if wide.is_empty(others) else others, rng)

    def random_move(self, state, moves, rng):
        return self.random_group(state, self.possible(state), rng)[0]

    def random_step(self, state, moves, rng):
        cell, group = self.random_group(state, self.possible(state), rng)
        self.take(state, group)
        return cell

    def random_move_tabu(self, state, moves, rng):
        """A uniformly random move that spares the most frequent colour of the start if possible.

        This makes playouts ten times better ("tabu colour": M. Schadd et al., 2008; Cazenave, 2009).
        """
        return self.random_group_tabu(state, rng)[0]

    def random_step_tabu(self, state, moves, rng):
        cell, group = self.random_group_tabu(state, rng)
        self.take(state, group)
        return cell

    # -- For strength ------------------------------------------------------------------------------------------

    @property
    def code_limit(self):
        return 256 * (self.colours + 1)

    def move_code(self, state, move):
        return np.int64(self.colour(state, move)) << 8 | np.int64(move)

    def feature_code(self, state, move):
        """A hash of colour and cells of the group, as for nested rollout policies."""
        word = mix(self.colour(state, move))
        for cells in self.group(state, move):
            word = mix(word ^ cells)
        return np.int64(word >> ONE)

    # -- For people --------------------------------------------------------------------------------------------

    def move_squares(self, state, move):
        """Any square of the group."""
        group = self.group(state, move)
        cells = (cell for cell in range(256) if int(group[cell >> 6]) >> (cell & 63) & 1)
        return "|".join(self.move_name(state, cell) for cell in cells)
