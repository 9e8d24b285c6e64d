"""Kernels: functions whose first argument is a game, compiled once for the tables of all games, and kept on disk."""

import functools
import logging
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any
from weakref import WeakSet

from numba import config, types
from numba.core.compiler import CompileResult
from numba.core.errors import TypingError
from numba.core.registry import CPUDispatcher

from arena.games.core.jit import kept
from arena.games.core.jit.compilable import Compilable, GameType, Signature, games_in, title_of, type_of
from arena.games.core.jit.entries import Unfilled, serve
from arena.games.core.jit.game_tables import NOT_IN_TABLES, GameTable, methods_called, table_of
from arena.games.core.jit.identity import Unknown, digest
from arena.games.core.jit.parts import WITHOUT_CALLBACK, Helper, NamingCompiler
from arena.games.core.shared.cache import CODE
from arena.games.core.shared.specialized import ALWAYS, Setting, checked

# False where NUMBA_DISABLE_JIT makes kernels run as plain Python; mypy does not see Numba's settings.
COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]

checked(Setting.mode)

log = logging.getLogger("arena.kernels")

kernels: list["Kernel"] = []  # all so far, for `arena cache` and the tests


def kernel(function=None, *, tables=True):
    """Compile a function whose first argument is a game: cached on disk, and run without the interpreter's lock.

    It serves the tables of all games.  A kernel that asks its game for what tables lack is compiled for each game and
    size; `tables` false says so from the start.

    Code is named by what is compiled (identity.py): Numba's names would keep a stale kernel after a change elsewhere.
    """
    if function is None:
        return functools.partial(kernel, tables=tables)
    if not COMPILED:
        return function
    kernels.append(Kernel(function, tables))
    return kernels[-1]


class Kernel(CPUDispatcher):
    """A kernel: Python calls it with a game, other kernels with what they were given."""

    def __init__(self, function, tables):
        options = {"nopython": True, "nogil": True, "boundscheck": None, **WITHOUT_CALLBACK}
        super().__init__(function, targetoptions=options, pipeline_class=NamingCompiler)
        self.tables = tables
        self.methods: set[str] = set()  # what it calls of tables, as far as compiled
        self._users: WeakSet[GameTable] = WeakSet()  # tables that it has been given
        self._refused: set[tuple] = set()  # kinds of arguments that it cannot be compiled for with tables
        self._cache = KernelCache(function)

    def __reduce__(self):
        return self.py_func.__qualname__  # of its module, as functions are pickled

    def __call__(self, game, *rest):
        has_table = self.tables and isinstance(game, Compilable) and game.has_table
        if not has_table or Setting.mode == ALWAYS or (self._refused and _kinds(rest) in self._refused):
            return super().__call__(game, *rest)
        table = table_of(game)
        if table.served.get(self) != len(self.methods):
            self._users.add(table)
            serve(table, self, self.methods)
        if table.failed:
            self._refuse(table, rest)
        try:
            return super().__call__(table, *rest)
        except Unfilled as error:
            text = f"{self.py_func.__qualname__} calls {error} of a game, which {title_of(game)} does not have"
            raise TypeError(text) from None
        except TypingError as error:
            if NOT_IN_TABLES not in str(error):
                raise
            log.info("%s is compiled for each game: %s", self.py_func.__qualname__, error)
        self._refused.add(_kinds(rest))
        return super().__call__(game, *rest)

    def add_overload(self, compiled):
        """Let calls find it once all tables have what it calls: another thread may just have checked one."""
        self.methods = self.methods | methods_called(compiled)
        for table in list(self._users):
            serve(table, self, self.methods)
        super().add_overload(compiled)

    def _compile_for_args(self, *args, **named):
        compiled = super()._compile_for_args(*args, **named)
        if isinstance(args[0], GameTable):
            serve(args[0], self, self.methods)
            self._refuse(args[0], args[1:])
        return compiled

    def _refuse(self, table, rest):
        """Raise the error of a game's method that these arguments' code calls."""
        if table.failed and (compiled := self.overloads.get(tuple(map(self.typeof_pyval, (table, *rest))))):
            for name in filter(methods_called(compiled).__contains__, table.failed):
                raise table.failed[name]


def _kinds(arguments) -> tuple:
    """What a kernel's code may depend on: the types of rules, and all classes."""
    return tuple(type_of(each) if isinstance(each, Compilable) else type(each) for each in arguments)


class KernelCache:
    """A dispatcher's cache on disk: files named by what is compiled (identity.py)."""

    cache_path = ""

    def __init__(self, function):
        self._function = function
        self._names: dict[tuple, str] = {}

    def load_overload(self, sig, target_context):
        target_context.refresh()
        try:
            self._names[sig] = name = self._name(sig, target_context.codegen())
        except Unknown as error:
            log.info("%s is not kept: %s", self._function.__qualname__, error)
            return None
        with _signature_of(sig):
            code = kept.load(name)
            found = None if code is None else CompileResult._rebuild(target_context, *code)
        if found is None or found.signature.args != sig:
            return None
        found.library._reload_init.update(found.reload_init)  # Numba keeps it, and does not give it back
        return found

    def save_overload(self, sig, data):
        """Keep it, if what it is made of has not changed since the search for it."""
        name = self._names.pop(sig, "")
        if not name or data.lifted or data.library.has_dynamic_globals:
            return
        try:
            if self._name(sig, data.codegen, anew=True) == name:
                with _signature_of(sig):
                    kept.save(name, data._reduce())
        except Unknown as error:
            log.info("%s is not kept: %s", self._function.__qualname__, error)

    def _name(self, sig, codegen, anew=False):
        """The name of a signature's file; Unknown if it has none."""
        settings = repr((codegen.magic_tuple(), bool(config.BOUNDSCHECK)))  # type: ignore[attr-defined]
        digits = digest(settings, self._function, *map(described, sig), anew=anew)
        return f"{self._function.__module__}.{self._function.__qualname__}.{digits}{CODE}"


@contextmanager
def _signature_of(sig):
    """Meanwhile, games and rules are kept, and found, by their numbers in a signature."""
    Signature.games = games_in(sig)
    try:
        yield
    finally:
        Signature.games = []


def described(kind: Any) -> Any:
    """What code for a Numba type depends on, for a digest."""
    if isinstance(kind, GameType):
        return kind.game
    if isinstance(kind, types.BaseTuple):
        return type(kind).__name__, getattr(kind, "instance_class", None), [described(each) for each in kind]  # type: ignore[attr-defined]
    if isinstance(kind, types.ListType):
        return "list", described(kind.item_type)  # type: ignore[attr-defined]
    return str(kind)


# For functions of kernels, which allocate nothing: without it, each call counts references of its arrays, with locked
# instructions that take a third of a UCT simulation's time.
_UNCOUNTED: dict[str, Any] = {"_nrt": False}


def helper(function):
    """Compile a function as a part of kernels."""
    return Helper(function, **_UNCOUNTED) if COMPILED else function


# For helpers with many arrays and little work, as arrays pass through memory: nested search is 2.4 times as fast.
def inlined(function):
    """Compile a function into every function that calls it."""
    return Helper(function, forceinline=True, **_UNCOUNTED) if COMPILED else function


def uncompiled(function: Callable) -> Callable:
    """A kernel or a helper as plain Python, which saves compiling for a few calls."""
    return getattr(function, "py_func", function)
