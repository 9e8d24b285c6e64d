"""Games and agents of other packages: from entry points, and from modules that `--plugin` names.

Entry points of the groups `search_arena.games` and `search_arena.agents` name modules.  Worker processes get the names
from the command line by the environment.  Nothing of Numba is imported here.
"""

import functools
import importlib
import json
import os
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

PACKAGES = ("arena.games", "arena.agents")
VARIABLE = "SEARCH_ARENA_PLUGINS"  # JSON: for each module the folder to look in, and its name


def points(package: str) -> list[EntryPoint]:
    """The entry points of `arena.games` or `arena.agents`, by name."""
    return sorted(entry_points(group=f"search_{package}"), key=lambda point: (point.name, point.value))


@functools.cache
def top_packages() -> frozenset[str]:
    """Packages of entry points: their sources may change, though installed."""
    return frozenset(point.module.partition(".")[0] for package in PACKAGES for point in points(package))


def named() -> list[str]:
    """The modules named on the command line."""
    return [module for _, module in _places()]


def _places() -> list[tuple[str, str]]:
    """(folder to look in, module) of each."""
    return [(folder, module) for folder, module in json.loads(os.environ.get(VARIABLE) or "[]")]


def add_named(modules: Iterable[str], folder: str) -> None:
    """Have this process and its children import modules, also from a folder."""
    places = list(dict.fromkeys([*_places(), *((os.path.abspath(folder), module) for module in modules)]))
    _import(places)
    os.environ[VARIABLE] = json.dumps(places)


def import_named() -> None:
    """Import what `add_named` named, here or in a parent process."""
    _import(_places())


def _import(places: Iterable[tuple[str, str]]) -> None:
    for folder, module in places:
        if folder not in sys.path:
            sys.path.append(folder)
        importlib.import_module(module)


def title(point: EntryPoint) -> str:
    """An entry point's package, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
