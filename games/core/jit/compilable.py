"""What kernels can call: objects whose methods are compiled when a kernel calls them, such as games and rules.

In a kernel, `rule.solver` is a compile-time constant and `rule.reward(score)` is the class's own method, compiled;
outside a kernel both are plain Python.  Numba sees one type for each class and parameters.
"""

import contextlib
import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any, ClassVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import NativeValue, models, overload_method, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from arena.games.core.jit.parts import PART
from arena.games.core.jit.sources import digest_of, import_closure, package_sources


class GameType(types.Opaque):
    """Numba type of one game with its compiled parameters: a value without size, or the places of its `arrays`.

    Every class has a subclass of its own, so that two games may give a helper the same name with other
    parameters, and a derived game inherits its base's methods.
    """

    def __init__(self, game, digest):
        self.game = game  # a shell: of the class, and with the parameters that kernels are compiled for
        self.digest = digest
        words = ", ".join(f"{name}={value!r}" for name, value in compiled_parameters(game))
        super().__init__(name=f"{type(game).__module__}.{type(game).__qualname__}({words})@{digest}")

    def lower(self, context, builder, name):
        """The code of an attribute: a constant."""
        constant = getattr(self.game, name)
        return context.get_constant_generic(builder, typeof(constant), constant)

    def __reduce__(self):
        cls = type(self.game)
        return _restore, (cls.__module__, cls.__qualname__, compiled_parameters(self.game), self.digest)


def compiled_parameters(game) -> tuple:
    """((name, value), ...) of the constants in kernels: all fields but `data_fields`."""
    names = [field.name for field in fields(game) if field.name not in game.data_fields]
    return tuple((name, game.compiled_parameter(name)) for name in names)


@functools.cache
def game_type_of(cls, parameters, digest):
    """The one type of these; made without the class's own __init__, which may need what kernels do not."""
    shell = object.__new__(cls)
    for name, value in parameters:
        object.__setattr__(shell, name, value)
    return cls._numba_type(shell, digest)


def _restore(module, name, parameters, digest):
    """The GameType that was pickled; None where its class is not to be found."""
    cls = getattr(sys.modules.get(module), name, None)
    return game_type_of(cls, parameters, digest) if cls else None


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


class ArraysModel(models.StructModel):
    """Of a game with arrays: where each begins, and how long it is."""

    def __init__(self, manager, typ):
        members = []
        for name in typ.game.kernel_arrays:
            members += [(name, types.CPointer(array_type(typ.game, name).dtype)), (f"{name}_size", types.intp)]
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
    # fields that are Compilable, or tuples of such parts: kernels call their methods, as in `self.part.method(...)`
    compiled_parts: ClassVar[tuple[str, ...]] = ()
    # whether compiled methods may make arrays; they are faster when not: see `helper`
    may_allocate: ClassVar[bool] = False
    # whether kernels can be given a table (games/core/jit/tables.py) in place of an object of this class
    has_table: ClassVar[bool] = False

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

    def __getstate__(self) -> dict[str, Any]:
        """Without the table, whose addresses mean nothing elsewhere."""
        return {name: value for name, value in vars(self).items() if name != "_table"}


register_model(GameType)(models.OpaqueModel)


@typeof_impl.register(Compilable)
def _typeof_game(game, context):
    return game_type_of(type(game), compiled_parameters(game), digest_with_parts(game))


def digest_with_parts(game):
    """The digest of the class, and those of the classes of its parts, however deep they lie."""
    values = [getattr(game, name) for name in game.compiled_parts]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    return "-".join([class_digest(type(game)), *map(digest_with_parts, parts)])


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
            kind, attribute = array_type(typ.game, name), c.pyapi.object_getattr_string(obj, name)
            with cgutils.early_exit_if_null(c.builder, stack, attribute):
                c.builder.store(cgutils.true_bit, failed)
            native = c.unbox(kind, attribute)
            c.pyapi.decref(attribute)  # the game keeps its arrays, and the caller the game, as long as the kernel runs
            with cgutils.early_exit_if(c.builder, stack, native.is_error):
                c.builder.store(cgutils.true_bit, failed)
            array = make_array(kind)(c.context, c.builder, native.value)
            setattr(value, name, array.data)
            setattr(value, f"{name}_size", array.nitems)
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, kind, native.value)
    return NativeValue(value._getvalue(), is_error=c.builder.load(failed))


def array_type(game, name):
    """Numba's type of an array of a game's, which kernels may only read."""
    return types.Array(from_dtype(np.dtype(game.kernel_arrays[name])), 1, "C", readonly=True)


@infer_getattr
class _GameConstants(AttributeTemplate):
    key = GameType

    def generic_resolve(self, typ, attribute):
        if attribute in typ.game.kernel_arrays:
            return array_type(typ.game, attribute)
        value = getattr(typ.game, attribute)
        return None if inspect.ismethod(value) else typeof(value)


@lower_getattr_generic(GameType)
def _lower_constant(context, builder, typ, value, attribute):
    if attribute in typ.game.kernel_arrays:
        return _lower_array(context, builder, typ, value, attribute)
    return typ.lower(context, builder, attribute)


def _lower_array(context, builder, typ, value, name):
    """An array over the words that the game keeps, which nobody counts references of."""
    kind, game = array_type(typ.game, name), cgutils.create_struct_proxy(typ)(context, builder, value=value)
    array, size = make_array(kind)(context, builder), getattr(game, f"{name}_size")
    width = context.get_constant(types.intp, np.dtype(typ.game.kernel_arrays[name]).itemsize)
    populate_array(array, getattr(game, name), shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()


@functools.cache
def class_digest(cls: type) -> str:
    """Digest of the sources that the methods of a class may be compiled from: the modules of its classes and all that
    these import, but for installed libraries."""
    return digest_of(_sources_of(cls))


def source_digest(cls: type) -> str:
    """Digest of every source that decides how a game of this class is played: its own, `games/core` and all agents."""
    shared = {path for package in ("arena.games.core", "arena.agents") for path in package_sources(package)}
    return digest_of(_sources_of(cls) | shared)


def _sources_of(cls):
    modules = {base.__module__ for base in cls.__mro__ if issubclass(base, Compilable) and base is not Compilable}
    return {path for module in modules for path in import_closure(module)}
