"""Kernels: functions whose first argument is a game, compiled once for the tables of all games, and kept on disk."""

import functools
import hashlib
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any
from weakref import WeakSet

from numba import config
from numba.core.caching import FunctionCache
from numba.core.errors import NumbaError, TypingError
from numba.core.registry import CPUDispatcher

from arena.games.core.jit.background import Setting, heat_of
from arena.games.core.jit.compilable import Compilable, compiled_parameters
from arena.games.core.jit.entries import serve
from arena.games.core.jit.files import CODE, KeptFiles, warn_unkept
from arena.games.core.jit.parts import WITHOUT_CALLBACK, Helper
from arena.games.core.jit.sources import module_digest
from arena.games.core.jit.tables import NOT_IN_TABLES, GameTable, methods_called, table_of
from arena.games.core.specialized import ALWAYS, NEVER

# False where NUMBA_DISABLE_JIT makes kernels run as plain Python; Numba makes its settings at import, unseen by mypy.
COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]

log = logging.getLogger("arena.kernels")

kernels: list["Kernel"] = []  # every kernel defined so far, for `arena cache` and the tests


def kernel(function=None, *, tables=True):
    """Compile a function whose first argument is a game: cached on disk, and run without the interpreter's lock.

    It is compiled for the tables of games, whatever the game.  A kernel that asks its game for something of its own,
    which tables do not have, is compiled for each game and size; with `tables` false, that is known from the start.

    Numba would take a stale kernel when a function that it calls, in another file, has changed.  What keeps it from
    that is a digest of sources in two places: in the type of a game, or of a rule, of the modules of its classes and
    all that these import; and in the stamp of the kernel's cache, of the kernel's module and all that it imports.  The
    tuples of arrays that a kernel is given are defined in one of these.
    """
    if function is None:
        return functools.partial(kernel, tables=tables)
    if not COMPILED:
        return function
    kernels.append(Kernel(function, tables))
    return kernels[-1]


class Kernel(CPUDispatcher):
    """A kernel, which Python calls with a game, and other kernels with whatever they were given."""

    def __init__(self, function, tables):
        options = {"nopython": True, "nogil": True, "boundscheck": None, **WITHOUT_CALLBACK}
        super().__init__(function, targetoptions=options)
        self.tables = tables
        self.methods: set[str] = set()  # what it calls of tables, as far as it is compiled
        self._users: WeakSet[GameTable] = WeakSet()  # the tables that it has been given
        self._refused: set[tuple] = set()  # the kinds of arguments with which it cannot be compiled for tables
        try:
            self._cache = KernelCache(function)  # in place of njit(cache=True)
        except RuntimeError:
            warn_unkept()

    def __call__(self, game, *rest):
        has_table = self.tables and isinstance(game, Compilable) and game.has_table
        if not has_table or Setting.mode == ALWAYS or (self._refused and _kinds(rest) in self._refused):
            return super().__call__(game, *rest)
        table = table_of(game)
        if table.served.get(self) != len(self.methods):
            self._users.add(table)
            serve(table, self, self.methods)
        try:
            return super().__call__(table, *rest) if Setting.mode == NEVER else self._timed(game, table, rest)
        except TypingError as error:
            if NOT_IN_TABLES not in str(error):
                raise
            log.info("%s is compiled for each game: %s", self.py_func.__qualname__, error)
        self._refused.add(_kinds(rest))
        return super().__call__(game, *rest)

    def _timed(self, game, table, rest):
        """The call, by what is compiled for the game if that is there."""
        heat = table.heat.get(self)
        if heat is None:
            heat = table.heat[self] = heat_of(self, game)
        if heat.ready and _kinds(rest) in heat.ready:
            return super().__call__(game, *rest)
        compiled, start = len(self.overloads), perf_counter()
        answer = super().__call__(table, *rest)
        if len(self.overloads) == compiled:  # the time of compiling does not count
            heat.seconds += perf_counter() - start
        if heat.seconds > heat.due:
            heat.look(self, game, rest, _kinds(rest))
        return answer

    def load(self, signature) -> bool:
        """Whether it is compiled for these types, here or on disk; then it is loaded."""
        if signature not in self.overloads and (kept := self._cache.load_overload(signature, self.targetctx)):
            self.add_overload(kept)
        return signature in self.overloads

    def add_overload(self, compiled):
        """Let calls find it, once all tables that they may come with have what it calls.

        Another thread may have passed a table's check just now, and runs what it finds.  A table whose game fails to
        compile is left to its own call.
        """
        self.methods = self.methods | methods_called(compiled)
        for table in list(self._users):
            with suppress(NumbaError):
                serve(table, self, self.methods)
        super().add_overload(compiled)

    def _compile_for_args(self, *args, **named):
        compiled = super()._compile_for_args(*args, **named)
        if isinstance(args[0], GameTable):
            serve(args[0], self, self.methods)
        return compiled


def _kinds(arguments) -> tuple:
    """What, of arguments, the code of a kernel may depend on: the parameters of rules, and all classes."""
    return tuple(
        (type(each), compiled_parameters(each)) if isinstance(each, Compilable) else type(each) for each in arguments
    )


class KernelCache(FunctionCache):
    """Numba's on-disk cache of a function, with files of ours and another stamp: a kernel is compiled anew after a
    change of any source that it may be made of, not of its own file alone."""

    def __init__(self, function):
        super().__init__(function)
        self._files = KeptFiles(Path(self.cache_path), CODE)

    def load_overload(self, sig, target_context):
        target_context.refresh()
        kept = self._files.load(*self._place(sig, target_context.codegen()))
        found = None if kept is None else self._impl.rebuild(target_context, kept)
        if found is None or found.signature.args != sig:  # or it is for a class of the same name
            return None
        found.library._reload_init.update(found.reload_init)  # Numba keeps it, and does not give it back
        return found

    def save_overload(self, sig, data):
        if self._impl.check_cachable(data):
            self._files.save(*self._place(sig, data.codegen), self._impl.reduce(data))

    def _place(self, sig, codegen):
        """(the name of a signature's file, the stamp).

        Sources are in the stamp alone, so that code is replaced when they change.  They are looked at here, and not
        when the module is imported: now all that it imports is there, and many kernels are never called.
        """
        _, machine, code = self._index_key(sig, codegen)
        words = f"{sig} {machine} {bool(config.BOUNDSCHECK)}"
        name = hashlib.sha256(re.sub("@[0-9a-f-]+", "", words).encode()).hexdigest()[:24]
        base = re.sub(r"-\d+\.", ".", self._impl.filename_base)  # without the number of the line
        return f"{base}.{name}", f"{words} {code} {module_digest(self._py_func.__module__)}"


# For the functions that kernels are made of, which allocate nothing: without it, each call counts references of every
# array that it is given, with locked instructions that cost a UCT simulation a third of its time.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}


def helper(function):
    """Compile a function as a part of kernels."""
    return Helper(function, **_UNCOUNTED) if COMPILED else function


# The same, made part of every function that calls it: for helpers that are given many arrays and do little with them,
# since arrays are passed through memory, ten words each.  Nested search is 2.4 times as fast by it.
def inlined(function):
    """Compile a function into every function that calls it."""
    return Helper(function, forceinline=True, **_UNCOUNTED) if COMPILED else function


def uncompiled(function: Callable) -> Callable:
    """A kernel or a helper as plain Python, which is done before a compiler is where there are but a few calls."""
    return getattr(function, "py_func", function)
