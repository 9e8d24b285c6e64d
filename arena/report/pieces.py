"""The tables and figures of a folder, which holds a run, a study of schemes or a tuning: which there are, and each.

Nothing is imported before it is needed: a table of a run needs no matplotlib, and no kernels.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from arena import results
from arena.games.core.errors import UserError
from arena.results.database.store import FILE_NAME, GAMES_VERIFIED
from arena.results.shown.export import DATA
from arena.results.shown.kinds import (
    NOTED,
    OF_SCHEMES,
    OF_TUNING,
    PLAN_OF_SCHEMES,
    PLAN_OF_TUNING,
    SCALING_KINDS,
    TRIALS,
)
from arena.results.shown.tournament import Tournament

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Load = Callable[[Path], Tournament]


def loaded(folder: Path) -> Tournament:
    """The tournament in a folder, read anew."""
    return results.load(folder)


class NoPiece(UserError):
    """A table or a figure that this folder has not."""


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


def is_of_schemes(folder: Path) -> bool:
    """Whether a folder holds a study of schemes."""
    return (folder / PLAN_OF_SCHEMES).exists()


def is_tuning(folder: Path) -> bool:
    """Whether a folder holds a tuning."""
    return (folder / PLAN_OF_TUNING).exists()


def kinds_of_tables(folder: Path, load: Load = loaded) -> tuple[str, ...]:
    """The kinds of tables, the main one first."""
    of_study: tuple[str, ...] = (TRIALS,) if is_tuning(folder) else ()
    if is_of_schemes(folder):
        of_study = SCALING_KINDS[: 1 + (_stored(folder) is not None)]
    return (*of_study, *(load(folder).kinds if (folder / FILE_NAME).exists() or not of_study else ()))


def table(folder: Path, kind: str | None = None, format: str = "text", load: Load = loaded) -> Table:
    """The table of a kind, by default the main one: with every digit where the format is one for programs."""
    if (kind or (SCALING_KINDS[0] if is_of_schemes(folder) else "")) in SCALING_KINDS:
        return _of_scaling(folder, kind or SCALING_KINDS[0], format)
    if is_tuning(folder) and kind in (None, TRIALS):
        return _of_trials(folder)
    run = load(folder)
    chosen = kind or run.kinds[0]
    if chosen not in run.kinds:
        raise NoPiece(f"--kind {chosen}: this run has {', '.join(kinds_of_tables(folder, load))}")
    frame = run.table(chosen)
    return Table(frame, run.notes_on(frame) if chosen in NOTED else run.versions, run.versions)


def games(folder: Path) -> Games:
    """The table of games for a file that may be large."""
    run = results.load(folder)
    frames = iter([run.table("games")]) if len(run) <= GAMES_VERIFIED else run.games_in_parts()
    return Games(frames, run.versions, run.versions)


def _of_trials(folder: Path) -> Table:
    from arena.study import tuning_run

    found = tuning_run.load(folder)
    return Table(tuning_run.table(found), tuning_run.summary(found), results.load(folder).versions)


def _of_scaling(folder: Path, kind: str, format: str) -> Table:
    from arena.results.papers.strength_scaling import shown, shown_speeds
    from arena.study import schemes

    versions = schemes.versions(folder)
    of_speeds = kind == "throughput"
    frame = _speeds(folder, f"--kind {kind}") if of_speeds else schemes.load(folder)
    readable = (shown_speeds if of_speeds else shown)(frame)
    return Table(frame if format in DATA else readable, [*readable.attrs["notes"], *versions], versions)


def _stored(folder: Path) -> pd.DataFrame | None:
    from arena.study.throughput import stored

    return stored(folder)


def _speeds(folder: Path, asked: str) -> pd.DataFrame:
    speeds = _stored(folder)
    if speeds is None:
        raise NoPiece(f"{asked}: the speed on threads was not measured in {folder}")
    return speeds


def kinds_of_figures(folder: Path, load: Load = loaded) -> tuple[str, ...]:
    """The kinds of figures, the main one first."""
    from arena.report import along
    from arena.results.papers import paper_figures

    if is_of_schemes(folder):
        return tuple(kind for kind in OF_SCHEMES if kind != "throughput" or _stored(folder) is not None)
    run = load(folder)
    return (*_of_tuning(folder), *paper_figures.kinds(run), *along.kinds(run))


def _of_tuning(folder: Path) -> tuple[str, ...]:
    if not is_tuning(folder):
        return ()
    from arena.report import tuned
    from arena.study.tuning_run import load

    return tuple(tuned.kinds(load(folder)))


def figure(
    folder: Path,
    kind: str,
    width: float,
    against: str = "playouts",
    instance: int | None = None,
    panels: bool = False,
    load: Load = loaded,
) -> tuple[Callable[["Figure"], None], float]:
    """The function that draws a figure `width` inches wide, and the height that suits it.

    against, instance and panels are of strength and curves, as of `arena plot`
    """
    from arena.report import along
    from arena.results.papers import paper_figures

    if kind in OF_SCHEMES:
        return _of_schemes(folder, kind, width)
    if kind in OF_TUNING:
        return _of_tuning_drawn(folder, kind, width)
    run = load(folder)
    if drawn := along.kinds(run).get(kind):
        return lambda figure: drawn(figure, run), paper_figures.height(run, kind, width)
    if kind not in paper_figures.kinds(run):
        known = ", ".join((*paper_figures.kinds(run), *along.kinds(run)))
        raise NoPiece(f"{kind} is not drawn of this run; there are {known}")
    options = {"against": against, "instance": None, "panels": panels}
    if kind == "curves":
        _check_curves(run, against, instance)
        options["instance"] = run.instances[instance - 1] if instance else None
    elif kind == "strength" and not run.win_rates()[f"{against}_per_move"].gt(0).any():
        raise NoPiece(f"--against {against}: no agent of this run has counted them")
    return paper_figures.draw(run, kind, options), paper_figures.height(run, kind, width)


def _of_tuning_drawn(folder: Path, kind: str, width: float) -> tuple[Callable[["Figure"], None], float]:
    from arena.report import tuned
    from arena.study.tuning_run import load

    if kind not in (known := _of_tuning(folder)):
        raise NoPiece(f"{kind} is not drawn of {folder}" + (f"; there are {', '.join(known)}" if known else ""))
    found = load(folder)
    return lambda figure: tuned.kinds(found)[kind](figure, found), tuned.height(found, kind, width)


def _of_schemes(folder: Path, kind: str, width: float) -> tuple[Callable[["Figure"], None], float]:
    from arena.results.papers import paper_figures, parameter_axis
    from arena.study import schemes

    speeds = _speeds(folder, kind) if kind == "throughput" else _stored(folder)
    frame = schemes.load(folder)
    if kind == "budgets" and frame["playouts"].nunique() < 2:
        raise NoPiece(f"budgets: the study in {folder} has one number of playouts")
    if kind == "parameter":
        try:
            frame = parameter_axis.along(frame)
        except ValueError as error:
            raise NoPiece(f"parameter: of the study in {folder}, {error}") from None
    return paper_figures.of_schemes(frame, speeds, kind, width)


def _check_curves(run: Tournament, against: str, instance: int | None) -> None:
    if against == "nodes":
        raise NoPiece("--against nodes is for strength; curves are against playouts or seconds")
    if instance is not None and not 1 <= instance <= len(run.instances):
        raise NoPiece(f"--instance {instance} is out of range; this run has 1 to {len(run.instances)}")
    if run.improvements().empty:
        raise NoPiece("no search has noted how its score grew; nrpa and nmcs do")
