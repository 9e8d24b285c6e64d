"""What code is made of, without where it lies; and whose it is."""

import dis
import functools
import importlib.metadata
import inspect
import sys
import sysconfig
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numba

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "pandas")  # known by their versions

_LOADS = [bytes([op, 0]) for op in dis.hasconst]
_Found = TypeVar("_Found")


def _kept(read: Callable[[types.CodeType], _Found]) -> Callable[[types.CodeType], _Found]:
    """`read`, once for each piece of code: that never changes, and is reached again and again."""
    known: dict[int, tuple[weakref.ref, _Found]] = {}

    @functools.wraps(read)
    def look_up(code):
        key = id(code)
        if key not in known:
            known[key] = weakref.ref(code, lambda _: known.pop(key, None)), read(code)
        return known[key][1]

    return look_up


@_kept
def code_bytes(code: types.CodeType) -> bytes:
    """All but file names, line numbers and a docstring."""
    return b"".join(len(piece).to_bytes(8, "little") + piece for piece in _pieces(code))


def _pieces(code: types.CodeType) -> Iterator[bytes]:
    flags = code.co_flags & ~inspect.CO_OPTIMIZED  # a flag that Numba removes from code called under a profiler
    form = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, flags, code.co_names
    yield f"code {form} {code.co_varnames} {code.co_freevars} {code.co_cellvars}".encode()
    yield code.co_code
    yield code.co_exceptiontable
    constants = code.co_consts
    if constants and isinstance(constants[0], str) and not any(load in code.co_code for load in _LOADS):
        constants = constants[1:]
    for constant in constants:
        yield from _of_constant(constant)


def _of_constant(value: Any) -> Iterator[bytes]:
    if isinstance(value, types.CodeType):
        yield code_bytes(value)
    elif isinstance(value, (tuple, frozenset)):
        yield f"{type(value).__qualname__} {len(value)}".encode()
        parts = [b"".join(_of_constant(part)) for part in value]
        yield from parts if isinstance(value, tuple) else sorted(parts)
    else:
        yield f"{type(value).__qualname__} {value!r}".encode()


@_kept
def names_in(code: types.CodeType) -> frozenset[str]:
    """All names that a piece of code, or one within it, asks for."""
    within = (names_in(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return frozenset(code.co_names).union(*within)


def of_namespace(space: dict, names: frozenset[str], of: Callable, is_library: Callable) -> Iterator[Any]:
    """`of` the globals, or a module's members, that code names."""
    for name in sorted(names & space.keys()):
        yield f"global {name}".encode()
        if isinstance(space[name], types.ModuleType) and not is_library(space[name].__name__):
            if space[name].__dict__ is not space:
                yield from of_namespace(vars(space[name]), names - {name}, of, is_library)
        else:
            yield from of(space[name])


def is_ours(module: str | None) -> bool:
    """Whether a module is of this package."""
    return (module or "").partition(".")[0] == "arena"


def is_others(module: str | None) -> bool:
    """Whether a module is neither of this package nor of a library known by its version."""
    return bool(module) and module != "builtins" and not is_ours(module) and not version_of(module or "")


@functools.cache
def version_of(module: str) -> str:
    """The version of a module's library or of Python; "" for no library."""
    top = (module or "").partition(".")[0]
    if top in LIBRARIES:
        return numba.__version__ if top == "numba" else installed_version(top)
    return sys.version.partition(" ")[0] if top in sys.stdlib_module_names and _is_pythons(top) else ""


def installed_version(top: str) -> str:
    """The version of an installed package; PackageNotFoundError if it has none."""
    return getattr(sys.modules.get(top), "__version__", None) or importlib.metadata.version(top)


def _is_pythons(top) -> bool:
    """Whether a module is Python's, and no user's `test.py`."""
    spec = getattr(sys.modules.get(top), "__spec__", None)
    if spec is None or not spec.has_location:
        return top in sys.builtin_module_names or (spec is not None and spec.origin in ("built-in", "frozen"))
    return spec.origin.startswith(_pythons_folders()) and "site-packages" not in spec.origin


@functools.cache
def _pythons_folders() -> tuple[str, ...]:
    return tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib"))
