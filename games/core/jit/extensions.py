"""What extends the compiler: functions and instructions that take another's place in compiled code.

This package's are a part of what names the code that they reach (identity.py); installed libraries' have a version.
Where any other module extends the compiler, nothing is kept that is compiled after it: an extension can stand for any
operator, method or attribute, which no code names.
"""

import functools
import importlib.metadata
import logging
import sys
import types
from collections.abc import Iterator
from typing import Any

from numba.core.datamodel.registry import default_manager
from numba.core.imputils import builtin_registry as lowered
from numba.core.pythonapi import _boxers, _unboxers
from numba.core.typing.templates import builtin_registry as typed
from numba.core.typing.typeof import typeof_impl

from arena.games.core.jit.bytecode import LIBRARIES, code_bytes, installed_version, is_others, is_ours, version_of
from arena.games.core.jit.walk import Blind, Piece, Walk, is_library, plain_options

log = logging.getLogger("arena.kernels")

_overloads: dict[int, list[Any]] = {}  # by id: what stands for a function
_instructions: set[str] = set()  # modules with instructions of their own
_read = [0, 0]


def extensions_of(function: Any, of: Any) -> Iterator[Piece]:
    """What takes a function's place in compiled code, by a reader of values; and its module's instructions."""
    _read_on()
    for template in _overloads.get(id(function), ()):
        yield f"overload {plain_options(template._jit_options)}".encode()
        yield from of(template._overload_func)
    if (module := getattr(function, "__module__", None)) in _instructions:
        yield of_module(module)


def _read_on() -> None:
    """Note what this package has registered since."""
    for function, kind in typed.globals[_read[0] :]:
        own = [each for each in getattr(kind, "templates", ()) if hasattr(each, "_overload_func")]
        if own and is_ours(own[0]._overload_func.__module__):
            _overloads.setdefault(id(function), []).extend(own)
    for implementation, *_ in lowered.functions[_read[1] :]:
        if is_ours(implementation.__module__):
            _instructions.add(implementation.__module__)
    _read[:] = len(typed.globals), len(lowered.functions)


@functools.cache
def of_module(name: str) -> bytes:
    """The code of a module's functions and classes, and plain values, if it extends the compiler."""
    walk = Walk()
    for key, value in sorted(vars(sys.modules[name]).items()):
        functions = [value] if isinstance(value, types.FunctionType) else []
        if isinstance(value, type) and value.__module__ == name:
            functions = [each for each in vars(value).values() if isinstance(each, types.FunctionType)]
        elif isinstance(value, (bool, int, float, str, bytes)) and not key.startswith("__"):
            walk.add([f"{key} {value!r}".encode()])
        walk.add(code_bytes(function.__code__) for function in functions)
    return walk.digest().encode()


@functools.cache
def compiler() -> bytes:
    """What every digest covers: Python, Numba, LLVM, NumPy and this package."""
    package = __name__.rpartition(".")[0]
    ours = sorted(name for name in sys.modules if name.startswith(f"{package}."))
    versions = [sys.implementation.cache_tag, *map(version_of, LIBRARIES[:3])]
    return repr((versions, *map(of_module, ours))).encode()


def extended_by() -> tuple[Piece, ...]:
    """The installed libraries that extend the compiler; Blind where another module does, which the log says once."""
    return _extended_by(tuple(map(len, _tables())))


def _tables() -> list[Any]:
    """Where Numba keeps what extends it."""
    lists = [typed.functions, typed.attributes, typed.globals, lowered.functions, lowered.getattrs, lowered.setattrs]
    tables = [typeof_impl.registry, default_manager._handlers, _boxers.functions, _unboxers.functions]
    return [*lists, lowered.casts, lowered.constants, *tables]


@functools.cache  # what is registered stays
def _extended_by(sizes: tuple[int, ...]) -> tuple[Piece, ...]:
    entries = [entry for table in _tables() for entry in (table.values() if hasattr(table, "values") else table)]
    parts = {part for entry in entries for part in (entry if isinstance(entry, tuple) else (entry,))}
    parts = {template for part in parts for template in getattr(part, "templates", (part,))}
    modules = {module for part in parts for module in _written_in(part)}
    if users := ", ".join(sorted(module for module in modules if not is_library(module))):
        _tell(text := f"what is compiled is not kept for other processes, since Numba is extended by {users}")
        return (Blind(text),)
    return tuple(_known(top) for top in sorted({module.partition(".")[0] for module in modules}))


_tell = functools.cache(log.warning)


def _known(top: str) -> Piece:
    try:
        return f"{top} {installed_version(top)}".encode()
    except importlib.metadata.PackageNotFoundError:
        return Blind(f"{top} extends Numba, and has no version")


@functools.cache
def _written_in(extension: Any) -> frozenset[str]:
    """The modules of others whose functions and classes are within what the compiler wraps around them."""
    found: set[str] = set()
    met, waiting = set(), [getattr(extension, "_overload_func", extension)]
    while waiting:
        thing = waiting.pop()
        if id(thing) in met or not isinstance(thing, (type, types.FunctionType)):
            continue
        met.add(id(thing))
        module = (thing.__module__ if isinstance(thing, type) else thing.__globals__.get("__name__")) or ""
        if is_others(module):
            found.add(module)
        elif isinstance(thing, type):
            waiting += [*thing.__bases__, *(getattr(part, "__func__", part) for part in vars(thing).values())]
        else:
            waiting += [cell.cell_contents for cell in thing.__closure__ or () if cell != types.CellType()]
    return frozenset(found)
