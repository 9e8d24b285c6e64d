"""The tables and figures of a folder, which holds a run, a study of schemes or a tuning: which there are, and each.

Nothing is imported before it is needed: a table of a run needs no matplotlib, and no kernels.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from arena import results
from arena.games.core.errors import UserError
from arena.results.database.store import FILE_NAME, GAMES_VERIFIED
from arena.results.shown.export import DATA
from arena.results.shown.kinds import NOTED, OF_SCHEMES, PLAN_OF_SCHEMES, PLAN_OF_TUNING, SCALING_KINDS, TRIALS
from arena.results.shown.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_RATED = 200  # agents, whose ratings or pairings take a second
Load = Callable[[Path], Tournament]
Drawn = tuple[Callable[["Figure"], None], float]
"""What draws a figure, and the height in inches that suits it."""


class Table(NamedTuple):
    """A table; `notes` are for its readers, `warnings` go with it in every form."""

    frame: pd.DataFrame
    notes: list[str]
    warnings: list[str]


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
    if (folder / PLAN_OF_SCHEMES).exists():
        return PiecesOfSchemes(folder, load)
    return (PiecesOfTuning if (folder / PLAN_OF_TUNING).exists() else PiecesOfRun)(folder, load)


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

    def table(self, kind: str | None = None, format: str = "text") -> Table:
        """The table of a kind, by default the main one: with every digit where the format is one for programs."""
        chosen = kind or self.run.kinds[0]
        if chosen not in self.run.kinds:
            raise UserError(f"--kind {chosen}: this run has {', '.join(self.tables())}")
        frame, versions = self.run.table(chosen), self.run.versions
        return Table(frame, self.run.notes_on(frame) if chosen in NOTED else versions, versions)

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


class PiecesOfTuning(PiecesOfRun):
    """What a tuning has, besides its run."""

    @cached_property
    def found(self):
        from arena.study.tuning_run import load

        return load(self.folder)

    def tables(self):
        return (TRIALS, *super().tables())

    def table(self, kind=None, format="text"):
        from arena.study.tuning_run import summary, table

        if kind not in (None, TRIALS):
            return super().table(kind, format)
        return Table(table(self.found), summary(self.found), self.run.versions)

    def leader(self):
        with suppress(UserError):  # it has no result yet
            return self.found.space.spec(self.found.best)
        return None

    def summary(self):
        from arena.study.tuning_run import summary

        with suppress(UserError):
            return summary(self.found)
        return []

    def figures(self):
        from arena.report import tuned

        return (*tuned.kinds(self.found), *super().figures())

    def figure(self, kind, width, *options, **named):
        from arena.report import tuned

        if drawn := tuned.kinds(self.found).get(kind):
            return lambda figure: drawn(figure, self.found), tuned.height(self.found, kind, width)
        return super().figure(kind, width, *options, **named)


class PiecesOfSchemes(PiecesOfRun):
    """What a study of schemes has; its folder has the run, too, if it is of one game and budget."""

    @cached_property
    def speeds(self) -> pd.DataFrame | None:
        from arena.study.throughput import stored

        return stored(self.folder)

    def _measured(self, asked: str) -> pd.DataFrame:
        if self.speeds is None:
            raise UserError(f"{asked}: the speed on threads was not measured in {self.folder}")
        return self.speeds

    def tables(self):
        of_run = super().tables() if (self.folder / FILE_NAME).exists() else ()
        return (*SCALING_KINDS[: 1 + (self.speeds is not None)], *of_run)

    def table(self, kind=None, format="text"):
        from arena.results.papers.strength_scaling import shown, shown_speeds
        from arena.study import schemes

        if (kind or SCALING_KINDS[0]) not in SCALING_KINDS:
            return super().table(kind, format)
        versions = schemes.versions(self.folder)
        of_speeds = kind == "throughput"
        frame = self._measured(f"--kind {kind}") if of_speeds else schemes.load(self.folder)
        readable = (shown_speeds if of_speeds else shown)(frame)
        return Table(frame if format in DATA else readable, [*readable.attrs["notes"], *versions], versions)

    def figures(self):
        return tuple(kind for kind in OF_SCHEMES if kind != "throughput" or self.speeds is not None)

    def figure(self, kind, width, *options, **named):
        from arena.results.papers import paper_figures, parameter_axis
        from arena.study import schemes

        if kind not in OF_SCHEMES:
            return super().figure(kind, width, *options, **named)
        speeds, frame = self._measured(kind) if kind == "throughput" else self.speeds, schemes.load(self.folder)
        if kind == "budgets" and frame["playouts"].nunique() < 2:
            raise UserError(f"budgets: the study in {self.folder} has one number of playouts")
        if kind == "parameter":
            try:
                frame = parameter_axis.along(frame)
            except ValueError as error:
                raise UserError(f"parameter: of the study in {self.folder}, {error}") from None
        return paper_figures.of_schemes(frame, speeds, kind, width)
