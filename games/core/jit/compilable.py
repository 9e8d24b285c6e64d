"""What kernels can call: objects whose methods are compiled when a kernel calls them, such as games and rules.

In a kernel, `rule.solver` is a compile-time constant and `rule.reward(score)` the compiled method.  Numba sees one type
for each class and parameters.
"""

import contextlib
import inspect
from abc import ABCMeta
from collections.abc import Callable
from dataclasses import fields
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.core.typing.typeof import typeof
from numba.extending import NativeValue, models, overload_method, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from arena.games.core.jit.bytecode import is_ours
from arena.games.core.jit.identity import UNNAMED, Owner, digest_or_unique, warn_of_changes
from arena.games.core.jit.parts import PART


class GameType(types.Opaque):
    """Numba type of a game: a value without size, or the places of `arrays`.

    Each class has its own subclass, so that games may share a helper's name but not its parameters, and a derived game
    inherits methods.
    """

    def __init__(self, game, digest):
        self.game, self.unnamed = game, digest.startswith(UNNAMED)
        super().__init__(name=f"{title_of(game)}@{digest}")

    def lower(self, context, builder, name):
        constant = native(getattr(self.game, name))
        return context.get_constant_generic(builder, typeof(constant), constant)

    def __reduce__(self):
        return _restored, (Signature.games.index(self),)


class Signature:
    """Types of games and rules, for a kernel's code on its way to or from a file, where they are numbers: a class may
    be found under no name, and code does not depend on all of it."""

    games: ClassVar[list[GameType]] = []


def _restored(place):
    return Signature.games[place]


def native(value: Any) -> Any:
    """A constant without classes derived from numbers, of which Numba would take what they print."""
    if isinstance(value, tuple):
        parts = list(map(native, value))
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, (Enum, bool)):
        return value
    return (
        int.__int__(value) if isinstance(value, int) else float.__float__(value) if isinstance(value, float) else value
    )


def games_in(kinds: Any) -> list[GameType]:
    """The games and rules among Numba types, at any depth."""
    found: dict[GameType, None] = {}
    for kind in kinds:
        if isinstance(kind, GameType):
            found[kind] = None
        elif isinstance(kind, types.BaseTuple):
            found |= dict.fromkeys(games_in(list(kind)))  # type: ignore[call-overload]
    return list(found)


def title_of(game) -> str:
    """A class and the parameters that kernels are compiled for, in words: two objects may have the same."""
    words = ", ".join(f"{name}={value!r}" for name, value in compiled_parameters(game))
    return f"{type(game).__module__}.{type(game).__qualname__}({words})"


def compiled_parameters(game) -> tuple:
    """((name, value), ...): all fields but `data_fields` and arrays."""
    left_out = {*game.data_fields, *game.kernel_arrays}
    return tuple(
        (field.name, game.compiled_parameter(field.name)) for field in fields(game) if field.name not in left_out
    )


_OWN = ("_table", "_kind")  # attributes of this module, no part of the object
_types: dict[tuple, GameType] = {}  # (class, digest): the one type
_of_plain: dict[tuple, GameType] = {}  # (class, change of a class, plain values of all fields): its type, found sooner


def type_of(game) -> GameType:
    """An object's Numba type, which it shares with those that are the same by value.

    Looked for once, unless a class has changed; and again by `look_again`.
    """
    if type(game)._plain:
        type(game).notice_mixins()
    known = vars(game).get("_kind")
    if known is None or known[0] != Classes.change:
        known = Classes.change, _find_type(game)
        object.__setattr__(game, "_kind", known)
    return known[1]


def look_again(game, *classes: type) -> None:
    """Notice what has changed since compiling: in the game, for which other code is made; and in functions that it, or
    one of the classes, reaches, of which StaleCode warns."""
    warn_of_changes(type(game), *classes, callers=2)
    known = vars(game).get("_kind")
    if known is None or is_ours(type(game).__module__) or known[1].unnamed:
        return
    if _find_type(game) is not known[1]:
        vars(game).pop("_table", None)
        vars(game).pop("_kind", None)  # which another thread may have done


def _find_type(game):
    """The game's Numba type, by its code's digest; by plain values if it has none, or the class is of this package."""
    key = type(game), Classes.change, _plainly(tuple(vars(game).get(field.name) for field in fields(game)))
    known = _of_plain.get(key)
    if known is not None and (known.unnamed or is_ours(type(game).__module__)):
        return known
    cls, digits = type(game), code_and_values(game)
    found = _types.setdefault((cls, digits), cls._numba_type(_shell_of(game), digits))
    if key[-1] is not None:
        _of_plain[key] = found
    return found


def _plainly(value: Any) -> Any:
    """Equal for plain values, tuples and parts that are the same, and hashable; None of others."""
    if value is None or type(value) in (bool, int, float, str):
        return type(value), repr(value)
    if isinstance(value, Compilable):
        return type_of(value)
    parts = tuple(map(_plainly, value)) if type(value) is tuple else (None,)
    return None if None in parts else parts


def code_and_values(game, **how: Any) -> str:
    """A digest of all methods, what they name, the compiled parameters, and what tables hold."""
    methods = {name for base in type(game).__mro__ for name in vars(base) if inspect.isfunction(vars(base)[name])}
    asked = sorted((methods | set(game.asked_by_kernels)) - set(game.only_in_python))
    return digest_or_unique(game, list(compiled_parameters(game)), *map(game.member, asked), **how)


def _shell_of(game):
    """A copy without arrays, and made without the class's own __init__."""
    shell, left_out = object.__new__(type(game)), (*_OWN, *game.kernel_arrays)
    kept = vars(game).copy().items()  # another thread may note the game's type meanwhile
    vars(shell).update({name: value for name, value in kept if name not in left_out})
    vars(shell).update(compiled_parameters(game))
    return shell


def compile_methods(cls):
    """Let kernels call the methods that `cls` defines."""
    for name, function in vars(cls).items():
        if not inspect.isfunction(function) or name.startswith("__"):
            continue
        signature = inspect.signature(function)
        bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
        # to Numba, other annotations make another signature
        function.__signature__ = signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)
        parameters = ", ".join(signature.parameters)
        # overload_method wants a typing function with the implementation's own signature; which it is depends on the
        # game, as another may stand in for `evaluate`
        scope = {}
        exec(f"def implementation({parameters}):\n    return self.game.function('{name}')", scope)
        overload_method(cls._numba_type, name, jit_options={"_nrt": cls.may_allocate, **PART})(scope["implementation"])


class ArraysModel(models.StructModel):
    """A game with arrays: where each begins, and its length."""

    def __init__(self, manager, typ):
        members = []
        for name in typ.game.kernel_arrays:
            members += [(name, types.CPointer(array_type(typ.game, name).dtype)), (f"{name}_size", types.intp)]
        super().__init__(manager, typ, members)


def model_of(manager, typ):
    """The model of a game: without arrays it has no size."""
    return (ArraysModel if typ.game.kernel_arrays else models.OpaqueModel)(manager, typ)


class Classes(ABCMeta):
    """The class of Compilable classes: notices their changes."""

    change: ClassVar[int] = 0  # number of changes
    _plain: tuple[tuple[type, dict[str, Any]], ...]

    def __init__(cls, name, bases, space, **kwargs):
        super().__init__(name, bases, space, **kwargs)
        cls._remember_mixins()

    def _remember_mixins(cls):
        plain = [base for base in cls.__mro__ if not isinstance(base, Classes) and base not in (Owner, object)]
        type.__setattr__(cls, "_plain", tuple((base, dict(vars(base))) for base in plain))
        for derived in cls.__subclasses__():
            derived._remember_mixins()

    def notice_mixins(cls) -> None:
        """Notice changes of bases that cannot notice them."""
        for base, had in cls._plain:
            if len(had) != len(vars(base)) or any(had.get(name) is not value for name, value in vars(base).items()):
                had.clear()
                had.update(vars(base))
                Classes.change += 1

    def __setattr__(cls, name, value):
        super().__setattr__(name, value)
        if name == "__bases__":
            cls._remember_mixins()
        if name == "__bases__" or not (name.startswith("__") or name == "_numba_type"):
            Classes.change += 1

    def __delattr__(cls, name):
        super().__delattr__(name)
        Classes.change += 1

    __instancecheck__, __subclasscheck__ = type.__instancecheck__, type.__subclasscheck__  # quicker than ABCMeta's


class Compilable(Owner, metaclass=Classes):
    """Base of Game: methods of a subclass become methods in kernels, fields and properties constants."""

    _numba_type: ClassVar[type] = GameType
    # fields that no compiled method reads: their values share kernels
    data_fields: ClassVar[tuple[str, ...]] = ()
    # contiguous one-dimensional arrays and their dtypes: their values share kernels, which only read them
    arrays: ClassVar[dict[str, type]] = {}
    # fields that are Compilable, or tuples of such, for calls like `self.part.method(...)`
    compiled_parts: ClassVar[tuple[str, ...]] = ()
    # whether compiled methods may make arrays; they are faster if not: see `helper`
    may_allocate: ClassVar[bool] = False
    # whether kernels can be given a table (games/core/jit/game_tables.py)
    has_table: ClassVar[bool] = False
    # attributes that kernels ask for, whether its methods name them or not
    asked_by_kernels: ClassVar[tuple[str, ...]] = ()
    # methods that no kernel calls
    only_in_python: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        bases = dict.fromkeys(base._numba_type for base in cls.__bases__ if issubclass(base, Compilable))
        cls._numba_type = type(f"{cls.__name__}Type", tuple(bases), {})
        register_model(cls._numba_type)(model_of)
        compile_methods(cls)

    @property
    def kernel_arrays(self) -> dict[str, type]:
        """The `arrays` for kernels, which may depend on compiled parameters."""
        return self.arrays

    def compiled_parameter(self, name: str) -> Any:
        """A field's value as kernels are compiled for it."""
        return getattr(self, name)

    def function(self, name: str) -> Callable[..., Any]:
        """The function that a method `name` runs in a kernel."""
        return getattr(type(self), name)

    def member(self, name: str) -> tuple[Any, ...]:
        """A call's function, an array's dtype, or a constant's value; () for `data_fields`, which no code can read."""
        if name in self.data_fields:
            return ()
        found = next((vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls)), None)
        if name.startswith("__") or (found is None and name not in vars(self) and not self._answers_for_any()):
            return ()
        try:
            if inspect.isfunction(found):
                return (self.function(name),)
            if name in self.kernel_arrays:
                return (np.dtype(self.kernel_arrays[name]),)
            value = getattr(self, name)
        except Exception:  # a property that does not apply may raise anything: no code could be compiled of it
            return ("nothing",)
        return () if inspect.ismethod(value) else (value,)

    @classmethod
    def _answers_for_any(cls) -> bool:
        """Whether its attributes are not only those that it has, so that each must be asked for."""
        return hasattr(cls, "__getattr__") or cls.__getattribute__ is not object.__getattribute__

    def constants(self) -> Any:
        return self.may_allocate, [(name, np.dtype(each)) for name, each in sorted(self.kernel_arrays.items())]

    def __getstate__(self) -> dict[str, Any]:
        """The attributes without the table and Numba's type, which belong to this process."""
        return {name: value for name, value in vars(self).copy().items() if name not in _OWN}


register_model(GameType)(models.OpaqueModel)


@typeof_impl.register(Compilable)
def _typeof_game(game, context):
    return type_of(game)


@lower_constant(GameType)
def _lower_part(context, builder, typ, value):
    """A part has no size, and no arrays: a constant could not point to them."""
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
            c.pyapi.decref(attribute)  # the caller keeps the game, and it its arrays, while the kernel runs
            with cgutils.early_exit_if(c.builder, stack, native.is_error):
                c.builder.store(cgutils.true_bit, failed)
            array = make_array(kind)(c.context, c.builder, native.value)
            setattr(value, name, array.data)
            setattr(value, f"{name}_size", array.nitems)
            if c.context.enable_nrt:
                c.context.nrt.decref(c.builder, kind, native.value)
    return NativeValue(value._getvalue(), is_error=c.builder.load(failed))


def array_type(game, name):
    """Numba's type of a game's array, which kernels only read."""
    return types.Array(from_dtype(np.dtype(game.kernel_arrays[name])), 1, "C", readonly=True)


@infer_getattr
class _GameConstants(AttributeTemplate):
    key = GameType

    def generic_resolve(self, typ, attribute):
        if attribute in typ.game.kernel_arrays:
            return array_type(typ.game, attribute)
        if attribute in typ.game.data_fields:
            what = f"{type(typ.game).__qualname__}.{attribute}"
            raise TypingError(f"{what} is one of its data_fields, which methods that kernels call cannot read")
        value = getattr(typ.game, attribute)
        return None if inspect.ismethod(value) else typeof(value)


@lower_getattr_generic(GameType)
def _lower_constant(context, builder, typ, value, attribute):
    if attribute in typ.game.kernel_arrays:
        return _lower_array(context, builder, typ, value, attribute)
    return typ.lower(context, builder, attribute)


def _lower_array(context, builder, typ, value, name):
    """An array over the game's words, without a count of references."""
    kind, game = array_type(typ.game, name), cgutils.create_struct_proxy(typ)(context, builder, value=value)
    array, size = make_array(kind)(context, builder), getattr(game, f"{name}_size")
    width = context.get_constant(types.intp, np.dtype(typ.game.kernel_arrays[name]).itemsize)
    populate_array(array, getattr(game, name), shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()
