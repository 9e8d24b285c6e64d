"""Tournaments of agents: configuration, schedule, and games played by worker processes.

import arena

tournament = arena.run("tournament.toml", out="runs/first")
tournament.standings()

`arena.games`, `arena.agents` and `arena.results` are the packages of these names.
"""

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what `__getattr__` gives, for type checkers
    import agents as agents
    import games as games
    import results as results
    from arena.cluster.link import ClusterError as ClusterError
    from arena.config.config import Config as Config
    from arena.config.config import ConfigError as ConfigError
    from arena.interop.counterparts import from_openspiel as from_openspiel
    from arena.interop.counterparts import to_openspiel as to_openspiel
    from arena.interop.pettingzoo import to_pettingzoo as to_pettingzoo
    from arena.runner.events import Events as Events
    from arena.runner.tournament import Interrupted as Interrupted
    from arena.runner.tournament import run as run
    from results import load as load

_PACKAGES = ("games", "agents", "results")
_HOMES = {
    "ClusterError": "arena.cluster.link",
    "Config": "arena.config.config",
    "ConfigError": "arena.config.config",
    "Events": "arena.runner.events",
    "Interrupted": "arena.runner.tournament",
    "from_openspiel": "arena.interop.counterparts",
    "load": "results",
    "run": "arena.runner.tournament",
    "to_openspiel": "arena.interop.counterparts",
    "to_pettingzoo": "arena.interop.pettingzoo",
}

__all__ = [*_PACKAGES, *_HOMES]


def _own(name: str) -> ModuleType:
    """Our package of that name; ImportError if another module has its place.

    To Python a folder without `__init__.py` is a package, too.  One beside a script or a notebook is found before an
    editable install's finder is asked, so ours is then loaded from where it lies.
    """
    file, loaded = Path(__file__).resolve().parent.parent / name / "__init__.py", name in sys.modules
    spec = sys.modules[name].__spec__ if loaded else importlib.util.find_spec(name)
    if spec and spec.origin and os.path.samefile(spec.origin, file):
        return importlib.import_module(name)
    if spec and (loaded or spec.origin):
        place = spec.origin or ", ".join(spec.submodule_search_locations or ())
        raise ImportError(
            f"{place} hides search-arena's own package {name}: rename it, start elsewhere, or, if it is a folder "
            f"without __init__.py, import arena before {name}, or install search-arena without -e"
        )
    ours = importlib.util.spec_from_file_location(name, file)
    assert ours and ours.loader
    sys.modules[name] = module = importlib.util.module_from_spec(ours)
    ours.loader.exec_module(module)
    return module


for _name in _PACKAGES:
    globals()[_name] = _own(_name)

if not TYPE_CHECKING:  # to a type checker, names that are not here are mistakes

    def __getattr__(name):
        # Numba is loaded with the first thing that needs it, so that commands that do not are quick
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module 'arena' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
