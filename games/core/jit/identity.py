"""Names of compiled code: digests of what the compiler is given, as it is in memory.

A name covers what a walk reaches from a function as the compiler reads it: globals by value, versions of libraries, and
of games and rules the members that code asks for.  Numba takes globals as they are when a function is first compiled,
so `facts_of` a function are kept when first asked for, before that.  If they change before its code is kept (`digest`
with `anew`), nothing that reaches the function is kept in this process.
"""

import types
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from itertools import chain
from operator import attrgetter, is_
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from numba.core.extending import _Intrinsic  # type: ignore[attr-defined]
from numba.core.types import ClassDataType, ClassInstanceType, ClassType, Type
from numba.core.typing.typeof import typeof
from numba.experimental.jitclass.base import JitClassType

from arena.games.core.jit.bytecode import code_bytes, is_others, is_ours, names_in, of_namespace, version_of
from arena.games.core.jit.extensions import compiler, extended_by, extensions_of
from arena.games.core.jit.walk import Blind, Piece, Walk

UNNAMED = "unnamed."  # begins the names of code without a digest, which is not kept


class Unknown(TypeError):
    """What has no digest: what reaches it is compiled, and not kept."""


class Owner:
    """An object whose members compiled code reaches by name."""

    def member(self, name: str) -> tuple[Any, ...]:
        """(what the name stands for in compiled code,), or ()."""
        raise NotImplementedError

    def constants(self) -> Any:
        """What else compiled code depends on, in plain values."""
        raise NotImplementedError


def digest(*things: Any, anew: bool = False, kind_of: Callable[[Any], str] | None = None) -> str:
    """24 hexadecimal digits for all that is reached from these things.

    anew: whether to look at functions once more, a must before code is kept under its name
    kind_of: what to take in place of a value of the first owner's attribute, unless empty
    Raises Unknown.
    """
    names = Names(anew, kind_of)
    names.add((compiler(), *extended_by()))
    names.through(*things)
    if names.unknown:
        raise Unknown("; ".join(sorted(names.unknown)))
    return names.digest()


def digest_or_unique(*things: Any, **how: Any) -> str:
    """A digest; or where there is none, a unique name."""
    try:
        return digest(*things, **how)
    except Unknown:
        return UNNAMED + uuid.uuid4().hex[:16]


def are_alike(one: Any, other: Any) -> bool:
    """Whether the same code is compiled of two values."""
    first, second = Names().through(one), Names().through(other)
    return one is other or (not first.unknown | second.unknown and first.digest() == second.digest())


class Names(Walk):
    """A walk through all that code depends on when it is compiled: every value counts that it can be compiled for."""

    places: frozenset[str] = frozenset()

    def __init__(self, anew: bool = False, kind_of: Callable[[Any], str] | None = None):
        super().__init__()
        self.anew, self.kind_of = anew, kind_of
        self.owners: list[tuple[Owner, set[str]]] = []  # with the names asked for

    def follow(self) -> None:
        """Go into all that is waiting, and into what any code names of each owner, until nothing is new."""
        while self._waiting:
            super().follow()
            for place, (owner, asked) in enumerate(self.owners):
                new = self.names - asked
                asked |= new
                for name in sorted(new):
                    self.add(self._of_member(place, owner, name))

    def _of_member(self, place: int, owner: Owner, name: str) -> Iterator[Piece]:
        if found := owner.member(name):
            yield b"member %d %s" % (place, name.encode())
            kind = self.kind_of(found[0]) if self.kind_of and place == 0 else ""
            yield from [kind.encode()] if kind else self.of(found[0])

    def inside(self, thing: Any) -> Iterable[Piece]:
        if isinstance(thing, Owner):
            self.owners.append((thing, set()))
            return self.of(thing.constants())
        code, pieces = facts_of(thing, self.anew)
        self.names |= names_in(code)
        return pieces

    def version(self, module: str) -> str | None:
        return version_of(module) or None

    def counts(self, value: Any, owner: str) -> bool:
        return True

    def of_type(self, cls: type) -> Iterator[Piece]:
        """The pieces of a class; of a user's, which may be kept with code that raises it, all that Python reaches."""
        version = version_of(cls.__module__)
        yield f"class {cls.__module__}.{cls.__qualname__} {version}".encode()
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            yield from self.of((cls._fields, cls._field_defaults))  # type: ignore[attr-defined]
        if version:
            return
        if issubclass(cls, Enum):
            yield from self.of([(name, member.value) for name, member in cls.__members__.items()])  # with aliases
        elif isinstance(cls, JitClassType):
            yield from self._of_jitclass(vars(cls)["class_type"])
        elif not is_ours(cls.__module__):
            walk = Walk().through(cls)
            yield walk.digest().encode()
            yield from map(Blind, walk.unknown)

    def _of_jitclass(self, kind: ClassType) -> Iterator[Piece]:
        """What a jitclass is compiled of: its fields, and the functions of its methods and properties."""
        yield f"jitclass {[(name, str(field)) for name, field in kind.struct.items()]}".encode()
        methods = {**kind.jit_methods, **kind.jit_static_methods}
        for name, kinds in sorted(kind.jit_props.items()):
            methods |= {f"{name}.{how}": function for how, function in kinds.items()}
        yield from self.of(dict(sorted(methods.items())))

    def of_object(self, value: Any, owner: str) -> Iterator[Piece]:
        """The pieces of any object; Blind if compiled code may depend on it in unknown ways."""
        kind = type(value)
        what = f"{kind.__module__}.{kind.__qualname__} {version_of(kind.__module__)}"
        if isinstance(value, Owner):
            yield value
        elif isinstance(value, (int, float, complex, str)):  # a class derived from `int` may have words of its own
            plain: Any = next(base for base in kind.__mro__ if base.__module__ == "builtins")
            yield f"{kind.__qualname__} {plain.__repr__(value)}".encode()
        elif isinstance(value, _BUILTIN):
            module = getattr(value, "__module__", None) or ""
            name = getattr(value, "__qualname__", value.__name__)
            yield f"builtin {module} {name} {version_of(module)}".encode()
        elif isinstance(value, types.CodeType):
            yield code_bytes(value)
        elif isinstance(value, _Intrinsic):
            yield f"intrinsic {value._prefer_literal}".encode()
            yield from self.of(value._defn)
            if is_others(value._defn.__module__):
                yield Blind(f"{value._defn.__module__} extends Numba by {value._defn.__qualname__}")
        elif isinstance(value, (ClassType, ClassInstanceType, ClassDataType)):
            yield from self._of_jitclass(value if isinstance(value, ClassType) else value.class_type)
        elif isinstance(value, Type):
            yield f"type {kind.__qualname__} {value}".encode()
        elif kind.__module__.startswith("llvmlite.ir."):
            yield f"{what} {value}".encode()
        elif _has_type(value):
            yield Blind(f"{what}: {value!r:.80}")
        else:  # no code can be compiled of it
            yield f"untyped {what}".encode()


_BUILTIN = (types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, np.ufunc)


def _has_type(value: Any) -> bool:
    """Whether Numba has a type for a value."""
    try:
        typeof(value)
    except ValueError:
        return False
    return True


# -- What was known of functions when they were first compiled, and what has changed since -----------------------------


Facts = tuple[types.CodeType, tuple[Piece, ...]]  # a function's code, and the pieces that it is made of

_facts: WeakKeyDictionary[types.FunctionType, Facts] = WeakKeyDictionary()
_changed: WeakSet[types.FunctionType] = WeakSet()  # functions whose facts were others later
_own: dict[types.FunctionType, types.CodeType] = {}  # this package's among them, and their code
_without_users: WeakKeyDictionary[type, list[Any]] = WeakKeyDictionary()  # classes, members of no user


def facts_of(function: types.FunctionType, anew: bool = False) -> Facts:
    """The facts of a function when first asked for; Blind where they have changed since."""
    facts = _facts.get(function)
    if facts is None:
        facts = _facts[function] = _look_at(function)
        if is_ours(function.__globals__.get("__name__")):
            _own[function] = function.__code__
    elif anew and function not in _changed and _look_at(function) != facts:
        _changed.add(function)
    if function in _changed:
        changed = Blind(f"what {function.__qualname__} depends on has changed since it was first compiled")
        return facts[0], (*facts[1], changed)
    return facts


def _look_at(function: types.FunctionType) -> Facts:
    names = Names()
    return function.__code__, (*names.of_function(function), *extensions_of(function, names.of))


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
    for function in (*own, *(function for cls in classes for function in _compiled_for(cls))):
        facts_of(function, anew=True)
        if function in _changed:
            name = f"{function.__module__}.{function.__qualname__}"
            what = f"{name} has changed since it was compiled, or what it names has: methods are compiled again"
            text = f"{what}, helpers play as before. Restart Python (in a notebook: the kernel)"
            warnings.warn(text, StaleCode, stacklevel=callers + 2)


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
        if not isinstance(function, types.FunctionType) or function in met or not is_others(function.__module__):
            continue
        met[function] = None
        waiting += of_namespace(function.__globals__, names_in(function.__code__), lambda one: [one], version_of)
        if function in _facts:
            waiting += _facts[function][1]
    _without_users.pop(cls, None)
    if not met:
        _without_users[cls] = members
    return [function for function in met if function in _facts]
