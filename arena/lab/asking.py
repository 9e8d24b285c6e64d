"""What may be started from a page: a tournament or a study, as TOML; what is wrong with it, and the command for it.

Checks are made in the process of `apart.CHECKING`: they import the plug-ins that a configuration names.
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from arena.config.config import ConfigError
from arena.config.loading import from_text, values_in
from arena.formats.schedule import Schedule, described
from arena.games.core.errors import UserError
from arena.study import schemes


class Checked(NamedTuple):
    """What a text asks for: in words, and how many games at most; or what is wrong with it."""

    faults: list[str]
    about: str = ""
    games: int | None = None  # None where that is not known before play


class Kind(NamedTuple):
    """A thing that can be started."""

    text: str  # to begin with
    keys: tuple[str, ...]  # those that the form has fields for
    check: Callable[[str, Path], Checked]
    command: tuple[str, ...]  # before the name of the file
    played: bool  # whether a trial says how long it takes


def _tournament(text: str, path: Path) -> Checked:
    config = from_text(text, path)
    schedule = Schedule(config.values)
    most = "at most " if schedule.formats[0].adaptive else ""
    return Checked([], f"{described(config.resolved())}: {most}{schedule.most:,} games", schedule.most)


def _schemes(text: str, path: Path) -> Checked:
    study = schemes.from_keys(values_in(text, path), str(path))
    study.check()
    cells, points = len(study.cells()), len(study.points())
    words = f"{points} schemes and numbers of workers, {cells} games and budgets; results decide how many games follow"
    return Checked([], "; ".join([words, *study.notes()]))


COMMON = ("game", "games", "opening_plies", "seed")
KINDS: Mapping[str, Kind] = {
    "tournament": Kind(
        'game = "connect4"\ngames = 20\nagents = ["uct(playouts=500)", "alphabeta(depth=4)"]\n',
        (*COMMON, "agents", "format", "openings", "budget"),
        _tournament,
        ("run",),
        True,
    ),
    "study of schemes": Kind(
        'game = "connect4"\ngames = 20\nplayouts = 50\nworkers = [1, 4]\nschemes = ["root", "tree"]\n',
        (*COMMON, "schemes", "workers", "playouts"),
        _schemes,
        ("study", "schemes"),
        False,
    ),
}


def placed(text: str, folder: Path) -> str:
    """The text as it is written into a folder.

    A plug-in that is not there, and of which it does not say where it is, is looked for in the current folder, as
    `arena run --plugin` does.
    """
    with suppress(ValueError, RecursionError):  # which the check says
        values = tomllib.loads(text)
        plugins = values.get("plugins")
        tops = [str(one).partition(".")[0] for one in plugins] if isinstance(plugins, list) else []
        here = all((folder / top).is_dir() or (folder / f"{top}.py").is_file() for top in tops)
        if not here and "plugin_path" not in values:
            return f"plugin_path = {json.dumps(str(Path.cwd()))}\n{text}"
    return text


def checked(kind: str, text: str, path: Path) -> Checked:
    """What a text asks for, with the messages of the command line."""
    try:
        return KINDS[kind].check(placed(text, path.parent), path)
    except ConfigError as error:
        return Checked([problem.removeprefix(f"{path}: ") for problem in error.problems])
    except (UserError, ValueError, TypeError) as error:
        return Checked([str(error)])


def field_text(value: Any) -> str:
    """A key's value as a field of the form has it: lists of texts by lines, others as TOML."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={json.dumps(one)}" for key, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
