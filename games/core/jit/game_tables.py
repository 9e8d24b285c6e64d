"""Games as tables, so that a kernel is compiled once and serves all games.

A table is an array of words: pointers to compiled methods, numbers, and places of arrays: `game.play(state, move)`
calls a pointer, `game.max_moves` loads a word.  There is one Numba type for each dtype of states.  Only the methods
that a kernel calls, which are kept with its code, are compiled, before it runs.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import config, types
from numba.core import cgutils
from numba.core.callconv import excinfo_ptr_t
from numba.core.errors import NumbaError, TypingError
from numba.core.imputils import lower_builtin, lower_getattr_generic
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, signature
from numba.extending import NativeValue, models, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array
from numba.np.numpy_support import from_dtype

from arena.games.core.jit.compilable import Classes

NUMBER = types.int64
WHOLE = "i"  # what methods take: a whole number, or one of these arrays
STATE, MOVES, CODES, STREAM, PROBABILITIES, LANES, WEIGHTS, LAYOUT = "smcrplwd"
LENGTHS = {STATE: "state_size", MOVES: "max_moves", CODES: "max_moves", PROBABILITIES: "max_moves"}
MEASURED = (WEIGHTS, LAYOUT)  # arrays passed with their length, which the game does not know
WIDTHS = tuple(1 << i for i in range(8))  # vectors of lanes with entries for playouts

# name: (result, arguments besides the game)
METHODS: dict[str, tuple[Any, str]] = {
    "player": (NUMBER, STATE),
    "legal_moves": (NUMBER, STATE + MOVES),
    "play": (types.void, STATE + WHOLE),
    "play_into": (types.void, STATE + WHOLE + STATE),
    "is_over": (types.boolean, STATE),
    "score": (types.float64, STATE),
    "chance": (NUMBER, STATE + MOVES + PROBABILITIES),
    "random_outcome": (NUMBER, STATE + STREAM),
    "evaluate": (types.float64, STATE),
    "move_order": (NUMBER, STATE + WHOLE),
    "move_orders": (types.void, STATE + MOVES + WHOLE + CODES),
    "is_unstable": (types.boolean, STATE + WHOLE),
    "foreseen": (types.Tuple((NUMBER, types.boolean)), STATE),
    "plies_left": (NUMBER, STATE),
    "sound_moves": (NUMBER, STATE + MOVES),
    "move_code": (NUMBER, STATE + WHOLE),
    "feature_code": (NUMBER, STATE + WHOLE),
    "move_codes": (types.void, STATE + MOVES + WHOLE + CODES),
    "feature_codes": (types.void, STATE + MOVES + WHOLE + CODES),
    "bias": (types.float64, STATE + WHOLE),
    "key": (types.uint64, STATE),
    "least_key": (types.Tuple((types.uint64, NUMBER)), STATE + STATE),
    "transform": (types.void, STATE + WHOLE + STATE),
    "transform_move": (NUMBER, WHOLE + WHOLE),
    "random_move": (NUMBER, STATE + MOVES + STREAM),
    "random_step": (NUMBER, STATE + MOVES + STREAM),
    "random_playout": (types.Tuple((types.float64, NUMBER)), STATE + MOVES + STREAM),
    "random_move_tabu": (NUMBER, STATE + MOVES + STREAM),
    "random_step_tabu": (NUMBER, STATE + MOVES + STREAM),
    "network_units": (NUMBER, STATE + WEIGHTS + WEIGHTS + LAYOUT),
    **{f"play_shares_{width}": (types.UniTuple(NUMBER, 4), STATE + WHOLE + WHOLE + LANES) for width in WIDTHS},
    **{f"side_by_side_{width}": (types.Tuple((types.float64, NUMBER)), STATE + LANES) for width in WIDTHS},
}
ELEMENTS: dict[str, types.Type] = {
    MOVES: types.int32,
    CODES: types.int64,
    STREAM: types.uint64,
    PROBABILITIES: types.float64,
    LANES: types.uint64,
    WEIGHTS: types.int32,
    LAYOUT: types.int64,
}
NUMBERS = (
    "state_size", "move_limit", "max_moves", "max_plies", "code_limit", "symmetries", "players", "soonest_win",
    "soonest_loss", "lanes", "lane_bits",
)  # fmt: skip
FLAGS = ("has_chance", "has_draws", "has_tabu_moves", "uniform_playouts", "quick_keys")
# methods that need this attribute to be true; kernels that can call them do not otherwise
CONDITIONAL = {
    "chance": "has_chance",
    "random_outcome": "has_chance",
    "random_move_tabu": "has_tabu_moves",
    "random_step_tabu": "has_tabu_moves",
    "network_units": "has_planes",
    **{f"{entry}_{width}": "lane_bits" for entry in ("play_shares", "side_by_side") for width in WIDTHS},
}
# entry: what makes its function from a game, where it is no method; and the attributes that it depends on
FUNCTIONS: dict[str, tuple[Callable, tuple[str, ...]]] = {}
SLOTS = {name: slot for slot, name in enumerate([*METHODS, *NUMBERS, *FLAGS])}
ARRAYS = len(SLOTS)  # from here on, the place and length of each array

NOT_IN_TABLES = "the table of a game does not have"  # Numba's error says so

WORD = ir.IntType(64)
POINTER = WORD.as_pointer()
STATUS = ir.IntType(32)  # Numba's: 0 if a method returned, else how it failed


class GameTable:
    """What a kernel gets in place of a game."""

    def __init__(self, game):
        self.game, self.type = game, table_type(np.dtype(game.dtype).name)
        self.arrays = {name: getattr(game, name) for name in game.kernel_arrays}  # kept as long as the table
        for name, array in self.arrays.items():
            if (array.dtype, array.ndim, array.flags.c_contiguous) != (game.kernel_arrays[name], 1, True):
                raise TypeError(f"{name} of {game} is not a contiguous array of {np.dtype(game.kernel_arrays[name])}")
        self.words = np.zeros(ARRAYS + 2 * len(self.arrays), np.uint64)
        for name in (*NUMBERS, *FLAGS):
            self.words[SLOTS[name]] = int(getattr(game, name))
        for slot, array in enumerate(self.arrays.values()):
            self.words[ARRAYS + 2 * slot : ARRAYS + 2 * slot + 2] = array.ctypes.data, len(array)
        self.address = self.words.ctypes.data
        self.served: dict[object, int] = {}  # kernel: number of its methods at the last look
        self.change = Classes.change  # of classes: after another change, the words do not hold
        self.ready: set[str] = set()  # methods that the words point to, if the game has them
        self.failed: dict[str, NumbaError] = {}  # of these, those that cannot be compiled

    def is_current(self) -> bool:
        """Whether class and arrays are unchanged; training may replace these."""
        same = (getattr(self.game, name) is array for name, array in self.arrays.items())
        return self.change == Classes.change and all(same)


def table_of(game) -> GameTable:
    """The table of a game, made when it is first asked for."""
    if type(game)._plain:
        type(game).notice_mixins()
    table = vars(game).get("_table")
    if table is None or not table.is_current():
        table = GameTable(game)
        object.__setattr__(game, "_table", table)
    return table


# -- The type in kernels ---------------------------------------------------------------------------------------------


class TableType(types.Opaque):
    """Numba type of all tables for a dtype of states."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        super().__init__(f"Game({dtype})")

    def __reduce__(self):
        return table_type, (self.dtype,)


@functools.cache
def table_type(dtype: str) -> TableType:
    """The one type of a dtype's name."""
    return TableType(dtype)


@register_model(TableType)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager, typ):
        super().__init__(manager, typ, POINTER)


@typeof_impl.register(GameTable)
def _typeof_table(table, context):
    return table.type


@unbox(TableType)
def _unbox_table(typ, obj, c):
    attribute = c.pyapi.object_getattr_string(obj, "address")
    address = c.pyapi.long_as_ulonglong(attribute)
    c.pyapi.decref(attribute)
    return NativeValue(c.builder.inttoptr(address, POINTER))


def kind_of(letter: str, dtype: str) -> Any:
    """Numba's type of a number, or of a contiguous array of one dimension."""
    if letter == WHOLE:
        return NUMBER
    if letter == STATE:
        return types.Array(from_dtype(np.dtype(dtype)), 1, "C")
    return types.Array(ELEMENTS[letter], 1, "C")


def passed(context, letter: str, dtype: str) -> list[ir.Type]:
    """The number passed; or where the array begins, and for some its length."""
    if letter == WHOLE:
        return [WORD]
    place = context.get_data_type(kind_of(letter, dtype).dtype).as_pointer()
    return [place, WORD] if letter in MEASURED else [place]


def entry_type(context, name: str, dtype: str) -> ir.FunctionType:
    """What an entry takes and returns: the table, the method's arguments, and where to leave what was raised; a status
    and the result."""
    result, letters = METHODS[name]
    parts: Any = [] if result is types.void else result if isinstance(result, types.BaseTuple) else [result]
    returned = ir.LiteralStructType([STATUS, *(context.get_value_type(part) for part in parts)])
    words = [word for letter in letters for word in passed(context, letter, dtype)]
    return ir.FunctionType(returned, [POINTER, *words, excinfo_ptr_t.as_pointer()])


def load(builder, table, slot: int):
    """A word of a table, constant while a kernel runs."""
    word = builder.load(builder.gep(table, [WORD(slot)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word


@infer_getattr
class _TableAttributes(AttributeTemplate):
    key = TableType

    def generic_resolve(self, typ, attribute):
        if attribute in METHODS:
            return types.BoundFunction(_template_of(attribute), typ)
        if attribute in NUMBERS:
            return NUMBER
        if attribute in FLAGS:
            return types.boolean
        raise TypingError(f"{NOT_IN_TABLES} {attribute!r}")


@functools.cache
def _template_of(name):
    result, letters = METHODS[name]

    class Method(AbstractTemplate):
        key = f"table.{name}"

        def generic(self, args, kws):
            if kws:
                raise TypingError(f"in a kernel, {name} of a game takes its arguments in order, without names")
            if len(args) != len(letters):
                raise TypingError(f"{name} of a game takes {len(letters)} arguments, and is given {len(args)}")
            for place, (given, letter) in enumerate(zip(args, letters), 1):
                if not _fits(given, letter, self.this.dtype):
                    wanted = kind_of(letter, self.this.dtype)
                    raise TypingError(f"argument {place} of {name} of a game is {given}, where {wanted} is due")
            return signature(result, *map(types.unliteral, args), recvr=self.this)

    return Method


def _fits(given, letter, dtype) -> bool:
    """Whether a method can take this: of arrays only places are passed, so all else must be right."""
    if letter == WHOLE:
        return isinstance(given, (types.Integer, types.Boolean))
    wanted = kind_of(letter, dtype)
    return isinstance(given, types.Array) and (given.dtype, given.ndim, given.layout) == (wanted.dtype, 1, "C")


@lower_getattr_generic(TableType)
def _lower_number(context, builder, typ, value, attribute):
    word = load(builder, value, SLOTS[attribute])
    return word if attribute in NUMBERS else builder.trunc(word, ir.IntType(1))


class Call(NamedTuple):
    """A note that a kernel calls a method.

    Kept with a kernel's code, and run at loading: so calls are known, also those by helpers.
    """

    method: str

    def __call__(self):
        pass


def methods_called(compiled) -> set[str]:
    """The methods that a compiled kernel calls."""
    return {each.method for each in compiled.reload_init if isinstance(each, Call)}


def _lower_call(name):
    """Compile calls of a method as calls of the pointer in its slot."""
    result, letters = METHODS[name]

    @lower_builtin(f"table.{name}", TableType, types.VarArg(types.Any))
    def lower(context, builder, sig, args):
        table, dtype = args[0], sig.args[0].dtype
        given = [table]
        for letter, kind, value in zip(letters, sig.args[1:], args[1:]):
            if letter == WHOLE:
                given.append(context.cast(builder, value, kind, NUMBER))
            else:
                array = make_array(kind)(context, builder, value)
                if config.BOUNDSCHECK and letter in LENGTHS:  # type: ignore[attr-defined]
                    _check_length(context, builder, name, letter, table, array)
                given += [builder.bitcast(array.data, passed(context, letter, dtype)[0]), array.nitems]
                if letter not in MEASURED:
                    given.pop()
        entry = builder.inttoptr(load(builder, table, SLOTS[name]), entry_type(context, name, dtype).as_pointer())
        raised = context.call_conv._get_excinfo_argument(builder.function)
        answer = builder.call(entry, [*given, raised])
        _go_on_if_well(context, builder, builder.extract_value(answer, 0), raised)
        context.active_code_library._reload_init.add(Call(name))
        if result is types.void:
            return context.get_dummy_value()
        if isinstance(result, types.BaseTuple):
            return context.make_tuple(
                builder, result, [builder.extract_value(answer, 1 + i) for i in range(len(result))]
            )
        return builder.extract_value(answer, 1)


def _check_length(context, builder, name, letter, table, array):
    """IndexError in the kernel for an array shorter than the method expects."""
    due = load(builder, table, SLOTS[LENGTHS[letter]])
    with cgutils.if_unlikely(builder, builder.icmp_signed("<", array.nitems, due)):
        text = f"{name} of a game is given an array that is shorter than its {LENGTHS[letter]}"
        context.call_conv.return_user_exc(builder, IndexError, (text,))


def _go_on_if_well(context, builder, code, raised):
    """Return from the kernel where a method failed, as if the kernel had raised."""
    with cgutils.if_unlikely(builder, builder.icmp_signed("!=", code, STATUS(0))):
        status = context.call_conv._get_return_status(builder, code, builder.load(raised))
        context.call_conv.return_status_propagate(builder, status)


for _name in METHODS:
    _lower_call(_name)


def call_of(entry: str, parameters: str, given: str) -> Callable:
    """A function for kernels with a table: calls `entry` with those parameters that are `given`."""
    scope: dict[str, Callable] = {}
    exec(f"def implementation({parameters}):\n    return game.{entry}({given})", scope)
    return scope["implementation"]
