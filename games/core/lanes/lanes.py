"""Lanes: words side by side, on which every operation is done at once.

In a kernel, lanes are one LLVM vector; in plain Python, an array of NumPy's.  & | ^ ~ + - * << >> and comparisons take
lanes, and numbers for every lane.  Words are unsigned and wrap; shifts are by less than their bits.  Comparisons give
masks, for & | ^ ~.  No lane branches: use `choose`, and `is_any` to end a loop.  `popcount`, `nth_bit` and
`random_below` take lanes, too.
"""

import functools
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model
from numba.np.arrayobj import make_array

from arena.games.core.jit import Compilable
from arena.games.core.jit.parts import processor_features
from arena.games.core.numbers.bits import nth_bit, popcount
from arena.games.core.random import next_word, random_below

FEW = 16  # up to so many narrow lanes, the n-th bit of each is found one after another

# The bits of all lanes of a game, on every processor: so results are the same everywhere.  A processor works on some
# registers at a time, as steps wait for each other.
WIDE = 2048

# operation: NumPy's function, LLVM's instruction or symbol of a comparison
ARITHMETIC = {
    operator.add: (np.add, "add"),
    operator.sub: (np.subtract, "sub"),
    operator.mul: (np.multiply, "mul"),
    operator.lshift: (np.left_shift, "shl"),
    operator.rshift: (np.right_shift, "lshr"),
}
LOGIC = {
    operator.and_: (np.bitwise_and, "and_"),
    operator.or_: (np.bitwise_or, "or_"),
    operator.xor: (np.bitwise_xor, "xor"),
}
COMPARISONS = {
    operator.eq: (np.equal, "=="),
    operator.ne: (np.not_equal, "!="),
    operator.lt: (np.less, "<"),
    operator.le: (np.less_equal, "<="),
    operator.gt: (np.greater, ">"),
    operator.ge: (np.greater_equal, ">="),
}


@dataclass(frozen=True)
class Width(Compilable):
    """The number of lanes, a power of two, and the bits of each: 16, 32 or 64."""

    count: int
    bits: int

    @property
    def words(self) -> int:
        return max(1, self.count * self.bits // 64)


@functools.cache
def register_bits() -> int:
    """The bits of a register of the processor."""
    features = processor_features()
    return 512 if {"avx512bw", "avx512dq"} <= features else 256 if "avx2" in features else 128


def vector_bits(registers: tuple[int, int]) -> int:
    """The bits that a processor works on at a time; registers: `Game.lane_registers`."""
    return registers[0 if register_bits() == 512 else 1] * register_bits()


class LaneStream(NamedTuple):
    """A generator for each 64 bits of lanes: xoroshiro128++ (Blackman & Vigna, "Scrambled linear pseudorandom number
    generators", 2021), which needs no multiplication of 64 bits, missing in AVX2."""

    width: Width
    state: np.ndarray  # uint64[2 * width.words]: the first words of all generators, then the second

    def next_lanes(self) -> "Lanes":
        """Random bits in every lane; changes the state."""
        first, second = self.state.reshape(2, -1)
        total = first + second
        drawn = (total << np.uint64(17) | total >> np.uint64(47)) + first
        second = first ^ second
        turned = first << np.uint64(49) | first >> np.uint64(15)
        self.state[:] = [
            *(turned ^ second ^ second << np.uint64(21)),
            *(second << np.uint64(28) | second >> np.uint64(36)),
        ]
        return Lanes(drawn.view(f"uint{self.width.bits}")[: self.width.count])

    def below(self, bound) -> "Lanes":
        """random_below by multiply and shift of n = min(32, bits) bits; bias under bound / 2**n."""
        word, n = self.next_lanes(), min(32, self.width.bits)
        random_bits = word.words.astype(np.uint64) >> np.uint64(self.width.bits - n)
        return Lanes((random_bits * word.lifted(bound) >> np.uint64(n)).astype(word.dtype))


class LaneStreams(NamedTuple):
    """The generators of all lanes of a game; a kernel uses one vector at a time."""

    width: Width  # of a vector
    states: np.ndarray  # uint64[vectors, 2 * width.words], a LaneStream in each row


def lane_streams(lanes: int, bits: int, rng: np.ndarray, most: int) -> LaneStreams:
    """Generators seeded by `rng`, uint64[1], in vectors of up to `most` bits."""
    width = Width(min(lanes, most // bits), bits)
    return LaneStreams(width, np.array([seeded(width.words, rng) for _ in range(lanes // width.count)]))


def seeded(words: int, rng: np.ndarray) -> np.ndarray:
    """The state of a LaneStream of that many words."""
    return np.array([[next_word(rng), next_word(rng)] for _ in range(words)], np.uint64).T.ravel()


def streams_of(game, rng: np.ndarray) -> LaneStreams:
    """Generators for all lanes of a game, in the vectors that are quickest on this processor."""
    return lane_streams(game.lanes, game.lane_bits, rng, vector_bits(game.lane_registers))


def narrowest(size: int) -> int:
    """The bits, 32 or 64, of the narrowest lanes for words of `size` bits; 0 if these are larger.

    Numbers of 16 bits are drawn with a bias, so such lanes are for small bounds.
    """
    return 32 if size <= 32 else 64 if size <= 64 else 0


# -- Plain Python ------------------------------------------------------------------------------------------------------


class Lanes:
    """uint16, uint32 or uint64[count]; or a mask: bool[count] and `dtype`, of words it is for."""

    __array_ufunc__ = None  # NumPy's numbers leave operations to these methods

    def __init__(self, words: np.ndarray, dtype: np.dtype | None = None):
        self.words, self.dtype = words, dtype or words.dtype

    def lifted(self, other) -> np.ndarray:
        """The words of other lanes, or a number in every lane, cut to width."""
        if not isinstance(other, Lanes):
            value = int(other) & (1 << 8 * self.words.dtype.itemsize) - 1
            return np.full(len(self.words), value, self.words.dtype)
        if (other.words.dtype, other.dtype) != (self.words.dtype, self.dtype):
            raise TypeError(f"lanes of {self.words.dtype} and of {other.words.dtype} do not mix")
        return other.words

    def popcount(self):
        return Lanes(np.bitwise_count(self.words).astype(self.dtype))

    def nth_bit(self, n):
        words = [nth_bit(word, k) if k < popcount(word) else 0 for word, k in zip(self.words, self.lifted(n))]
        return Lanes(np.array(words, self.dtype))

    def __invert__(self):
        return Lanes(~self.words, self.dtype)

    def __bool__(self):
        raise TypeError("lanes are many: use choose or is_any")


def _define_operators():
    def method(function, swapped=False):
        def operate(self, other):
            words = self.lifted(other)
            return Lanes(function(words, self.words) if swapped else function(self.words, words), self.dtype)

        return operate

    for operation, (function, _) in (ARITHMETIC | LOGIC | COMPARISONS).items():
        name = operation.__name__.strip("_")
        setattr(Lanes, f"__{name}__", method(function))
        setattr(Lanes, f"__r{name}__", method(function, swapped=True))


_define_operators()


def zero_lanes(width) -> Lanes:
    """0 in every lane."""
    return Lanes(np.zeros(width.count, f"uint{width.bits}"))


def lane_numbers(like):
    """0, 1, 2, ... for the lanes of `like`."""
    return Lanes(np.arange(len(like.words), dtype=like.dtype))


def choose(condition, first, second):
    """`first` where the condition holds, else `second`, both computed: between lanes and numbers by a mask, tuples item
    by item, or two numbers by a truth value."""
    if isinstance(first, tuple):
        return tuple(choose(condition, one, other) for one, other in zip(first, second, strict=True))
    if not isinstance(condition, Lanes):
        return first if condition else second
    like = next((x for x in (first, second) if isinstance(x, Lanes)), Lanes(condition.words.astype(condition.dtype)))
    return Lanes(np.where(condition.words, like.lifted(first), like.lifted(second)), like.dtype)


def is_any(mask) -> bool:
    """Whether the mask holds in any lane."""
    return bool(mask.words.any())


def is_positive(lanes):
    """The mask of lanes above 0 as signed numbers."""
    return Lanes(lanes.words.view(f"int{8 * lanes.dtype.itemsize}") > 0, lanes.dtype)


def total(lanes) -> int:
    """The sum over all lanes, as signed numbers (int64)."""
    return int(lanes.words.view(f"int{8 * lanes.dtype.itemsize}").sum(dtype=np.int64))


def largest(lanes) -> int:
    """The largest lane, as signed numbers (int64)."""
    return int(lanes.words.view(f"int{8 * lanes.dtype.itemsize}").max())


# -- In kernels --------------------------------------------------------------------------------------------------------


class LanesType(types.Type):
    """Words side by side, as an array of vectors, each of which fills a register.

    LLVM would split a longer vector, but not its masks, which it would pack and unpack at every use.
    """

    def __init__(self, count, bits):
        self.count, self.bits = count, bits
        self.each = min(count, register_bits() // bits)
        super().__init__(f"lanes({count} x {bits})")

    @property
    def vectors(self):
        return self.count // self.each

    @property
    def vector(self):
        return ir.VectorType(ir.IntType(self.bits), self.each)

    def constant(self, value):
        """The number in every lane of a vector."""
        return ir.Constant(self.vector, [value & (1 << self.bits) - 1] * self.each)


class MaskType(LanesType):
    """Truth values for lanes of `bits` bits."""

    def __init__(self, count, bits):
        super().__init__(count, bits)
        self.name = f"mask({count} x {bits})"

    @property
    def vector(self):
        return ir.VectorType(ir.IntType(1), self.each)


@register_model(LanesType)
@register_model(MaskType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, ir.ArrayType(kind.vector, kind.vectors))


def _split(builder, lanes):
    """The vectors of lanes."""
    return [builder.extract_value(lanes, i) for i in range(lanes.type.count)]


def _join(builder, vectors):
    """Lanes of vectors."""
    lanes = ir.Constant(ir.ArrayType(vectors[0].type, len(vectors)), ir.Undefined)
    for i, vector in enumerate(vectors):
        lanes = builder.insert_value(lanes, vector, i)
    return lanes


def _each(builder, instruction, *lanes):
    """Lanes of what the instruction makes of each vector."""
    return _join(builder, [instruction(*vectors) for vectors in zip(*(_split(builder, one) for one in lanes))])


NUMBERS = (types.Integer, types.Boolean)


def _joined(*kinds):
    """The type of all operands but numbers; None if they differ."""
    lanes = {kind for kind in kinds if isinstance(kind, LanesType)}
    rest = [kind for kind in kinds if not isinstance(kind, (LanesType, *NUMBERS))]
    return lanes.pop() if len(lanes) == 1 and not rest else None


def _lift(builder, value, kind, target):
    """Lanes of the type `target`; a number is cut or extended."""
    if isinstance(kind, LanesType):
        return value
    word = target.vector.element
    if value.type.width > word.width:
        value = builder.trunc(value, word)
    elif value.type.width < word.width:
        signed = isinstance(kind, types.Integer) and kind.signed
        value = builder.sext(value, word) if signed else builder.zext(value, word)
    undefined, places = ir.Constant(target.vector, ir.Undefined), ir.VectorType(ir.IntType(32), target.each)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    return _join(
        builder, [builder.shuffle_vector(first, undefined, ir.Constant(places, [0] * target.each))] * target.vectors
    )


def _call(builder, name, result, *args):
    suffix = f"v{args[0].type.count}i{args[0].type.element.width}"
    function_type = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}.{suffix}", (), function_type), args)


def _type_by(key, typer):
    class Template(AbstractTemplate):
        def generic(self, args, kws):
            result = typer(*args)
            return None if result is None else signature(result, *args)

    Template.key = key
    infer_global(key)(Template)


def _compile_operator(operation, typer, instruction):
    """Let kernels apply an operator to lanes by instruction(builder, vector, vector)."""

    def lower(context, builder, sig, args):
        target = _joined(*sig.args)
        lanes = (_lift(builder, value, kind, target) for value, kind in zip(args, sig.args))
        return _each(builder, functools.partial(instruction, builder), *lanes)

    def typed(*kinds):
        target = _joined(*kinds)
        return None if target is None else typer(target)

    _type_by(operation, typed)
    in_place = getattr(operator, f"i{operation.__name__.strip('_')}", None)
    if in_place:
        _type_by(in_place, typed)
    for pair in [(LanesType, LanesType), *((LanesType, kind) for kind in NUMBERS), *((k, LanesType) for k in NUMBERS)]:
        lower_builtin(operation, *pair)(lower)


def _compile_operators():
    def instruction(name):
        return lambda builder, x, y: getattr(builder, name)(x, y)

    def comparison(symbol):
        return lambda builder, x, y: builder.icmp_unsigned(symbol, x, y)

    for operation, (_, name) in LOGIC.items():
        _compile_operator(operation, lambda kind: kind, instruction(name))
    for operation, (_, name) in ARITHMETIC.items():
        _compile_operator(operation, _words_only, instruction(name))
    for operation, (_, symbol) in COMPARISONS.items():
        _compile_operator(
            operation, lambda kind: _words_only(kind) and MaskType(kind.count, kind.bits), comparison(symbol)
        )


def _words_only(kind):
    return None if isinstance(kind, MaskType) else kind


_compile_operators()


def _compiled(function, *kinds):
    """Decorator: let kernels call a plain function on lanes.

    From the types of arguments, the decorated function gives the result's and code(context, builder, signature,
    *arguments), or None.  `kinds` are types to look the code up by, where Numba knows the function for its own.
    """

    def register(implementation):
        def typer(*args):
            found = implementation(*args)
            return found and found[0]

        def lower(context, builder, sig, args):
            return implementation(*sig.args)[1](context, builder, sig, *args)

        _type_by(function, typer)
        lower_builtin(function, *(kinds or (types.VarArg(types.Any),)))(lower)
        return implementation

    return register


@_compiled(operator.invert, LanesType)
def _invert(kind):
    if isinstance(kind, LanesType):
        return kind, lambda context, builder, sig, x: _each(builder, builder.not_, x)
    return None


@_compiled(popcount)
def _popcount(kind):
    if isinstance(kind, LanesType):
        return kind, lambda context, builder, sig, x: _each(
            builder, lambda one: _call(builder, "ctpop", one.type, one), x
        )
    return None


@_compiled(nth_bit)
def _nth_bit(kind, n):
    """Find the bit by halves; or one lane after another where that is faster, as halves wait for each other."""

    def code(context, builder, sig, word, n):
        return _each(builder, functools.partial(found, builder), word, _lift(builder, n, sig.args[1], kind))

    def found(builder, word, n):
        half = kind.bits // 2
        if (kind.bits == 64 or kind.count <= FEW) and "bmi2" in processor_features():
            return _deposited(builder, word, builder.shl(kind.constant(1), n))
        while half > 0:
            lower = sum((1 << half) - 1 << start for start in range(0, kind.bits, 2 * half))
            low = builder.and_(word, kind.constant(lower))
            count = _call(builder, "ctpop", low.type, low)
            is_low = builder.icmp_unsigned("<", n, count)
            word = builder.select(is_low, low, builder.xor(word, low))
            n = builder.select(is_low, n, builder.sub(n, count))
            half //= 2
        return word

    return (kind, code) if isinstance(kind, LanesType) else None


def _deposited(builder, word, bit):
    wide = ir.IntType(64)
    deposit = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), ir.FunctionType(wide, [wide, wide]))
    found = ir.Constant(word.type, ir.Undefined)
    for i in range(word.type.count):
        lane = ir.Constant(ir.IntType(32), i)
        source, mask = (builder.extract_element(vector, lane) for vector in (bit, word))
        if word.type.element.width < 64:
            source, mask = builder.zext(source, wide), builder.zext(mask, wide)
        result = builder.call(deposit, [source, mask])
        result = result if word.type.element.width == 64 else builder.trunc(result, word.type.element)
        found = builder.insert_element(found, result, lane)
    return found


@_compiled(zero_lanes)
def _zero_lanes(width):
    kind = LanesType(width.game.count, width.game.bits)

    def code(context, builder, sig, width):
        _align_stack(builder)
        return _join(builder, [kind.constant(0)] * kind.vectors)

    return kind, code


def _align_stack(builder):
    """Have the function's stack begin at a cache line: vectors that leave registers would else lie across two.

    LLVM aligns it for a variable that asks for that and is used; no instruction is made of the use.
    """
    room = cgutils.alloca_once(builder, ir.IntType(64))
    room.align = 64
    builder.asm(ir.FunctionType(ir.VoidType(), [room.type]), "", "r", [room], side_effect=True)


@_compiled(lane_numbers)
def _lane_numbers(kind):
    numbers = [ir.Constant(kind.vector, list(range(i, i + kind.each))) for i in range(0, kind.count, kind.each)]
    return kind, lambda context, builder, sig, like: _join(builder, numbers)


@_compiled(choose)
def _choose(condition, first, second):
    kind = _chosen(condition, first, second)
    return kind and (kind, _select)


def _chosen(condition, first, second):
    if isinstance(first, types.BaseTuple) and isinstance(second, types.BaseTuple):
        items = [_chosen(condition, one, other) for one, other in zip(first.types, second.types, strict=True)]
        return None if None in items else types.BaseTuple.from_types(items)
    if isinstance(condition, MaskType):
        like = next((kind for kind in (first, second) if isinstance(kind, LanesType)), None)
        return _joined(like or LanesType(condition.count, condition.bits), first, second)
    if isinstance(condition, types.Boolean):
        given = [types.unliteral(kind) for kind in (first, second) if not isinstance(kind, types.Literal)]
        given = given or [types.unliteral(first)]
        return given[0] if given[-1] == given[0] else None
    return None


def _select(context, builder, sig, condition, first, second):
    kind = sig.return_type
    if isinstance(kind, types.BaseTuple):
        parts = []
        for i, item in enumerate(kind.types):
            inner = signature(item, sig.args[0], sig.args[1].types[i], sig.args[2].types[i])
            values = builder.extract_value(first, i), builder.extract_value(second, i)
            parts.append(_select(context, builder, inner, condition, *values))
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, LanesType):
        values = [_lift(builder, value, given, kind) for value, given in zip((first, second), sig.args[1:])]
    else:
        values = [context.cast(builder, value, given, kind) for value, given in zip((first, second), sig.args[1:])]
    if isinstance(sig.args[0], MaskType):
        return _each(builder, builder.select, condition, *values)
    return builder.select(condition, *values)


@_compiled(is_any)
def _is_any(mask):
    word = ir.IntType(mask.each)

    def code(context, builder, sig, x):
        return builder.icmp_unsigned(
            "!=", builder.bitcast(functools.reduce(builder.or_, _split(builder, x)), word), word(0)
        )

    return types.boolean, code


@_compiled(is_positive)
def _is_positive(kind):
    def code(context, builder, sig, x):
        return _each(builder, lambda one: builder.icmp_signed(">", one, kind.constant(0)), x)

    return MaskType(kind.count, kind.bits), code


@_compiled(total)
def _total(kind):
    def code(context, builder, sig, x):
        wide = ir.VectorType(ir.IntType(64), kind.each)
        vectors = [one if kind.bits == 64 else builder.sext(one, wide) for one in _split(builder, x)]
        return _call(builder, "vector.reduce.add", ir.IntType(64), functools.reduce(builder.add, vectors))

    return types.int64, code


@_compiled(largest)
def _largest(kind):
    def code(context, builder, sig, x):
        larger = functools.partial(_call, builder, "smax", kind.vector)
        most = _call(builder, "vector.reduce.smax", kind.vector.element, functools.reduce(larger, _split(builder, x)))
        return most if kind.bits == 64 else builder.sext(most, ir.IntType(64))

    return types.int64, code


@_compiled(next_word)
def _next_word(rng):
    kind = _stream_lanes(rng)
    return kind and (kind, lambda context, builder, sig, rng: _draw(context, builder, sig.args[0], rng))


@_compiled(random_below)
def _random_below(rng, bound):
    """Draw as LaneStream.below; for 64-bit lanes, LLVM sees that both factors have 32 bits."""
    kind = _stream_lanes(rng)

    def code(context, builder, sig, rng, bound):
        drawn, bounds = _draw(context, builder, sig.args[0], rng), _lift(builder, bound, sig.args[1], kind)
        return _each(builder, functools.partial(below, builder), drawn, bounds)

    def below(builder, word, bound):
        if kind.bits == 64:
            low = kind.constant((1 << 32) - 1)
            product = builder.mul(builder.lshr(word, kind.constant(32)), builder.and_(bound, low))
            return builder.lshr(product, kind.constant(32))
        wide = ir.VectorType(ir.IntType(2 * kind.bits), kind.each)
        product = builder.mul(builder.zext(word, wide), builder.zext(bound, wide))
        return builder.trunc(builder.lshr(product, ir.Constant(wide, [kind.bits] * kind.each)), kind.vector)

    return kind and (kind, code)


def _stream_lanes(rng):
    if isinstance(rng, types.NamedTuple) and rng.instance_class is LaneStream:
        return LanesType(rng.types[0].game.count, rng.types[0].game.bits)
    return None


def _draw(context, builder, stream, rng):
    array = make_array(stream.types[1])(context, builder, builder.extract_value(rng, 1))
    kind, words = _stream_lanes(stream), stream.types[0].game.words
    each = words // kind.vectors
    return _join(builder, [_draw_vector(builder, kind, array.data, (i, words + i)) for i in range(0, words, each)])


def _draw_vector(builder, kind, data, places):
    """The next words of generators for a vector, whose states are at these places of the data."""
    word = ir.VectorType(ir.IntType(64), max(1, kind.each * kind.bits // 64))
    pointers = [builder.bitcast(builder.gep(data, [ir.IntType(64)(i)]), word.as_pointer()) for i in places]
    first, second = (builder.load(pointer, align=8) for pointer in pointers)

    def by(distance):
        return ir.Constant(word, [distance] * word.count)

    def turned(vector, distance):
        return builder.or_(builder.shl(vector, by(distance)), builder.lshr(vector, by(64 - distance)))

    drawn = builder.add(turned(builder.add(first, second), 17), first)
    second = builder.xor(first, second)
    builder.store(
        builder.xor(builder.xor(turned(first, 49), second), builder.shl(second, by(21))), pointers[0], align=8
    )
    builder.store(turned(second, 28), pointers[1], align=8)
    lanes = builder.bitcast(drawn, ir.VectorType(ir.IntType(kind.bits), 64 * word.count // kind.bits))
    if lanes.type.count == kind.each:
        return lanes
    chosen = ir.Constant(ir.VectorType(ir.IntType(32), kind.each), list(range(kind.each)))
    return builder.shuffle_vector(lanes, lanes, chosen)
