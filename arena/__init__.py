"""Tournaments of agents: configuration, schedule, and games played by worker processes.

import arena

tournament = arena.run("tournament.toml", out="runs/first")
tournament.standings()

`arena.games`, `arena.agents` and `arena.results` are the packages of these names.
"""

import importlib
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers: what `__getattr__` gives
    from arena import agents as agents
    from arena import games as games
    from arena import results as results
    from arena.cluster.link import ClusterError as ClusterError
    from arena.config.config import Config as Config
    from arena.config.config import ConfigError as ConfigError
    from arena.interop.counterparts import from_openspiel as from_openspiel
    from arena.interop.counterparts import to_openspiel as to_openspiel
    from arena.interop.gymnasium import to_gymnasium as to_gymnasium
    from arena.interop.openspiel_bot import to_openspiel_bot as to_openspiel_bot
    from arena.interop.pettingzoo import to_pettingzoo as to_pettingzoo
    from arena.interop.vector import VectorEnvironment as VectorEnvironment
    from arena.results import load as load
    from arena.runner.events import Events as Events
    from arena.runner.running import Interrupted as Interrupted
    from arena.runner.running import run as run
    from arena.study.pools import join as join
    from arena.study.pools import merge as merge
    from arena.study.schemes import schemes as schemes
    from arena.study.tuning_run import tune as tune

if sys.byteorder != "little" or struct.calcsize("P") != 8:
    raise ImportError(
        "search-arena needs a processor of 64 bits whose words are little-endian, as x86-64 and ARM have: this one has "
        f"{8 * struct.calcsize('P')} bits, and {sys.byteorder}-endian words"
    )

_PACKAGES = ("games", "agents", "results")
_HOMES = {
    "ClusterError": "arena.cluster.link",
    "Config": "arena.config.config",
    "ConfigError": "arena.config.config",
    "Events": "arena.runner.events",
    "Interrupted": "arena.runner.running",
    "VectorEnvironment": "arena.interop.vector",
    "from_openspiel": "arena.interop.counterparts",
    "join": "arena.study.pools",
    "load": "arena.results",
    "merge": "arena.study.pools",
    "run": "arena.runner.running",
    "schemes": "arena.study.schemes",
    "to_gymnasium": "arena.interop.gymnasium",
    "to_openspiel": "arena.interop.counterparts",
    "to_openspiel_bot": "arena.interop.openspiel_bot",
    "to_pettingzoo": "arena.interop.pettingzoo",
    "tune": "arena.study.tuning_run",
}

__all__ = [*_PACKAGES, *_HOMES]

if not TYPE_CHECKING:  # a type checker reports other names

    def __getattr__(name):
        # Numba is loaded with the first thing that needs it: other commands are quick
        if name in _PACKAGES:
            return importlib.import_module(f"arena.{name}")
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'arena' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
