"""Positions as SVG: boards read from the text that games render, each drawn in the look that its game asks for.

For text as from `games.core.boards.board.draw`, `board_look` says what cells and symbols are; other games replace
`Game.drawing`, or are shown as text.  Pictures load nothing, and follow the reader's choice of light or dark.
"""

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    import numpy as np

    from arena.games.core.interface.people import People

CELL = 40  # units: side of a cell
EDGE = 26  # for row and column names
LINE = 20  # height of a line of text
LETTER = 8.5  # width of a letter
WIDEST = 72  # letters of a line
STICKS = 24  # objects of a heap drawn one by one
ROW = 34.64  # from one row of hexagons to the next: CELL * sqrt(3) / 2
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML
NO_CELL = " "  # places off a board of hexagons that is no rhombus
SQUARE = re.compile(r"[a-z]\d+|\d+[a-z]")

PIECES = {**dict.fromkeys("XxB", "black disc"), **dict.fromkeys("OoW", "white disc"), "#": "block"}
OUTLINES = {
    "pawn": "M20 7a5.5 5.5 0 0 1 3.4 9.8q1 9 5 12.2l1.6 5h-20l1.6-5q4-3.2 5-12.2a5.5 5.5 0 0 1 3.4-9.8z",
    "rook": "M11 34v-4l3-3v-10l-3-3v-7h4v3h3v-3h4v3h3v-3h4v7l-3 3v10l3 3v4z",
    "knight": "M12 34v-3q1-6 6-10l-5 2-3-3q1-6 6-10l1-4 3 3q9 2 10 14l-1 11z",
    "bishop": "M20 5a3 3 0 0 1 2 5q7 6 5 13l-3 4 1 3h4v4h-18v-4h4l1-3-3-4q-2-7 5-13a3 3 0 0 1 2-5z",
    "queen": "M10 34v-4l2-3-4-16 6 8 1-11 5 10 5-10 1 11 6-8-4 16 2 3v4z",
    "king": "M18.5 4h3v3h3v3h-3v4q8-3 9 3 0 5-4 10l2 3v4h-17v-4l2-3q-4-5-4-10 1-6 9-3v-4h-3v-3h3z",
    "cross": "M10 10L30 30M30 10L10 30",
    "ring": "M20 9a11 11 0 0 1 0 22a11 11 0 0 1 0-22z",
}
TILES = ("#e8a33d", "#5fa8d3", "#5cb88a", "#e07a8b", "#a98fd6", "#c7b36a", "#7cc6c0", "#d99be0", "#b0b7bf", "#e0875a")

STYLE = """
.arena-board { color-scheme: light dark; }
.arena-board text { font: 15px system-ui, sans-serif; fill: #525c66; text-anchor: middle; }
.arena-board text.line { font: 14px ui-monospace, "DejaVu Sans Mono", monospace; fill: #1c2127; text-anchor: start; }
.arena-board text.on { fill: #14171a; }
.arena-board text.small { font-size: 11px; }
.arena-board .faint { stroke-opacity: .3; }
.arena-board .paper { fill: #ffffff; }
.arena-board .ground { fill: #f1e7d3; }
.arena-board .even { fill: #d9c49c; }
.arena-board .panel { fill: #3f6fae; }
.arena-board .felt { fill: #5b9a72; }
.arena-board .grid { fill: none; stroke: #7d6d4f; stroke-width: 1.25; }
.arena-board .white { fill: #fdfcf9; stroke: #33302a; stroke-width: 1.5; }
.arena-board .black { fill: #2a2c30; stroke: #0a0b0c; stroke-width: 1.5; }
.arena-board .red { fill: #cf4a3f; stroke: #7d241d; stroke-width: 1.5; }
.arena-board .blue { fill: #3470b8; stroke: #173f70; stroke-width: 1.5; }
.arena-board .yellow { fill: #f2c230; stroke: #6b5200; stroke-width: 1.5; }
.arena-board .block { fill: #6d6759; stroke: #4d483e; stroke-width: 1; }
.arena-board .stroke { fill: none; stroke-width: 5; stroke-linecap: round; }
.arena-board .red.stroke, .arena-board .red.side { stroke: #cf4a3f; }
.arena-board .blue.stroke, .arena-board .blue.side { stroke: #3470b8; }
.arena-board .side { fill: none; stroke-width: 9; stroke-linejoin: round; stroke-linecap: round; }
.arena-board .tile { stroke: #00000040; stroke-width: 1; }
.arena-board .drawn { fill: none; stroke: #3470b8; stroke-width: 2.5; stroke-linecap: round; }
.arena-board .point { fill: #1c2127; }
.arena-board .added { fill: #fdfcf9; stroke: #3470b8; stroke-width: 1.5; }
.arena-board .under { fill: #3d8bd4; fill-opacity: .5; }
.arena-board .last { stroke: #e0601f; stroke-width: 3.5; }
.arena-board .ring { fill: #ffffff; stroke: #14171a; stroke-width: 3; }
@media (prefers-color-scheme: dark) {
.arena-board text { fill: #a9b4bf; }
.arena-board text.line { fill: #e3e8ed; }
.arena-board text.on { fill: #14171a; }
.arena-board .paper { fill: #14181d; }
.arena-board .ground { fill: #6a5d47; }
.arena-board .even { fill: #4a4030; }
.arena-board .panel { fill: #2b4d7a; }
.arena-board .felt { fill: #2f5f43; }
.arena-board .grid { stroke: #2a251c; }
.arena-board .white { fill: #efece5; stroke: #15130f; }
.arena-board .black { fill: #17191c; stroke: #c9c4b8; }
.arena-board .red { stroke: #f2b3ab; }
.arena-board .blue { stroke: #a9cdf5; }
.arena-board .block { fill: #2b2821; stroke: #d6cbb0; }
.arena-board .red.stroke { stroke: #f5958c; }
.arena-board .blue.stroke { stroke: #8fc1f7; }
.arena-board .point { fill: #e3e8ed; }
.arena-board .drawn, .arena-board .added { stroke: #6db3f2; }
.arena-board .added { fill: #efece5; }
.arena-board .added.last { stroke: #ff9149; }
}
""".strip()


@dataclass(frozen=True)
class Look:
    """How the text of a board is drawn.

    cells: squares, checkered, points (where lines cross), holes (of an upright panel), felt, or hexagons, whose rows
    move half a cell to the right.  pieces: for a symbol a colour (white, black, red, blue, yellow) and a shape (disc,
    or of `OUTLINES`), "block", "tile" (a colour for each digit) or "" for nothing; others but "." are letters.  notes:
    whether lines beside the board are shown below it.
    """

    cells: str = "squares"
    pieces: Mapping[str, str] = field(default_factory=dict)
    notes: bool = True


@dataclass(frozen=True)
class Board:
    """Symbols row by row from the top, the names of rows ("" for none) and of columns."""

    rows: tuple[tuple[str, ...], ...]
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def places(self, name: str) -> list[tuple[int, int]]:
        """The (row, column) of each square in a move's name, or of the highest piece of a column."""
        found = []
        for square in SQUARE.findall(name):
            row, column = re.search(r"\d+", square)[0], re.search(r"[a-z]", square)[0]  # type: ignore[index]
            if row in self.row_names and column in self.column_names:
                found.append((self.row_names.index(row), self.column_names.index(column)))
        if name in self.column_names:
            column = self.column_names.index(name)
            found += [(row, column) for row, symbols in enumerate(self.rows) if symbols[column] != "."][:1]
        return found


@dataclass(frozen=True)
class Drawing:
    """Its size in units, what no move changes, and the elements above it, in order of painting."""

    width: float
    height: float
    ground: str
    parts: tuple[str, ...]


class Picture(str):
    """The text of an SVG element, which a notebook shows as a picture."""

    def _repr_svg_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<a picture, SVG of {len(self):,} characters>"


def svg(game: "People", state: "np.ndarray", moves: Sequence[str] = (), title: str = "") -> Picture:
    """A position as a self-contained SVG element, which a notebook shows.

    moves: the names of the moves so far, or of the last one, which is marked (some games show more if they get them
    all); title: for readers who cannot see the picture.
    """
    drawing = game.drawing(state, list(moves))
    name = title or f"{game}, {f'after {moves[-1]}' if moves else 'a position'}"
    body = f"<style>{STYLE}</style>{drawing.ground}{''.join(drawing.parts)}"
    words = f"<title>{_words(name)}</title><desc>{_words(game.render(state))}</desc>"
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="arena-board" role="img" aria-label="{_words(name)}" '
        f'viewBox="0 0 {drawing.width:g} {drawing.height:g}" width="{drawing.width:g}" height="{drawing.height:g}">'
        f"{words}{body}</svg>\n"
    )


def read_board(text: str) -> Board | None:
    """The board in a text: rows of single symbols above or below a line with all column names."""
    lines = text.splitlines()
    for at in reversed(range(len(lines))):
        columns = lines[at].split()
        if not _names_columns(columns):
            continue
        for start, step in ((at - 1, -1), (at + 1, 1)):
            rows: list[tuple[str, tuple[str, ...]]] = []
            while 0 <= start < len(lines) and (row := _row(lines[start].split(), len(columns))):
                rows.append(row)
                start += step
            if rows:
                names, symbols = zip(*rows[::step])
                first, last = sorted((at, start - step))
                return Board(symbols, names, tuple(columns), tuple(lines[:first] + lines[last + 1 :]))
    return None


def _names_columns(words: list[str]) -> bool:
    if not words:
        return False
    letters = words[0] == "a" and all(len(word) == 1 for word in words) and sorted(set(words)) == words
    return letters or words == [str(i + 1) for i in range(len(words))]


def _row(words: list[str], columns: int) -> tuple[str, tuple[str, ...]] | None:
    name = words[0] if len(words) == columns + 1 and words[0].isdigit() else ""
    symbols = words[1:] if name else words
    return (name, tuple(symbols)) if len(symbols) == columns and all(len(word) == 1 for word in symbols) else None


def text_drawing(text: str, moves: Sequence[str], look: Look) -> Drawing:
    """The board in a text, if it is one, else its lines."""
    board = read_board(text)
    return lines_drawing(text.splitlines()) if board is None else board_drawing(board, moves, look)


def board_drawing(board: Board, moves: Sequence[str], look: Look, hidden=(), over: Iterable[str] = ()) -> Drawing:
    """A board in its look; the last of `moves` is marked.

    hidden: (row, column) of symbols not drawn; over: elements in their place, in units from the board's `corner`.
    """
    at = centres(board, look)
    last = board.places(moves[-1]) if moves else []
    flat = look.cells in ("squares", "checkered")
    parts = [_box(*at(*place), 0, "under") for place in last if flat]
    for row, symbols in enumerate(board.rows):
        for column, symbol in enumerate(symbols):
            if symbol not in (".", NO_CELL) and (row, column) not in hidden:
                parts.append(_piece(symbol, *at(row, column), look))
    parts += over
    if not flat:
        parts += [f'<circle class="last ring" cx="{x:g}" cy="{y:g}" r="6"/>' for x, y in (at(*place) for place in last)]
    bottom = _height(board, look)
    notes = board.notes if look.notes else ()
    parts += [text_line(note, 4, bottom + LINE * i + 14) for i, note in enumerate(notes)]
    width = max(_width(board, look), *(LETTER * len(note) + 8 for note in notes), 0.0)
    height = bottom + LINE * len(notes)
    return Drawing(width, height, paper(width, height) + _ground(board, look) + _names(board, look), tuple(parts))


def corner(board: Board, row: int, column: int) -> tuple[float, float]:
    """(x, y) of the upper left corner of a square."""
    return EDGE + CELL * column, 2 + CELL * row


def paper(width: float, height: float) -> str:
    """The background."""
    return f'<rect class="paper" width="{width:g}" height="{height:g}"/>'


def lines_drawing(lines: Iterable[str]) -> Drawing:
    """Lines of text; long ones are broken."""
    shown = []
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        shown += textwrap.wrap(line, WIDEST, subsequent_indent=indent + "  ", drop_whitespace=False) or [""]
    width, height = LETTER * max([20, *map(len, shown)]) + 16, LINE * max(len(shown), 1) + 12
    parts = [text_line(line, 8, LINE * i + 20) for i, line in enumerate(shown)]
    return Drawing(width, height, paper(width, height), tuple(parts))


def object_at(heap: int, number: int, most: int) -> tuple[float, float]:
    """(x, y) of an object of a heap of `heaps_drawing`, both counted from 0."""
    unit = 12 if most <= STICKS else 12 * STICKS / most
    return 40 + unit * (number + 0.3), 34 * heap + 20


def heaps_drawing(heaps: Sequence[int], most: int, last: Iterable[int] = ()) -> Drawing:
    """Heaps below each other, each with its number and size.

    most: the largest possible; last: numbers, from 0, of those that the last move changed.
    """
    parts, unit = [], 12 if most <= STICKS else 12 * STICKS / most
    width, height = 40 + unit * most + 60, 34 * max(len(heaps), 1) + 8
    for i, heap in enumerate(map(int, heaps)):
        y = 34 * i + 4
        if i in last:
            parts.append(f'<rect class="under" x="2" y="{y}" width="{width - 4:g}" height="32" rx="5"/>')
        if most <= STICKS:
            parts += [
                f'<rect class="red" x="{40 + unit * j}" y="{y + 3}" width="7" height="26" rx="3"/>' for j in range(heap)
            ]
        elif heap:
            parts.append(f'<rect class="red" x="40" y="{y + 6}" width="{unit * heap:g}" height="20" rx="3"/>')
        parts += [text_line(str(i + 1), 10, y + 21), text_line(str(heap), 48 + unit * heap, y + 21)]
    return Drawing(width, height, paper(width, height), tuple(parts))


def centres(board: Board, look: Look) -> Callable[[int, int], tuple[float, float]]:
    """A function from (row, column) to (x, y) of a cell's middle."""
    if look.cells == "hexagons":
        left = EDGE + CELL / 2 - CELL * min(_offsets(board))
        return lambda row, column: (left + CELL * (column + row / 2), EDGE + ROW * row + CELL / 2 + 8)
    return lambda row, column: (EDGE + CELL * (column + 0.5), 2 + CELL * (row + 0.5))


def _cells(board: Board) -> list[tuple[int, int]]:
    return [(r, c) for r, symbols in enumerate(board.rows) for c, symbol in enumerate(symbols) if symbol != NO_CELL]


def _offsets(board: Board) -> list[float]:
    """The shift of each hexagon to the right, in cells."""
    return [column + row / 2 for row, column in _cells(board)]


def _width(board: Board, look: Look) -> float:
    if look.cells == "hexagons":
        return EDGE + CELL * (max(_offsets(board)) - min(_offsets(board)) + 1) + 10
    return EDGE + CELL * len(board.column_names) + 4


def _height(board: Board, look: Look) -> float:
    rows = len(board.rows)
    if look.cells == "hexagons":
        return EDGE + ROW * (rows - 1) + CELL + 16 + (0 if _begins_above(board) else LINE)
    return 2 + CELL * rows + EDGE


def _begins_above(board: Board) -> bool:
    return NO_CELL not in board.rows[0]


def _ground(board: Board, look: Look) -> str:
    rows, columns = len(board.rows), len(board.column_names)
    if look.cells == "hexagons":
        return _hexagons(board, look)
    left, top, width, height = EDGE, 2, CELL * columns, CELL * rows
    kind = {"holes": "panel", "felt": "felt"}.get(look.cells, "ground")
    rounded = ' rx="8"' if look.cells == "holes" else ""
    shapes = [f'<rect class="{kind}" x="{left}" y="{top}" width="{width}" height="{height}"{rounded}/>']
    if look.cells == "holes":
        at = centres(board, look)
        middles = [at(row, column) for row in range(rows) for column in range(columns)]
        return "".join([*shapes, *(f'<circle class="paper" cx="{x:g}" cy="{y:g}" r="15"/>' for x, y in middles)])
    if look.cells == "checkered":
        odd = [(r, c) for r in range(rows) for c in range(columns) if (rows - 1 - r + c) % 2 == 0]
        squares = "".join(f"M{left + CELL * c} {top + CELL * r}h{CELL}v{CELL}h-{CELL}z" for r, c in odd)
        return "".join([*shapes, f'<path class="even" d="{squares}"/>'])
    inset = CELL // 2 if look.cells == "points" else 0
    steps = 0 if inset else 1
    lines = [f"M{left + inset} {top + inset + CELL * r}h{width - 2 * inset}" for r in range(rows + steps)]
    lines += [f"M{left + inset + CELL * c} {top + inset}v{height - 2 * inset}" for c in range(columns + steps)]
    return "".join([*shapes, f'<path class="grid" d="{"".join(lines)}"/>'])


def _hexagons(board: Board, look: Look) -> str:
    """Cells, and coloured sides: the first player's above and below, the second's left and right."""
    at, rows, columns = centres(board, look), len(board.rows), len(board.column_names)
    half, tall, flat = CELL / 2, ROW / 1.5, ROW / 3
    cells = [at(row, column) for row, column in _cells(board)]
    path = "".join(
        f"M{x:g} {y - tall:.4g}l{half:g} {flat:.4g}v{tall:.4g}l-{half:g} {flat:.4g}l-{half:g}-{flat:.4g}v-{tall:.4g}z"
        for x, y in cells
    )
    ground = f'<path class="ground" d="{path}"/><path class="grid" d="{path}"/>'
    if len(cells) < rows * columns:
        return ground  # no player owns its sides
    red, blue = (look.pieces.get(symbol, "").partition(" ")[0] for symbol in "XO")
    sides = []
    for row, sign in ((0, -1), (rows - 1, 1)):
        points = [(x + dx, y + sign * dy) for x, y in (at(row, c) for c in range(columns)) for dx, dy in _CAP]
        sides.append((red, points))
    for column, sign in ((0, -1), (columns - 1, 1)):
        points = [(x + sign * half, y + dy) for x, y in (at(r, column) for r in range(rows)) for dy in (-flat, flat)]
        sides.append((blue, points))
    drawn = "".join(
        f'<polyline class="{colour} side" points="{" ".join(f"{x:.4g},{y:.4g}" for x, y in points)}"/>'
        for colour, points in sides
    )
    return drawn + ground


_CAP = ((-CELL / 2, ROW / 3), (0.0, ROW / 1.5), (CELL / 2, ROW / 3))  # upper end of a hexagon, from left to right


def _names(board: Board, look: Look) -> str:
    at, hexagons = centres(board, look), look.cells == "hexagons"
    shapes = []
    for row, name in enumerate(board.row_names):
        x, y = at(row, _first_cell(board.rows[row]))
        shapes.append(f'<text x="{x - CELL / 2 - 12:g}" y="{y + 5:g}">{_words(name)}</text>')
    for column, name in enumerate(board.column_names):
        if hexagons and not _begins_above(board):
            last = len(board.rows) - 1 - _first_cell([symbols[column] for symbols in reversed(board.rows)])
            x, y = at(last, column)
            x, y = x + 16, y + 33
        else:
            x, y = at(0 if hexagons else len(board.rows) - 1, column)
            y += -32 if hexagons else CELL / 2 + 18
        shapes.append(f'<text x="{x:g}" y="{y:g}">{_words(name)}</text>')
    return "".join(shapes)


def _first_cell(symbols: Sequence[str]) -> int:
    return next(i for i, symbol in enumerate(symbols) if symbol != NO_CELL)


def _words(text: str) -> str:
    return escape(UNWRITABLE.sub("\ufffd", text), {'"': "&quot;"})


def text_line(text: str, x: float, y: float) -> str:
    """A line of text, in letters of one width, that begins at x."""
    return f'<text class="line" x="{x:g}" y="{y:g}" xml:space="preserve">{_words(text)}</text>'


def _box(x: float, y: float, inset: float, kind: str) -> str:
    side = CELL - 2 * inset
    return f'<rect class="{kind}" x="{x - side / 2:g}" y="{y - side / 2:g}" width="{side:g}" height="{side:g}"/>'


def _piece(symbol: str, x: float, y: float, look: Look) -> str:
    colour, _, shape = look.pieces.get(symbol, PIECES.get(symbol, "letter")).partition(" ")
    if colour == "block":
        return _box(x, y, 3, "block")
    if colour == "tile":
        box = _box(x, y, 1.5, "tile").replace("/>", f' fill="{TILES[int(symbol, 36) % len(TILES)]}"/>')
        return f'{box}<text class="on" x="{x:g}" y="{y + 5:g}">{_words(symbol)}</text>'
    if shape == "disc":
        return f'<circle class="{colour}" cx="{x:g}" cy="{y:g}" r="{16 if look.cells == "points" else 15}"/>'
    if shape in OUTLINES:
        kind = f"{colour} stroke" if shape in ("cross", "ring") else colour
        return f'<path class="{kind}" transform="translate({x - 20:g} {y - 20:g})" d="{OUTLINES[shape]}"/>'
    return f'<text class="on" x="{x:g}" y="{y + 5:g}">{_words(symbol)}</text>'
