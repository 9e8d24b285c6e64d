"""The tables and figures of a folder, which holds a run or a study: which there are, and each.

Nothing is imported before it is needed: a table of a run needs no matplotlib, and no kernels.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from arena import results
from arena.games.core.shared.errors import UserError
from arena.results.database.store import GAMES_VERIFIED
from arena.results.shown.kinds import NOTED
from arena.results.shown.tournament import Tournament
from arena.runner.study_kinds import TOURNAMENT, kind_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RATED = 200  # agents, whose ratings or pairings take a second
Load = Callable[[Path], Tournament]
Drawn = tuple[Callable[["Figure"], None], float]
"""What draws a figure, and the height in inches that suits it."""


class NotedTable(NamedTuple):
    """A table; `notes` are for its readers, `warnings` go with it in every form."""

    frame: pd.DataFrame
    notes: list[str]
    warnings: list[str]


class First(NamedTuple):
    """What the page of a study has first: a table and a figure, with what stands below each.

    standings: whether those of its run say something, too
    """

    caption: str
    frame: pd.DataFrame
    below: str
    draw: Callable[["Figure"], None]
    height: float
    notes: Sequence[str] = ()
    games: int = 0
    standings: bool = True


class Part(NamedTuple):
    """A part of a study that has a run of its own: in words, its folder, its table."""

    title: str
    place: Path
    frame: pd.DataFrame


class Games(NamedTuple):
    """The table of games in parts, of which few are in memory; `notes` and `warnings` as of a table."""

    frames: Iterator[pd.DataFrame]
    notes: list[str]
    warnings: list[str]


def games(folder: Path) -> Games:
    """The table of games for a file that may be large."""
    run = results.load(folder)
    frames = iter([run.table("games")]) if len(run) <= GAMES_VERIFIED else run.games_in_parts()
    return Games(frames, run.versions, run.versions)


def pieces_of(folder: Path, load: Load | None = None) -> "PiecesOfRun":
    """What a folder has; `load` gives the run in it, by default as it is now."""
    kind = kind_of(folder) or TOURNAMENT
    return kind.named(kind.pieces)(folder, load)


class PiecesOfRun:
    """What a run has; kinds are listed with the main one first."""

    def __init__(self, folder: Path, load: Load | None):
        self.folder, self._load = folder, load or results.load

    @cached_property
    def run(self) -> Tournament:
        return self._load(self.folder)

    def tables(self) -> tuple[str, ...]:
        """The kinds of tables."""
        return self.run.kinds

    def table(self, kind: str | None = None, format: str = "text") -> NotedTable:
        """The table of a kind, by default the main one: with every digit where the format is one for programs."""
        chosen = kind or self.run.kinds[0]
        if chosen not in self.run.kinds:
            raise UserError(f"--kind {chosen}: this run has {', '.join(self.tables())}")
        frame, versions = self.run.table(chosen), self.run.versions
        return NotedTable(frame, self.run.notes_on(frame) if chosen in NOTED else versions, versions)

    def leader(self) -> str | None:
        """Who is first; nobody of so many that their ratings would keep a list waiting."""
        run = self.run
        if len(run.names) > MOST_RATED:
            return None
        if not run.single_player:
            return str(run.standings()["agent"].iloc[0])
        means = run.games.groupby(["condition", "first"])["score"].mean().unstack().dropna(axis=1).sum()
        return str(means.idxmax()) if len(means) else None

    def summary(self) -> list[str]:
        """What was found, in sentences."""
        return self.run.summary()

    def first(self, width: float) -> First | None:
        """What its page has first, the figure `width` inches wide; None of a tournament, whose standings are."""
        return None

    def parts(self) -> Iterable[Part]:
        """The parts of a study that have a run of their own."""
        return ()

    def figures(self) -> tuple[str, ...]:
        """The kinds of figures."""
        from arena.report import along
        from arena.results.papers import paper_figures

        return (*paper_figures.kinds(self.run), *along.kinds(self.run))

    def figure(
        self, kind: str, width: float, against: str = "playouts", instance: int | None = None, panels: bool = False
    ) -> Drawn:
        """A figure `width` inches wide; against, instance and panels are of strength and curves (`arena plot`)."""
        from arena.report import along
        from arena.results.papers import paper_figures

        run = self.run
        if kind not in (known := self.figures()):
            raise UserError(f"{kind} is not drawn of this run; there are {', '.join(known)}")
        if drawn := along.kinds(run).get(kind):
            return lambda figure: drawn(figure, run), paper_figures.height(run, kind, width)
        options = {"against": against, "instance": None, "panels": panels}
        if kind == "curves":
            _check_curves(run, against, instance)
            options["instance"] = run.instances[instance - 1] if instance else None
        elif kind == "strength" and not run.win_rates()[f"{against}_per_move"].gt(0).any():
            raise UserError(f"--against {against}: no agent of this run has counted them")
        return paper_figures.draw(run, kind, options), paper_figures.height(run, kind, width)


def _check_curves(run: Tournament, against: str, instance: int | None) -> None:
    if against == "nodes":
        raise UserError("--against nodes is for strength; curves are against playouts or seconds")
    if instance is not None and not 1 <= instance <= len(run.instances):
        raise UserError(f"--instance {instance} is out of range; this run has 1 to {len(run.instances)}")
    if run.improvements().empty:
        raise UserError("no search has noted how its score grew; nrpa and nmcs do")
