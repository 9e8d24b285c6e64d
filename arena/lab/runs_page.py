"""The page of all runs below a folder, and that of some side by side."""

from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlencode

from nicegui import ui

from arena.games.core.shared.errors import UserError
from arena.lab import consent, folder
from arena.lab.apart import READING
from arena.lab.beside import curves, side_by_side
from arena.lab.cells_view import CellsView
from arena.lab.frame import button, heading, heard, page, told
from arena.lab.reading import Cells, figure_file, listed
from arena.lab.run_page import AGAINST, WIDTH, as_image
from arena.report.listing import Listing
from arena.results.printable import printable

AGAIN, SOON = 2.0, 0.1  # seconds between looks at the folder; while some runs are not read yet
MOST_CURVES = 6  # agents that runs share, of which curves are drawn at once
CURVES = (
    "Elo while games came in, of the agents that the runs share. Each run's is over the mean of its own agents that "
    "are rated all along: levels compare between runs of the same agents."
)
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
        if await consent.confirmed(printable(question), "Rename", more=lambda: fields.append(made())):
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


class BesidePage:
    """Runs side by side: who won, what differs in their settings, curves."""

    def __init__(self, names: list[str]):
        self.names, self.places = names, list[Path]()
        heading("Side by side")
        ui.link("Back to Runs", "/runs")
        self.pairs = CellsView()
        heading("Settings that differ")
        self.settings = CellsView()
        heading("Figures")
        self.below = ui.label("reading ...").classes("text-sm max-w-3xl")
        self.agent = ui.select([], label="agent", on_change=lambda: self.draw()).classes("w-36")
        self.agent.set_visibility(False)
        self.drawn = ui.html("", sanitize=False)
        self.others = ui.column().classes("w-full")
        ui.timer(0.01, lambda: heard(self.load()), once=True)

    async def load(self) -> None:
        """Read the runs, and show them."""
        self.places = list(map(folder.found, self.names))
        found = await READING.do(side_by_side, self.places)
        self.pairs.show(found.pairs)
        self.settings.show(found.settings)
        self.agents = list(found.agents)
        self.below.set_text(CURVES if self.agents else "These runs share no agent that has a rating in each.")
        if len(self.agents) > MOST_CURVES:
            self.agent.set_visibility(True)
            self.agent.set_options(self.agents, value=self.agents[0])  # which draws
        elif self.agents:
            await self.draw()
        for place, kind in found.studies.items():
            await self.draw_study(Path(place), kind)

    async def draw(self) -> None:
        """Draw the curves of the agents that all have, or of the one that is chosen of many."""
        agents = [self.agent.value] if self.agent.visible else self.agents
        if (data := await heard(READING.do(curves, self.places, agents))) is not None:
            self.drawn.set_content(as_image(data, "Elo along the games"))

    async def draw_study(self, place: Path, kind: str) -> None:
        """Add the main figure of a study."""
        name = folder.name_of(place)
        data = await heard(READING.do(figure_file, place, kind, WIDTH, "svg", AGAINST[0], None))
        if data is not None:
            with self.others:
                ui.label(printable(f"{name}: {kind}"))
                ui.html(as_image(data, f"{kind} of {name}"), sanitize=False)


def open_beside(names: list[str]) -> None:
    """The page of runs side by side."""
    with page("Side by side"), ui.column().classes("w-full gap-2"):
        BesidePage(names)
