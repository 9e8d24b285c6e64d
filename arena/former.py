"""The packages' former names: `import games` gives `arena.games`, for a release, with a word about the new name.

Nothing is installed under the former names, which others use, too: `agents` is OpenAI's as well.  Whoever has a package
of such a name keeps it.
"""

import importlib
import multiprocessing
import os
import sys
import warnings
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

NAMES = ("games", "agents", "results")
HERE = Path(__file__).resolve().parent


class FormerNames:
    """A finder and a loader for `games`, `games.hex` and so on, as the very modules of `arena.games`."""

    def find_spec(self, name: str, path=None, target=None) -> ModuleSpec | None:
        """The spec of our module; None where the name is not one of ours, or where another package has it."""
        top, dot, _ = name.partition(".")
        if top not in NAMES or (sys.modules.get(top) is not sys.modules.get(f"arena.{top}") if dot else _taken(name)):
            return None
        if not dot and multiprocessing.parent_process() is None:
            text = f"the package {name} is arena.{name} now (from arena import {name}); the old name goes with 0.2"
            warnings.warn(text, FutureWarning, stacklevel=2)
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module that has been, or is now, imported under its own name."""
        module = importlib.import_module(f"arena.{spec.name}")
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The import system has put the spec of the former name in place of the module's own: put that back."""
        module.__spec__ = self._own_spec


def _taken(name: str) -> bool:
    """Whether a module that is not ours would be imported by that name."""
    for finder in sys.meta_path:
        if not isinstance(finder, FormerNames) and (spec := finder.find_spec(name, None)) and spec.origin:
            return not _is_ours(spec, name)
    return False


def _is_ours(spec: ModuleSpec | None, name: str) -> bool:
    file = HERE / name / "__init__.py"
    return bool(spec and spec.origin and os.path.exists(spec.origin) and os.path.samefile(spec.origin, file))


def install() -> None:
    """Let the former names be found, and be the same modules even where a script in a checkout began with one."""
    sys.meta_path.insert(0, FormerNames())
    for name in NAMES:
        if (module := sys.modules.get(name)) and _is_ours(module.__spec__, name):
            sys.modules[name] = importlib.import_module(f"arena.{name}")
