"""A game's board on a page: its picture, with the squares that may be clicked, or reached by the keyboard."""

import html
import math
from collections.abc import Awaitable, Callable, Iterable, Sequence

from nicegui import ui

from arena import games
from arena.games.core.boards.drawing import CELL, centres
from arena.lab.line import Line, Place
from arena.lab.shown import ValueBar

# a click, Enter or a drag on a square: its row and column.  A drag picks its first square when the mouse goes down,
# and the click that ends there does not pick it again
AT = "const at = event.target.closest('[data-place]');"
PICKED = (
    f"(event) => {{ {AT} if (at && !(event.detail && at.dataset.place === window.arenaSent)) "
    "{ emit(at.dataset.place); } }"
)
KEYED = (
    "(event) => { if (event.key !== 'Enter' && event.key !== ' ') { return; } "
    f"{AT} if (at) {{ event.preventDefault(); emit(at.dataset.place); }} }}"
)
DOWN = (
    f"(event) => {{ {AT} window.arenaDown = at && event.pointerType === 'mouse' ? at.dataset.place : null; "
    "window.arenaSent = at && at.dataset.more ? window.arenaDown : null; "
    "if (window.arenaSent) { emit(window.arenaSent); } }"
)
UP = (
    f"(event) => {{ {AT} if (at && window.arenaDown && at.dataset.place !== window.arenaDown) "
    "{ emit(at.dataset.place); } window.arenaDown = null; }"
)


SEARCHES = ("search-a", "search-b", "search-c")  # kinds of rings, one within the other
FAINTEST = 0.02
RADII = dict(zip(SEARCHES, (0.45, 0.37, 0.29)))  # of a cell


class BoardView:
    """The board of a line; `picked` is called when a square was clicked that a move goes over."""

    def __init__(self, line: Line, picked: Callable[[Place], Awaitable[None]]):
        self.line, self.turned = line, False
        # by kind, a hint, an exact value or one of several searches, and by move: how strongly, 0 to 1
        self.shades: dict[str, dict[str, float]] = {}
        with ui.element("div").classes("arena-lab-beside w-full"):
            self.bar = ValueBar()
            self.html = ui.html("", sanitize=False).classes("arena-lab-board")

        async def heard(event) -> None:
            row, column = str(event.args).split(",")
            await picked((float(row), float(column)))

        for event, handler in (("click", PICKED), ("keydown", KEYED), ("pointerdown", DOWN), ("pointerup", UP)):
            self.html.on(event, heard, js_handler=handler)

    def draw(self, clickable: bool, ply: int | None = None) -> None:
        """Show the position, or the one after so many plies, and where `clickable` the squares to pick."""
        line = self.line
        if ply is None:
            picture = str(games.svg(line.game, line.state, line.words))
        else:
            picture = str(games.svg(line.game, line.states[ply], line.words[: len(line.words) - len(line.names) + ply]))
        over = [*self._shades(), *self._squares(clickable)] if ply is None else []
        picture = picture.replace('role="img"', 'role="group"', 1).replace("</svg>", f"{''.join(over)}</svg>")
        self.html.set_content(picture)
        self.html.classes(**{"add" if self.turned else "remove": "turned"})

    def _squares(self, clickable: bool) -> Iterable[str]:
        line, at = self.line, self._at()
        places = sorted(line.next_places()) if clickable else []
        marked = {self._falls_to(step) for step in line.next_steps()}
        going_on = line.going_on()
        radius = _radius([at(*place) for place in places])
        for number, place in enumerate(line.picked):  # once more: a smaller circle
            yield _circle("picked", *at(*place), 0.84 * radius * 0.75 ** line.picked[:number].count(place))
        for place in places:
            x, y = at(*place)
            where, name = f"{place[0]},{place[1]}", html.escape(self._name(place))
            more = 'data-more="1"' if place in going_on else ""
            spot = f'data-place="{where}" {more} tabindex="0" role="button" aria-label="{name}"'
            dot = _circle("dot", x, y, 0.72 * radius) if place in marked else ""
            yield f'<g class="spot" {spot}>{_area(x, y, radius, line.game.spot_height)}{dot}</g>'

    def _shades(self) -> Iterable[str]:
        for kind, shades in self.shades.items():
            for name, strength in shades.items():
                for place in sorted(self._last_of(name)) if strength >= FAINTEST else ():
                    style = f'style="--strength:{strength:.2f}"'
                    yield _circle(kind, *self._at()(*place), CELL * RADII.get(kind, 0.45), style)

    def _last_of(self, name: str) -> set[Place]:
        """Where a move ends."""
        ways = self.line.ways.get(name)
        return ways[0][-1] if ways else set()

    def _falls_to(self, step: set[Place]) -> Place:
        """The one of several squares that is marked: where a stone that is put into a column stays, else the first."""
        board = self.line.game.drawn_board(self.line.state)
        free = [(r, c) for r, c in step if board and not any(board.row_names) and board.rows[int(r)][int(c)] == "."]
        return max(free, default=min(step))

    def _at(self) -> Callable[..., tuple[float, float]]:
        """From a place to (x, y)."""
        return centres(self.line.board, self.line.game.board_look) if self.line.board else lambda x, y: (x, y)

    def _name(self, place: Place) -> str:
        """A square in words; of a drawing that is no board, its name, or the moves that go on there."""
        line, board = self.line, self.line.board
        if board is not None:
            return f"{board.column_names[int(place[1])]}{board.row_names[int(place[0])]}"
        moves = dict.fromkeys(name for name, rest in line.rests() if rest and place in rest[0])
        return line.game.point_name(line.state, place) or " or ".join(moves)


def _circle(kind: str, x: float, y: float, radius: float, style: str = "") -> str:
    return f'<circle class="{kind}" {style} cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'


def _area(x: float, y: float, radius: float, height: float) -> str:
    """What can be clicked around a point: a disc, or longer if it is to be higher."""
    half = max(radius, height / 2)
    place = f'x="{x - radius:g}" y="{y - half:g}" width="{2 * radius:g}" height="{2 * half:g}"'
    return f'<rect class="area" {place} rx="{radius:g}"/>'


def _radius(points: Sequence[tuple[float, float]]) -> float:
    """Of the areas to click: half a cell, or less where they would overlap."""
    ordered = sorted(points)
    near = [math.dist(one, other) for i, one in enumerate(ordered) for other in ordered[i + 1 : i + 12]]
    return min([CELL / 2, *(gap / 2 for gap in near)])
