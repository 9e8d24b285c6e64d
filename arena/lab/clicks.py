"""A game's board on a page: its picture, with the squares that may be clicked, or reached by the keyboard."""

from collections.abc import Callable, Iterable

from nicegui import ui

from arena import games
from arena.games.core.drawing import CELL, centres
from arena.lab.line import Line, Place

# a click, or Enter, on a square: its row and column
FOUND = "const at = event.target.closest('[data-place]'); if (at) { event.preventDefault(); emit(at.dataset.place); }"
PICKED = f"(event) => {{ {FOUND} }}"
KEYED = f"(event) => {{ if (event.key === 'Enter' || event.key === ' ') {{ {FOUND} }} }}"


class BoardView:
    """The board of a line; `picked` is called when a square was clicked that a move goes over."""

    def __init__(self, line: Line, picked: Callable[[Place], None]):
        self.line, self.turned = line, False
        self.shades: dict[str, float] = {}  # by move: how strongly its last square is shaded, 0 to 1
        self.html = ui.html("", sanitize=False).classes("arena-lab-board w-full")

        def heard(event) -> None:
            row, column = str(event.args).split(",")
            picked((int(row), int(column)))

        self.html.on("click", heard, js_handler=PICKED)
        self.html.on("keydown", heard, js_handler=KEYED)

    def draw(self, clickable: bool) -> None:
        """Show the position, and where `clickable` the squares to pick."""
        line = self.line
        picture = str(games.svg(line.game, line.state, line.words))
        over = [*self._shades(), *self._squares(clickable)] if line.board else []
        picture = picture.replace('role="img"', 'role="group"', 1).replace("</svg>", f"{''.join(over)}</svg>")
        self.html.set_content(picture)
        self.html.classes(**{"add" if self.turned else "remove": "turned"})

    def _squares(self, clickable: bool) -> Iterable[str]:
        line, at = self.line, self._at()
        for place in line.picked:
            yield f'<circle class="picked" cx="{at(*place)[0]:g}" cy="{at(*place)[1]:g}" r="{CELL * 0.42:g}"/>'
        places = sorted(line.next_places()) if clickable else []
        for row, column in places:
            x, y = at(row, column)
            spot = f'data-place="{row},{column}" tabindex="0" role="button" aria-label="{self._name(row, column)}"'
            yield f'<g class="spot" {spot}><circle class="area" cx="{x:g}" cy="{y:g}" r="{CELL / 2:g}"/>'
            yield (
                f'<circle class="dot" cx="{x:g}" cy="{y:g}" r="{CELL * 0.36:g}"/></g>'
                if self._falls_to(row, column)
                else "</g>"
            )

    def _shades(self) -> Iterable[str]:
        for name, strength in self.shades.items():
            for row, column in sorted(self.line.ways.get(name, [set()])[-1:][0] if self.line.ways.get(name) else ()):
                x, y = self._at()(row, column)
                style = f'style="fill-opacity:{0.15 + 0.6 * strength:.2f}"'
                yield f'<circle class="shade" {style} cx="{x:g}" cy="{y:g}" r="{CELL * 0.45:g}"/>'

    def _falls_to(self, row: int, column: int) -> bool:
        """Whether a stone that is put into this cell's column stays here; always, where squares are named."""
        board = self.line.game.drawn_board(self.line.state)
        if board is None or any(board.row_names):
            return True
        return [symbols[column] for symbols in board.rows].count(".") == row + 1

    def _at(self):
        return centres(self.line.board, self.line.game.board_look)

    def _name(self, row: int, column: int) -> str:
        board = self.line.board
        return f"{board.column_names[column]}{board.row_names[row]}" if board else ""
