"""The page of a run: how far it is, its tables and figures, and the buttons that stop it and go on."""

import base64
import time
from contextlib import suppress
from html import escape
from pathlib import Path

from nicegui import ui

from arena.games.core.shared.errors import UserError
from arena.lab import consent, folder, launching
from arena.lab.apart import READING
from arena.lab.cells_view import CellsView
from arena.lab.frame import button, heard, page_of_run, tell, told
from arena.lab.reading import Cells, Live, Overview, figure_file, overview, table, table_file
from arena.lab.run_notes import Notes, read_notes, tags_in, write_notes
from arena.lab.watching import Watch
from arena.results.printable import printable
from arena.results.shown.kinds import FORMATS, PICTURES
from arena.runner import notice

LOOK = 2.0  # seconds between questions to the watch
SHARE = 20  # times what it took to look at a study, between two looks
REDRAWN = 30.0  # seconds between drawings of a figure while games are played
WIDTH = "3.4in"
AGAINST = ("playouts", "seconds", "nodes")


class LiveView:
    """How far a run is, what is in play, who leads; pause, stop, resume, more games."""

    def __init__(self, place: Path, about: Overview):
        self.place, self.watch, self.about = place, Watch.at(place), about
        self.shown: Live | None = None
        self.status = ui.label().props("role=status")
        self.bar = (
            ui.linear_progress(0, show_value=False)
            .props('instant-feedback aria-label="games played"')
            .classes("max-w-3xl")
        )
        with ui.row().classes("gap-2 items-center"):
            self.pause = button("Pause", lambda: self.ask(notice.STOP))
            self.stop = button("Stop now", lambda: self.ask(notice.STOP_NOW))
            self.resume = button("Resume", lambda: self.go_on())
            self.games = ui.number("games", value=about.wanted, min=about.wanted + 1, precision=0)
            self.more = button("Play so many", lambda: self.go_on(int(self.games.value or 0)))
        for part in (self.pause, self.stop, self.resume, self.games, self.more):
            part.set_visibility(False)  # until it is known which apply
        self.fault = ui.label().classes("text-sm whitespace-pre-wrap break-all")
        self.playing = ui.label().classes("whitespace-pre-wrap text-sm")
        self.lines = ui.column().classes("gap-0")

    async def look(self) -> bool:
        """Show what has changed; whether tables have."""
        seen = await self.watch.look()
        self._show_buttons(seen)
        if seen is self.shown:
            return False
        before, self.shown = self.shown, seen
        self.status.set_text(_in_words(seen))
        self.bar.set_value(seen.stored / max(seen.total or seen.stored, 1))
        self.playing.set_text("\n".join(seen.games))
        if before is None or before.lines != seen.lines:
            self.lines.clear()
            with self.lines:
                for line in seen.lines:
                    ui.label(line)
        return before is None or (before.read, before.state) != (seen.read, seen.state)

    def _show_buttons(self, seen: Live) -> None:
        starting = launching.is_starting(self.place)
        runs = seen.state in ("running", "stopping", "preparing")
        rests, grows = not runs and not starting, self.about.wanted > 0
        for part, shown in (
            (self.pause, seen.state == "running"),
            (self.stop, seen.state in ("running", "stopping")),
            (self.resume, rests and seen.state == "stopped"),
            (self.games, rests and grows),
            (self.more, rests and grows),
        ):
            part.set_visibility(shown)
        self.fault.set_text("starting ..." if starting and seen.state == "stopped" else launching.fault(self.place))

    def ask(self, wish: str) -> None:
        """Ask the process that plays the run to end."""
        if told(lambda: notice.ask(self.place, wish)):
            tell("The games in play are finished first." if wish == notice.STOP else "The games in play are given up.")
        self.watch.look_soon()

    async def go_on(self, games: int = 0) -> None:
        """Play what is left, or more games."""
        if await go_on(self.place, self.about, games):
            self.watch.look_soon()


async def go_on(place: Path, about: Overview, games: int = 0) -> bool:
    """Play what is left of a run or a study, or more games, if the person agrees to what that runs."""
    if agreed := await consent.agreed(about.values):
        told(lambda: launching.go_on(place, games))
    return agreed


def _in_words(seen: Live) -> str:
    far = f"{seen.stored:,} games" if seen.total is None else f"{seen.stored:,} of {seen.total:,} games"
    words = [far, seen.state]
    if seen.per_second and seen.total is not None:
        left = int((seen.total - seen.stored) / seen.per_second)
        words += [f"{seen.per_second:.3g} games a second", f"{left // 3600}:{left // 60 % 60:02d}:{left % 60:02d} left"]
    if seen.read < seen.stored:
        words.append(f"tables and figures are of {seen.read:,}")
    return ", ".join(words)


class TablesView:
    """A table of a kind that is chosen, and its files."""

    def __init__(self, run: "RunPage", kinds: tuple[str, ...], kind: str):
        self.run = run
        self.cells: Cells | None = None
        with ui.row().classes("items-center gap-2"):
            self.kind = _select("table", kinds, kind, self._chosen)
            self.columns = ui.select([], label="columns", multiple=True, on_change=self._narrowed)
            self.columns.props("options-dense").classes("w-44")
            self.format = _select("format", FORMATS, "csv")
            button("Download", self.download)
        self.view = CellsView()

    async def _chosen(self) -> None:
        self.columns.set_value([])
        await self.show()
        self.run.remember()

    def _narrowed(self) -> None:
        self.view.only(list(self.columns.value))

    async def show(self, again: bool = True) -> None:
        """Show the table, of the run read again or as it was."""
        kind = str(self.kind.value)
        cells = await heard(READING.do(table, self.run.place, kind, again))
        if cells is None or cells == self.cells:
            return
        self.cells = cells
        self.view.show(cells, self._links(kind, cells))
        names = {name: head for name, head, _ in cells.columns}
        if names != self.columns.options:
            self.columns.set_options(names)

    def _links(self, kind: str, cells: Cells) -> dict[tuple[int, str], str]:
        """To the games that a cell is made of."""
        name, first = self.run.name, cells.columns[0][0]
        if kind == "games":
            return {(i, first): folder.address(name, "games", row[0]) for i, row in enumerate(cells.rows)}
        if kind != "crosstable":
            return {}
        return {
            (i, other): folder.address(name, "games", agent=row[0], against=other)
            for i, row in enumerate(cells.rows)
            for other, _, _ in cells.columns[1:]
            if other != row[0]
        }

    async def download(self) -> None:
        """Give the table as a file."""
        kind, format = str(self.kind.value), str(self.format.value)
        columns = list(self.columns.value)
        data = await heard(READING.do(table_file, self.run.place, kind, format, columns))
        if data is not None:
            suffix = {"text": "txt", "latex": "tex", "markdown": "md"}.get(format, format)
            ui.download.content(data, f"{self.run.place.name}-{kind}.{suffix}")


class FiguresView:
    """A figure of a kind that is chosen, at the size it is printed, and its files."""

    def __init__(self, run: "RunPage", kinds: tuple[str, ...], kind: str):
        self.run = run
        with ui.row().classes("items-center gap-2"):
            self.kind = _select("figure", kinds, kind, self._chosen)
            self.width = ui.input("width", value=WIDTH).classes("w-24")
            self.width.on("keydown.enter", lambda: self.show()).on("blur", lambda: self.show())
            self.against = _select("against", AGAINST, AGAINST[0], lambda: self.show())
            self.instance = ui.number("number of the game", min=1, precision=0, on_change=lambda: self.show())
            self.instance.props("clearable").classes("w-40")
            self.format = _select("format", PICTURES, "pdf")
            button("Download", self.download)
        self.drawn = ui.html("", sanitize=False)

    async def _chosen(self) -> None:
        await self.show()
        self.run.remember()

    async def _file(self, format: str, again: bool = True) -> bytes | None:
        kind, number = str(self.kind.value), self.instance.value
        self.against.set_visibility(kind in ("strength", "curves"))
        self.instance.set_visibility(kind == "curves")
        more = str(self.against.value), int(number) if number else None
        return await heard(READING.do(figure_file, self.run.place, kind, str(self.width.value), format, *more, again))

    async def show(self, again: bool = True) -> None:
        """Draw the figure, of the run read again or as it was."""
        data = await self._file("svg", again)
        if data is not None:
            self.drawn.set_content(as_image(data, str(self.kind.value)))

    async def download(self) -> None:
        """Give the figure as a file."""
        format = str(self.format.value)
        if (data := await self._file(format)) is not None:
            ui.download.content(data, f"{self.run.place.name}-{self.kind.value}.{format}")


def as_image(svg: bytes, name: str) -> str:
    """A figure, as HTML."""
    source = f"data:image/svg+xml;base64,{base64.b64encode(svg).decode()}"
    return f'<span class="arena-lab-figure"><img alt="{escape(name)}" src="{source}" style="max-width: 100%"></span>'


def _select(label: str, options: tuple[str, ...], value: str, changed=None) -> ui.select:
    chosen = value if value in options else options[0]
    return ui.select(list(options), label=label, value=chosen, on_change=changed).classes("w-36")


class NotesView:
    """The tags and the note of a run, saved when one of the fields is left."""

    def __init__(self, place: Path):
        self.place, self.known = place, Notes()
        with ui.expansion("Tags and note").props("dense").classes("w-full max-w-3xl"):
            fault = ui.label()
            self.tags = ui.input("tags, separated by commas").classes("w-full").on("blur", self.save)
            self.note = ui.textarea("note").props("autogrow").classes("w-full").on("blur", self.save)
        try:
            self.known = read_notes(place)
        except UserError as error:
            fault.set_text(printable(str(error)))
            self.tags.disable()
            self.note.disable()
        self.tags.set_value(", ".join(self.known.tags))
        self.note.set_value(self.known.note)

    def save(self) -> None:
        """Write what was changed."""
        notes = Notes(tags_in(str(self.tags.value or "")), str(self.note.value or ""))
        if notes != self.known and told(lambda: write_notes(self.place, notes, self.known)):
            self.known = notes


class RunPage:
    """All of a run, as far as there is any: a study that has just begun has no games yet."""

    def __init__(self, name: str, place: Path, about: Overview, chosen: dict[str, str]):
        self.name, self.place, self.chosen = name, place, chosen
        self.box = ui.column().classes("w-full gap-2")
        self.next = 0.0  # when what there is of it is looked at again
        self._fill(about)
        NotesView(place)
        self.watching = ui.timer(LOOK, self.look, active=False)
        ui.timer(0.01, self.begin, once=True)

    def _fill(self, about: Overview) -> None:
        """Show what there is to be seen."""
        self.about, self.redrawn = about, time.monotonic()
        self.box.clear()
        with self.box:
            self.live = LiveView(self.place, about) if about.agents else None
            if about.rests:
                button("Resume", lambda: go_on(self.place, about))
            if about.agents:
                ui.link("All games", folder.address(self.name, "games"))
            for part in about.parts:
                ui.link(part, folder.address(f"{self.name}/{part}"))
            self.tables = TablesView(self, about.tables, self.chosen["table"])
            self.figures = FiguresView(self, about.figures, self.chosen["figure"])
            with ui.expansion("Configuration").props("dense").classes("w-full"):
                ui.code(about.configuration or "It was imported, and has none.", language="toml").classes("w-full")

    async def begin(self) -> None:
        """Read all there is, then watch."""
        await self._show()
        self.watching.activate()

    async def _show(self) -> None:
        await self.tables.show()
        await self.figures.show()

    async def look(self) -> None:
        """Show what has changed since the last look."""
        if self.live is None:
            await self._look_for_games()
            return
        try:
            changed = await self.live.look()
        except UserError as error:  # it may be mended, or come back
            self.live.status.set_text(str(error))
            return
        if not changed:
            return
        await self.tables.show(again=False)
        playing = self.live.shown is not None and self.live.shown.state == "running"
        if time.monotonic() >= self.redrawn + REDRAWN or not playing:
            self.redrawn = time.monotonic()
            await self.figures.show(again=False)

    async def _look_for_games(self) -> None:
        """Show what a study has come to, whose games have not begun or lie in parts."""
        begun = time.monotonic()
        if begun < self.next:
            return
        with suppress(UserError):  # it may be mended, or come back
            about = await READING.do(overview, self.place)
            if about != self.about:
                self._fill(about)
            await self._show()
        self.next = time.monotonic() + SHARE * (time.monotonic() - begun)

    def remember(self) -> None:
        """Let the address name what is shown."""
        self.chosen = {"table": str(self.tables.kind.value), "figure": str(self.figures.kind.value)}
        ui.navigate.history.replace(folder.address(self.name, **self.chosen))


def open_run(name: str, table: str = "", figure: str = "") -> None:
    """The page of a run."""
    chosen = {"table": table, "figure": figure}
    page_of_run(name, name, overview, lambda place, about: RunPage(name, place, about, chosen), READING)
