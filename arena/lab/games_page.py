"""All games of a run: filtered and sorted by the store, a page at a time."""

from pathlib import Path
from typing import Any

from nicegui import ui

from arena.lab import folder
from arena.lab.apart import READING
from arena.lab.cells_view import CellsView
from arena.lab.frame import button, heard, page_of_run
from arena.lab.reading import MOST_CELL, Cells, Overview, overview
from arena.results.database.games_list import ORDERS, RESULTS, Page, from_texts
from arena.results.database.games_list import page as page_of
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.printable import printable

SIZE = 50  # games on a page
MOST_LISTED = 200  # agents
OUTCOMES = {1.0: "1-0", 0.5: "1/2", 0.0: "0-1", None: "-"}
COLUMNS = [
    ("id", "game", False),
    ("first", "first", False),
    ("second", "second", False),
    ("outcome", "result", True),
    ("plies", "plies", True),
    ("opening", "opening", True),
    ("reason", "reason", False),
    ("seconds", "seconds", True),
    ("detail", "detail", False),
]


def read(place: Path, given: dict[str, str]) -> Page:
    """The games that an address asks for; UserError or ValueError names what is wrong in it."""
    begin = given.get("begin", "")
    order = given.get("order") or "ended"
    with Store.open(place) as store:
        from_ = int(begin) if begin.isdigit() else 0
        return page_of(store, from_texts(given), from_, SIZE, order, bool(given.get("down")))


class GamesPage:
    """Fields that say which games are wanted, and a page of these."""

    def __init__(self, name: str, place: Path, about: Overview, given: dict[str, str]):
        self.name, self.place, self.given = name, place, given
        self.found = 0  # games
        agents = ["", *sorted(about.agents)] if len(about.agents) <= MOST_LISTED else []
        with ui.row().classes("items-center gap-2"):
            self._choice("agent", agents)
            self._choice("against", agents)
            self._choice("result", ["", *RESULTS])
            self._choice("reason", ["", *about.reasons])
            self._choice("blame", agents, "lost by a failure of")
            for field, label in (("least", "plies, least"), ("most", "plies, most"), ("opening", "opening")):
                self._text(field, label)
            if len(about.games) > 1:
                self._text("condition", "number of game and budget")
            self._choice("order", list(ORDERS), "sorted by")
            ui.checkbox("down", value=bool(given.get("down")), on_change=self._asked("down"))
        with ui.row().classes("items-center gap-2"):
            button("First", lambda: self._go(0))
            button("Back", lambda: self._go(self.begin - SIZE))
            button("Next", lambda: self._go(self.begin + SIZE))
            button("Last", lambda: self._go((self.found - 1) // SIZE * SIZE))
            self.state = ui.label().props("role=status")
        self.view = CellsView()
        ui.timer(0.01, self.show, once=True)

    def _choice(self, field: str, options: list[str], label: str = "") -> None:
        """A field with these options, or any text where there are none."""
        if not options:
            self._text(field, label or field)
            return
        value = self.given.get(field, "")
        known = options if value in options else [*options, value]
        chosen = ui.select(known, label=label or field, value=value or options[0], on_change=self._asked(field))
        chosen.props("options-dense").classes("w-40")

    def _text(self, field: str, label: str) -> None:
        text = ui.input(label, value=self.given.get(field, "")).props("debounce=400").classes("w-32")
        text.on_value_change(self._asked(field))

    def _asked(self, field: str):
        return lambda event: self.ask(field, str(event.value or ""))

    async def ask(self, field: str, text: str) -> None:
        """Another wish: from the first page on."""
        self.given[field] = text
        await self._go(0)

    @property
    def begin(self) -> int:
        text = self.given.get("begin", "")
        return int(text) if text.isdigit() else 0

    async def _go(self, begin: int) -> None:
        if begin >= max(self.found, 1):
            return
        self.given["begin"] = str(begin) if begin > 0 else ""
        await self.show()
        ui.navigate.history.replace(folder.address(self.name, "games", **self.given))

    async def show(self) -> None:
        """Ask the store, and show the page."""
        games = await heard(READING.do(read, self.place, self.given))
        if games is None:
            return
        self.found = games.found
        rows = [_row(row, id) for row, id in zip(games.rows, games.ids)]
        links = {(i, "id"): folder.address(self.name, "games", id) for i, id in enumerate(games.ids)}
        self.view.show(Cells(COLUMNS, rows, [], len(rows)), links)
        last = self.begin + len(rows)
        self.state.set_text(f"{self.begin + 1:,} to {last:,} of {games.found:,} games" if rows else "No game is so.")


def _row(row: dict[str, Any] | None, id: str) -> tuple[str, ...]:
    if row is None:
        return (printable(id), *["damaged"] * (len(COLUMNS) - 1))
    return tuple(printable(_cell(row, name))[:MOST_CELL] for name, _, _ in COLUMNS)


def _cell(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if name == "outcome":
        return f"{row['score']:g}" if row["second"] is None and row["score"] is not None else OUTCOMES.get(value, "-")
    if name == "detail" and row["reason"] == Reason.IMPORTED:
        return ""  # the tags that a file had
    return "-" if value is None else f"{value:.2f}" if name == "seconds" else f"{value}"


def open_games(name: str, given: dict[str, str]) -> None:
    """The list of a run's games."""

    def show(place: Path, about: Overview) -> None:
        ui.link("The run", folder.address(name))
        GamesPage(name, place, about, given)

    page_of_run(f"Games of {name}", name, overview, show, READING)
