"""The folder whose runs the pages show, and the addresses of its runs."""

from pathlib import Path
from urllib.parse import quote, urlencode

from arena.games.core.errors import UserError
from arena.runner.study_kinds import kind_of

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
