"""One walk through all that code reaches, as it is in memory: what digests of code are made of.

Bytecode, defaults, closures, globals by value and classes count, but no file, line, address or order of imports or of a
set: equal sources give equal digests in every process.  `Walk` reads as Python runs code, for digests of what a run
plays; `Names` (identity.py) as the compiler does.
"""

import copyreg
import functools
import hashlib
import inspect
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from arena.games.core.jit.bytecode import code_bytes, is_ours, names_in, of_namespace, version_of
from arena.games.core.shared.plugins import top_packages

_PLAIN = {type(None), bool, int, float, complex, str, bytes, range, type(...)}
TOLD = ("rules",)  # texts for people, which are no part of code that does not name them
# made of what else a class has, and what else begins with __ and is no function
_DERIVED = ("_abc_impl", "__annotate__", "__annotate_func__", "_numba_type", "_plain")

Piece = Any  # bytes; a function, a class or an owner, which walks follow; or Blind


class Compiled:
    """A function for the compiler: what it was written as, and its options; as Numba's own."""

    py_func: types.FunctionType
    targetoptions: dict[str, Any]


class Blind(str):
    """Words for a value that no digest covers."""


def code_digest(*things: type | types.FunctionType, values: bool = True) -> str:
    """12 hexadecimal digits for all code that classes or functions reach; with `values`, for what can change, too."""
    return Walk(values).through(*things).digest()[:12]


class Walk:
    """A walk through all that functions and classes reach, as Python runs them.

    Looked at each time, as they may change in memory: 10 ms for an agent.  Of this package's own modules, whose tables
    fill while they run, values that can change do not count, and without `values` none do.  Others' count as they were
    when first looked at.

    unknown: names of the values whose changes no digest shows
    """

    places: frozenset[str] = frozenset({"__file__", "__path__"})  # globals that say where code lies, no part of it

    def __init__(self, values: bool = True):
        self.values = values
        self.unknown: set[str] = set()
        self.seen: dict[int, tuple[int, Any]] = {}  # by id: number, and the object, so that its id stays its own
        self.names: set[str] = set()  # that code asks for
        self._hash = hashlib.blake2b(digest_size=12)
        self._waiting: deque[Any] = deque()
        self._told: list[tuple[str, type]] = []  # texts for people, and their classes
        self._states: dict[int, tuple[Piece, ...]] = {}  # by id, of objects in `_first`
        self._within: dict[int, tuple[int, Any]] | None = None  # objects held in one whose state is being read

    def digest(self) -> str:
        """24 hexadecimal digits for all of it."""
        return self._hash.hexdigest()

    def through(self, *things: Any) -> "Walk":
        """Walk from these things; itself."""
        for thing in things:
            self.add(self.of(thing))
        self.follow()
        return self

    def add(self, pieces: Iterable[Piece]) -> None:
        """Add pieces; what is to be followed is, once."""
        for piece in pieces:
            if isinstance(piece, bytes):
                self._hash.update(len(piece).to_bytes(8, "little") + piece)
            elif isinstance(piece, Blind):
                self.unknown.add(piece)
            else:
                if id(piece) not in self.seen:
                    self.seen[id(piece)] = len(self.seen), piece
                    self._waiting.append(piece)
                self._hash.update(b"see %d." % self.seen[id(piece)][0])

    def follow(self) -> None:
        """Go into all that is waiting."""
        while self._waiting:
            self.add(self.inside(self._waiting.popleft()))
        for name, cls in self._told:
            if name in self.names:
                self.add([f"{cls.__module__}.{cls.__qualname__} {vars(cls)[name]!r}".encode()])

    def inside(self, thing: Any) -> Iterable[Piece]:
        """What a function or a class is made of."""
        return self.of_class(thing) if isinstance(thing, type) else self.of_function(thing)

    def version(self, module: str) -> str | None:
        """What names the code of a module that is not followed; None of one that is."""
        return "" if is_library(module) else None

    def of_function(self, function: types.FunctionType) -> Iterable[Piece]:
        """The pieces of a function: code, defaults, closure, and the globals that it names."""
        owner = self._owner(function.__module__, function.__qualname__)
        yield f"function of {function.__module__}".encode()
        yield code_bytes(function.__code__)
        yield from self.of((function.__defaults__, tuple(sorted((function.__kwdefaults__ or {}).items()))), owner)
        for cell in function.__closure__ or ():
            try:
                yield from self.of(cell.cell_contents, owner)
            except ValueError:
                yield b"empty"
        names = names_in(function.__code__) - self.places
        self.names |= names
        known = functools.partial(self.of, owner=owner)
        yield from of_namespace(function.__globals__, names, known, lambda module: self.version(module) is not None)

    def of_class(self, cls: type) -> Iterator[Piece]:
        """The pieces of a class: its bases, and all that it defines."""
        owner = self._owner(cls.__module__, cls.__qualname__)
        yield f"class {cls.__module__}.{cls.__qualname__}".encode()
        yield from self.of(cls.__bases__, owner)
        for name, value in sorted(vars(cls).items()):
            if name in TOLD and type(value) is str:
                self._told.append((name, cls))
            elif name not in _DERIVED and (not name.startswith("__") or inspect.isfunction(value)):
                yield name.encode()
                yield from self.of(value, owner)

    def _owner(self, module: str | None, name: str) -> str:
        """Whose the values are that can change; "" where these do not count."""
        return "" if is_ours(module) or not self.values else f"{module}.{name}"

    def of(self, value: Any, owner: str = "") -> Iterator[Piece]:
        """The pieces of a value that an owner's code names."""
        kind = type(value)
        if kind in _PLAIN:
            yield f"{kind.__qualname__} {value!r}".encode()
        elif isinstance(value, Enum):
            yield f"member {value._name_}".encode()
            yield from self.of(value._value_, owner)
            yield from self.of(kind, owner)
        elif isinstance(value, np.generic):
            yield f"scalar {value.dtype.str} ".encode() + value.tobytes()
        elif isinstance(value, np.dtype):
            yield f"dtype {value.descr}".encode()
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject and self.counts(value, owner):
            yield f"array {value.dtype.descr} {value.shape} {value.flags.c_contiguous} {value.flags.writeable}".encode()
            yield value.tobytes()
        elif isinstance(value, (tuple, frozenset, list, set, dict)) and self.counts(value, owner):
            yield from self.of_parts(value, owner)
        elif isinstance(value, property):
            yield from self.of((value.fget, value.fset, value.fdel), owner)
        elif isinstance(value, (staticmethod, classmethod)):
            yield from self.of(value.__func__, owner)
        elif isinstance(value, functools.cached_property):
            yield from self.of(value.func, owner)
        elif isinstance(value, functools.partial):
            yield from self.of((value.func, value.args, tuple(value.keywords.items())), owner)
        elif isinstance(value, types.ModuleType):
            yield f"module {value.__name__} {self.version(value.__name__) or ''}".encode()
        elif isinstance(value, types.FunctionType):
            module = _module_of(value)
            version = self.version(module)
            yield value if version is None else f"library {module}.{value.__qualname__} {version}".encode()
        elif isinstance(value, type):
            yield from self.of_type(value)
        elif isinstance(value, (Dispatcher, Compiled)):
            yield f"compiled {plain_options(value.targetoptions)}".encode()
            yield from self.of(value.py_func, owner)
        else:
            yield from self.of_object(value, owner)

    def counts(self, value: Any, owner: str) -> bool:
        """Whether an array or a collection is read like a plain value; else it is as any object."""
        return not value.flags.writeable if isinstance(value, np.ndarray) else isinstance(value, (tuple, frozenset))

    def of_parts(self, value: Any, owner: str) -> Iterator[Piece]:
        """The pieces of a collection: its kind, and its parts; a set has no order of its own."""
        kind = type(value)
        yield f"{kind.__qualname__} {len(value)}".encode()
        if kind.__module__ != "builtins":
            yield from self.of(kind, owner)
        parts = [tuple(self.of(part, owner)) for part in (value.items() if isinstance(value, dict) else value)]
        if isinstance(value, (set, frozenset)):
            parts.sort(key=_flat)
            if len(set(map(_flat, parts))) < len(parts):
                yield Blind(f"{owner}: a set of functions that look alike")
        for part in parts:
            yield from part

    def of_type(self, cls: type) -> Iterator[Piece]:
        """The pieces of a class as a value."""
        yield cls if self.version(cls.__module__) is None else f"class {cls.__module__}.{cls.__qualname__}".encode()

    def of_object(self, value: Any, owner: str) -> Iterator[Piece]:
        """The pieces of an object: the function that it wraps; or its class, and its state, for an owner."""
        inner = inspect.unwrap(getattr(value, "py_func", value), stop=lambda each: isinstance(each, types.FunctionType))
        if isinstance(inner, (type, types.FunctionType)):
            yield from self.of(inner, owner)
        elif (module := _module_of(value)) and self.version(module) is not None:
            yield f"{module}.{value.__qualname__}".encode()
        else:
            if owner:
                yield from self._first_seen(value, owner) if self._within is None else self._state(value, owner)
            yield from self.of(type(value), owner)

    def _first_seen(self, value: Any, owner: str) -> tuple[Piece, ...]:
        """An object's state when it was first looked at."""
        if id(value) not in self._states:
            self._within = {}
            try:
                pieces = [*self._state(value, owner)]
                state = _flat(pieces)
            except Exception:  # what cannot be pickled can raise anything
                pieces, state = [], None
            self._within = None
            first = _first.setdefault(id(value), (value, state))[1]
            blind = [] if state == first is not None else [Blind(f"{owner}: {type(value).__qualname__}")]
            reached = [piece for piece in pieces if not isinstance(piece, bytes)]
            self._states[id(value)] = (first or b"unknown", *blind, *reached)
        return self._states[id(value)]

    def _state(self, value: Any, owner: str) -> Iterator[Piece]:
        """What an object holds, with all that is held within."""
        assert self._within is not None
        if id(value) in self._within:
            yield b"held %d" % self._within[id(value)][0]
            return
        self._within[id(value)] = len(self._within), value
        if isinstance(value, (list, set, dict)) and type(value).__module__ == "builtins":
            yield from self.of_parts(value, owner)
        elif isinstance(value, np.ndarray) and not value.dtype.hasobject:
            yield f"array {value.dtype.descr} {value.shape}".encode()
            yield value.tobytes()
        elif isinstance(value, types.SimpleNamespace):
            yield from self.of(tuple(vars(value).items()), owner)
        elif isinstance(value, types.BuiltinFunctionType | types.MethodType):
            yield f"{value.__qualname__}".encode()
            yield from self.of(value.__self__, owner)
        else:
            reduce = copyreg.dispatch_table.get(type(value), lambda each: each.__reduce_ex__(4))
            yield from self.of(_plain(reduce(value)), owner)


_first: dict[int, tuple[Any, bytes | None]] = {}  # by id: an object, which thus keeps it, and its state


def _flat(pieces: Iterable[Piece]) -> bytes:
    """Pieces as bytes: of functions their code, of classes their names."""
    found = []
    for piece in pieces:
        if isinstance(piece, types.FunctionType):
            piece = f"{piece.__module__}.{piece.__qualname__}".encode() + code_bytes(piece.__code__)
        elif isinstance(piece, type):
            piece = f"{piece.__module__}.{piece.__qualname__}".encode()
        elif not isinstance(piece, bytes):
            piece = str(piece).encode()
        found += [len(piece).to_bytes(8, "little"), piece]
    return b"".join(found)


def _plain(reduced: Any) -> Any:
    """What an object is pickled as, with what its iterators hold."""
    if isinstance(reduced, str):
        return reduced
    return tuple(tuple(part) if isinstance(part, Iterator) else part for part in reduced)


def plain_options(options: dict[str, Any]) -> list[tuple[str, str]]:
    """A compiler's options in words."""
    return sorted((name, getattr(value, "__qualname__", repr(value))) for name, value in options.items())


def _module_of(thing: Any) -> str:
    """The module where a function was written, or that another thing names as its own; "" of objects."""
    if isinstance(thing, types.FunctionType):
        return thing.__globals__.get("__name__") or ""
    module = getattr(thing, "__module__", None) if hasattr(thing, "__qualname__") else None
    return module if isinstance(module, str) else ""


@functools.cache
def is_library(module: str) -> bool:
    """Whether a module is installed and no plug-in, or belongs to the compiler, which has no part in play."""
    if version_of(module) or module.startswith(__name__.rpartition(".")[0] + "."):
        return True
    top, path = module.partition(".")[0], getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" in path and top != "arena" and top not in top_packages()
