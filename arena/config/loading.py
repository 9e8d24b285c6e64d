"""Reads a configuration from TOML or from plain values, and checks it in full.

Everything that can be known to be wrong before play is an error here, and one ConfigError names every problem.  The
games and agents that were made to check a configuration are the ones that play.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agents.core.agent import Agent, Budget
from arena.config.config import Config, ConfigError
from arena.config.openings import beside
from arena.config.reader import Reader
from games.core.files import read_bounded
from games.core.game import Game


def load(path, changes: Mapping[str, Any] = MappingProxyType({})) -> Config:
    """The configuration in a TOML file, but for the keys in `changes`; ConfigError lists everything wrong with it.

    Plugins are looked for beside the file, or in the folder plugin_path, as well as where Python finds modules.
    """
    path = Path(path)
    try:
        values = tomllib.loads(read_bounded(path).decode("utf-8"))
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file; a configuration is a TOML file"]) from None
    except IsADirectoryError:
        raise ConfigError([f"{path}: is a folder; a configuration is a TOML file"]) from None
    except OSError as error:
        raise ConfigError([f"{path}: cannot be read: {error.strerror}"]) from None
    except UnicodeDecodeError as error:
        raise ConfigError([f"{path}: byte {error.start} is not UTF-8; a TOML file is UTF-8 text"]) from None
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise ConfigError([f"{path}: is not TOML: {error}"]) from None
    except RecursionError:
        raise ConfigError([f"{path}: is nested too deeply; a configuration has tables in tables at most"]) from None
    values |= changes
    if values.get("plugins"):
        values.setdefault("plugin_path", str(path.resolve().parent))
    if "openings" in values and "openings" not in changes:
        values["openings"] = beside(values["openings"], path.parent)
    return from_values(values, str(path))


def from_values(values: Mapping[str, Any], source: str = "the command line") -> Config:
    """The configuration with these keys and values; ConfigError lists everything that is wrong, under `source`.

    Games, agents and budgets can be objects or text, and an agent that needs no name can stand without a table.
    """
    reader = Reader({key: _plain(key, value) for key, value in values.items()})
    config = reader.read()
    if config is None:
        raise ConfigError([f"{source}: {problem}" for problem in reader.problems])
    return config


def _plain(key: str, value: Any) -> Any:
    """What a file would have in the place of a value: text for games and agents, tables for agents and budgets."""
    if isinstance(value, list | tuple):
        return [_table_of(_plain(key, each)) if key == "agents" else _plain(key, each) for each in value]
    if key == "agents" and isinstance(value, Mapping):
        return {name: _plain(name, each) for name, each in value.items()}
    if isinstance(value, Budget):
        given = value.given()
        if value.clock is not None:  # its share are the seconds
            given = {kind: given[kind] for kind in given if kind != "seconds"} | {"clock": str(value.clock)}
        return given
    return str(value) if isinstance(value, Game | Agent) else value


def _table_of(agent: Any) -> Any:
    """The table of an agent that is given by its text alone."""
    return {"agent": agent} if isinstance(agent, str) else agent
