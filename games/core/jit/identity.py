"""Names of compiled code: digests of what the compiler is given, as it is in memory.

A digest covers a function's bytecode, constants, defaults and closure, and all that its code names: globals by value,
functions, classes, versions of libraries, members of games and rules; but no file, line number, address or order of a
set: the same source has the same digest in every process.

Numba takes globals as they are when a function is first compiled, so `facts_of` a function are kept when first asked
for, before that.  If they change before its code is kept (`digest` with `anew`), nothing that reaches the function is
kept in this process.
"""

import contextlib
import functools
import hashlib
import sys
import types
import uuid
import warnings
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import chain
from operator import attrgetter, is_
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numba.core.datamodel.registry import default_manager
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic  # type: ignore[attr-defined]
from numba.core.imputils import builtin_registry as lowered
from numba.core.pythonapi import _boxers, _unboxers
from numba.core.types import ClassDataType, ClassInstanceType, ClassType, Type
from numba.core.typing.templates import builtin_registry as typed
from numba.core.typing.typeof import typeof, typeof_impl
from numba.experimental.jitclass.base import JitClassType

from arena.games.core.jit.bytecode import LIBRARIES, code_bytes, is_ours, names_in, of_namespace, version_of
from arena.games.core.jit.classes import Sources

UNNAMED = "unnamed."  # begins the names of code without a digest, which is not kept


class Unknown(TypeError):
    """An object without a digest: what reaches it is compiled, and not kept."""


class Owner:
    """An object whose members compiled code reaches by name."""

    def member(self, name: str) -> tuple[Any, ...]:
        """(what the name stands for in compiled code,), or ()."""
        raise NotImplementedError

    def constants(self) -> Any:
        """What else compiled code depends on, in plain values."""
        raise NotImplementedError


class Facts(NamedTuple):
    """What is known of a function by itself."""

    code: types.CodeType
    names: frozenset[str]  # that its code asks for
    pieces: tuple[Any, ...]  # bytes, and functions and owners to follow


_facts: WeakKeyDictionary[types.FunctionType, Facts] = WeakKeyDictionary()
_changed: WeakSet[types.FunctionType] = WeakSet()  # functions whose facts were others later
_own: dict[types.FunctionType, types.CodeType] = {}  # this package's among them, and their code
_without_users: WeakKeyDictionary[type, list[Any]] = WeakKeyDictionary()  # classes, members of no user


def digest(*things: Any, anew: bool = False, kind_of: Callable[[Any], str] | None = None) -> str:
    """24 hexadecimal digits for all that is reached from these things.

    anew: whether to look at functions once more, a must before code is kept under its name
    kind_of: what to take in place of a value of the first owner's attribute, unless empty
    Raises Unknown.
    """
    walk = Walk(anew, kind_of)
    walk.add(compiler())
    walk.put(extensions_by_users())
    for thing in things:
        walk.add(thing)
    walk.add_members()
    return walk.hash.hexdigest()


def digest_or_unique(*things: Any, **how: Any) -> str:
    """A digest; or where there is none, a unique name."""
    try:
        return digest(*things, **how)
    except Unknown:
        return UNNAMED + uuid.uuid4().hex[:16]


class Walk:
    """A walk through all that a digest covers."""

    def __init__(self, anew: bool, kind_of: Callable[[Any], str] | None):
        self.hash = hashlib.blake2b(digest_size=12)
        self.anew, self.kind_of = anew, kind_of
        self.names: set[str] = set()
        self.owners: list[tuple[Owner, set[str]]] = []  # with the names asked for
        self.seen: dict[int, tuple[int, Any]] = {}  # by id: number, and the object, so that its id stays its own

    def add(self, thing: Any) -> None:
        for piece in pieces(thing):
            self.put(piece) if isinstance(piece, bytes) else self.follow(piece)

    def put(self, data: bytes) -> None:
        """Add bytes, told from the next by their length."""
        self.hash.update(len(data).to_bytes(8, "little"))
        self.hash.update(data)

    def follow(self, thing: Any) -> None:
        """Go into a function or an owner, once."""
        if id(thing) in self.seen:
            self.put(b"again %d" % self.seen[id(thing)][0])
            return
        self.seen[id(thing)] = len(self.seen), thing
        if isinstance(thing, Owner):
            self.put(b"owner")
            self.owners.append((thing, set()))
            self.add(thing.constants())
            return
        self.put(f"function of {thing.__module__}".encode())
        facts = facts_of(thing, self.anew)
        self.names |= facts.names
        for piece in facts.pieces:
            self.put(piece) if isinstance(piece, bytes) else self.follow(piece)

    def add_members(self) -> None:
        """Add what any code names of each owner, until nothing is new."""
        goes_on = True
        while goes_on:
            goes_on = False
            for place, (owner, asked) in enumerate(self.owners):
                new = self.names - asked
                asked |= new
                for name in sorted(new):
                    if found := owner.member(name):
                        goes_on = True
                        self.put(b"member %d %s" % (place, name.encode()))
                        kind = self.kind_of(found[0]) if self.kind_of and place == 0 else ""
                        self.put(kind.encode()) if kind else self.add(found[0])


def facts_of(function: types.FunctionType, anew: bool = False) -> Facts:
    """The facts of a function when first asked for; Unknown where they have changed since."""
    facts = _facts.get(function)
    if facts is None:
        facts = _facts[function] = _look_at(function)
        if is_ours(function.__globals__.get("__name__")):
            _own[function] = function.__code__
    elif anew and _look_at(function) != facts:
        _changed.add(function)
    if function in _changed:
        raise Unknown(f"what {function.__qualname__} depends on has changed since it was first compiled")
    return facts


def _look_at(function) -> Facts:
    names = names_in(function.__code__)
    found: list[Any] = [code_bytes(function.__code__)]
    found += pieces((function.__defaults__, sorted((function.__kwdefaults__ or {}).items())))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        found.append(f"cell {name}".encode())
        try:
            found += pieces(cell.cell_contents)
        except ValueError:
            found.append(b"empty")
    found += of_namespace(function.__globals__, names, pieces, version_of)
    found += extensions_of(function)
    return Facts(function.__code__, names, tuple(found))


class StaleCode(UserWarning):
    """What was compiled in this process is no longer what Python would run."""


def warn_of_changes(*classes: type, callers: int = 1) -> None:
    """Warn of functions that classes reach, and that have changed since they were compiled, in place or in what they
    name; and of this package's own whose code was replaced.

    callers: up to the one whose line the warning names
    """
    own: list[types.FunctionType] = []
    if not all(map(is_, map(attrgetter("__code__"), _own), _own.values())):
        own = [function for function, code in _own.items() if function.__code__ is not code]
    reached = [function for cls in classes for function in _compiled_for(cls)]
    for function in (*own, *reached):
        with contextlib.suppress(Unknown):
            facts_of(function, anew=True)
        if function in _changed:
            name = f"{function.__module__}.{function.__qualname__}"
            text = (
                f"{name} has changed since it was compiled, or what it names has: methods are compiled again, helpers"
            )
            warnings.warn(
                f"{text} play as before. Restart Python (in a notebook: the kernel)", StaleCode, stacklevel=callers + 2
            )


def has_users_functions(cls: type) -> bool:
    """Whether `warn_of_changes` has found functions of users among a class's members."""
    return cls not in _without_users


def _compiled_for(cls: type) -> list[types.FunctionType]:
    """Users' functions that have been looked at, of those that a class's methods reach by names, now or then."""
    members = list(chain.from_iterable(vars(base).values() for base in cls.__mro__))
    known = _without_users.get(cls, ())
    if len(known) == len(members) and all(map(is_, known, members)):
        return []
    waiting, met = [*members], dict[types.FunctionType, None]()
    while waiting:
        thing = waiting.pop()
        function = getattr(thing, "py_func", thing)
        if not isinstance(function, types.FunctionType) or function in met or not _is_users(function.__module__):
            continue
        met[function] = None
        waiting += of_namespace(function.__globals__, names_in(function.__code__), lambda one: [one], version_of)
        if function in _facts:
            waiting += _facts[function].pieces
    _without_users.pop(cls, None)
    if not met:
        _without_users[cls] = members
    return [function for function in met if function in _facts]


# -- The pieces of a value: bytes, and functions and owners ------------------------------------------------------------


@functools.singledispatch
def pieces(thing: Any) -> Iterator[Any]:
    """The pieces of any object; Unknown if compiled code may depend on it in unknown ways."""
    module = type(thing).__module__
    what = f"{module}.{type(thing).__qualname__} {version_of(module)}"
    if module.startswith("llvmlite.ir."):
        yield f"{what} {thing}".encode()
        return
    try:
        typeof(thing)
    except ValueError:  # no code can be compiled of what Numba has no type for
        yield f"untyped {what}".encode()
        return
    raise Unknown(f"{what}: {thing!r:.80}")


@pieces.register(type(None))
@pieces.register(type(...))
@pieces.register(bool)
@pieces.register(int)
@pieces.register(float)
@pieces.register(complex)
@pieces.register(str)
def _(thing):
    if isinstance(thing, Enum):
        yield from pieces((type(thing).__qualname__, thing._name_, thing._value_))
    else:  # a class derived from `int` may have words of its own
        plain = next(base for base in type(thing).__mro__ if base.__module__ == "builtins")
        yield f"{type(thing).__qualname__} {plain.__repr__(thing)}".encode()


@pieces.register
def _(thing: bytes):
    yield b"bytes " + thing


@pieces.register
def _(thing: np.generic):
    yield f"scalar {thing.dtype.str} ".encode() + thing.tobytes()


@pieces.register
def _(thing: np.dtype):
    yield f"dtype {thing.descr}".encode()


@pieces.register
def _(thing: np.ndarray):
    if thing.dtype.hasobject:
        raise Unknown(f"an array of objects: {thing!r:.80}")
    yield f"array {thing.dtype.descr} {thing.shape} {thing.flags.c_contiguous} {thing.flags.writeable}".encode()
    yield thing.tobytes()


@pieces.register(tuple)
@pieces.register(list)
def _(thing):
    yield f"{type(thing).__qualname__} {len(thing)}".encode()
    if hasattr(thing, "_fields"):
        yield from pieces(type(thing))
    for part in thing:
        yield from pieces(part)


@pieces.register(set)
@pieces.register(frozenset)
def _(thing):
    parts = [tuple(pieces(part)) for part in thing]
    if any(not isinstance(piece, bytes) for part in parts for piece in part):
        raise Unknown(f"a set of functions or games: {thing!r:.80}")
    yield f"set {len(parts)}".encode()
    for part in sorted(parts):  # a set has no order of its own
        yield from part


@pieces.register
def _(thing: dict):
    yield f"dict {len(thing)}".encode()
    for item in thing.items():
        yield from pieces(item)


@pieces.register
def _(thing: Enum):
    yield from pieces((type(thing).__qualname__, thing._name_, thing._value_))


@pieces.register
def _(thing: type):
    version = version_of(thing.__module__)
    yield f"class {thing.__module__ if version else ''} {thing.__qualname__} {version}".encode()
    if issubclass(thing, tuple) and hasattr(thing, "_fields"):
        yield from pieces((thing._fields, thing._field_defaults))  # type: ignore[attr-defined]
    if version:
        return
    if issubclass(thing, Enum):
        yield from pieces([(name, member.value) for name, member in thing.__members__.items()])  # with aliases
    elif isinstance(thing, JitClassType):
        yield from _of_jitclass(vars(thing)["class_type"])
    elif not is_ours(thing.__module__):
        yield sources_by_value(thing)


def _of_jitclass(kind: ClassType) -> Iterator[Any]:
    """What a jitclass is compiled of: its fields, and the functions of its methods and properties."""
    yield f"jitclass {[(name, str(field)) for name, field in kind.struct.items()]}".encode()
    methods = {**kind.jit_methods, **kind.jit_static_methods}
    for name, kinds in sorted(kind.jit_props.items()):
        methods |= {f"{name}.{how}": function for how, function in kinds.items()}
    for name, function in sorted(methods.items()):
        yield name.encode()
        yield from pieces(function)


@pieces.register
def _(thing: types.ModuleType):
    yield f"module {thing.__name__} {version_of(thing.__name__)}".encode()


@pieces.register(types.BuiltinFunctionType)
@pieces.register(types.MethodDescriptorType)
@pieces.register(types.WrapperDescriptorType)
@pieces.register(np.ufunc)
def _(thing):
    module = getattr(thing, "__module__", None) or ""
    yield f"builtin {module} {getattr(thing, '__qualname__', thing.__name__)} {version_of(module)}".encode()
    yield from extensions_of(thing)


@pieces.register
def _(thing: types.FunctionType):
    module = thing.__globals__.get("__name__") or ""
    if version_of(module):
        yield f"library {module} {thing.__qualname__} {version_of(module)}".encode()
    else:
        yield thing


@pieces.register(staticmethod)
@pieces.register(classmethod)
def _(thing):
    yield from pieces(thing.__func__)


@pieces.register
def _(thing: types.CodeType):
    yield code_bytes(thing)


@pieces.register
def _(thing: Dispatcher):
    yield f"compiled {_plain_options(thing.targetoptions)}".encode()
    yield from pieces(thing.py_func)


@pieces.register
def _(thing: _Intrinsic):
    yield f"intrinsic {thing._prefer_literal}".encode()
    yield from [sources_by_value(thing._defn)] if _is_users(thing._defn.__module__) else pieces(thing._defn)


@pieces.register
def _(thing: Type):
    if isinstance(thing, (ClassType, ClassInstanceType, ClassDataType)):
        yield from _of_jitclass(thing if isinstance(thing, ClassType) else thing.class_type)
        return
    yield f"type {type(thing).__qualname__} {thing}".encode()
    if _is_users(type(thing).__module__):
        yield from pieces(type(thing))
        yield from pieces(sorted(vars(thing).items()))


@pieces.register
def _(thing: Owner):
    yield thing


def _plain_options(options) -> list[tuple[str, str]]:
    return sorted((name, getattr(value, "__qualname__", repr(value))) for name, value in options.items())


# -- What extends the compiler ----------------------------------------------------------------------------------------


class _Extensions:
    def __init__(self):
        self.read = (0, 0)
        self.overloads: dict[Any, list] = {}
        self.modules: set[str] = set()

    def look(self) -> None:
        """Read what has been registered since."""
        had, now = self.read, (len(typed.globals), len(lowered.functions))
        if had == now:
            return
        for function, kind in typed.globals[had[0] :]:
            own = [each for each in getattr(kind, "templates", ()) if hasattr(each, "_overload_func")]
            if own and not version_of(own[0]._overload_func.__module__):
                self.overloads.setdefault(id(function), []).extend(own)
        for implementation, *_ in lowered.functions[had[1] :]:
            if not version_of(module := implementation.__module__):
                self.modules.add(module)
        self.read = now

    def by_users(self) -> list[tuple[str, types.FunctionType]]:
        """What stands for what by modules of users, in any registry of the compiler: (of what, function or class)."""
        found: list[tuple[Any, Any]] = [(each.key, each) for each in (*typed.functions, *typed.attributes)]
        found += [(key, each) for key, kind in typed.globals for each in getattr(kind, "templates", ())]
        for each in (lowered.functions, lowered.getattrs, lowered.setattrs, lowered.casts, lowered.constants):
            found += [(rest, implementation) for implementation, *rest in each]
        for table in (typeof_impl.registry, default_manager._handlers, _boxers.functions, _unboxers.functions):
            found += table.items()
        return [
            (_in_words(key), one)
            for key, each in found
            if not _stands_for_a_function(each)
            for one in _written_by_users(each)
        ]

    def size(self) -> tuple[int, ...]:
        every = typed.functions, typed.attributes, typed.globals, lowered.functions, lowered.getattrs
        more = lowered.setattrs, lowered.casts, lowered.constants, typeof_impl.registry, default_manager._handlers
        return tuple(map(len, (*every, *more, _boxers.functions, _unboxers.functions)))


@functools.cache  # a registry never forgets
def _written_by_users(extension: Any) -> tuple[Any, ...]:
    """The functions and classes of users within what the compiler wraps around them."""
    found: dict[Any, None] = {}
    met, waiting = set(), [getattr(extension, "_overload_func", extension)]
    while waiting:
        thing = waiting.pop()
        if id(thing) in met or not isinstance(thing, (type, types.FunctionType)):
            continue
        met.add(id(thing))
        if _is_users(thing.__module__ if isinstance(thing, type) else thing.__globals__.get("__name__")):
            found[thing] = None
        elif isinstance(thing, type):
            waiting += [*thing.__bases__, *(getattr(part, "__func__", part) for part in vars(thing).values())]
        else:
            waiting += [cell.cell_contents for cell in thing.__closure__ or () if cell != types.CellType()]
    return tuple(found)


def _in_words(key: Any) -> str:
    """What an extension stands for; an address in it would only keep code from being found again."""
    if isinstance(key, (list, tuple)):
        return " ".join(map(_in_words, key))
    return getattr(key, "__qualname__", None) or str(key)


def _stands_for_a_function(template: Any) -> bool:
    """Whether it is an overload of a function of Python's, and thus a piece of what names this: `extensions_of`."""
    return hasattr(template, "_overload_func") and isinstance(getattr(template, "key", None), types.FunctionType)


_extensions = _Extensions()


def extensions_by_users() -> bytes:
    """A digest of what users' modules extend the compiler by, which can stand for any operator, method or function.

    Looked at again when something is registered.  Unknown if something that it reaches has no value.
    """
    return _extensions_by_users(_extensions.size())


@functools.cache
def _extensions_by_users(size: tuple[int, ...]) -> bytes:
    found = _extensions.by_users()
    return repr(sorted(words for words, _ in found)).encode() + sources_by_value(*(one for _, one in found))


def sources_by_value(*things: Any) -> bytes:
    """A digest of classes and functions that Python runs, with all values that they reach; Unknown of one without."""
    sources = Sources(*things)
    if sources.unknown:
        raise Unknown(f"no value is known of {', '.join(sorted(sources.unknown))}")
    return b"".join(sorted(sources.parts))


def _is_users(module: str | None) -> bool:
    """Whether a module is neither a library's nor this package's."""
    return bool(module) and module != "builtins" and not is_ours(module) and not version_of(module or "")


def extensions_of(function: Any) -> Iterator[Any]:
    """What takes a function's place in compiled code, and its module's instructions."""
    _extensions.look()
    for template in _extensions.overloads.get(id(function), ()):
        yield f"overload {_plain_options(template._jit_options)}".encode()
        yield from pieces(template._overload_func)
    if (module := getattr(function, "__module__", None)) in _extensions.modules:
        yield _module_digest(module)


@functools.cache
def _module_digest(name: str) -> bytes:
    """The code of a module's functions and classes, and plain values, if it extends the compiler."""
    walk = Walk(False, None)
    for key, value in sorted(vars(sys.modules[name]).items()):
        functions = [value] if isinstance(value, types.FunctionType) else []
        if isinstance(value, type) and value.__module__ == name:
            functions = [each for each in vars(value).values() if isinstance(each, types.FunctionType)]
        elif isinstance(value, (bool, int, float, str, bytes)) and not key.startswith("__"):
            walk.put(f"{key} {value!r}".encode())
        for function in functions:
            walk.put(code_bytes(function.__code__))
    return walk.hash.digest()


@functools.cache
def compiler() -> bytes:
    """What every digest covers: Python, Numba, LLVM, NumPy and this package."""
    package = __name__.rpartition(".")[0]
    ours = sorted(name for name in sys.modules if name.startswith(f"{package}."))
    versions = [sys.implementation.cache_tag, *map(version_of, LIBRARIES[:3])]
    return repr((versions, *map(_module_digest, ours))).encode()
