"""The index of names: which module defines a game or an agent, and what its parameters are, without importing any.

A file for each registry in the user's cache folder, stamped by the sources: after a change of any, or of an installed
plug-in, everything is imported once.  Without a writable folder, or with a damaged file, everything is imported.
Nothing of Numba is imported here.
"""

import functools
import hashlib
import importlib.util
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from arena.games.core.shared import cache, plugins

FORM = 1  # of the file format; others are not read
PREFIX = "arena-"  # begins the names of files


@dataclass(frozen=True)
class Parameter:
    """A parameter as a user types it."""

    name: str
    default: Any
    type: str  # in a user's words
    range: str  # such as `0 to 10`; empty if nothing is refused
    meaning: str  # empty if no docstring says it


@dataclass(frozen=True)
class Entry:
    """A game or an agent: its module, a sentence, and its parameters."""

    module: str
    about: str
    parameters: tuple[Parameter, ...]


def read(package: str) -> dict[str, Entry] | None:
    """The entries of a package by name; None if the index has to be made."""
    found = load(f"names-{package}")
    try:
        return None if found is None else {name: _entry(values) for name, values in found.items()}
    except (TypeError, KeyError, AttributeError):
        return None


def write(package: str, entries: Mapping[str, Entry]) -> None:
    """Keep the index, if that is possible."""
    keep(f"names-{package}", {name: asdict(entry) for name, entry in entries.items()})


def _entry(values: dict) -> Entry:
    parameters = [Parameter(**{**one, "default": _tupled(one["default"])}) for one in values["parameters"]]
    return Entry(str(values["module"]), str(values["about"]), tuple(parameters))


def _tupled(default):
    return tuple(map(_tupled, default)) if isinstance(default, list) else default


# -- Files in the user's cache folder ---------------------------------------------------------------------------------


def load(name: str) -> dict | None:
    """The contents kept under a name, unless the sources have changed."""
    path = cache.find(file := _file(name))
    try:
        kept = json.loads(path.read_bytes()) if path else {}
        own = (kept["file"], kept["stamp"]) == (file, _stamp())
        return kept["facts"] if own and isinstance(kept["facts"], dict) else None
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def keep(name: str, facts: dict) -> None:
    """Keep contents from the present sources: whole or not at all; nothing if the folder is not writable."""
    with suppress(OSError, TypeError, ValueError):
        kept = {"file": (file := _file(name)), "stamp": _stamp(), "facts": facts}
        cache.write(file, json.dumps(kept, allow_nan=False).encode())


def _file(name: str) -> str:
    """A name's file for these sources and plug-ins, as others share the folder."""
    return f"{PREFIX}{name}-{_digest(repr((str(_sources('arena.games')), _points())))}{cache.INDEX}"


@functools.cache
def _points() -> list[tuple[str, str]]:
    return sorted(
        (plugins.title(point), point.value) for package in plugins.PACKAGES for point in plugins.points(package)
    )


def _sources(package: str) -> Path:
    """The folder of a package; our packages lie side by side, in a checkout, too."""
    return Path(__file__).resolve().parents[3] / package.rpartition(".")[2]


@functools.cache
def _stamp() -> str:
    """A digest of what else the index depends on: names, sizes and times of sources, also of plug-ins, and Python's
    version."""
    folders = [_sources(package) for package in plugins.PACKAGES]
    for top in sorted(plugins.top_packages()):
        spec = None
        with suppress(ImportError, ValueError):  # what cannot be found cannot be imported
            spec = importlib.util.find_spec(top)
        folders += map(Path, (spec.submodule_search_locations or [spec.origin or ""]) if spec else [])
    sizes = [(str(path), *size) for folder in folders for path, *size in _sized(folder)]
    return _digest(repr((FORM, sys.version, sorted(sizes))))


def _sized(path: Path) -> Iterator[tuple[str, int, int]]:
    """(name, time of the last change in ns, bytes) of sources below a folder, or of a file."""
    if path.is_dir():
        waiting = [str(path)]
        while waiting:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    if entry.name.endswith(".py"):
                        stat = entry.stat()
                        yield entry.path, stat.st_mtime_ns, stat.st_size
                    elif entry.is_dir() and not entry.name.startswith(("__", ".")):
                        waiting.append(entry.path)
    elif path.is_file():
        stat = path.stat()
        yield str(path), stat.st_mtime_ns, stat.st_size


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
