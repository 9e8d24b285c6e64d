"""Games and agents of other packages: from entry points, and from modules that `--plugin` names.

A package's entry points of the groups `search_arena.games` and `search_arena.agents` name modules that define them.
Worker processes get the names from the command line by the environment.  Nothing of Numba is imported here.
"""

import functools
import importlib
import os
import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

PACKAGES = ("arena.games", "arena.agents")
VARIABLE = "SEARCH_ARENA_PLUGINS"  # a folder to look in and the names of modules, separated as paths are


def points(package: str) -> list[EntryPoint]:
    """The entry points of `arena.games` or `arena.agents`, in the order of their names."""
    return sorted(entry_points(group=f"search_{package}"), key=lambda point: (point.name, point.value))


@functools.cache
def top_packages() -> frozenset[str]:
    """The packages that entry points lead to: their sources change as ours do, though they are installed."""
    return frozenset(point.module.partition(".")[0] for package in PACKAGES for point in points(package))


def named() -> list[str]:
    """The modules that the command line has named."""
    return os.environ.get(VARIABLE, "").split(os.pathsep)[1:]


def add_named(modules: Iterable[str], folder: str) -> None:
    """Have this process and its children import modules, which are also looked for in a folder."""
    folder, modules = os.path.abspath(folder), list(dict.fromkeys([*named(), *modules]))
    _import(folder, modules)
    os.environ[VARIABLE] = os.pathsep.join([folder, *modules])


def import_named() -> None:
    """Import what `add_named` has named, here or in a parent process."""
    if modules := named():
        _import(os.environ[VARIABLE].split(os.pathsep)[0], modules)


def _import(folder: str, modules: Iterable[str]) -> None:
    if folder not in sys.path:
        sys.path.append(folder)
    for module in modules:
        importlib.import_module(module)


def title(point: EntryPoint) -> str:
    """The package of an entry point, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
