"""Morpion Solitaire, or Join Five: add points to a cross, each completing a line of points (one player).

A move puts a point on a free crossing and draws a line, straight or diagonal, of five points with the new one (four in
4D and 4T).  Lines of the same direction may share an end in the variants T (touching), no point in D (disjoint).  The
score is the number of moves.  Rules and figures: C. Boyer, morpionsolitaire.com; the best known: 5T 178, 5D 82 (C.
Rosin, 2011), 4T 62 and 4D 35 (proved best by M. Quist, 2008).

    directions   0 right   1 up   2 up, right   3 up, left      A line is its first point (the lowest, of a level line
                                                                the one at the left) and its direction; a move is
    points       64 65 66      with a grid of width 32          (4 * first point + direction) * length + place, where
                 32 33 34                                       place is that of the new point in the line, from 0.
                  0  1  2

Lines stay on a paper of 32x32 crossings, 31x31 for 4D and 4T, with 11 or 12 free ones on every side of the cross.  In
200,000 random playouts of each variant no point came nearer to an edge than 7 crossings.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.boards.drawing import Drawing
from arena.games.core.game import Game, check_choice
from arena.games.core.numbers.bits import ONE, WORD, ZERO, trailing_zeros
from arena.games.core.random import mix, random_below

ROW_STEPS, COLUMN_STEPS = np.array([0, 1, 1, 1]), np.array([1, 0, 1, -1])
PLAYED, KEY, COUNT, LIST = 0, 1, 2, 3
ROOM = 256  # for legal moves
ROUND, GRID = 4, 28  # of a drawing: crossings around the cross, and the distance of two
# Upper bounds of the score.  5D and 4T, 4D: morpionsolitaire.com/English/Limits.htm; 5T: H. Michalewski, A. Nagorko and
# J. Pawlewicz, "485: a new upper bound for Morpion Solitaire" (CGW 2015).
LONGEST = {"5D": 121, "5T": 485, "4D": 35, "4T": 62}


@dataclass(frozen=True)
class Morpion(Game):
    """state: uint64[3 + 256 + 2 * lines] = moves made; hash of the lines drawn; number of legal moves; these, sorted;
    and for each row, column and diagonal its points, and what lines have used: points in the variants D, stretches
    between neighbours in T.  Places off the paper count as used.

    A legal move's word: the move, the new crossing, the line and the position on it where it begins: 16, 10, 8 and 6
    bits.  There are at most 256 legal moves: the points of the cross have 8 free ends of stretches each, and a move
    uses as many as its new point brings (in 4T and 4D two less); a move needs 6 ends (4), and an end serves 4 moves
    (3): at most 288 * 4 / 6 moves, and in 4T (192 + 2 * 62) * 3 / 4.

    variant: points of a line, and whether lines of one direction may touch (T) or must be disjoint (D)
    """

    variant: str = "5D"

    name = "morpion"
    rules = (
        "Make as many moves as you can. A move adds a point that completes a line of five points, four in 4D and 4T: "
        "`6,4:6,0>6,4` is the point and the line's ends. Lines in one direction share no point, in the variants T at "
        "most an end."
    )
    players = 1
    sizes = "variants 5D, 5T, 4D, 4T"
    status = "exact within the paper's edges"
    max_moves = ROOM

    def __post_init__(self):
        check_choice("variant", self.variant, LONGEST)

    @property
    def length(self):
        return int(self.variant[0])

    @property
    def width(self):
        """Crossings in a row; the cross, 10 or 7 wide, lies in the middle."""
        return 32 if self.length == 5 else 31

    @property
    def disjoint(self):
        return self.variant[1] == "D"

    @property
    def max_plies(self):
        return LONGEST[self.variant]

    @property
    def move_limit(self):
        return self.width * self.width * 4 * self.length

    @property
    def lines(self):
        return 6 * self.width - 2

    @property
    def state_size(self):
        return LIST + ROOM + 2 * self.lines

    @property
    def margin(self):
        return (self.width - 3 * self.length + 5) // 2

    @property
    def cross(self):
        """[(row, column), ...]: the outline of a cross with sides of length - 1 points."""
        side = self.length - 2
        corners = [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (2, 2), (2, 3), (1, 3), (1, 2), (0, 2), (0, 1), (1, 1)]
        points, margin = [], self.margin
        for (row, column), (next_row, next_column) in zip(corners, corners[1:] + corners[:1]):
            for i in range(side):
                up, across = row * side + i * (next_row - row), column * side + i * (next_column - column)
                points.append((margin + up, margin + across))
        return points

    @cached_property
    def initial_state(self):
        """Made once: the cross grows point by point, as in play."""
        state = np.zeros(self.state_size, np.uint64)
        state[LIST + ROOM + self.lines :] = ~ZERO
        for direction in range(4):
            for row in range(self.width):
                for column in range(self.width):
                    if self.disjoint or self.on_paper(row + ROW_STEPS[direction], column + COLUMN_STEPS[direction]):
                        place = self.position(direction, row, column) + self.length - 1
                        state[LIST + ROOM + self.lines + self.line(direction, row, column)] &= ~(ONE << WORD(place))
        for row, column in self.cross:
            self.add_point(state, row, column, -1, 0)
        return state

    def start(self, state):
        state[:] = self.initial_state

    def player(self, state):
        return 0

    def legal_moves(self, state, moves):
        count = np.int64(state[COUNT])
        for i in range(count):
            moves[i] = state[LIST + i] >> WORD(24)
        return count

    def play(self, state, move):
        place, start, direction = move % self.length, move // self.length >> 2, move // self.length & 3
        row, column = start // self.width, start % self.width
        line, position = self.line(direction, row, column), self.position(direction, row, column)
        stretch = self.length if self.disjoint else self.length - 1
        state[LIST + ROOM + self.lines + line] |= WORD((1 << stretch) - 1) << WORD(position + self.length - 1)
        state[PLAYED] += ONE
        state[KEY] ^= mix(WORD(move // self.length + 1))
        self.add_point(
            state, row + place * ROW_STEPS[direction], column + place * COLUMN_STEPS[direction], line, position
        )

    def is_over(self, state):
        return state[COUNT] == ZERO

    def score(self, state):
        return float(state[PLAYED])

    def move_name(self, state, move):
        """`x,y:x1,y1>x2,y2`: the new point and the ends of the line, from 0,0 at the cross's lower left corner."""
        place, start, direction = move % self.length, move // self.length >> 2, move // self.length & 3
        names = []
        for i in (place, 0, self.length - 1):
            row = start // self.width + i * int(ROW_STEPS[direction])
            column = start % self.width + i * int(COLUMN_STEPS[direction])
            names.append(f"{column - self.margin},{row - self.margin}")
        return f"{names[0]}:{names[1]}>{names[2]}"

    def render(self, state):
        """The points with a free crossing on every side: O of the cross, x added."""
        first = {(row, column) for row, column in self.cross}
        points = self.points(state)
        rows, columns = ([point[axis] for point in points] for axis in (0, 1))
        across = range(min(columns) - 1, max(columns) + 2)
        lines = [f"score {int(state[PLAYED])}"]
        for row in range(max(rows) + 1, min(rows) - 2, -1):
            cells = ["O" if (row, column) in first else "x" if (row, column) in points else "." for column in across]
            lines.append(f"{row - self.margin:>3}" + "".join(f"{cell:>3}" for cell in cells))
        return "\n".join([*lines, "   " + "".join(f"{column - self.margin:>3}" for column in across)])

    def on_paper(self, row, column):
        return 0 <= row < self.width and 0 <= column < self.width

    def line(self, direction, row, column):
        if direction == 0:
            return row
        if direction == 1:
            return self.width + column
        return 3 * self.width - 1 + row - column if direction == 2 else 4 * self.width - 1 + row + column

    def position(self, direction, row, column):
        return column if direction == 0 else row

    def add_point(self, state, row, column, line, position):
        """Put a point, and update the legal moves, after a line from `position` of `line`."""
        self.drop_moves(state, row * self.width + column, line, position)
        for direction in range(4):
            i, shift = self.line(direction, row, column), WORD(self.position(direction, row, column))
            state[LIST + ROOM + i] |= ONE << shift + WORD(self.length - 1)
            self.find_moves(state, direction, row, column)

    def drop_moves(self, state, point, line, position):
        """Drop the moves that put their point there, or whose line would overlap the new one."""
        reach = self.length - 1 if self.disjoint else self.length - 2
        kept, count = LIST, np.int64(state[COUNT])
        for i in range(LIST, LIST + count):
            word = state[i]
            entry = np.int64(word)
            state[kept] = word
            overlaps = (entry >> 6 & 255 == line) & (abs((entry & 63) - position) <= reach)
            kept += 0 if (entry >> 14 & 1023 == point) | overlaps else 1
        for i in range(kept, LIST + count):
            state[i] = ZERO
        state[COUNT] = kept - LIST

    def find_moves(self, state, direction, row, column):
        """Add the moves that a new point makes possible: unused lines with one point missing."""
        line, position = self.line(direction, row, column), self.position(direction, row, column)
        missing = ~(state[LIST + ROOM + line] >> WORD(position))  # bit 0: length - 1 points before the new one
        used = state[LIST + ROOM + self.lines + line] >> WORD(position)
        once = twice = taken = ZERO  # of the lines from each bit: at least one point missing, two, some used
        for i in range(self.length):
            twice |= once & missing >> WORD(i)
            once |= missing >> WORD(i)
            taken |= used >> WORD(i) if self.disjoint or i < self.length - 1 else ZERO
        found = once & ~twice & ~taken & WORD((1 << self.length) - 1)
        while found != ZERO:
            i = trailing_zeros(found)
            found &= found - ONE
            place, back = trailing_zeros(missing >> WORD(i)), i - self.length + 1
            start = (row + back * ROW_STEPS[direction]) * self.width + column + back * COLUMN_STEPS[direction]
            step = ROW_STEPS[direction] * self.width + COLUMN_STEPS[direction]
            move = (4 * start + direction) * self.length + place
            self.insert_move(state, ((move << 10 | start + place * step) << 8 | line) << 6 | position + back)

    def insert_move(self, state, entry):
        """Insert a legal move by its number, so that equal positions are equal states."""
        word = WORD(entry)
        i = LIST + np.int64(state[COUNT])
        while i > LIST and state[i - 1] > word:
            state[i] = state[i - 1]
            i -= 1
        state[i] = word
        state[COUNT] += ONE

    def points(self, state):
        words = [int(state[LIST + ROOM + row]) >> self.length - 1 for row in range(self.width)]
        return {(row, column) for row, word in enumerate(words) for column in range(self.width) if word >> column & 1}

    # -- For speed ---------------------------------------------------------------------------------------------

    def key(self, state):
        """A hash of the lines drawn; the points follow."""
        return state[KEY]

    def random_move(self, state, moves, rng):
        return np.int64(state[LIST + random_below(rng, np.int64(state[COUNT]))] >> WORD(24))

    # -- For people --------------------------------------------------------------------------------------------

    def drawn_lines(self, state):
        """((row, column), (row, column)), ...: ends of the lines."""
        ends, taken = [], self.length if self.disjoint else self.length - 1
        for line in range(self.lines):
            i = LIST + ROOM + self.lines + line
            used = int(state[i] ^ self.initial_state[i]) >> self.length - 1
            while used:
                place = (used & -used).bit_length() - 1
                used &= ~((1 << taken) - 1 << place)
                ends.append(tuple(self.crossing(line, place + step) for step in (0, self.length - 1)))
        return ends

    def crossing(self, line, position):
        if line < self.width:
            return line, position
        if line < 2 * self.width:
            return position, line - self.width
        if line < 4 * self.width - 1:
            return position, position - line + 3 * self.width - 1
        return position, line - 4 * self.width + 1 - position

    def drawing(self, state, moves):
        """New points are in circles, with the numbers of known moves."""
        names, first = [name.partition(":")[0].split(",") for name in moves], int(state[PLAYED]) - len(moves) + 1
        numbers = {
            (int(row) + self.margin, int(column) + self.margin): first + i for i, (column, row) in enumerate(names)
        }
        return grid_drawing(self.paper(state), self.points(state), set(self.cross), self.drawn_lines(state), numbers)

    def paper(self, state):
        """The range of rows, and of columns, that is drawn."""
        low, high, points = self.margin - ROUND, self.width - self.margin + ROUND, self.points(state)
        return range(min(low, *map(min, points)), max(high, *(max(point) + 1 for point in points)))

    def move_paths(self, state, move):
        """The point that it adds; lines through the same one have the same."""
        column, row = (int(number) + self.margin for number in self.move_name(state, move).partition(":")[0].split(","))
        return [[at(self.paper(state), (row, column))]]


def at(paper, place) -> tuple[float, float]:
    """(x, y) of a place (row, column) in the drawing of these rows and columns."""
    return (place[1] - paper.start + 0.5) * GRID, (paper.stop - place[0] - 0.5) * GRID


def grid_drawing(paper, points, cross, lines, numbers) -> Drawing:
    """Dots for the cross, circles for added points, with the known numbers.

    Places are (row, column), rows upwards, in the range `paper`; the last line of the highest number is marked.
    """
    size, cell = len(paper) * GRID, GRID
    rules = "".join(f"M{(i + 0.5) * cell:g} 0v{size}M0 {(i + 0.5) * cell:g}h{size}" for i in range(len(paper)))
    dots = "".join(
        '<circle class="point" cx="{:g}" cy="{:g}" r="4.5"/>'.format(*at(paper, place)) for place in sorted(cross)
    )
    shapes = [
        '<path class="drawn" d="M{:g} {:g}L{:g} {:g}"/>'.format(*at(paper, one), *at(paper, other))
        for one, other in lines
    ]
    for place in sorted(points - cross, key=lambda place: numbers.get(place, 0)):
        x, y = at(paper, place)
        last = numbers.get(place) == max(numbers.values(), default=0)
        shapes.append(f'<circle class="added{" last" if last else ""}" cx="{x:g}" cy="{y:g}" r="11"/>')
        if place in numbers:
            shapes.append(f'<text class="on small" x="{x:g}" y="{y + 4:g}">{numbers[place]}</text>')
    ground = f'<path class="grid faint" d="{rules}"/>{dots}'
    return Drawing(size, size, f'<rect class="paper" width="{size}" height="{size}"/>{ground}', tuple(shapes))
