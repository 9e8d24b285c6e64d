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
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from numba import njit, types
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
    dispatcher = njit(cache=True, nogil=True)(function)
    kernels.append(dispatcher)
    return dispatcher


# For the functions that kernels are made of, which allocate nothing: without it, each call counts references of every
# array that it is given, with locked instructions that cost a UCT simulation a third of its time.
helper = njit(_nrt=False)


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
    """((name, value), ...) of what is a constant in kernels: the fields but for `data_fields`, and the evaluation."""
    names = [field.name for field in fields(game) if field.name not in game.data_fields]
    return tuple((name, getattr(game, name)) for name in [*names, "evaluation"])


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
        overload_method(cls._numba_type, name, jit_options={"_nrt": True})(scope["implementation"])


class Compilable:
    """Base of Game: the functions of a subclass become methods in kernels, its fields and properties constants."""

    _numba_type = GameType
    data_fields: tuple[str, ...] = ()  # fields that no compiled method reads: kernels are shared between their values
    evaluation = ""                    # the evaluation function that stands in the place of `evaluate`, if any

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._numba_type = type(f"{cls.__name__}Type", (cls._numba_type,), {})
        register_model(cls._numba_type)(models.OpaqueModel)
        compile_methods(cls)

    def function(self, name):
        """The function that a call of the method `name` runs."""
        return getattr(type(self), f"evaluate_{self.evaluation}" if name == "evaluate" and self.evaluation else name)


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

    That is what the game's own files import of the games, `games/core`, and all of `agents`; so that an edit of one
    game compiles that game's kernels anew, and no other's.
    """
    paths = {path for package in ("games.core", "agents") for path in _package_sources(package)}
    for base in cls.__mro__:
        if issubclass(base, Compilable) and base is not Compilable:
            paths |= _import_closure(Path(inspect.getfile(base)))
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
def _import_closure(path):
    """`path` and every file of the kernel packages that it imports, directly or not."""
    found, waiting = set(), [path]
    while waiting:
        path = waiting.pop()
        if path not in found and path.is_file():
            found.add(path)
            waiting.extend(_imported_files(path))
    return frozenset(found)


def _imported_files(path):
    """The files below KERNEL_PACKAGES that the import statements of `path` may name."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            package, *rest = name.split(".")
            if package in KERNEL_PACKAGES and rest:
                yield package_folder(package).joinpath(*rest).with_suffix(".py")
