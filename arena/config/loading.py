"""Reads a configuration from TOML or plain values, and checks it in full: one ConfigError names all problems.

The games and agents made for checking are the ones that play.
"""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from arena.agents.core.agent import Agent, Budget
from arena.config.config import Config, ConfigError
from arena.config.openings import beside
from arena.config.reader import Reader
from arena.games.core.game import Game
from arena.games.core.shared.files import read_bounded

NESTED = "is nested too deeply; a configuration has tables in tables at most"


def load(path, changes: Mapping[str, Any] = MappingProxyType({})) -> Config:
    """The configuration in a TOML file, with `changes` for some keys; ConfigError lists everything wrong.

    Plugins are looked for in the file's folder, or plugin_path, and where Python finds modules.
    """
    return from_text(text_of(Path(path)), Path(path), changes)


def text_of(path: Path) -> str:
    """The text of a TOML file; ConfigError if it cannot be read."""
    try:
        return read_bounded(path).decode("utf-8")
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file; a configuration is a TOML file"]) from None
    except IsADirectoryError:
        raise ConfigError([f"{path}: is a folder; a configuration is a TOML file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: byte {error.start} is not UTF-8; a TOML file is UTF-8 text"]) from None


def from_text(text: str, path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> Config:
    """The configuration that the file `path` would hold with this text; ConfigError likewise."""
    return from_values(values_in(text, path, changes), str(path))


def values_in(text: str, path: Path, changes: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The keys in a file's text, with places that it names beside it; ConfigError if it is no TOML."""
    try:
        values = tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ConfigError([f"{path}: is not TOML: {error}{_quotes(text, error)}"]) from None
    except RecursionError:
        raise ConfigError([f"{path}: {NESTED}"]) from None
    values |= changes
    if values.get("plugins"):
        values.setdefault("plugin_path", str(path.resolve().parent))
    if "openings" in values and "openings" not in changes:
        values["openings"] = beside(values["openings"], path.parent)
    return values


def from_values(values: Mapping[str, Any], source: str = "the command line") -> Config:
    """The configuration of these values; ConfigError lists everything wrong, under `source`.

    Games, agents and budgets can be objects or text; an agent without a name needs no table.
    """
    try:
        reader = Reader({key: _plain(key, value) for key, value in values.items()})
        config = reader.read()
    except RecursionError:
        raise ConfigError([f"{source}: {NESTED}"]) from None
    if config is None:
        raise ConfigError([f"{source}: {problem}" for problem in reader.problems])
    return config


def import_plugins_of(values: Mapping[str, Any], source: str) -> None:
    """Import the plug-ins that keys name, before an agent is made of them; ConfigError lists what cannot be."""
    reader = Reader(values)
    if not reader.import_plugins():
        raise ConfigError([f"{source}: {problem}" for problem in reader.problems])


def _plain(key: str, value: Any) -> Any:
    """Text for games and agents, tables for agents and budgets."""
    if isinstance(value, list | tuple):
        plain = [_plain(key, each) for each in value]
        return [{"agent": one} if key == "agents" and isinstance(one, str) else one for one in plain]
    if key == "agents" and isinstance(value, Mapping):
        return {name: _plain(name, each) for name, each in value.items()}
    if isinstance(value, Budget):
        given = value.given()
        if value.clock is not None:  # its seconds follow from it
            given = {kind: given[kind] for kind in given if kind != "seconds"} | {"clock": str(value.clock)}
        return given
    return str(value) if isinstance(value, Game | Agent) else value


def _quotes(text: str, error: ValueError) -> str:
    """What may be wrong with the quotes of the line that the error names, and how to write it."""
    lines, found = text.splitlines(), re.search(r"at line (\d+)", str(error))
    line = lines[int(found[1]) - 1] if found and int(found[1]) <= len(lines) else ""
    key, _, value = (part.strip() for part in line.partition("="))
    if value.startswith("[") and (nested := re.search(r'"(\w+\([^"]*"[^"]*"[^"]*)"', line)):
        return f"; text that holds quotes stands in single ones: '{nested[1]}'"
    if value.startswith('"') and value.count('"') > 2:
        return f"; text that holds quotes stands in single ones: {key} = '{value[1:-1]}'"
    if re.match(r"[A-Za-z_]", value):
        return f'; text needs quotes: {key} = "{value}"'
    return ""
