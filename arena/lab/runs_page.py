"""The page of all runs below a folder, and that of some side by side."""

from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlencode

from nicegui import ui

from arena.games.core.errors import UserError
from arena.lab import consent, folder
from arena.lab.apart import READING
from arena.lab.cells_view import CellsView
from arena.lab.frame import button, heading, heard, page, told
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
                self.beside = button("Side by side", self.compare)
                self.renaming = button("Rename", self.rename)
                self.deleting = button("Delete", self.delete)
                button("New run", lambda: ui.navigate.to("/new"))
            self.state = ui.label().props("role=status")
            self.view = CellsView(self.ticked)
            self.view.table.bind_filter_from(self.search, "value")
            self.more = ui.column().classes("gap-0 text-sm")
        self.ticked([])
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
        self.renaming.set_visibility(len(rows) == 1)
        self.deleting.set_visibility(len(rows) > 0)

    def names(self) -> list[str]:
        """The runs that are ticked."""
        return [unquote(row["links"]["run"].removeprefix("/runs/")) for row in self.view.ticked]

    def compare(self) -> None:
        """Open the ticked runs side by side."""
        ui.navigate.to("/beside?" + urlencode([("run", name) for name in self.names()]))

    async def rename(self) -> None:
        """Ask for another name of the run that is ticked."""
        (name,) = self.names()
        if not told(lambda: folder.own(name)):
            return
        fields = list[ui.input]()
        question = f"Rename {name}? The addresses of its pages change; a file {Path(name).name}.toml beside it stays."
        made = partial(ui.input, "new name", value=Path(name).name)
        if await consent.confirmed(question, "Rename", more=lambda: fields.append(made())):
            told(lambda: folder.rename(name, str(fields[0].value or "").strip()))
            await self.changed()

    async def delete(self) -> None:
        """Ask whether the runs that are ticked shall go, and remove their folders."""
        names = self.names()
        if not all(told(partial(folder.own, name)) for name in names):
            return
        question = (
            "Delete for ever, with all games, tables and notes? Each folder goes with all that lies in it; the file "
            "of its configuration beside it, NAME.toml, stays."
        )
        if await consent.confirmed(question, "Delete", [str(folder.at() / name) for name in names]):
            for name in names:
                told(partial(folder.delete, name))
            await self.changed()

    async def changed(self) -> None:
        """Show what has become of the folders that were ticked."""
        self.view.untick()
        self.ticked([])
        await self.look()


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
