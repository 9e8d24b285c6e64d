"""Digests of sources: what a kernel, or a game's methods, may be made of, so that an edit compiles it anew."""

import functools
import hashlib
import importlib.util
import sys
import sysconfig
from pathlib import Path

from arena.games.core.imports import imported_names
from arena.games.core.plugins import top_packages

KERNEL_PACKAGES = ("arena.games", "arena.agents")
WITHIN = ("games", "agents", "results")  # packages in the folder `arena` that are not counted as its own sources


@functools.cache
def module_digest(module: str) -> str:
    """Digest of the sources of a module and of all that it imports."""
    return digest_of(import_closure(module))


def digest_of(paths) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of the files, in the order of their paths."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def package_folder(package: str) -> Path | None:
    """Where an importable package lies, found without importing it; None where it is not installed."""
    spec = sys.modules[package].__spec__ if package in sys.modules else importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def package_sources(package: str) -> set[Path]:
    """The files of an importable package; of `arena`, those that run games."""
    folder = package_folder(package)
    if folder is None:
        return set()
    others = [folder / name for name in WITHIN if package == "arena"]
    return {path for path in folder.rglob("*.py") if not any(other in path.parents for other in others)}


@functools.cache
def import_closure(module: str) -> frozenset[Path]:
    """The file of a module, and of every module that it imports, directly or not, anywhere in its source.

    What a registry imports by names made at run time is not in it, so a module that uses one does not reach all agents.
    Nor does `from arena import games` reach all games: the fronts of packages import nothing before they are asked for.
    """
    found: dict[str, Path | None] = dict.fromkeys(("arena", *KERNEL_PACKAGES))
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _source_of(name)
            if found[name]:
                waiting.extend(imported_names(name, found[name]))
    return frozenset(path for path in found.values() if path)


def _source_of(name):
    """The Python file of a module, loaded or not, so that the answer is the same in every process; None for libraries,
    which come with Python or are installed beside it and so do not change, and for what is no module."""
    if name in sys.modules:
        path = getattr(sys.modules[name], "__file__", None)
    else:
        parent, _, last = name.rpartition(".")
        path = _source_beside(_source_of(parent), last) if parent else _origin(name)
    return Path(path) if path and str(path).endswith(".py") and not _is_library(name, str(path)) else None


def _source_beside(package, name):
    """The file of a module of a package, which is given by its `__init__.py`."""
    if package is None or package.name != "__init__.py":
        return None
    found = [path for path in (package.parent / f"{name}.py", package.parent / name / "__init__.py") if path.exists()]
    return found[0] if found else None


@functools.cache
def _origin(name):
    """The file of a module outside all packages that is not loaded."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec else None


@functools.cache
def _library_folders():
    return tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_library(name, path):
    """Whether a module comes with Python or is installed beside it; ours may be installed, and plug-ins are."""
    top = name.partition(".")[0]
    return path.startswith(_library_folders()) and top != "arena" and top not in top_packages()
