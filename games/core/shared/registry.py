"""Names to classes: finds the games (or agents) of a package and makes one from text such as `uct(exploration=0.4)`.

One name imports only its module, if the index knows it (`games.core.shared.index`); all names import all modules.
"""

import ast
import difflib
import functools
import importlib
import inspect
import math
import os
import pkgutil
import sys
import types
import typing
from contextlib import suppress
from dataclasses import MISSING, dataclass, field
from functools import cached_property
from importlib.metadata import EntryPoint
from typing import Any, ClassVar

from arena.games.core.shared import index, plugins
from arena.games.core.shared.describe import about, parameters
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.parameters import Registered, parameters_of, type_name

WORDS = {"true": True, "false": False, "none": None}
SYNONYMS = {  # of parameters
    **dict.fromkeys(("threads", "processes", "num_workers", "n_jobs", "jobs"), "workers"),
    **dict.fromkeys(("simulations", "rollouts", "iterations", "budget"), "playouts"),
    **dict.fromkeys(("c", "k", "cp", "c_puct"), "exploration"),
    **dict.fromkeys(("time", "time_limit", "movetime", "timeout"), "seconds"),
    **dict.fromkeys(("plies", "max_depth"), "depth"),
    **dict.fromkeys(("method", "enhancements"), "methods"),
}
UNLISTED = {"listed": False}  # metadata of a field given by name only, and not shown at its default


class SpecError(UserError, ValueError):
    """A game or an agent that cannot be made; the message says what would be right."""


def parse_spec(text: str) -> tuple[str, list, dict]:
    """`"name(1, key=2)"` -> `("name", [1], {"key": 2})`; empty parentheses may be left out."""
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name):
            return call.id, [], {}
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name)):
            raise ValueError
        names = [keyword.arg for keyword in call.keywords]
        if None in names or len(set(names)) < len(names):
            raise ValueError
        arguments = [_literal(node) for node in call.args]
        return call.func.id, arguments, {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
    except SpecError:
        raise
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        missing = ": a ) is missing" if text.count("(") > text.count(")") else ""
        raise SpecError(f"{text!r} is not of the form name or name(parameter=value, ...){missing}") from None


def _literal(node):
    """A constant of Python, or `true`, `false` (as in TOML) or `none`; SpecError for text without quotes."""
    if isinstance(node, ast.Name):
        if node.id in WORDS:
            return WORDS[node.id]
        raise SpecError(f"{node.id} is text, which needs quotes: {node.id!r}")
    return ast.literal_eval(node)


def _one_program(module: str) -> str:
    """A program's module, which worker processes import by another name."""
    return "__main__" if module == "__mp_main__" else module


@dataclass
class Registry:
    """The classes of a kind in a package's modules, by name."""

    kind: str  # "game" or "agent", for messages
    package: str
    meant: dict[str, str] = field(default_factory=dict)  # other names, and what is meant here
    broken: list[str] = field(default_factory=list)  # unusable plug-ins, and why
    _classes: dict[str, Any] = field(default_factory=dict)
    _imported: bool = False
    _loaded: set[EntryPoint] = field(default_factory=set)
    _brought: dict[str, str] = field(default_factory=dict)  # names from plug-ins, each with the module

    def classes(self) -> dict[str, Any]:
        """The classes by name, in alphabetical order; imports every module below the package once."""
        if not self._imported:
            self._imported = True  # for what asks while it is imported
            try:
                self._import_all()
            except BaseException:  # Ctrl-C, too: what is missing is imported next time
                self._imported = False
                raise
        return dict(sorted(self._classes.items()))

    def _import_all(self) -> None:
        package = importlib.import_module(self.package)
        for module in pkgutil.walk_packages(package.__path__, self.package + "."):
            importlib.import_module(module.name)
        plugins.import_named()
        for point in plugins.points(self.package):
            self._load(point)
        if index.read(self.package) is None:
            self._keep_index()

    def named(self, name: str) -> Any:
        """The class of that name, or None; imports only its module, if the index knows it."""
        if not self._imported:
            plugins.import_named()
            if plugins.named() and not self._index:
                self.classes()  # refuses a plug-in that takes a name of ours
            elif home := self._index.get(name):
                self._import(home.module)
                if name in self._classes:
                    return self._classes[name]
        return self._classes.get(name) or self.classes().get(name)

    def loaded(self) -> list[type]:
        """The classes that are registered so far; the index is read as well."""
        return [*self._classes.values()] if self._index else []

    def __contains__(self, name: str) -> bool:
        """Whether a class is registered or in the index, without imports."""
        return name in self._classes or name in self._index

    def class_called(self, title: str) -> Any:
        """The class of that name in Python, such as `Connect4`; AttributeError if there is none."""
        for name in self._index if title[:1].isupper() else ():
            if name.replace("_", "") == title.lower():
                self.named(name)
        for known in (lambda: self._classes, self.classes) if title[:1].isupper() else ():  # all only if need be
            if found := next((cls for cls in known().values() if cls.__name__ == title), None):
                return found
        raise AttributeError(f"module {self.package!r} has no attribute {title!r}")

    @cached_property
    def _index(self):
        return index.read(self.package) or {}

    def _import(self, module: str) -> None:
        if self._is_ours(module):
            importlib.import_module(module)
            return
        for point in plugins.points(self.package):
            if point.module == module:
                self._load(point)

    def entries(self) -> dict[str, index.Entry]:
        return {name: self._entry(name, cls) for name, cls in self.classes().items()}

    def _entry(self, name, cls):
        found = ()
        with suppress(Exception):  # a plug-in's class may raise anything
            found = tuple(parameters(cls))
        return index.Entry(self._brought.get(name, cls.__module__), about(cls), found)

    def _keep_index(self) -> None:
        """Write the index, without a user's own modules."""
        entries = self.entries().items()
        own = {name: one for name, one in entries if name in self._brought or self._is_ours(one.module)}
        index.write(self.package, own)

    def _is_ours(self, module: str) -> bool:
        return module.startswith(f"{self.package}.")

    def add(self, cls: type[Registered]) -> None:
        """Register a class under its `name`.

        SpecError if two modules want a name: a run must not depend on which is found first.  A module may define a
        class again, as in a notebook.
        """
        if "name" not in vars(cls):
            return
        if (prefix := plugins.prefix_of(cls.__module__)) and not cls.name.startswith(prefix):
            cls.name = prefix + cls.name
        if (held := self._holder(cls.name)) and _one_program(held) != _one_program(cls.__module__):
            has, other = map(self._named, sorted([held, cls.__module__], key=self._is_ours, reverse=True))
            raise SpecError(f"{other} defines {self.kind} {cls.name!r}, a name that {has} has: give it another name")
        self._classes[cls.name] = cls

    def _holder(self, name: str) -> str | None:
        if name in self._classes:
            return self._classes[name].__module__
        return self._index[name].module if name in self._index else None

    def _named(self, module: str) -> str:
        """A module, with its file if it is a user's."""
        file = getattr(sys.modules.get(module), "__file__", None)
        return f"{module} ({file})" if file and not self._is_ours(module) else module

    def _load(self, point: EntryPoint) -> None:
        """Import a plug-in; failures and taken names are reported when a name is looked up in vain."""
        if point in self._loaded:
            return
        self._loaded.add(point)
        before, title = dict(self._classes), plugins.title(point)
        try:
            point.load()
        except (Exception, SystemExit) as error:  # another package's module may raise anything
            self._classes = dict(before)
            self.broken.append(f"{title} cannot be imported: {type(error).__name__}: {error}")
        new = [
            name for name in self._classes.keys() - before.keys() if not self._is_ours(self._classes[name].__module__)
        ]
        self._brought |= dict.fromkeys(new, point.module)

    def unknown(self, name: str) -> str:
        classes = self.classes()
        broken = "".join(f"\nplug-in {text}" for text in self.broken)
        beside = (
            f'; {name}.py is in this folder: --plugin {name}, or plugins = ["{name}"] in a configuration, reads it'
            if name.isidentifier() and os.path.isfile(f"{name}.py")
            else f": here it is {self.meant[name.lower()]}"
            if name.lower() in self.meant
            else _suggest(name, classes)
        )
        return f"unknown {self.kind} {name!r}{beside}; known: {', '.join(classes)}{broken}"

    def make(self, spec: str):
        """The instance that `spec` describes; SpecError says what is wrong and what is allowed."""
        name, arguments, keywords = parse_spec(spec)
        cls = self.named(name)
        if cls is None:
            raise SpecError(self.unknown(name))
        if not _is_frozen_dataclass(cls):
            raise SpecError(f"{self.kind} {name!r} is defined by {cls.__qualname__}, which is not a frozen dataclass")
        return _made(cls, name, arguments, keywords)


def describes(spec: str, instance) -> bool:
    """Whether a spec, with its defaults or without, is that of an equal instance."""
    try:
        name, arguments, keywords = parse_spec(spec)
        return name == instance.name and _made(type(instance), name, arguments, keywords) == instance
    except SpecError:
        return False


def _made(cls, name: str, arguments: list, keywords: dict):
    """An instance of a class; SpecError says what is wrong and what is allowed."""
    parameters = parameters_of(cls)
    listed, known = [f.name for f in parameters if _is_listed(f)], [f.name for f in parameters]
    if len(arguments) > len(listed):
        raise SpecError(f"{name} takes {len(listed)} parameters, got {len(arguments)}: {signature(cls)}")
    values = dict(zip(listed, arguments))
    for key, value in keywords.items():
        if key not in known:
            # a class may say why it is `without` a parameter
            why = getattr(cls, "without", {}).get(key) or _suggest(key, known)
            raise SpecError(f"{name} has no parameter {key!r}{why}; it is {signature(cls)}")
        if key in values:
            raise SpecError(f"{name}: parameter {key!r} is given twice")
        values[key] = value
    missing = [f.name for f in parameters if f.default is MISSING and f.name not in values]
    if missing:
        raise SpecError(f"{name} needs {', '.join(missing)}: {signature(cls)}")
    hints = _hints_of(cls)
    checked = {key: _check(name, key, value, hints[key]) for key, value in values.items()}
    try:
        made = cls(**checked)
        made.prepare()
    except ValueError as error:
        raise SpecError(f"{name}: {error}") from None
    return made


_hints_of = functools.cache(typing.get_type_hints)  # which takes longer than all the rest of making an agent


def _is_frozen_dataclass(cls: Any) -> bool:
    """Whether it is one, or derived from one without parameters of its own."""
    if "__dataclass_params__" not in vars(cls):
        hints = inspect.get_annotations(cls, eval_str=True).values()
        if any(typing.get_origin(hint) is not ClassVar and hint is not ClassVar for hint in hints):
            return False
    parameters = getattr(cls, "__dataclass_params__", None)
    return parameters is not None and parameters.frozen


def _is_listed(field) -> bool:
    return field.metadata.get("listed", True)


def _suggest(name, known) -> str:
    if (meant := SYNONYMS.get(name.lower())) in known:
        return f": here it is {meant}"
    close = difflib.get_close_matches(name, list(known), 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _check(owner, key, value, hint):
    """`value` as the type that the parameter is declared with, or SpecError."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if (isinstance(value, int) and abs(value) >= 1 << 63) or (isinstance(value, float) and not math.isfinite(value)):
        raise SpecError(f"{owner}: {key} is out of range: numbers are finite, and whole ones below 2**63")
    if float not in options and int in options and type(value) is float and value.is_integer():
        value = int(value)  # 1e6 is a count, too
    for option in options:
        if option is float and type(value) in (int, float):
            return float(value)
        if typing.get_origin(option) is tuple and isinstance(value, (list, tuple)):
            return tuple(_check(owner, key, item, typing.get_args(option)[0]) for item in value)
        if type(value) is option:
            return value
    wanted = "true or false" if options == (bool,) else type_name(hint)
    raise SpecError(f"{owner}: {key} = {value!r} should be {wanted}")


def signature(cls: type[Registered]) -> str:
    """`connect4(rows=6, columns=7)`: parameters and defaults."""
    listed = [f for f in parameters_of(cls) if _is_listed(f)]
    words = [f.name if f.default is MISSING else f"{f.name}={f.default!r}" for f in listed]
    return f"{cls.name}({', '.join(words)})"


def spell(instance, every: bool = True, typed: str = "") -> str:
    """The spec of an equal instance; with `every` false, without parameters at defaults, but for those in `typed`."""
    given = [(f, getattr(instance, f.name)) for f in parameters_of(type(instance))]
    kept = set()
    if typed:
        _, arguments, keywords = parse_spec(typed)
        kept = {*[f.name for f, _ in given if _is_listed(f)][: len(arguments)], *keywords}
    words = [
        f"{f.name}={value!r}" for f, value in given if (every and _is_listed(f)) or value != f.default or f.name in kept
    ]
    return f"{instance.name}({', '.join(words)})" if words else instance.name
