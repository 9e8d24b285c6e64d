"""The Numba glue: a Game's methods, written as ordinary Python, compiled when a kernel calls them.

A game reaches a kernel as its first argument.  There `game.rows` is a compile-time constant and
`game.play(state, move)` is the class's own method, compiled; outside a kernel both are plain Python.
Numba sees one type for each game and parameters, so one generic kernel serves all games, specialised for each.
"""

import contextlib
import functools
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numba import config, njit, types
from numba.core import cgutils
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import NativeValue, models, overload_method, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from games.core.cache_files import CheckedFiles
from games.core.compiling import PART, WITHOUT_CALLBACK, Helper, share_between_callers
from games.core.imports import imported_names
from games.core.plugins import top_packages

KERNEL_PACKAGES = ("games", "agents")
# False where NUMBA_DISABLE_JIT makes kernels run as plain Python; Numba makes its settings at import, unseen by mypy.
COMPILED = not config.DISABLE_JIT  # type: ignore[attr-defined]

kernels: list[Dispatcher] = []  # every kernel defined so far, for `arena cache` and the tests


def kernel(function):
    """Compile a function whose first argument is a game: cached on disk, and run without the interpreter's lock.

    Numba would take a stale kernel when a function that it calls, in another file, has changed.  What keeps it from
    that is a digest of sources in two places: in the type of a game, or of a rule, of the modules of its classes and
    all that these import; and in the stamp of the kernel's cache, of the kernel's module and all that it imports.  The
    tuples of arrays that a kernel is given are defined in one of these.
    """
    dispatcher = njit(nogil=True, **WITHOUT_CALLBACK)(function)
    if COMPILED:
        try:
            dispatcher._cache = KernelCache(function)  # what njit(cache=True) does, with a cache that mends itself
        except RuntimeError:
            _warn_once()
        kernels.append(dispatcher)
    return dispatcher


class KernelCache(FunctionCache):
    """Numba's on-disk cache of a function, with another stamp: kernels are compiled anew after a change of any source
    that they may be made of, not of their own file alone.  Where a file is damaged, by a disk or a power cut, say, the
    cache is emptied."""

    def __init__(self, function):
        super().__init__(function)
        self._cache_file = CheckedFiles(self._cache_path, self._impl.filename_base, None)

    def load_overload(self, sig, target_context):
        # here and not when the module is imported: now all that it imports is there, and many kernels are never called
        self._cache_file._source_stamp = _module_digest(self._py_func.__module__)
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


class GameType(types.Opaque):
    """Numba type of one game with its compiled parameters: a value without size, or the places of its `arrays`.

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
    """((name, value), ...) of the constants in kernels: all fields but `data_fields`."""
    names = [field.name for field in fields(game) if field.name not in game.data_fields]
    return tuple((name, game.compiled_parameter(name)) for name in names)


@functools.cache
def _game_type(cls, parameters, digest):
    """The one type of these; made without the class's own __init__, which may need what kernels do not."""
    shell = object.__new__(cls)
    for name, value in parameters:
        object.__setattr__(shell, name, value)
    return cls._numba_type(shell, digest)


class AbsentGame(NamedTuple):
    """In the index of a kernel's cache, the type of a game whose module this process has not imported.

    The index lists the types of all games that the kernel was compiled for, users' own among them; only the one that is
    asked for needs to be importable.
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
            pass  # the class has changed its fields since
    return AbsentGame(module, name, parameters, digest)


def compile_methods(cls):
    """Make the methods that `cls` defines callable in kernels."""
    for name, function in vars(cls).items():
        if not inspect.isfunction(function) or name.startswith("__"):
            continue
        signature = inspect.signature(function)
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
        # Numba compares signatures, and would take one with other annotations, or without, for another one
        function.__signature__ = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        parameters = ", ".join(signature.parameters)
        # overload_method wants a typing function with the implementation's own signature; the game itself says which
        # function that is, since another one may stand in the place of `evaluate`
        scope = {}
        exec(f"def implementation({parameters}):\n    return self.game.function('{name}')", scope)
        overload_method(cls._numba_type, name, jit_options={"_nrt": cls.may_allocate, **PART})(scope["implementation"])
        share_between_callers(scope["implementation"])


class ArraysModel(models.StructModel):
    """Of a game with arrays: where each begins, and how long it is."""

    def __init__(self, manager, typ):
        members = []
        for name in typ.game.kernel_arrays:
            members += [(name, types.CPointer(_array_type(typ.game, name).dtype)), (f"{name}_size", types.intp)]
        super().__init__(manager, typ, members)


def model_of(manager, typ):
    """The model of a game: without arrays it has no size."""
    return (ArraysModel if typ.game.kernel_arrays else models.OpaqueModel)(manager, typ)


class Compilable:
    """Base of Game: the functions of a subclass become methods in kernels, its fields and properties constants."""

    _numba_type: ClassVar[type] = GameType
    # fields that no compiled method reads: kernels are shared between their values
    data_fields: ClassVar[tuple[str, ...]] = ()
    # attributes that are contiguous arrays of one dimension, and their dtypes; kernels are shared between their values,
    # and may read them alone
    arrays: ClassVar[dict[str, type]] = {}
    # fields that are Compilable themselves: kernels call their methods, as in `self.part.method(...)`
    compiled_parts: ClassVar[tuple[str, ...]] = ()
    # whether compiled methods may make arrays; they are faster when not: see `helper`
    may_allocate: ClassVar[bool] = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        bases = dict.fromkeys(base._numba_type for base in cls.__bases__ if issubclass(base, Compilable))
        cls._numba_type = type(f"{cls.__name__}Type", tuple(bases), {})
        register_model(cls._numba_type)(model_of)
        compile_methods(cls)

    @property
    def kernel_arrays(self) -> dict[str, type]:
        """The `arrays` that kernels are given, which may depend on parameters that are compiled."""
        return self.arrays

    def compiled_parameter(self, name: str) -> Any:
        """The value of a field as kernels are compiled for it."""
        return getattr(self, name)

    def function(self, name: str) -> Callable[..., Any]:
        """The function that a call of the method `name` runs in a kernel."""
        return getattr(type(self), name)


register_model(GameType)(models.OpaqueModel)


@typeof_impl.register(Compilable)
def _typeof_game(game, context):
    return _game_type(type(game), compiled_parameters(game), _digest_with_parts(game))


def _digest_with_parts(game):
    """The digest of the class, and those of the classes of its parts, however deep they lie."""
    digests = [_digest_with_parts(getattr(game, name)) for name in game.compiled_parts]
    return "-".join([class_digest(type(game)), *digests])


@lower_constant(GameType)
def _lower_part(context, builder, typ, value):
    """A part has no size; it cannot have arrays, which a constant could not point to."""
    if typ.game.arrays:
        raise TypeError(f"{typ} has arrays, and so can be no part of another object in a kernel")
    return context.get_dummy_value()


@unbox(GameType)
def _unbox_game(typ, obj, c):
    if not typ.game.kernel_arrays:
        return NativeValue(c.context.get_dummy_value())
    value = cgutils.create_struct_proxy(typ)(c.context, c.builder)
    failed = cgutils.alloca_once_value(c.builder, cgutils.false_bit)
    with contextlib.ExitStack() as stack:
        for name in typ.game.kernel_arrays:
            array_type, attribute = _array_type(typ.game, name), c.pyapi.object_getattr_string(obj, name)
            with cgutils.early_exit_if_null(c.builder, stack, attribute):
                c.builder.store(cgutils.true_bit, failed)
            native = c.unbox(array_type, attribute)
            c.pyapi.decref(attribute)  # the game keeps its arrays, and the caller the game, as long as the kernel runs
            with cgutils.early_exit_if(c.builder, stack, native.is_error):
                c.builder.store(cgutils.true_bit, failed)
            array = make_array(array_type)(c.context, c.builder, native.value)
            setattr(value, name, array.data)
            setattr(value, f"{name}_size", array.nitems)
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, array_type, native.value)
    return NativeValue(value._getvalue(), is_error=c.builder.load(failed))


def _array_type(game, name):
    return types.Array(from_dtype(np.dtype(game.kernel_arrays[name])), 1, "C", readonly=True)


@infer_getattr
class _GameConstants(AttributeTemplate):
    key = GameType

    def generic_resolve(self, typ, attribute):
        if attribute in typ.game.kernel_arrays:
            return _array_type(typ.game, attribute)
        value = getattr(typ.game, attribute)
        return None if inspect.ismethod(value) else typeof(value)


@lower_getattr_generic(GameType)
def _lower_constant(context, builder, typ, value, attribute):
    if attribute in typ.game.kernel_arrays:
        return _lower_array(context, builder, typ, value, attribute)
    constant = getattr(typ.game, attribute)
    return context.get_constant_generic(builder, typeof(constant), constant)


def _lower_array(context, builder, typ, value, name):
    """An array over the words that the game keeps, which nobody counts references of."""
    array_type, game = _array_type(typ.game, name), cgutils.create_struct_proxy(typ)(context, builder, value=value)
    array, size = make_array(array_type)(context, builder), getattr(game, f"{name}_size")
    width = context.get_constant(types.intp, np.dtype(typ.game.kernel_arrays[name]).itemsize)
    populate_array(array, getattr(game, name), shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()


@functools.cache
def class_digest(cls: type) -> str:
    """Digest of the sources that the methods of a class may be compiled from: the modules of its classes and all that
    these import, but for installed libraries."""
    return digest_of(_sources_of(cls))


@functools.cache
def _module_digest(module):
    return digest_of(import_closure(module))


def source_digest(cls: type) -> str:
    """Digest of every source that decides how a game of this class is played: its own, `games/core` and all agents."""
    shared = {path for package in ("games.core", "agents") for path in _package_sources(package)}
    return digest_of(_sources_of(cls) | shared)


def digest_of(paths) -> str:
    """The first 12 hexadecimal digits of the SHA-256 of the files, in the order of their paths."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def package_folder(package: str) -> Path | None:
    """Where an importable package lies, found without importing it; None where it is not installed."""
    spec = sys.modules[package].__spec__ if package in sys.modules else importlib.util.find_spec(package)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _package_sources(package):
    folder = package_folder(package)
    return set(folder.rglob("*.py")) if folder else set()


def _sources_of(cls):
    modules = {base.__module__ for base in cls.__mro__ if issubclass(base, Compilable) and base is not Compilable}
    return {path for module in modules for path in import_closure(module)}


@functools.cache
def import_closure(module: str) -> frozenset[Path]:
    """The file of a module, and of every module that it imports, directly or not, anywhere in its source.

    What a registry imports by names made at run time is not in it, so a module that uses one does not reach all agents.
    """
    found, waiting = {}, [module]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _source_of(name)
            if found[name]:
                waiting.extend(imported_names(name, found[name]))
    return frozenset(path for path in found.values() if path)


def _source_of(name):
    """The Python file of a module, loaded or not, so that the answer is the same in every process; None for libraries,
    which come with Python or are installed beside it and so do not change, and for what is no module."""
    if name in sys.modules:
        path = getattr(sys.modules[name], "__file__", None)
    else:
        parent, _, last = name.rpartition(".")
        path = _source_beside(_source_of(parent), last) if parent else _origin(name)
    return Path(path) if path and str(path).endswith(".py") and not _is_library(name, str(path)) else None


def _source_beside(package, name):
    """The file of a module of a package, which is given by its `__init__.py`."""
    if package is None or package.name != "__init__.py":
        return None
    found = [path for path in (package.parent / f"{name}.py", package.parent / name / "__init__.py") if path.exists()]
    return found[0] if found else None


@functools.cache
def _origin(name):
    """The file of a module outside all packages that is not loaded."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    return spec.origin if spec else None


@functools.cache
def _library_folders():
    return tuple(sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_library(name, path):
    """Whether a module comes with Python or is installed beside it; ours may be installed, and plug-ins are."""
    top = name.partition(".")[0]
    return path.startswith(_library_folders()) and top not in KERNEL_PACKAGES and top not in top_packages()
