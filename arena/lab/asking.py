"""What may be started from a page, by its purpose, as TOML; what is wrong with it, and the command for it.

Checks are made in the process of `apart.CHECKING`: they import the plug-ins that a configuration names.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import tomlkit

from arena.config.config import ConfigError
from arena.config.loading import from_text, values_in
from arena.formats.schedule import Schedule, described
from arena.games.core.shared.errors import UserError
from arena.study import schemes, tuning_run


class Checked(NamedTuple):
    """What a text asks for: in words, and how many games at most; or what is wrong with it."""

    faults: list[str]
    about: str = ""
    games: int | None = None  # None where that is not known before play


class Kind(NamedTuple):
    """A thing that can be started."""

    text: str  # to begin with
    keys: tuple[str, ...]  # those that the form has fields for
    more: tuple[str, ...]  # those whose fields are folded
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


def _tuning(text: str, path: Path) -> Checked:
    tuning = tuning_run.from_keys(values_in(text, path), str(path))
    tuning.check()
    names = ", ".join(own.name for own in tuning.space.parameters)
    games, more = tuning.games, tuning.confirm_games
    words = f"{names} of {tuning.agent}: {games:,} games to search, then at most {more:,} to confirm"
    return Checked([], words, games + more)


RARE = ("openings", "opening_plies", "seed", "budget")
KINDS: Mapping[str, Kind] = {
    "two agents": Kind(
        """game = "connect4"
games = 200  # with format = "sprt" at most, until a test decides
agents = ["uct(playouts=500)", "alphabeta(depth=4)"]
""",
        ("game", "agents", "games"), ("format", *RARE),
        _tournament, ("run",), True,
    ),
    "a class of agents": Kind(
        """game = "connect4"
games = 20
move_seconds = 10  # then the move is lost, and with it the game
plugins = []  # files such as "alice.py as alice", whose agent is then "alice_student"
agents = ["random", "flat(playouts=50)", "uct(playouts=100)", "alphabeta(depth=2)", "alphabeta(depth=4)"]
""",
        ("game", "plugins", "agents", "games", "move_seconds"), ("format", *RARE),
        _tournament, ("run",), True,
    ),
    "parallel schemes": Kind(
        """game = "connect4"
games = 20
playouts = 50  # of each worker
workers = [1, 4]
schemes = ["root", "tree"]
""",
        ("game", "schemes", "workers", "playouts", "games"), ("opening_plies", "seed"),
        _schemes, ("study", "schemes"), False,
    ),
    "a tuning": Kind(
        """game = "connect4"
agent = "uct(playouts=100)"
games = 2000  # to search
sampler = "sobol"  # spreads evenly; tpe, gp and cmaes need Optuna

[parameters]
exploration = { low = 0.1, high = 2.0, log = true }

[confirm]
games = 1000  # at most
""",
        ("game", "agent", "parameters", "games"), ("sampler", "confirm", *RARE),
        _tuning, ("tune",), True,
    ),
}  # fmt: skip


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
        source = rf"^({re.escape(str(path))}|schemes|tune|tuning): "
        return Checked([re.sub(source, "", problem) for problem in error.problems])
    except (UserError, ValueError, TypeError) as error:
        return Checked([str(error)])


def key_of(fault: str, keys: Iterable[str]) -> str | None:
    """The key that a fault is of: `games = 3: is odd`, `agents[1].agent = ...` and `scheme leaf: ...` begin with it."""
    word = re.split(r"\W", fault, maxsplit=1)[0]
    return next((key for key in keys if word in (key, key.removesuffix("s"))), None)


def field_text(value: Any) -> str:
    """A key's value as a field of the form has it: texts, and what a table has, by lines; others as TOML."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, Mapping):
        return "\n".join(_entries(value))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _entries(table: Mapping[str, Any]) -> list[str]:
    """What a table has, as TOML, tables in it inline."""
    return [
        f"{tomlkit.key(key).as_string()} = "
        + (f"{{ {', '.join(_entries(one))} }}" if isinstance(one, Mapping) else tomlkit.item(one).as_string())
        for key, one in table.items()
    ]
