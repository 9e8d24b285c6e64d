"""Selection by UCB1, several children at a time.

A processor divides eight numbers in the time of one, and mispredicts no code without branches.  In a kernel
`largest_bound` is a loop over vectors of LANES children; outside it is the plain loop, with the same result to the last
bit.
"""

from math import log, sqrt

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from arena.games.core.jit import helper

LANES = 8  # 16, of 512 bits, are slower for few children, and no faster for many
SPARE = LANES  # rows beyond the length of an array of nodes: a vector may begin at any node
LOGS = np.array([0.0, *map(log, range(1, 1 << 12))])  # by visits; most nodes have fewer

_INT, _INDEX, _FLOAT, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
_INTS, _FLOATS, _DOUBLES = (ir.VectorType(scalar, LANES) for scalar in (_INT, _FLOAT, _DOUBLE))
_ONES = _FLOATS([1.0] * LANES)
_LEAST, _MOST = -(2**31), 2**31 - 1  # keys: beyond the last node, and without visits


@helper
def log_of(visits):
    """ln max(visits, 1)."""
    return LOGS[np.uint64(visits)] if visits < len(LOGS) else log(visits)


def largest_bound(visits, value, first, count, scale):
    """The first node without visits among `count` from `first`; else the first of the largest bound.

    The bound is value / visits + sqrt(scale / visits), in single precision.  visits: int32[] and value: float64[], both
    with SPARE rows of memory beyond their length; scale: float32, 0 or more.
    """
    best, best_bound = first, np.float32(-1.0)
    for node in range(first, first + count):
        if visits[node] == 0:
            return node
        share = np.float32(1.0) / np.float32(visits[node])
        bound = np.float32(value[node]) * share + np.float32(sqrt(np.float32(scale) * share))
        if bound > best_bound:
            best, best_bound = node, bound
    return best


@overload(largest_bound)
def _largest_bound(visits, value, first, count, scale):
    return lambda visits, value, first, count, scale: first + _place(visits, value, first, count, np.float32(scale))


@intrinsic
def _place(typing_context, visits, value, first, count, scale):

    def codegen(context, builder, sig, args):
        scales = _all(builder, args[4], _FLOATS)

        def key_at(node):
            seen = _load(context, builder, sig.args[0], args[0], node, _INTS)
            total = _load(context, builder, sig.args[1], args[1], node, _DOUBLES)
            share = builder.fdiv(_ONES, builder.sitofp(seen, _FLOATS))
            mean = builder.fmul(builder.fptrunc(total, _FLOATS), share)
            bound = builder.fadd(mean, _root(builder, builder.fmul(scales, share)))
            return _key(builder, bound, builder.icmp_signed("==", seen, _INTS([0] * LANES)))

        return _scan(context, builder, sig.args[2:4], args[2:4], key_at)

    return types.int64(visits, value, first, count, types.float32), codegen


def largest_bound_in_flight(counts, first, count, scale, weight, wu):
    """`largest_bound` in a shared tree: a simulation in flight is `weight` visits of 0, or with `wu` outside the mean.

    counts: int64[, 2], with SPARE rows of memory beyond its length: simulations begun, and a word with the finished
        ones in its lower half and twice their reward in the upper.  scale and weight are float32
    """
    best, best_bound = first, np.float32(-1.0)
    for node in range(first, first + count):
        begun, done = counts[node, 0], counts[node, 1]
        visits = np.float32(done & 0xFFFFFFFF)
        counted = visits + weight * (np.float32(begun) - visits)
        if counted <= 0.0:
            return node
        share = np.float32(1.0) / (max(visits, np.float32(1.0)) if wu else counted)
        mean = np.float32(0.5) * np.float32(done >> 32) * share
        bound = mean + np.float32(sqrt(np.float32(scale) * (np.float32(1.0) / counted)))
        if bound > best_bound:
            best, best_bound = node, bound
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

        def key_at(node):
            words = _load(context, builder, sig.args[0], args[0], node, rows)
            begun, visits, reward = (
                builder.sitofp(
                    builder.shuffle_vector(words, rows(ir.Undefined), _INTS([4 * i + half for i in range(LANES)])),
                    _FLOATS,
                )
                for half in (0, 2, 3)
            )
            counted = builder.fadd(visits, builder.fmul(weights, builder.fsub(begun, visits)))
            one = builder.fcmp_ordered(">", visits, _ONES)
            divisor = builder.select(widened, builder.select(one, visits, _ONES), counted)
            mean = builder.fmul(builder.fmul(_FLOATS([0.5] * LANES), reward), builder.fdiv(_ONES, divisor))
            width = _root(builder, builder.fmul(scales, builder.fdiv(_ONES, counted)))
            return _key(builder, builder.fadd(mean, width), builder.fcmp_ordered("<=", counted, _FLOATS([0.0] * LANES)))

        return _scan(context, builder, sig.args[1:3], args[1:3], key_at)

    return types.int64(counts, first, count, types.float32, types.float32, wu), codegen


def _scan(context, builder, kinds, limits, key_at):
    """The index, from 0, of the first largest key; limits: first node, number of nodes."""
    begin, last = (context.cast(builder, limit, kind, types.int64) for limit, kind in zip(limits, kinds))
    best, found = (cgutils.alloca_once_value(builder, one) for one in (_INT(_LEAST), _INDEX(0)))
    with cgutils.for_range_slice(builder, _INDEX(0), last, _INDEX(LANES), _INDEX) as (done, _):
        left = _all(builder, builder.trunc(builder.sub(last, done), _INT), _INTS)
        inside = builder.icmp_signed("<", _INTS(list(range(LANES))), left)
        key = builder.select(inside, key_at(builder.add(begin, done)), _INTS([_LEAST] * LANES))
        most = _most(builder, key)
        better = builder.icmp_signed(">", most, builder.load(best))
        place = builder.add(done, _first(builder, builder.icmp_signed("==", key, _all(builder, most, _INTS))))
        builder.store(builder.select(better, place, builder.load(found)), found)
        builder.store(builder.select(better, most, builder.load(best)), best)
    return builder.load(found)


def _key(builder, bound, unvisited):
    """Bounds as integers of the same order, like the words of non-negative floats; nodes without visits first."""
    return builder.select(unvisited, _INTS([_MOST] * LANES), builder.bitcast(bound, _INTS))


def _root(builder, value):
    kind = ir.FunctionType(_FLOATS, [_FLOATS])
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.v{LANES}f32"), [value])


def _load(context, builder, array_type, array, row, vector):
    """A vector of an array's elements from a row on; array[row] is one element or a pair."""
    index = row if array_type.ndim == 1 else builder.mul(row, _INDEX(2))
    pointer = builder.gep(arrayobj.make_array(array_type)(context, builder, array).data, [index])
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


def _first(builder, mask):
    """The index of the first true element, which exists."""
    bits = builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _INDEX)
    return builder.cttz(bits, ir.IntType(1)(1))


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
