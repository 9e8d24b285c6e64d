"""The methods of a game as entries of its table: compiled once for a class, and linked for each size.

A method is compiled with constants as external symbols, for all games of a class that differ in numbers alone.  Linking
defines them and optimises, in a tenth of a second: the code is as fast as with known constants.  Files on disk are
named by all that code depends on (identity.py): kinds of constants for a class, values for a game.
"""

import functools
import itertools
import logging
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import llvmlite.binding as llvm  # type: ignore[import-untyped]
import numpy as np
from llvmlite import ir
from numba import config, njit, types
from numba.core import cgutils
from numba.core.callconv import RETCODE_USEREXC
from numba.core.compiler_lock import global_compiler_lock
from numba.core.errors import NumbaError, TypingError
from numba.core.event import trigger_event
from numba.core.registry import cpu_target
from numba.core.typing.typeof import typeof
from numba.extending import register_model
from numba.np.arrayobj import make_array, populate_array

from arena.games.core.jit import kept
from arena.games.core.jit.compilable import code_and_values, model_of, native, title_of, type_of
from arena.games.core.jit.game_tables import (
    ARRAYS,
    CONDITIONAL,
    FUNCTIONS,
    LANES,
    LENGTHS,
    MEASURED,
    METHODS,
    SLOTS,
    STATUS,
    STREAM,
    WHOLE,
    WORD,
    GameTable,
    call_of,
    entry_type,
    kind_of,
    load,
)
from arena.games.core.jit.identity import UNNAMED, Unknown, are_alike, digest
from arena.games.core.jit.parts import PART, PartLibrary
from arena.games.core.shared.cache import METHOD

SYMBOL = "self."  # begins the symbols of constants
RULES = ("player", "is_over", "legal_moves", "play", "score")
UNLINKED = "method"  # a method in code not linked yet

log = logging.getLogger("arena.kernels")

_addresses: dict[tuple, int] = {}  # of methods: by the type of their game
_loaded: dict[str, Any] = {}  # symbol: its library, held as long as the process


class Generic(NamedTuple):
    """A method for all games of a class whose attributes have these kinds."""

    kinds: dict[str, types.Type]  # constants that are symbols
    bitcode: bytes


def serve(table: GameTable, kernel, methods: set[str]) -> None:
    """Have the table point to what a kernel calls; raises for what is missing or does not compile."""
    with global_compiler_lock:  # and no other lock: what compiles a kernel holds this one
        if not table.served:
            table.words[: len(METHODS)] = unfilled()
        for name in [each for each in METHODS if each in methods - table.ready]:
            try:
                if name not in CONDITIONAL or getattr(table.game, CONDITIONAL[name]):
                    table.words[SLOTS[name]] = entry_address(table.game, name)
            except NumbaError as error:
                table.failed[name] = _cause(table.game, error)
            table.ready.add(name)
        table.served[kernel] = len(methods)


def _cause(game, error):
    """Why a method cannot be compiled: a rule that cannot be, or its own error."""
    for rule in RULES:
        try:
            entry_address(game, rule)
        except NumbaError as cause:
            return cause
    return error


def entry_address(game, name: str) -> int:
    """Where a method's machine code is: in this process, on disk, or made now."""
    key = type_of(game), name
    if key not in _addresses:
        with global_compiler_lock, trigger_event("numba:compile", data={"entry": name}):
            try:
                _addresses[key] = _load_or_link(game, name)
            except NumbaError:
                raise
            except Exception as error:  # Numba may raise anything at what it does not know
                what = f"{name} of {title_of(game)} cannot be compiled"
                raise TypingError(f"{what}: {type(error).__name__}: {error}") from error
    return _addresses[key]


def _load_or_link(game, name):
    key = Key(game, name)
    symbol = f"{name}@{key.digest}"
    if symbol in _loaded:
        return _loaded[symbol].get_pointer_to_function(symbol)
    code = kept.load(key.file)
    if code is None:
        library = _link(game, _generic(game, name), symbol)
        if key.still_holds():
            kept.save(key.file, library.serialize_using_object_code())
    else:
        cpu_target.target_context.refresh()
        library = cpu_target.target_context.codegen().unserialize_library(code)
    _loaded[symbol] = library
    return library.get_pointer_to_function(symbol)


class Unfilled(RuntimeError):
    """A kernel called a method that its game does not have."""


@functools.cache
def unfilled() -> list[int]:
    """An entry for each method's slot, which raises Unfilled with its name."""
    machine = cpu_target.target_context.codegen().magic_tuple()
    try:
        file = f"unfilled.{digest('unfilled', machine, list(map(repr, METHODS.items())))}{METHOD}"
    except Unknown:
        file = ""
    code = kept.load(file)
    if code is None:
        library = _unfilled_entries()
        kept.save(file, library.serialize_using_object_code())
    else:
        library = cpu_target.target_context.codegen().unserialize_library(code)
    _loaded["unfilled"] = library
    return [library.get_pointer_to_function(f"unfilled.{name}") for name in METHODS]


def _unfilled_entries():
    context = cpu_target.target_context
    module = context.create_module("unfilled")
    for name in METHODS:
        entry = ir.Function(module, entry_type(context, name, "int64"), f"unfilled.{name}")
        builder = ir.IRBuilder(entry.append_basic_block())
        exception = context.get_python_api(builder).serialize_object((Unfilled, (name,), None))
        builder.store(exception, entry.args[-1])
        builder.ret(
            builder.insert_value(ir.Constant(entry.function_type.return_type, ir.Undefined), RETCODE_USEREXC, 0)
        )
    library = context.codegen().create_library("unfilled")
    library.enable_object_caching()
    library.add_ir_module(module)
    library.finalize()
    return library


class Key:
    """The name of a method's code for a game, or with `kind_of` for its class; no file if it is not kept."""

    def __init__(self, game, name: str, kind_of: Callable[[Any], str] | None = None):
        self.game, self.name, self.kind_of = game, name, kind_of
        self.file = ""
        try:
            self.digest = self._digest(anew=False)
        except Unknown as error:
            log.info("%s of %s is not kept: %s", name, game, error)
            self.digest = UNNAMED + uuid.uuid4().hex[:16]
        else:
            what = "class" if kind_of else "code"
            self.file = f"{what}.{type(game).__module__}.{type(game).__qualname__}.{name}.{self.digest}{METHOD}"

    def _digest(self, anew):
        machine = cpu_target.target_context.codegen().magic_tuple()
        settings = machine, bool(config.BOUNDSCHECK)  # type: ignore[attr-defined]
        make, attributes = FUNCTIONS.get(self.name, (None, ()))
        function = make(self.game) if make else self.game.function(self.name)
        form = self.name, repr(METHODS[self.name]), repr(settings), self.kind_of is None
        fixed = [getattr(self.game, each) for each in ("dtype", *attributes)]
        lengths = [getattr(self.game, each) for each in ("state_size", "max_moves")]
        if self.kind_of:
            lengths = list(map(self.kind_of, lengths))
        return digest(self.game, form, function, fixed, lengths, anew=anew, kind_of=self.kind_of)

    def still_holds(self) -> bool:
        """Whether what new code is made of has not changed meanwhile."""
        try:
            return bool(self.file) and self._digest(anew=True) == self.digest
        except Unknown as error:
            log.info("%s of %s is not kept: %s", self.name, self.game, error)
            return False


# -- Compiled once for a class ----------------------------------------------------------------------------------------


class Symbolic:
    """Mixin of a class's Numba type: constants that are numbers and arrays of these are symbols."""

    def __init__(self, game, digest):
        super().__init__(game, digest)
        self.kinds: dict[str, types.Type] = {}
        self.fixed: dict[str, Any] = {}

    def fits(self, game) -> bool:
        same = all(are_alike(value, getattr(game, name)) for name, value in self.fixed.items())
        return same and all(typeof(getattr(game, name)) == kind for name, kind in self.kinds.items())

    def lower(self, context, builder, name):
        kind = typeof(getattr(self.game, name))
        if not _is_plain(kind):
            self.fixed[name] = getattr(self.game, name)
            return super().lower(context, builder, name)
        self.kinds[name] = kind
        return builder.load(_declared(builder.module, SYMBOL + name, context.get_value_type(kind)))


def _kind_word(value: Any) -> str:
    """The kind of a symbol's constant; "" for another one."""
    try:
        kind = typeof(value)
    except ValueError:
        return ""
    return f"symbol {kind}" if _is_plain(kind) else ""


def _is_plain(kind: Any) -> bool:
    if isinstance(kind, types.Array):
        return kind.layout == "C"
    if isinstance(kind, (types.Tuple, types.UniTuple)):
        return all(map(_is_plain, kind.types))
    return isinstance(kind, (types.Integer, types.Float, types.Boolean))


def _declared(module, name, words):
    """A constant defined when linked.

    Until then a weak definition makes it zero, from which nothing is concluded; code from before, of functions compiled
    with Numba's own njit, never runs.
    """
    if name not in module.globals:
        declared = ir.GlobalVariable(module, words, name)
        declared.global_constant, declared.linkage, declared.initializer = True, "weak", ir.Constant(words, None)
    return module.globals[name]


@functools.cache
def _symbolic_class(cls: Any):
    made = type(f"Symbolic{cls.__name__}", (Symbolic, cls._numba_type), {})
    register_model(made)(model_of)
    return made


_symbolic: dict[tuple, list[Symbolic]] = {}  # of this process


def _generic(game, name) -> Generic:
    """The method's code for all games of the class that differ in numbers: from disk, or compiled."""
    key = Key(game, name, _kind_word)
    made = kept.load(key.file)
    if made is not None:
        return made
    cls: Any = type(game)
    types_of_class = _symbolic.setdefault((cls, code_and_values(game, kind_of=_kind_word)), [])
    for kind in filter(lambda each: each.fits(game), types_of_class):
        try:
            made = _compile(game, kind, name)
        except ValueError:
            continue  # Numba has no type for a number of the size that it was made of
        if kind.fits(game):
            break
    else:
        kind_class: Any = _symbolic_class(cls)
        types_of_class.append(kind_class(game, f"symbols {next(_numbers)}"))
        made = _compile(game, types_of_class[-1], name)
    if key.still_holds():
        kept.save(key.file, made)
    return made


_numbers = itertools.count()


class GenericLibrary(PartLibrary):
    """Code optimised when linked, with the constants."""

    def _optimize_final_module(self):
        pass


def _compile(game, kind, name) -> Generic:
    context = cpu_target.target_context
    letters, dtype = METHODS[name][1], np.dtype(game.dtype).name
    if name in FUNCTIONS:
        make, attributes = FUNCTIONS[name]
        kind.fixed |= {each: getattr(game, each) for each in attributes}
        function = make(game)
    else:
        given = ", ".join(f"word{i}" for i in range(len(letters)))
        function = call_of(name, f"game, {given}", given)
    options: dict[str, Any] = {**PART, "_nrt": game.may_allocate}
    part = njit(**options)(function)
    part.compile((kind, *(kind_of(letter, dtype) for letter in letters)))
    compiled = part.overloads[part.signatures[0]]
    _check_result(name, kind, compiled.signature.return_type)

    library = GenericLibrary(context.codegen(), f"{name} of {kind}")
    with context.push_code_library(library):
        library.add_ir_module(_entry(context, kind, name, dtype, compiled))
    library.add_linking_library(compiled.library)
    library.finalize()
    bitcode = library.serialize_using_bitcode()[2]
    symbols = {each.name for each in llvm.parse_bitcode(bitcode).global_variables}
    kinds = {each: found for each, found in kind.kinds.items() if SYMBOL + each in symbols}
    return Generic(kinds, bitcode)


def _check_result(name, kind, returned):
    """TypingError if a method does not always return what callers expect."""
    due, context = METHODS[name][0], cpu_target.typing_context
    pairs = [(returned, due)]
    if isinstance(due, types.BaseTuple):
        same = isinstance(returned, types.BaseTuple) and len(returned) == len(due)
        pairs = list(zip(returned, due)) if same else pairs
    for given, wanted in pairs if due is not types.void else ():
        if isinstance(given, (types.Optional, types.NoneType)) or context.can_convert(given, wanted) is None:
            found = "None" if isinstance(given, types.NoneType) else str(given)
            found = f"None or {given.type}" if isinstance(given, types.Optional) else found
            title = title_of(kind.game).partition("(")[0]
            raise TypingError(f"{name} of {title} returns {found}, where every branch must return {wanted}")


def _entry(context, kind, name, dtype, compiled):
    result, letters = METHODS[name]
    module = context.create_module(name)
    entry = ir.Function(module, entry_type(context, name, dtype), UNLINKED)
    builder = ir.IRBuilder(entry.append_basic_block())
    table, *given, raised = entry.args
    values, words = [_self(context, builder, kind, table)], iter(given)
    for letter in letters:
        word = next(words)
        if letter != WHOLE:
            length = next(words) if letter in MEASURED else _length(context, builder, kind, name, letter)
            word = _array(context, builder, kind_of(letter, dtype), word, length)
        values.append(word)
    method = context.declare_function(module, compiled.fndesc)
    returned, taken = compiled.signature.return_type, compiled.signature.args
    status, answer = context.call_conv.call_function(builder, method, returned, taken, values)
    with cgutils.if_unlikely(builder, status.is_error):
        builder.store(status.excinfoptr, raised)
        builder.ret(builder.insert_value(ir.Constant(entry.function_type.return_type, ir.Undefined), status.code, 0))
    builder.ret(_answer(context, builder, entry.function_type.return_type, returned, result, answer))
    return module


def _answer(context, builder, words, returned, result, answer):
    """An entry's status and result, without failure."""
    values, kinds, wanted = [answer], [returned], [result]
    if isinstance(result, types.BaseTuple):
        values, kinds, wanted = cgutils.unpack_tuple(builder, answer, len(result)), list(returned), list(result)
    packed = builder.insert_value(ir.Constant(words, ir.Undefined), STATUS(0), 0)
    if result is not types.void:
        for i, each in enumerate(zip(values, kinds, wanted), 1):
            packed = builder.insert_value(packed, context.cast(builder, *each), i)
    return packed


def _length(context, builder, kind, name, letter):
    if letter == STREAM:
        return WORD(1)
    if letter == LANES:
        return WORD(max(2, 2 * int(name.rpartition("_")[2]) * kind.game.lane_bits // 64))
    attribute = LENGTHS[letter]
    return context.cast(builder, kind.lower(context, builder, attribute), kind.kinds[attribute], types.intp)


def _array(context, builder, array_kind, place, length):
    array = make_array(array_kind)(context, builder)
    width = WORD(context.get_abi_sizeof(context.get_data_type(array_kind.dtype)))
    populate_array(array, place, shape=[length], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()


def _self(context, builder, kind, table):
    """The game as its methods know it: places of its arrays, or nothing."""
    if not kind.game.kernel_arrays:
        return context.get_dummy_value()
    value = cgutils.create_struct_proxy(kind)(context, builder)
    for slot, name in enumerate(kind.game.kernel_arrays):
        place = load(builder, table, ARRAYS + 2 * slot)
        setattr(value, name, builder.inttoptr(place, getattr(value, name).type))
        setattr(value, f"{name}_size", load(builder, table, ARRAYS + 2 * slot + 1))
    return value._getvalue()


# -- Linked for a game -----------------------------------------------------------------------------------------------


def _link(game, generic, symbol):
    """The library of a method's machine code for one game, named `symbol`."""
    context = cpu_target.target_context
    module = llvm.parse_bitcode(generic.bitcode)
    constants = context.create_module("constants")
    for name, kind in generic.kinds.items():
        value = _constant(context, constants, kind, getattr(game, name))
        place = ir.GlobalVariable(constants, value.type, SYMBOL + name)
        place.global_constant, place.initializer = True, value
    module.link_in(llvm.parse_assembly(str(constants)))
    for name in generic.kinds:
        module.get_global_variable(SYMBOL + name).linkage = "internal"
    for function in module.functions:
        if function.name == UNLINKED:
            function.name = symbol
        elif not function.is_declaration:
            function.linkage = "internal"
    library = context.codegen().create_library(symbol)
    library.enable_object_caching()
    library.add_llvm_module(module)
    library.finalize()
    return library


def _constant(context, module, kind, value):
    if isinstance(kind, types.BaseTuple):
        parts = [_constant(context, module, one, part) for one, part in zip(kind, value)]
        return ir.Constant(context.get_value_type(kind), parts)
    if not isinstance(kind, types.Array):
        return context.get_constant(kind, value.item() if isinstance(value, np.generic) else native(value))
    data = bytearray(value.tobytes())
    words = ir.Constant(ir.ArrayType(ir.IntType(8), len(data)), data)
    place = ir.GlobalVariable(module, words.type, module.get_unique_name("data"))
    place.global_constant, place.initializer, place.linkage, place.align = True, words, "internal", 64
    shape, strides = (
        ir.Constant(ir.ArrayType(WORD, value.ndim), [WORD(n) for n in each]) for each in (value.shape, value.strides)
    )
    nobody = ir.Constant(ir.IntType(8).as_pointer(), None)  # whose references are counted
    pointer = place.bitcast(context.get_data_type(kind.dtype).as_pointer())
    sizes = [WORD(value.size), WORD(value.itemsize)]
    return ir.Constant.literal_struct([nobody, nobody, *sizes, pointer, shape, strides])
