"""What classes are made of: the code of all functions that they reach by names, as it is in memory, and values.

Bytecode and values count, but no file, line or order of imports: equal sources give equal digests.  Of this package's
own modules, whose tables fill while they run, values that can change do not count.  Others' count as they were when
first looked at; what cannot be read by value, and what has changed since, is told by `Sources.unknown`.
"""

import copyreg
import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np

from arena.games.core.jit.bytecode import code_bytes, is_ours, names_in, of_namespace, version_of
from arena.games.core.plugins import top_packages

_PLAIN = {type(None), bool, int, float, complex, str, bytes, range, type(...)}
TOLD = ("rules",)  # texts for people, which are no part of code that does not name them
PLACES = {"__file__", "__path__"}  # globals that say where code lies, which is no part of it
# made of what else a class has, and what else begins with __ and is no function
_DERIVED = ("_abc_impl", "__annotate__", "__annotate_func__", "_numba_type", "_plain")


def code_digest(*things: type | types.FunctionType, values: bool = True) -> str:
    """12 hexadecimal digits for all code that classes or functions reach; with `values`, for what can change, too."""
    return Sources(*things, values=values).digest()


def code_of(*things: type | types.FunctionType) -> frozenset[bytes]:
    """Digests of functions and classes that they reach, with themselves; without libraries.

    Looked at each time, as they may change in memory: 10 ms for an agent.
    """
    return Sources(*things).parts


class Sources:
    """A walk through all that classes and functions reach.

    parts: digests of functions and classes; unknown: names of the values whose changes no digest shows
    """

    def __init__(self, *things: type | types.FunctionType, values: bool = True):
        self._values = values
        self.unknown: set[str] = set()
        self._names: set[str] = set()  # that functions ask for
        self._told: list[tuple[str, type]] = []  # texts for people, and their classes
        self._met: dict[int, Any] = {id(thing): thing for thing in things}
        self._waiting: list[Any] = [*things]
        self.parts = frozenset(self._digests())

    def digest(self) -> str:
        """12 hexadecimal digits for all of it."""
        return hashlib.sha256(b"".join(sorted(self.parts))).hexdigest()[:12]

    def _digests(self) -> Iterator[bytes]:
        while self._waiting:
            thing = self._waiting.pop()
            told = hashlib.sha256()
            for piece in self._of_class(thing) if isinstance(thing, type) else self._of_function(thing):
                told.update(len(piece).to_bytes(8, "little") + piece)
            yield told.digest()
        for name, cls in self._told:
            if name in self._names:
                yield hashlib.sha256(f"{cls.__module__}.{cls.__qualname__} {vars(cls)[name]!r}".encode()).digest()

    def _of_class(self, cls: type) -> Iterator[bytes]:
        yield f"class {cls.__module__}.{cls.__qualname__}".encode()
        of = self._reader(cls.__module__, cls.__qualname__)
        for base in cls.__bases__:
            yield from of(base)
        for name, value in sorted(vars(cls).items()):
            if name in TOLD and type(value) is str:
                self._told.append((name, cls))
            elif name not in _DERIVED and (not name.startswith("__") or inspect.isfunction(value)):
                yield name.encode()
                yield from of(value)

    def _of_function(self, function: types.FunctionType) -> Iterator[bytes]:
        yield f"function {function.__module__}.{function.__qualname__}".encode()
        yield code_bytes(function.__code__)
        of = self._reader(function.__module__, function.__qualname__)
        for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()):
            yield from of(value)
        for cell in function.__closure__ or ():
            try:
                yield from of(cell.cell_contents)
            except ValueError:
                yield b"empty"
        names = names_in(function.__code__) - PLACES
        self._names |= names
        yield from of_namespace(function.__globals__, names, of, _library)

    def _reader(self, module: str | None, owner: str) -> Callable[[Any], Iterator[bytes]]:
        """What reads the values that code of a module names."""
        ours = is_ours(module) or not self._values
        return lambda value: self._of_value(value, None if ours else f"{module}.{owner}")

    def _of_value(self, value: Any, owner: str | None) -> Iterator[bytes]:
        """A plain value, function or class itself; of other objects the value, for an owner, or else the class."""
        if type(value) in _PLAIN:
            yield f"{type(value).__qualname__} {value!r}".encode()
        elif isinstance(value, Enum):
            yield value.name.encode()
            yield from self._of_object(type(value), owner)
        elif isinstance(value, np.generic):
            yield f"{value.dtype}".encode() + value.tobytes()
        elif isinstance(value, (tuple, frozenset)):
            if type(value) not in (tuple, frozenset):
                yield from self._of_object(type(value), owner)
            yield f"{type(value).__name__} {len(value)}".encode()
            parts = [b"".join(self._of_value(part, owner)) for part in value]
            yield from parts if isinstance(value, tuple) else sorted(parts)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject and (owner or not value.flags.writeable):
            yield f"{value.dtype} {value.shape}".encode() + value.tobytes()
        elif isinstance(value, property):
            for each in (value.fget, value.fset, value.fdel):
                yield from self._of_value(each, owner)
        elif isinstance(value, (staticmethod, classmethod, functools.cached_property)):
            yield from self._of_value(getattr(value, "func", None) or value.__func__, owner)  # type: ignore[union-attr]
        elif isinstance(value, functools.partial):
            yield from self._of_value((value.func, value.args, tuple(value.keywords.items())), owner)
        else:
            yield from self._of_object(value, owner)

    def _of_object(self, value: Any, owner: str | None) -> Iterator[bytes]:
        if not isinstance(value, (type, types.FunctionType)):  # a wrapper of a function is a function of its own
            value = inspect.unwrap(getattr(value, "py_func", value), stop=lambda f: isinstance(f, types.FunctionType))
        if not isinstance(value, (type, types.FunctionType)) and not _library(_module_of(value) or "?"):
            if owner is not None and not isinstance(value, types.ModuleType):
                yield from self._first_seen(value, owner)
            value = type(value)
        name = f"{_module_of(value)}.{value.__qualname__}"
        if not _library(_module_of(value)) and id(value) not in self._met:
            self._met[id(value)] = value
            self._waiting.append(value)
        yield name.encode()
        if isinstance(value, types.FunctionType):
            yield code_bytes(value.__code__)

    def _first_seen(self, value: Any, owner: str) -> Iterator[bytes]:
        """An object's state when it was first looked at."""
        if id(value) in self._met:
            return
        self._met[id(value)] = value
        try:
            state = b"".join(self._state(value, owner))
        except Exception:  # what cannot be pickled can raise anything
            state = None
        first = _first.setdefault(id(value), (value, state))[1]
        if first is None or first != state:
            self.unknown.add(f"{owner}: {type(value).__qualname__}")
        yield first or b"unknown"

    def _state(self, value: Any, owner: str) -> Iterator[bytes]:
        if isinstance(value, (list, set, dict)) and type(value).__module__ == "builtins":
            whole = tuple(value.items()) if isinstance(value, dict) else tuple(value)
            yield from self._of_value(frozenset(whole) if isinstance(value, set) else whole, owner)
        elif isinstance(value, types.SimpleNamespace):
            yield from self._of_value(tuple(vars(value).items()), owner)
        elif isinstance(value, types.BuiltinFunctionType | types.MethodType):
            yield f"{value.__qualname__}".encode()
            yield from self._of_value(value.__self__, owner)
        else:
            reduce = copyreg.dispatch_table.get(type(value), lambda each: each.__reduce_ex__(4))
            yield from self._of_value(_plain(reduce(value)), owner)


_first: dict[int, tuple[Any, bytes | None]] = {}  # by id: an object, which thus keeps it, and its state


def _plain(reduced: Any) -> Any:
    """What an object is pickled as, with what its iterators hold."""
    if isinstance(reduced, str):
        return reduced
    return tuple(tuple(part) if isinstance(part, Iterator) else part for part in reduced)


def _module_of(thing: Any) -> str:
    """The module where a function was written, or that another thing names as its own; "" of objects."""
    if isinstance(thing, types.FunctionType):
        return thing.__globals__.get("__name__") or ""
    module = getattr(thing, "__module__", None) if hasattr(thing, "__qualname__") else None
    return module if isinstance(module, str) else ""


@functools.cache
def _library(module: str) -> bool:
    """Whether a module is installed and no plug-in, or belongs to the compiler, which has no part in play."""
    if version_of(module) or module.startswith(__name__.rpartition(".")[0] + "."):
        return True
    top, path = module.partition(".")[0], getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" in path and top != "arena" and top not in top_packages()
