"""Kernels as plain Python within one test, as NUMBA_DISABLE_JIT makes them in a whole process: nothing is compiled."""

import functools
import importlib
import os
import pkgutil
import sys
import threading

from numba import types
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

from arena.agents.core import atomics
from arena.games.core.jit import Kernel
from arena.games.core.jit.parts import Helper
from arena.games.core.shared.plugins import PACKAGES


def run_as_python(monkeypatch) -> None:
    """Let kernels, helpers and atomic operations be plain Python until `monkeypatch` is undone."""
    import_all()
    for cls in (Dispatcher, Kernel, Helper):
        monkeypatch.setattr(cls, "__call__", lambda self, *arguments: self.py_func(*arguments), raising=False)
    monkeypatch.setattr(_Intrinsic, "__call__", lambda self, *arguments: ATOMICS[self](*arguments))
    monkeypatch.setattr(types.ExternalFunction, "__call__", lambda self: getattr(os, self.symbol)(), raising=False)
    for name, module in list(sys.modules.items()):
        if name.startswith(PACKAGES) and hasattr(module, "COMPILED"):
            monkeypatch.setattr(module, "COMPILED", False)
    for module, name, function in _helpers():
        monkeypatch.setitem(vars(module), name, function)


@functools.cache
def _helpers() -> list[tuple]:
    """(module, name, plain function) of all helpers by the names that kernels call them by, which saves a call each."""
    modules = [module for name, module in sys.modules.items() if name.startswith(PACKAGES)]
    return [
        (module, name, value.py_func)
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, Dispatcher | Helper)
    ]


@functools.cache
def import_all() -> None:
    """Import every module that may define kernels: of one that is imported meanwhile, they would be plain for ever."""
    for package in PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(package).__path__, package + "."):
            importlib.import_module(module.name)


LOCK = threading.Lock()  # so that no other thread writes between what is read and what is written


def add(array, index, value):
    """What atomics.atomic_add does."""
    with LOCK:
        before = array[index]
        array[index] += value
        return before


def compare_exchange(array, index, expected, value):
    """What atomics.atomic_compare_exchange does."""
    with LOCK:
        same = bool(array[index] == expected)
        if same:
            array[index] = value
        return same


def store(array, index, value):
    """What atomics.atomic_store does."""
    with LOCK:
        array[index] = value


ATOMICS = {
    atomics.atomic_add: add,
    atomics.atomic_compare_exchange: compare_exchange,
    atomics.atomic_load: lambda array, index: array[index],
    atomics.atomic_store: store,
}
