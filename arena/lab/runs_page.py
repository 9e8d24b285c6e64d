"""The page of all runs below a folder, and that of some side by side."""

from nicegui import ui

from arena.games.core.errors import UserError
from arena.lab import folder
from arena.lab.apart import READING
from arena.lab.cells_view import CellsView
from arena.lab.frame import heading, heard, page
from arena.lab.reading import Cells, listed, side_by_side
from arena.report.listing import Listing
from arena.results.printable import printable

AGAIN, SOON = 2.0, 0.1  # seconds between looks at the folder; while some runs are not read yet
COLUMNS = [
    ("run", "run", False),
    ("played", "played", False),
    ("games", "games", False),
    ("format", "format", False),
    ("agents", "agents", True),
    ("leader", "leader", False),
    ("far", "games played", True),
    ("state", "state", False),
    ("tags", "tags", False),
]


class RunsPage:
    """A row for each run: searched, sorted, ticked to be seen side by side."""

    def __init__(self) -> None:
        self.shown: Listing | None = None
        with ui.column().classes("w-full gap-2"):
            with ui.row().classes("items-center gap-2"):
                heading(f"Runs in {folder.at()}")
                self.search = ui.input("search").props("clearable")
                self.beside = ui.button("Side by side", on_click=self.compare).props("dense no-caps outline")
                self.beside.set_visibility(False)
                ui.button("New run", on_click=lambda: ui.navigate.to("/new")).props("dense no-caps outline")
            self.state = ui.label().props("role=status")
            self.view = CellsView(self.ticked)
            self.view.table.bind_filter_from(self.search, "value")
            self.more = ui.column().classes("gap-0 text-sm")
        self.timer = ui.timer(SOON, self.look)

    async def look(self) -> None:
        """Read the folder, and show what has changed."""
        try:
            found = await READING.do(listed, folder.at())
        except UserError as error:
            self.state.set_text(str(error))
            return
        self.timer.interval = SOON if found.left else AGAIN
        if found != self.shown:
            self.shown = found
            self.show(found)

    def show(self, listing: Listing) -> None:
        """Show the runs, and what is said of others."""
        names = [folder.name_of(row["run"]) for row in listing.rows]
        rows = [
            tuple(_cell(row | {"run": name}, key) for key, _, _ in COLUMNS) for row, name in zip(listing.rows, names)
        ]
        links = {(number, "run"): folder.address(name) for number, name in enumerate(names)}
        self.view.show(Cells(COLUMNS, rows, [], len(rows)), links, key="run")
        number = len(rows) + listing.left
        left = f"; {listing.left:,} are still to be read" if listing.left else ""
        self.state.set_text(f"{number:,} {'run' if number == 1 else 'runs'}, the last one played on top{left}")
        self.more.clear()
        with self.more:
            for one in listing.unread:
                ui.label(printable(f"{folder.name_of(one['run'])} cannot be read: {one['error']}"))

    def ticked(self, rows: list[dict]) -> None:
        """Some runs are ticked."""
        self.beside.set_visibility(len(rows) > 1)

    def compare(self) -> None:
        """Open the ticked runs side by side."""
        names = [row["links"]["run"].removeprefix("/runs/") for row in self.view.ticked]
        ui.navigate.to("/beside?" + "&".join(f"run={name}" for name in names))


def _cell(row: dict, key: str) -> str:
    if key == "far":
        stored, total = row["stored"], row["total"]
        return f"{stored:,}" if total in (None, stored) else f"{stored:,} of {total:,}"
    return printable(str(row[key] if row[key] is not None else "-"))[: 16 if key == "played" else None]


def open_runs() -> None:
    """The page of all runs."""
    with page("Runs"):
        RunsPage()


def open_beside(names: list[str]) -> None:
    """The page of runs side by side."""
    with page("Side by side"), ui.column().classes("w-full gap-2"):
        view = CellsView()

        async def load() -> None:
            view.show(await READING.do(side_by_side, list(map(folder.found, names))))

        ui.timer(0.01, lambda: heard(load()), once=True)
