"""What pages show of runs, as plain values: read in the process of `apart.READING`, which keeps the run read last."""

import json
import time
from contextlib import suppress
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

from arena.formats.base import formats
from arena.formats.schedule import Schedule
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import TEXT_BYTES, read_plain
from arena.lab.run_notes import NOTES, read_notes
from arena.report.listing import Listing, schedule_of, stamp, state_of
from arena.report.listing import runs_in as read_runs
from arena.report.page import as_toml, from_home
from arena.report.pieces import pieces_of
from arena.results.database.store import FILE_NAME
from arena.results.papers import paper_figures
from arena.results.printable import printable
from arena.results.shown.column_forms import LEGENDS
from arena.results.shown.export import display_columns, elo_with_error, render
from arena.results.shown.tournament import Tournament
from arena.runner import notice
from arena.runner.study_kinds import TOURNAMENT, is_study, kind_of, runs_in

SLICE = 0.5  # seconds of reading runs, after which a page shows what it has
MOST_COLOURED = 50_000  # characters of a configuration: to colour it takes the server's time
MOST_CELL = 1000  # characters
MOST_ROWS = 500  # of a table on a page; files have all
FIRST = ("rank", "agent", "elo")  # columns of the standings: on a phone, these are in sight
MOST_AGENTS = 500  # whose ratings take some seconds
_last: list["Held"] = []  # at most one


class Cells(NamedTuple):
    """A table as people read it: (name, heading, whether it is aligned to the right) of the columns, rows of texts."""

    columns: list[tuple[str, str, bool]]
    rows: list[tuple[str, ...]]
    below: list[str]  # sentences
    size: int  # rows that there are


class Overview(NamedTuple):
    """What a run is, and what there is of it."""

    tables: tuple[str, ...]
    figures: tuple[str, ...]
    agents: tuple[str, ...]
    games: tuple[str, ...]
    reasons: tuple[str, ...]  # for which games have ended
    configuration: str  # as TOML, or ""
    stored: int
    total: int | None
    single: bool  # for one player
    wanted: int  # games for each pair, as configured, of which there may be more; else 0
    values: dict[str, Any]  # the configuration, or the plan; empty if it has none
    parts: tuple[str, ...] = ()  # the names of the folders that have the games
    rests: bool = False  # whether these have games left that nobody plays


class Held:
    """A run as it was at one moment."""

    def __init__(self, folder: Path, stamp: list):
        self.folder, self.stamp = folder, stamp
        self._tables, self.figures = dict[str, Cells](), dict[tuple, bytes]()

    @cached_property
    def run(self) -> Tournament:
        return Tournament.glimpse(self.folder)

    def itself(self, folder: Path) -> Tournament:
        """The run: for functions that would load it."""
        return self.run

    @cached_property
    def schedule(self) -> Schedule | None:
        return schedule_of(self.run)

    @cached_property
    def lines(self) -> list[str]:
        """What the format has come to, and who can be told apart."""
        lines = [] if self.schedule is None else self.schedule.lines()
        unrated = self.run.single_player or len(self.run.names) > MOST_AGENTS
        return [*lines, *([] if unrated else pieces_of(self.folder, self.itself).summary())]

    def table(self, kind: str) -> Cells:
        """A table; of a long one, the first rows."""
        check_size(self)
        if kind not in self._tables:
            found = pieces_of(self.folder, self.itself).table(kind)
            frame = found.frame.head(MOST_ROWS)
            frame.attrs = found.frame.attrs
            legend = [LEGENDS[kind]] if kind in LEGENDS else []
            self._tables[kind] = _cells(frame, [*legend, *found.notes], len(found.frame) - len(frame))
        return self._tables[kind]


def held(folder: Path, again: bool = True) -> Held:
    """The run in a folder, read again if it has changed; or else as it was when it was read last.

    A study has more files than its store, and is always read again.
    """
    known = bool(_last) and _last[0].folder == folder
    if known and not again:
        return _last[0]
    now = stamp(folder / FILE_NAME) if kind_of(folder) is TOURNAMENT else []
    if not (known and now and _last[0].stamp == now):
        _last.clear()  # first: two large ones may not fit
        _last.append(Held(folder, now))
    return _last[0]


def loaded(folder: Path) -> Tournament:
    """The tournament in a folder as it is now."""
    return held(folder).run


def listed(folder: Path) -> Listing:
    """The runs in a folder, as far as they can be read in SLICE seconds, with their `tags`."""
    found = read_runs(folder, SLICE) if folder.is_dir() else Listing([], [], 0)
    return found._replace(rows=[row | {"tags": _tags_of(Path(row["run"]))} for row in found.rows])


def _tags_of(folder: Path) -> str:
    try:
        return ", ".join(read_notes(folder).tags)[:MOST_CELL]
    except UserError:  # the run's page says why
        return f"({NOTES} cannot be read)"


def overview(folder: Path) -> Overview:
    """What there is to be seen of a run or a study."""
    own = pieces_of(folder, loaded)
    kinds = own.tables(), own.figures()
    if not (folder / FILE_NAME).exists():
        kind = kind_of(folder) or TOURNAMENT
        plan = read_plain(folder / kind.file, TEXT_BYTES).decode(errors="replace")
        values = {}
        with suppress(ValueError, RecursionError):  # else it is shown as it is, and nothing goes on with it
            values = json.loads(plan)
        parts = tuple(part.name for part in runs_in(folder))
        rests = bool(values) and any(row["state"] == "stopped" for row in read_runs(folder).rows)
        return Overview(*kinds, (), (), (), _coloured(plan), 0, None, False, 0, values, parts, rests)
    run, schedule = loaded(folder), held(folder).schedule
    config = run.meta.get("config")
    grows = config and not is_study(folder) and not formats()[config["format"]].counts_games
    single = run.single_player
    return Overview(
        *kinds,
        tuple(run.names),
        tuple(run.instances),
        tuple(sorted(run.tallies["reason"].unique())),
        _coloured(as_toml(config)) if config else "",
        len(run),
        None if schedule is None else len(schedule),
        single,
        int(config["games"]) if config and grows else 0,
        config or {},
    )


def _coloured(text: str) -> str:
    """A text that a page shows in colours, without names of home folders, unless it is too long for that."""
    if len(text) > MOST_COLOURED:
        return f"It has {len(text):,} characters, too many to be shown here."
    return from_home(text)


def table(folder: Path, kind: str, again: bool = True) -> Cells:
    """A table of a run, or of a study, read `again` or as it was; of a long one, the first rows."""
    return held(folder, again).table(kind)


def _cells(frame, below: list[str], left: int = 0) -> Cells:
    shown = display_columns(frame)
    if frame.attrs.get("kind") == "standings":
        shown = sorted(shown, key=lambda column: column.form.name not in FIRST)
    columns = [(column.form.name or column.heading, column.heading, column.right) for column in shown]
    rows = list(zip(*([cell[:MOST_CELL] for cell in column.cells] for column in shown)))
    return Cells(columns, rows, list(map(printable, below)), len(rows) + left)


def check_size(now: Held) -> None:
    """UserError if the ratings of so many agents would keep all pages waiting."""
    if (now.folder / FILE_NAME).exists() and (number := len(now.run.names)) > MOST_AGENTS:
        raise UserError(
            f"{now.folder} has {number:,} agents: tables and figures of more than {MOST_AGENTS} take minutes; "
            "arena table and arena plot make them"
        )


def table_file(folder: Path, kind: str, format: str, columns: list[str]) -> bytes:
    """A table as a file, of all columns or of those named."""
    check_size(held(folder))
    frame = pieces_of(folder, loaded).table(kind, format).frame
    if columns:
        beside = [name for name in ("error", "bound") if "elo" in columns and name in frame.columns]
        columns = [*columns, *(name for name in beside if name not in columns)]
    made = render(frame, format, columns=columns or None)
    return made if isinstance(made, bytes) else made.encode()


def figure_file(
    folder: Path, kind: str, width: str, format: str, against: str, instance: int | None, again: bool = True
) -> bytes:
    """A figure, so wide as `arena plot --width` takes it, of the run read `again` or as it was."""
    now = held(folder, again)
    check_size(now)
    wanted = kind, width, format, against, instance
    if wanted not in now.figures:
        inches = paper_figures.inches(width)
        drawing, height = pieces_of(folder, now.itself).figure(kind, inches, against, instance)
        now.figures[wanted] = paper_figures.picture(drawing, (inches, height), format)
    return now.figures[wanted]


# -- Runs side by side ---------------------------------------------------------------------------------------------


def pairs_beside(folders: list[Path]) -> Cells:
    """For each two agents that met in several runs: Elo of the first against the other in each, and how it differs.

    Differences are from the first run's, in Elo, with 95 % intervals: the square root of the sum of both errors'
    squares, as the runs are independent.  Where one of the two is a bound, there is none.  A run in which no two have
    met is left out, with a sentence.
    """
    reasons = [unmet(folder) for folder in folders]
    left = [f"{folder.name} {why}" for folder, why in zip(folders, reasons) if why]
    folders = [folder for folder, why in zip(folders, reasons) if not why]
    frames = [_pairs(folder) for folder in folders]
    keys = list(dict.fromkeys(key for frame in frames for key in frame))
    rows, seen = list[tuple[str, ...]](), set[tuple[str, str]]()
    for key in keys:
        if key[::-1] in seen:
            continue
        seen.add(key)
        own = [frame.get(key) for frame in frames]
        if sum(one is not None for one in own) > 1:
            cells = [text for one in own for text in (one.text if one else "-",)]
            rows.append((*key, *cells, *(_difference(own[0], one) for one in own[1:])))
    names = [folder.name for folder in folders]
    heads = [*names, *(f"{name} - {names[0]}" for name in names[1:])]
    columns = [("first", "agent", False), ("second", "against", False)]
    columns += [(str(number), printable(head), True) for number, head in enumerate(heads)]
    below = ["Elo of an agent against another in the games that these two played, with 95 % intervals, run by run."]
    if not rows:
        below = ["No two agents have met in more than one of these runs."]
    return Cells(columns, rows, list(map(printable, [*below, *left])), len(rows))


def unmet(folder: Path) -> str:
    """Why no agents of a run are compared by who won; "" if they are."""
    if not (folder / FILE_NAME).exists():
        return "has its games in parts, each of which has a page of its own."
    run = loaded(folder)
    if run.single_player:
        return "has games for one player, which no agent wins."
    if len(run.names) > MOST_AGENTS:
        return f"has {len(run.names):,} agents, more than the {MOST_AGENTS} that a page compares."
    return "" if len(run) else "has no games yet."


class Met(NamedTuple):
    """How an agent fared against another in a run."""

    elo: float
    error: float  # nan beside a bound
    bound: str

    @property
    def text(self) -> str:
        return printable(elo_with_error([self.elo], [self.error], [self.bound])[0])

    @property
    def turned(self) -> "Met":
        """The same for the other agent."""
        return Met(-self.elo, self.error, {">": "<", "<": ">"}.get(self.bound, ""))


def _pairs(folder: Path) -> dict[tuple[str, str], Met]:
    """By agents, each two in either order."""
    run = loaded(folder)
    met = {(row.a, row.b): Met(row.elo, row.error, row.bound) for row in run.pairs().itertuples()}
    return met | {(b, a): one.turned for (a, b), one in met.items()}


def _difference(base: Met | None, other: Met | None) -> str:
    if base is None or other is None or base.bound or other.bound or isnan(base.error + other.error):
        return "-"
    return Met(other.elo - base.elo, difference_error(base.error, other.error), "").text


def difference_error(one: float, other: float) -> float:
    """The 95 % error of the difference of two independent estimates, from theirs."""
    return (one**2 + other**2) ** 0.5


# -- A run in play -------------------------------------------------------------------------------------------------


class Live(NamedTuple):
    """How far a run is."""

    state: str  # preparing, running, stopping; else stopped, finished
    stored: int
    total: int | None
    per_second: float
    games: list[str]  # in play
    lines: list[str]  # of the format, and who can be told apart
    read: int  # games that `lines`, and tables as old, are made of
    seconds: float  # of a processor, that it took to find out


def live(folder: Path, again: bool = True) -> Live:
    """A run as it is now: what its process tells, and what its games say, these read `again` or as they were."""
    begun = time.process_time()
    told = notice.now(folder)
    now = held(folder, again or told is None)
    if len(now.run.names) <= MOST_AGENTS:
        now.table(now.run.kinds[0])  # which all pages ask for next: what it takes counts here
    lines, read = now.lines, len(now.run)
    stored, total = read, None if now.schedule is None else len(now.schedule)
    state = state_of(now.run, total)
    total = None if state == "stopped" and stored == total else total  # of a study, how many follow is not known
    if told is not None:
        state, stored, total = {"playing": "running"}.get(told.state, told.state), told.stored, told.total
    games = [printable(one.in_words()) for one in (told.games if told else [])]
    pace = told.per_second if told else 0.0
    return Live(state, stored, total, pace, games, lines, read, time.process_time() - begun)
