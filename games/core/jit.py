"""The Numba glue: a Game's methods, written as ordinary Python, compiled when a kernel calls them.

A game reaches a kernel as its first argument.  There `game.rows` is a compile-time constant and
`game.play(state, move)` is the class's own method, compiled; outside a kernel both are plain Python.
Numba sees one type for each game and parameters, so one generic kernel serves all games, specialised for each.
"""

import ast
import functools
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
import warnings
from dataclasses import fields
from pathlib import Path
from typing import ClassVar, NamedTuple

from numba import config, njit, types
from numba.core.caching import FunctionCache
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import NativeValue, models, overload_method, register_model, typeof_impl, unbox

KERNEL_PACKAGES = ("games", "agents")

kernels = []  # every kernel defined so far, for `arena cache` and the tests


def kernel(function):
    """Compile a function whose first argument is a game: cached on disk, and run without the interpreter's lock.

    Only such functions may be cached: the digest of the sources inside the game's type is what keeps Numba from
    taking a stale kernel when a function that it calls, in another file, has changed.
    """
    dispatcher = njit(nogil=True)(function)
    if not config.DISABLE_JIT:
        try:
            dispatcher._cache = KernelCache(function)  # what njit(cache=True) does, with a cache that mends itself
        except RuntimeError:
            _warn_once()
        kernels.append(dispatcher)
    return dispatcher


class KernelCache(FunctionCache):
    """Numba's on-disk cache of a function, emptied where it cannot be read: after a power cut, say."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception as error:  # whatever unpickling a damaged file raises
            warnings.warn(
                f"the compiled {self._name} in {self.cache_path} is damaged and is made anew: {error!r}", stacklevel=2
            )
            self.flush()
            return None


@functools.cache
def _warn_once():
    warnings.warn(
        "compiled kernels cannot be kept, since no folder for them can be written: every process compiles its own; "
        "the environment variable NUMBA_CACHE_DIR can name a folder",
        stacklevel=4,
    )


# For the functions that kernels are made of, which allocate nothing: without it, each call counts references of every
# array that it is given, with locked instructions that cost a UCT simulation a third of its time.
helper = njit(_nrt=False)

# The same, made part of every function that calls it: for helpers that are given many arrays and do little with them,
# since arrays are passed through memory, ten words each.  Nested search is 2.4 times as fast by it.
inlined = njit(_nrt=False, forceinline=True)


class GameType(types.Opaque):
    """Numba type of one game with its compiled parameters: a value without size.

    Every Game class has a subclass of its own, so that two games may give a helper the same name with other
    parameters, and a derived game inherits its base's methods.
    """

    def __init__(self, game, digest):
        self.game = game  # a shell: of the class, and with the parameters that kernels are compiled for
        self.digest = digest
        words = ", ".join(f"{name}={value!r}" for name, value in compiled_parameters(game))
        super().__init__(name=f"{type(game).__module__}.{type(game).__qualname__}({words})@{digest}")

    def __reduce__(self):
        cls = type(self.game)
        return _restore, (cls.__module__, cls.__qualname__, compiled_parameters(self.game), self.digest)


def compiled_parameters(game) -> tuple:
    """((name, value), ...) of what is a constant in kernels: the fields but for `data_fields`."""
    names = [field.name for field in fields(game) if field.name not in game.data_fields]
    return tuple((name, getattr(game, name)) for name in names)


@functools.cache
def _game_type(cls, parameters, digest):
    """The one type of these; made without the class's own __init__, which may need what kernels do not."""
    shell = object.__new__(cls)
    for name, value in parameters:
        object.__setattr__(shell, name, value)
    return cls._numba_type(shell, digest)


class AbsentGame(NamedTuple):
    """Stands for the type of a game whose module this process has not imported, in the index of a kernel's cache.

    The index of a kernel lists the types of all games that it was ever compiled for, a user's own among them; none but
    the one that is asked for needs to be here.
    """

    module: str
    name: str
    parameters: tuple
    digest: str

    def __reduce__(self):
        return _restore, tuple(self)


def _restore(module, name, parameters, digest):
    """The GameType that was pickled, or an AbsentGame."""
    cls = getattr(sys.modules.get(module), name, None)
    if isinstance(cls, type) and issubclass(cls, Compilable):
        try:
            return _game_type(cls, parameters, digest)
        except (TypeError, AttributeError):
            pass  # the class has other fields by now: the type is of a time before
    return AbsentGame(module, name, parameters, digest)


def compile_methods(cls):
    """Make the methods that `cls` defines callable in kernels."""
    for name, function in vars(cls).items():
        if not inspect.isfunction(function) or name.startswith("__"):
            continue
        parameters = ", ".join(inspect.signature(function).parameters)
        # overload_method wants a typing function with the implementation's own signature; the game itself says which
        # function that is, since another one may stand in the place of `evaluate`
        scope = {}
        exec(f"def implementation({parameters}):\n    return self.game.function('{name}')", scope)
        overload_method(cls._numba_type, name, jit_options={"_nrt": cls.may_allocate})(scope["implementation"])


class Compilable:
    """Base of Game: the functions of a subclass become methods in kernels, its fields and properties constants."""

    _numba_type: ClassVar[type] = GameType
    data_fields: ClassVar[
        tuple[str, ...]
    ] = ()  # fields that no compiled method reads: kernels are shared between their values
    may_allocate: ClassVar[bool] = (
        False  # whether compiled methods may make arrays; they are faster when not: see `helper`
    )

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._numba_type = type(f"{cls.__name__}Type", (cls._numba_type,), {})
        register_model(cls._numba_type)(models.OpaqueModel)
        compile_methods(cls)

    def function(self, name: str):
        """The function that a call of the method `name` runs in a kernel."""
        return getattr(type(self), name)


register_model(GameType)(models.OpaqueModel)


@typeof_impl.register(Compilable)
def _typeof_game(game, context):
    return _game_type(type(game), compiled_parameters(game), source_digest(type(game)))


@unbox(GameType)
def _unbox_game(typ, obj, context):
    return NativeValue(context.context.get_dummy_value())


@infer_getattr
class _GameConstants(AttributeTemplate):
    key = GameType

    def generic_resolve(self, typ, attribute):
        value = getattr(typ.game, attribute)
        return None if inspect.ismethod(value) else typeof(value)


@lower_getattr_generic(GameType)
def _lower_constant(context, builder, typ, value, attribute):
    constant = getattr(typ.game, attribute)
    return context.get_constant_generic(builder, typeof(constant), constant)


@functools.cache
def source_digest(cls: type) -> str:
    """Digest of every source that a kernel of this game may be compiled from.

    That is the modules of its classes and all that these import, but for installed libraries; `games/core`; and all of
    `agents`.  So an edit of one game compiles that game's kernels anew, and no other's.
    """
    paths = {path for package in ("games.core", "agents") for path in _package_sources(package)}
    for base in cls.__mro__:
        if issubclass(base, Compilable) and base is not Compilable:
            paths |= _import_closure(base.__module__)
    return digest_of(paths)


def digest_of(paths) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of the files, in the order of their paths."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def package_folder(package: str) -> Path | None:
    """Where an importable package lies, found without importing it; None where it is not installed."""
    spec = sys.modules[package].__spec__ if package in sys.modules else importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec else None


def _package_sources(package):
    folder = package_folder(package)
    return set(folder.rglob("*.py")) if folder else set()


@functools.cache
def _import_closure(module):
    """The file of a module that has been imported, and of every module that it imports, directly or not."""
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        path = getattr(sys.modules.get(name), "__file__", None)
        if name not in found and path and path.endswith(".py") and not _is_library(name, path):
            found[name] = Path(path)
            waiting.extend(_imported_names(name, found[name]))
    return frozenset(found.values())


def _is_library(name, path):
    """Whether a module comes with Python or is installed beside it, and so does not change; ours may be installed."""
    installed = path.startswith(
        tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    )
    return installed and name.split(".")[0] not in KERNEL_PACKAGES


def _imported_names(module, path):
    """What the import statements of a module's file may name."""
    package = getattr(sys.modules[module], "__package__", None) or ""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)
