"""Pentalath, or Ndengrod (Cameron Browne and his program Ludi, 2007): five in a row, with captures as in Go.

A move places a stone and takes the other player's groups that touch no free cell; one's own group must touch one in the
end.  A row of `length` or more wins.  `swap`, the optional first move of the second player, changes the stone's colour.
Rules: the inventor's, http://www.gamerz.net/~pbmserv/ndengrod.html; not in them: a player without a legal move, and a
game of `horizon` moves, draw.  No ko is possible.  T. Pepels, T. Cazenave, M. H. M. Winands and M. Lanctot, "Minimizing
simple and cumulative regret in Monte-Carlo tree search" (2014), use the game.

    cells of size 3     1     0  1  2           a cell is named by column and row: c3 is the middle, number 9;
                        2    3  4  5  6         a move is its cell's number, or that of cells for `swap`
                        3   7  8  9 10 11
                        4    12 13 14 15 e      9 touches 4, 5, 8, 10, 13 and 14
                        5     16 17 18 d
                                a  b  c
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations

import numpy as np

from arena.games.core.boards.board import letters, squares
from arena.games.core.boards.drawing import NO_CELL, Board, Look, board_drawing
from arena.games.core.families.horizon import END, PLIES, HorizonGame
from arena.games.core.game import check_range
from arena.games.core.numbers.bits import ONE, WORD, ZERO, image_of, nth_bit, popcount, trailing_zeros
from arena.games.core.random import random_below
from arena.games.hex import NEIGHBOURS

FIRST_WINS, SECOND_WINS, DRAWN = ONE, WORD(2), WORD(3)  # in state[END]; 0 while the game goes on
OUTSIDE = 3  # in a feature code
WIN = 100  # above all others in the order of moves


@lru_cache
def places(size: int) -> dict[tuple[int, int], int]:
    """Each cell's number by (row, column)."""
    side = range(2 * size - 1)
    return {place: i for i, place in enumerate((r, c) for r in side for c in side if size - 1 <= r + c <= 3 * size - 3)}


def cell_at(size: int, row: int, column: int) -> int:
    """The number of the cell there; -1 beyond the board."""
    return places(size).get((row, column), -1)


@dataclass(frozen=True)
class Pentalath(HorizonGame):
    """state: uint64[4] = the first player's stones, the second's, moves so far, how the game has ended or 0.

    size: cells on each side of the hexagon
    length: how many in a row win
    swap: whether the second player's first move may be `swap`
    horizon: moves after which the game is a draw
    """

    size: int = 5
    length: int = 5
    swap: bool = False
    horizon: int = 500

    name = "pentalath"
    rules = (
        "Five stones in a row win, or as many as the parameter length says. A move is the cell of a new stone, by "
        "column and row: `e1`. It takes enemy groups that touch no free cell, and must leave its own group a free "
        "one."
    )
    board_look = Look("hexagons")
    status = "counted"
    sizes = "size 2 to 5, length 2 to 2 * size - 1, horizon 1 to 10000"
    symmetries = 12  # of a hexagon
    ranges = {"size": (2, 5), "horizon": (1, 10_000)}

    def __post_init__(self):
        super().__post_init__()
        check_range("length", self.length, 2, 2 * self.size - 1)

    @property
    def cells(self):
        return 3 * self.size * (self.size - 1) + 1

    @property
    def move_limit(self):
        return self.cells + self.swap

    max_moves = cells

    @property
    def board(self):
        return squares(range(self.cells))

    @cached_property
    def beside(self):
        """int64[cells, 6]: the neighbours of each cell in a circle; -1 beyond the board."""
        return np.array([[cell_at(self.size, r + i, c + j) for i, j in NEIGHBOURS] for r, c in places(self.size)])

    @cached_property
    def near(self):
        """uint64[cells]: the neighbours of each cell."""
        return np.array([squares(cell for cell in around if cell >= 0) for around in self.beside.tolist()])

    @cached_property
    def distances(self):
        """Differences between the numbers of touching cells."""
        return (1, *range(self.size, 2 * self.size))

    @cached_property
    def links(self):
        """links[i]: the cells c that touch c + distances[i], as a set."""
        pairs = {(cell, other) for cell, around in enumerate(self.beside.tolist()) for other in around}
        return tuple(squares(cell for cell, other in pairs if other - cell == d) for d in self.distances)

    @cached_property
    def rows(self):
        """uint64[n]: all rows of `length` cells."""
        found = []
        for row, column in places(self.size):
            for down, right in NEIGHBOURS[2:5]:
                cells = [cell_at(self.size, row + i * down, column + i * right) for i in range(self.length)]
                if min(cells) >= 0:
                    found.append(squares(cells))
        return np.array(found)

    @cached_property
    def rows_of(self):
        """uint64[cells, m]: the rows through each cell, padded with impossible sets."""
        through = [[row for row in self.rows if int(row) >> cell & 1] for cell in range(self.cells)]
        found = np.full((self.cells, max(map(len, through))), ~ZERO)
        for cell, rows in enumerate(through):
            found[cell, : len(rows)] = rows
        return found

    def start(self, state):
        state[:] = 0

    def legal_moves(self, state, moves):
        side = state[PLIES] & ONE
        own, other, free, count = state[side], state[ONE - side], self.free(state), 0
        while free != ZERO:
            cell = trailing_zeros(free)
            free &= free - ONE
            if self.is_legal(own, other, cell):
                moves[count] = cell
                count += 1
        if self.can_swap(state):
            moves[count] = self.cells
            count += 1
        return count

    def play(self, state, move):
        side, wins = state[PLIES] & ONE, False
        state[PLIES] += ONE
        if move == self.cells:
            state[0], state[1] = ZERO, state[0]
        else:
            own, other = state[side] | ONE << WORD(move), state[ONE - side]
            if other & self.near[move] != ZERO:
                other = self.living(other, self.board & ~(own | other))
            state[side], state[ONE - side] = own, other
            wins = self.has_row(own, move)
        if wins:
            state[END] = ONE << side
        elif state[PLIES] >= WORD(self.horizon) or not self.can_move(state[ONE - side], state[side]):
            state[END] = DRAWN

    def score(self, state):
        return 1.0 if state[END] == FIRST_WINS else (-1.0 if state[END] == SECOND_WINS else 0.0)

    def move_name(self, state, move):
        if move == self.cells:
            return "swap"
        row, column = list(places(self.size))[move]
        return f"{letters(column + 1)[-1]}{row + 1}"

    def render(self, state):
        """Columns run down to the right, each to its letter."""
        side, lines = range(2 * self.size - 1), []
        names = letters(2 * self.size - 1)
        for row in side:
            cells = " ".join(symbol for column in side if (symbol := self.symbol(state, (row, column))) != NO_CELL)
            end = f" {names[3 * self.size - 2 - row]}" if row >= self.size else ""
            lines.append(" " * abs(row - self.size + 1) + f"{row + 1} {cells}{end}")
        return "\n".join([*lines, " " * (self.size + 2) + " ".join(names[: self.size])])

    def can_swap(self, state):
        return self.swap and state[PLIES] == ONE

    def free(self, state):
        return self.board & ~(state[0] | state[1])

    def around(self, cells):
        found = ZERO
        for i in range(self.size + 1):
            distance = WORD(self.distances[i])
            found |= (cells & self.links[i]) << distance | cells >> distance & self.links[i]
        return found

    def living(self, stones, free):
        """The stones whose groups touch a free cell."""
        alive, grown = ZERO, stones & self.around(free)
        while grown != alive and grown != stones:
            alive = grown
            grown |= stones & self.around(grown)
        return grown

    def is_legal(self, own, other, cell):
        """Whether a stone's group will touch a free cell, at once or by a capture."""
        stone = ONE << WORD(cell)
        free = self.board & ~(own | other | stone)
        if self.near[cell] & free != ZERO:
            return True
        return self.living(own | stone, free) & stone != ZERO or self.living(other, free) != other

    def can_move(self, own, other):
        """Whether a player can move: any of two free cells that touch is legal."""
        free = self.board & ~(own | other)
        found = free & self.around(free) != ZERO
        while not found and free != ZERO:
            found = self.is_legal(own, other, trailing_zeros(free))
            free &= free - ONE
        return found

    def has_row(self, own, cell):
        """Whether a row through a cell is long enough."""
        found = False
        for i in range(self.rows_of.shape[1]):
            row = self.rows_of[cell, i]
            found |= own & row == row
        return found

    def owner(self, state, side, cell):
        """0 for a free cell, 1 for that side's, 2 for the other's."""
        own, other = state[side] >> WORD(cell) & ONE, state[ONE - side] >> WORD(cell) & ONE
        return np.int64(own | other << ONE)

    def symbol(self, state, place) -> str:
        """The symbol of a (row, column), perhaps off the board."""
        cell = cell_at(self.size, *place)
        return NO_CELL if cell < 0 else ".XO"[self.owner(state, 0, cell)]

    # -- For speed ---------------------------------------------------------------------------------------------

    @cached_property
    def images(self):
        """int64[12, cells]: where symmetries take a cell."""
        found, last = [], self.size - 1
        for sign in (1, -1):
            for order in permutations(range(3)):
                to = [(row - last, column - last, 2 * last - row - column) for row, column in places(self.size)]
                found.append([cell_at(self.size, *(last + sign * at[order[i]] for i in (0, 1))) for at in to])
        return np.array(found)

    def transform(self, state, symmetry, target):
        target[PLIES], target[END] = state[PLIES], state[END]
        for side in range(2):
            target[side] = image_of(state[side], self.images, symmetry)

    def transform_move(self, move, symmetry):
        return move if move == self.cells else self.images[symmetry, move]

    def random_move(self, state, moves, rng):
        side = state[PLIES] & ONE
        own, other, left, move = state[side], state[ONE - side], self.free(state), -1
        while move < 0:
            count = popcount(left)
            choice = random_below(rng, count + (1 if self.can_swap(state) else 0))
            cell = self.cells if choice == count else trailing_zeros(nth_bit(left, choice))
            if choice == count or self.is_legal(own, other, cell):
                move = cell
            else:
                left ^= ONE << WORD(cell)
        return move

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """Threats: each row without opposing stones counts 4 ** (own stones - 1), without own 0; the difference d as d
        / (2 * 4 ** (length - 2) + |d|), as in m,n,k-games."""
        difference = 0
        for i in range(self.rows.size):
            first, second = state[0] & self.rows[i], state[1] & self.rows[i]
            if second == ZERO and first != ZERO:
                difference += 1 << 2 * (popcount(first) - 1)
            elif first == ZERO and second != ZERO:
                difference -= 1 << 2 * (popcount(second) - 1)
        return difference / (2.0 * 4.0 ** (self.length - 2) + abs(difference))

    def evaluate_freedom(self, state):
        """The free cells that stones touch; the difference over the sum and 1."""
        free = self.free(state)
        first, second = popcount(self.around(state[0]) & free), popcount(self.around(state[1]) & free)
        return (first - second) / (first + second + 1.0)

    def taken(self, state, move):
        if move == self.cells:
            return 0
        side = state[PLIES] & ONE
        own, other = state[side] | ONE << WORD(move), state[ONE - side]
        if other & self.near[move] == ZERO:
            return 0
        return popcount(other ^ self.living(other, self.board & ~(own | other)))

    def is_unstable(self, state, move):
        return self.taken(state, move) > 0

    def move_order(self, state, move):
        """Moves that complete a row, then that prevent the opponent's; then by stones in open rows, own first, and
        captures."""
        if move == self.cells:
            return 0
        side = state[PLIES] & ONE
        own, other, ours, theirs = state[side], state[ONE - side], 0, 0
        for i in range(self.rows_of.shape[1]):
            row = self.rows_of[move, i]
            if row == ~ZERO:
                break
            if own & row == ZERO:
                theirs = max(theirs, popcount(other & row))
            if other & row == ZERO:
                ours = max(ours, popcount(own & row))
        rank = 2 * max(ours, theirs) + (1 if ours >= theirs else 0) + self.taken(state, move)
        return rank + (WIN if max(ours, theirs) == self.length - 1 else 0)

    def feature_code(self, state, move):
        """The move code with the six neighbours, two bits each: free, own, the other's or off the board."""
        pattern, side = np.int64(0), state[PLIES] & ONE
        for i in range(6):
            what = 0
            if move < self.cells:
                cell = self.beside[move, i]
                what = OUTSIDE if cell < 0 else self.owner(state, side, cell)
            pattern = pattern << 2 | what
        return self.move_code(state, move) << 12 | pattern

    # -- For people --------------------------------------------------------------------------------------------

    def drawn_board(self, state):
        side = range(2 * self.size - 1)
        rows = tuple(tuple(self.symbol(state, (row, column)) for column in side) for row in side)
        return Board(rows, tuple(str(row + 1) for row in side), tuple(letters(2 * self.size - 1)))

    def drawing(self, state, moves):
        return board_drawing(self.drawn_board(state), moves, self.board_look)
