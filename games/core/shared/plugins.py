"""Games and agents of other packages: from entry points, and from modules that `--plugin` names.

Entry points of the groups `search_arena.games` and `search_arena.agents` name modules.  Worker processes get the names
from the command line by the environment.  Nothing of Numba is imported here.

A module is named as Python does, or by its file; `mine@HEAD~1 as old` is a revision of a file that Git knows, whose
games and agents begin with `old_`.  So two versions of a plug-in can meet.
"""

import functools
import importlib
import json
import linecache
import os
import re
import subprocess
import sys
import types
from collections.abc import Iterable
from importlib.machinery import PathFinder
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("arena.games", "arena.agents")
VARIABLE = "SEARCH_ARENA_PLUGINS"  # JSON: for each module the folder to look in, and its name


FORM = re.compile(r"(?P<what>[^@\s]+)(?:@(?P<revision>[^\s-]\S*))?(?:\s+as\s+(?P<alias>[A-Za-z]\w*))?")
_named_as: dict[str, str] = {}  # alias -> how it was named


class Source(NamedTuple):
    """A plug-in as it is named."""

    what: str  # a module, or a file
    revision: str  # of Git; "" for the file as it is
    alias: str  # before its games and agents; "" for none

    @property
    def module(self) -> str:
        """Its name in sys.modules."""
        return self.alias or (Path(self.what).stem if self.what.endswith(".py") else self.what)

    @property
    def is_plain(self) -> bool:
        """Whether Python finds it by its name."""
        return not (self.revision or self.alias or self.what.endswith(".py"))

    def file(self) -> Path:
        """Its file, looked for where Python looks; ImportError if there is none."""
        if self.what.endswith(".py"):
            places = [Path(folder, self.what) for folder in ("", *sys.path)]
            found = next((place for place in places if place.is_file()), None)
        else:
            spec = PathFinder.find_spec(self.what)
            found = Path(spec.origin) if spec and spec.origin and spec.origin.endswith(".py") else None
            if found and found.name == "__init__.py":
                raise ImportError(f"{self.what} is a package: versions of one file can meet, not of a package")
        if found is None:
            raise ModuleNotFoundError(f"there is no file of {self.what}", name=self.what)
        return found.resolve()

    def text(self) -> tuple[str, str]:
        """(where it is from, its source): as it is, or of its revision."""
        file = self.file()
        if not self.revision:
            return str(file), file.read_text()
        return f"{file}@{self.revision}", _git(file, "show", f"{self.revision}:./{file.name}")

    def __str__(self) -> str:
        return self.what + (f"@{self.revision}" if self.revision else "") + (f" as {self.alias}" if self.alias else "")


def source_of(plugin: str) -> Source:
    """How a plug-in is named; ImportError if it is of no form."""
    found = FORM.fullmatch(plugin.strip())
    if not found:
        raise ImportError(f"{plugin!r} is of no form: a module, a file, or such as 'mine@HEAD~1 as old'")
    source = Source(*(part or "" for part in found.groups()))
    if source.revision and not source.alias:
        raise ImportError(f"{plugin!r} needs a name to tell it from the file as it is: '{plugin} as old'")
    return source


def fixed(plugin: str) -> str:
    """The plug-in with its revision as a commit, which does not move."""
    source = source_of(plugin)
    if not source.revision:
        return plugin
    commit = _git(source.file(), "rev-parse", "--verify", "--end-of-options", f"{source.revision}^{{commit}}")
    return str(source._replace(revision=commit.strip()))


def load(plugin: str) -> None:
    """Import a plug-in, once; ImportError says what is wrong with it."""
    source = source_of(plugin)
    if source.is_plain:
        if source.what.partition(".")[0] in sys.stdlib_module_names:
            raise ImportError(f"{source.what} is Python's own; for a file of that name: '{source.what}.py as mine'")
        importlib.import_module(source.what)
        return
    name, plugin = source.module, fixed(plugin)
    if (before := _named_as.get(name)) == plugin:
        return
    if before or name in sys.modules:
        raise ImportError(f"{plugin!r}: {name} is {before or 'another module'} already: give it another name")
    where, text = source_of(plugin).text()
    if source.revision:
        module = types.ModuleType(name)
        module.__file__ = where
        linecache.cache[where] = (len(text), None, text.splitlines(keepends=True), where)
    else:
        spec = spec_from_file_location(name, where)
        assert spec
        module = module_from_spec(spec)
    _named_as[name], sys.modules[name] = plugin, module
    try:
        exec(compile(text, where, "exec"), module.__dict__)
    except BaseException:
        del _named_as[name], sys.modules[name]
        raise


def prefix_of(module: str) -> str:
    """What the names of a module's games and agents begin with."""
    named = _named_as.get(module)
    return f"{module}_" if named and source_of(named).alias else ""


def _git(file: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(file.parent), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ImportError(f"git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


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
        load(module)


def title(point: EntryPoint) -> str:
    """An entry point's package, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist else point.value
