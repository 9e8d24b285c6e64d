"""Games and agents of other packages: from entry points, and from modules that `--plugin` names.

Entry points of the groups `search_arena.games` and `search_arena.agents` name modules.  Worker processes get the names
from the command line by the environment.  Nothing of Numba is imported here.
"""

import functools
import importlib
import os
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

PACKAGES = ("arena.games", "arena.agents")
VARIABLE = "SEARCH_ARENA_PLUGINS"  # a folder to look in, and names of modules, separated as paths are


def points(package: str) -> list[EntryPoint]:
    """The entry points of `arena.games` or `arena.agents`, by name."""
    return sorted(entry_points(group=f"search_{package}"), key=lambda point: (point.name, point.value))


@functools.cache
def top_packages() -> frozenset[str]:
    """Packages of entry points: their sources may change, though installed."""
    return frozenset(point.module.partition(".")[0] for package in PACKAGES for point in points(package))


def named() -> list[str]:
    """The modules named on the command line."""
    return os.environ.get(VARIABLE, "").split(os.pathsep)[1:]


def add_named(modules: Iterable[str], folder: str) -> None:
    """Have this process and its children import modules, also from a folder."""
    folder, modules = os.path.abspath(folder), list(dict.fromkeys([*named(), *modules]))
    _import(folder, modules)
    os.environ[VARIABLE] = os.pathsep.join([folder, *modules])


def import_named() -> None:
    """Import what `add_named` named, here or in a parent process."""
    if modules := named():
        _import(os.environ[VARIABLE].split(os.pathsep)[0], modules)


def _import(folder: str, modules: Iterable[str]) -> None:
    if folder not in sys.path:
        sys.path.append(folder)
    for module in modules:
        importlib.import_module(module)


def title(point: EntryPoint) -> str:
    """An entry point's package, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
