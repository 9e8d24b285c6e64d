"""Selection by UCB1, several children at a time.

A processor divides eight numbers in the time of one, and mispredicts no code without branches.  In a kernel
`largest_bound` is a loop over vectors of LANES children; outside it is the plain loop, with the same result to the last
bit.
"""

from math import sqrt

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from arena.games.core.jit import helper
from arena.games.core.numbers.elementary import log, logs

LANES = 8  # children in a vector; 16, of 512 bits, are slower for few children, and no faster for many
PLACES = LANES - 1  # the lowest bits of a key
SPARE = LANES  # rows beyond the length of an array of nodes: a vector may begin at any node
LOGS = np.concatenate([np.zeros(1), logs(np.arange(1, 1 << 12))])  # by visits; most nodes have fewer
ROOTS = np.sqrt(LOGS).astype(np.float32)
UNVISITED = np.float32(1e30)  # instead of the mean

_INT, _INDEX, _FLOAT = ir.IntType(32), ir.IntType(64), ir.FloatType()
_INTS, _FLOATS = ir.VectorType(_INT, LANES), ir.VectorType(_FLOAT, LANES)
_ONES = _FLOATS([1.0] * LANES)


@helper
def log_of(visits):
    """ln max(visits, 1)."""
    return LOGS[np.uint64(visits)] if visits < len(LOGS) else log(visits)


@helper
def root_of_log(visits):
    """sqrt(ln max(visits, 1)), float32."""
    return ROOTS[np.uint64(visits)] if visits < len(ROOTS) else np.float32(sqrt(log(visits)))


def new_bounds(room):
    """float32[room, 2]: mean and 1 / sqrt(visits) of nodes, with SPARE rows of memory beyond its length."""
    return np.empty((room + SPARE, 2), np.float32)[:room]


def largest_bound(bounds, first, count, scale):
    """The first node of the largest bound among `count` from `first`, to 20 bits: nodes without visits come first.

    The bound is mean + scale / sqrt(visits), in single precision.  bounds: float32[, 2] of `new_bounds`, 0 or more;
    scale: float32, 0 or more.
    """
    best, most = first, -1
    for node in range(first, first + count):
        key = key_of(bounds[node, 0] + np.float32(scale) * bounds[node, 1])
        if key > most:
            best, most = node, key
    return best


def key_of(bound):
    """A bound, not negative, as an integer of the same order, without its three lowest bits."""
    return int(bound.view(np.int32)) & ~PLACES


@overload(largest_bound)
def _largest_bound(bounds, first, count, scale):
    return lambda bounds, first, count, scale: first + _place(bounds, first, count, np.float32(scale))


@intrinsic
def _place(typing_context, bounds, first, count, scale):
    rows = ir.VectorType(_FLOAT, 2 * LANES)

    def codegen(context, builder, sig, args):
        scales = _all(builder, args[3], _FLOATS)

        def bound_at(node):
            words = _load(context, builder, sig.args[0], args[0], node, rows)
            mean, root = (_every(builder, words, rows, 2, column) for column in (0, 1))
            return builder.fadd(mean, builder.fmul(scales, root))

        return _scan(context, builder, sig.args[1:3], args[1:3], bound_at)

    return types.int64(bounds, first, count, types.float32), codegen


def largest_bound_in_flight(counts, first, count, scale, weight, wu):
    """`largest_bound` in a shared tree: a simulation in flight is `weight` visits of 0, or with `wu` outside the mean.

    counts: int64[, 2], with SPARE rows of memory beyond its length: simulations begun, and a word with the finished
        ones in its lower half and twice their reward in the upper.  scale and weight are float32
    """
    best, most = first, -1
    for node in range(first, first + count):
        begun, done = counts[node, 0], counts[node, 1]
        visits = np.float32(done & 0xFFFFFFFF)
        counted, bound = visits + weight * (np.float32(begun) - visits), UNVISITED
        if counted > 0.0:
            share = np.float32(1.0) / (max(visits, np.float32(1.0)) if wu else counted)
            mean = np.float32(0.5) * np.float32(done >> 32) * share
            bound = mean + np.float32(scale) * np.float32(sqrt(np.float32(1.0) / counted))
        if key_of(bound) > most:
            best, most = node, key_of(bound)
    return best


@overload(largest_bound_in_flight)
def _largest_bound_in_flight(counts, first, count, scale, weight, wu):
    def compiled(counts, first, count, scale, weight, wu):
        return first + _place_in_flight(counts, first, count, np.float32(scale), np.float32(weight), wu)

    return compiled


@intrinsic
def _place_in_flight(typing_context, counts, first, count, scale, weight, wu):
    """A row is four halves of words: begun, empty, finished, twice the reward."""
    rows = ir.VectorType(_INT, 4 * LANES)

    def codegen(context, builder, sig, args):
        scales, weights = _all(builder, args[3], _FLOATS), _all(builder, args[4], _FLOATS)
        widened = context.cast(builder, args[5], sig.args[5], types.boolean)

        def bound_at(node):
            words = _load(context, builder, sig.args[0], args[0], node, rows)
            begun, visits, reward = (
                builder.sitofp(_every(builder, words, rows, 4, half), _FLOATS) for half in (0, 2, 3)
            )
            counted = builder.fadd(visits, builder.fmul(weights, builder.fsub(begun, visits)))
            one = builder.fcmp_ordered(">", visits, _ONES)
            divisor = builder.select(widened, builder.select(one, visits, _ONES), counted)
            mean = builder.fmul(builder.fmul(_FLOATS([0.5] * LANES), reward), builder.fdiv(_ONES, divisor))
            width = builder.fmul(scales, _root(builder, builder.fdiv(_ONES, counted)))
            seen = builder.fcmp_ordered(">", counted, _FLOATS([0.0] * LANES))
            return builder.select(seen, builder.fadd(mean, width), _FLOATS([float(UNVISITED)] * LANES))

        return _scan(context, builder, sig.args[1:3], args[1:3], bound_at)

    return types.int64(counts, first, count, types.float32, types.float32, wu), codegen


def _scan(context, builder, kinds, limits, bound_at):
    """The index, from 0, of the first greatest bound but for its three lowest bits; limits: first node, their number.

    These bits hold 7 less the place in the vector: the greatest word tells its place without a comparison, a mask and
    a count of zeros behind the maximum.
    """
    begin, last = (context.cast(builder, limit, kind, types.int64) for limit, kind in zip(limits, kinds))
    best, found = (cgutils.alloca_once_value(builder, one) for one in (_INT(-1), _INDEX(0)))
    with cgutils.for_range_slice(builder, _INDEX(0), last, _INDEX(LANES), _INDEX) as (done, _):
        left = _all(builder, builder.trunc(builder.sub(last, done), _INT), _INTS)
        inside = builder.icmp_signed("<", _INTS(list(range(LANES))), left)
        word = builder.and_(builder.bitcast(bound_at(builder.add(begin, done)), _INTS), _INTS([~PLACES] * LANES))
        word = builder.or_(word, _INTS(list(range(PLACES, -1, -1))))
        word = _most(builder, builder.select(inside, word, _INTS([-1] * LANES)))
        place = builder.xor(builder.and_(word, _INT(PLACES)), _INT(PLACES))
        key = builder.and_(word, _INT(~PLACES))
        better = builder.icmp_signed(">", key, builder.load(best))
        place = builder.add(done, builder.zext(place, _INDEX))
        builder.store(builder.select(better, place, builder.load(found)), found)
        builder.store(builder.select(better, key, builder.load(best)), best)
    return builder.load(found)


def _every(builder, words, vector, step, begin):
    """Each step-th element of a vector, from `begin` on."""
    return builder.shuffle_vector(words, vector(ir.Undefined), _INTS([step * i + begin for i in range(LANES)]))


def _root(builder, value):
    kind = ir.FunctionType(_FLOATS, [_FLOATS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32"), [value])


def _load(context, builder, array_type, array, row, vector):
    """A vector of an array's elements from a row on, which is a pair."""
    pointer = builder.gep(arrayobj.make_array(array_type)(context, builder, array).data, [builder.shl(row, _INDEX(1))])
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=array_type.dtype.bitwidth // 8)


def _all(builder, value, vector):
    one = builder.insert_element(vector(ir.Undefined), value, _INT(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), _INTS([0] * LANES))


def _most(builder, key):
    half = LANES // 2
    while half:
        other = builder.shuffle_vector(key, _INTS(ir.Undefined), _INTS([(i + half) % LANES for i in range(LANES)]))
        key = builder.select(builder.icmp_signed(">", key, other), key, other)
        half //= 2
    return builder.extract_element(key, _INT(0))


def prefetch(array, index):
    """Start to load the cache line of array[index]; does nothing outside kernels."""


@overload(prefetch)
def _prefetch(array, index):
    return lambda array, index: _prefetch_instruction(array, index)


@intrinsic
def _prefetch_instruction(typing_context, array, index):

    def codegen(context, builder, sig, args):
        index = context.cast(builder, args[1], sig.args[1], types.int64)
        pointer = builder.gep(arrayobj.make_array(sig.args[0])(context, builder, args[0]).data, [index])
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INT, _INT, _INT])
        instruction = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(instruction, [builder.bitcast(pointer, byte), _INT(0), _INT(3), _INT(1)])  # to read, often, data
        return context.get_dummy_value()

    return types.void(array, index), codegen
