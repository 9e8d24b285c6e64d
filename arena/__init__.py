"""Tournaments of agents: configuration, schedule, and games played by worker processes.

tournament = arena.run("tournament.toml", out="runs/first")
tournament.standings()
"""

import importlib
import importlib.util

for _name in ("games", "agents", "results"):
    _spec = importlib.util.find_spec(_name)
    if _spec is not None and _spec.origin is None:  # a folder without __init__.py, which an editable install yields to
        _places = ", ".join(map(str, _spec.submodule_search_locations or ()))
        raise ImportError(
            f"the folder {_places} hides search-arena's own package {_name}: rename it, start elsewhere, "
            "or install search-arena without -e"
        )

_HOMES = {
    "ClusterError": "arena.cluster.link",
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
