"""What classes are made of: the code of all functions that they reach by names, as it is in memory.

Bytecode and plain values count, but no file, line or order of imports: equal sources give equal digests.
"""

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

from arena.games.core.jit.identity import code_pieces, names_in, of_namespace, version_of
from arena.games.core.plugins import top_packages

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, range)
PLACES = {"__file__", "__path__"}  # globals that say where code lies, which is no part of it
_OF_PYTHON = ("_abc_impl", "__annotate__", "__annotate_func__")  # and what else begins with __ and is no function


def code_digest(*classes: type) -> str:
    """12 hexadecimal digits for all bytecode that classes reach."""
    found = hashlib.sha256()
    for part in sorted(code_of(*classes)):
        found.update(part)
    return found.hexdigest()[:12]


def code_of(*classes: type) -> frozenset[bytes]:
    """Digests of functions and classes that classes reach, with themselves; without libraries.

    Looked at each time, as they may change in memory: 10 ms for an agent.
    """
    met, found, waiting = {id(cls): cls for cls in classes}, set(), [*classes]
    while waiting:
        thing = waiting.pop()
        told = hashlib.sha256()
        for piece in _of_class(thing) if isinstance(thing, type) else _of_function(thing):
            if not isinstance(piece, bytes):
                if id(piece) not in met:
                    met[id(piece)] = piece
                    waiting.append(piece)
                piece = f"{piece.__module__}.{piece.__qualname__}".encode()
            told.update(len(piece).to_bytes(8, "little") + piece)
        found.add(told.digest())
    return frozenset(found)


def _of_class(cls: type) -> Iterator[Any]:
    yield f"class {cls.__module__}.{cls.__qualname__}".encode()
    for base in cls.__bases__:
        yield from _of_value(base)
    for name, value in sorted(vars(cls).items()):
        if name not in _OF_PYTHON and (not name.startswith("__") or inspect.isfunction(value)):
            yield name.encode()
            yield from _of_value(value)


def _of_function(function: types.FunctionType) -> Iterator[Any]:
    yield f"function {function.__module__}.{function.__qualname__}".encode()
    yield from filter(lambda piece: isinstance(piece, bytes), code_pieces(function.__code__))
    for value in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        yield from _of_value(value)
    for cell in function.__closure__ or ():
        try:
            yield from _of_value(cell.cell_contents)
        except ValueError:
            yield b"empty"
    names = frozenset(names_in(function.__code__)) - PLACES
    yield from of_namespace(function.__globals__, names, _of_value, _library)


def _of_value(value: Any) -> Iterator[Any]:
    """A plain value, function or class itself; of other objects the class."""
    if isinstance(value, (Enum, *_PLAIN)):
        yield repr(value).encode()
    elif isinstance(value, np.ndarray) and not value.dtype.hasobject and not value.flags.writeable:
        yield f"{value.dtype} {value.shape}".encode() + value.tobytes()
    elif isinstance(value, (tuple, frozenset)):
        yield f"{type(value).__name__} {len(value)}".encode()
        parts = [tuple(_of_value(part)) for part in value]
        for part in parts if isinstance(value, tuple) else sorted(parts, key=str):
            yield from part
    elif isinstance(value, property):
        for each in (value.fget, value.fset, value.fdel):
            yield from _of_value(each)
    elif isinstance(value, (staticmethod, classmethod, functools.partial, functools.cached_property)):
        yield from _of_value(getattr(value, "func", None) or value.__func__)  # type: ignore[union-attr]
    else:
        if not isinstance(value, type):
            value = inspect.unwrap(getattr(value, "py_func", value))
        if not isinstance(value, (type, types.FunctionType)):
            value = type(value)
        ours = not _library(value.__module__)
        yield value if ours else f"{value.__module__}.{value.__qualname__}".encode()


@functools.cache
def _library(module: str) -> bool:
    """Whether a module is installed and no plug-in, or belongs to the compiler, which has no part in play."""
    if version_of(module) or module.startswith(__name__.rpartition(".")[0] + "."):
        return True
    top, path = module.partition(".")[0], getattr(sys.modules.get(module), "__file__", None) or ""
    return "site-packages" in path and top != "arena" and top not in top_packages()
