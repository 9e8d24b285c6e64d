"""The folder whose runs the pages show, the addresses of its runs, and what becomes of their folders."""

import os
import re
import shutil
from pathlib import Path
from urllib.parse import quote, urlencode

from arena.games.core.shared.errors import UserError
from arena.lab import launching
from arena.results.database.store import busy
from arena.runner.study_kinds import home_of, homes_in, kind_of, runs_in

NAME = re.compile(r"\w[\w .,()=+-]{0,99}")  # of a new folder of a run
_at = Path("runs")


def use(folder: Path) -> None:
    """Show the runs in this folder."""
    global _at
    _at = folder


def at() -> Path:
    """The folder that is shown."""
    return _at


def found(name: str) -> Path:
    """The folder of a run, or of a study, of a name as in an address; UserError if there is none below the folder."""
    parts = Path(name).parts
    place = _at.joinpath(*parts)
    if not parts or ".." in parts or Path(name).is_absolute() or kind_of(place) is None:
        raise UserError(f"there is no run {name} in {_at}")
    return place


def name_of(place: Path | str) -> str:
    """The name of a run in addresses."""
    return Path(place).relative_to(_at).as_posix()


def address(name: str, *more: str, **query: str | int) -> str:
    """The address of a run's page, or of one below it, without what is empty of its query."""
    given = urlencode({key: value for key, value in query.items() if value not in ("", 0)})
    return "/".join(["/runs", *map(quote, (name, *more))]) + (f"?{given}" if given else "")


def check_name(name: str) -> None:
    """UserError unless a run's folder may get this name."""
    if not NAME.fullmatch(name):
        raise UserError(f"name {name!r}: give the run's folder a name of letters, digits and -_.")


def own(name: str) -> Path:
    """The folder of a run or a study that may be renamed or deleted whole; UserError says why it may not."""
    place = found(name)
    if place.resolve() != _at.resolve().joinpath(*Path(name).parts):
        raise UserError(f"{place} is reached by a symbolic link: what lies elsewhere is left alone")
    if home_of(place) != place:
        raise UserError(f"{place} is a part of the study in {home_of(place)}, which is kept or deleted whole")
    if others := homes_in(place).keys() - {place}:
        raise UserError(f"{place} has another run in it, {min(others)}: move that away first")
    if launching.is_starting(place) or any(map(busy, [place, *runs_in(place)])):
        raise UserError(f"{place} is being played: stop it first")
    return place


def rename(name: str, new: str) -> None:
    """Give the folder of a run another name; UserError if it cannot be."""
    check_name(new)
    place = own(name)
    if os.path.lexists(target := place.with_name(new)):
        raise UserError(f"{target} is there already: give another name")
    try:
        place.rename(target)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}") from None


def delete(name: str) -> None:
    """Remove the folder of a run; UserError if it cannot be."""
    place = own(name)
    try:
        shutil.rmtree(place)
    except OSError as error:
        raise UserError(f"{error.filename or place}: {error.strerror}") from None
