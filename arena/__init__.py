"""Tournaments of agents: configuration, schedule, and games played by worker processes.

tournament = arena.run("tournament.toml", out="runs/first")
tournament.standings()
"""

import importlib

_HOMES = {
    "Config": "arena.config.config",
    "ConfigError": "arena.config.config",
    "Events": "arena.runner.tournament",
    "Interrupted": "arena.runner.tournament",
    "run": "arena.runner.tournament",
    "to_pettingzoo": "arena.interop.pettingzoo",
}

__all__ = list(_HOMES)


def __getattr__(name):
    # Numba is loaded with the first thing that needs it, so that commands that do not are quick
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'arena' has no attribute {name!r}")
