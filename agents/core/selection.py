"""Selection by UCB1, several children at a time.

A processor divides eight numbers, or takes eight square roots, in the time of one, and without branches there is
nothing to guess wrong.  In a kernel `largest_bound` is a loop over vectors of LANES children, which LLVM makes
instructions of that the processor has; outside it is the plain loop, with the same result to the last bit.
"""

from math import log, sqrt

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload
from numba.np import arrayobj

from games.core.jit import helper

LANES = 8  # 16, of 512 bits, are slower where nodes have few children, and no faster elsewhere
SPARE = LANES  # rows that an array of nodes has beyond its length, so that a vector may begin at any node
LOGS = np.array([0.0, *map(log, range(1, 1 << 12))])  # of visits; most nodes have fewer

_INT, _INDEX, _FLOAT, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.FloatType(), ir.DoubleType()
_INTS, _FLOATS, _DOUBLES = (ir.VectorType(scalar, LANES) for scalar in (_INT, _FLOAT, _DOUBLE))
_LEAST, _MOST = -(2**31), 2**31 - 1


@helper
def log_of(visits):
    """ln max(visits, 1)."""
    return LOGS[visits] if visits < len(LOGS) else log(visits)


def largest_bound(visits, value, first, count, scale):
    """The first node without visits among `count` from `first`; or else the first one of the largest bound.

    The bound is value / visits + sqrt(scale / visits), in single precision.  visits: int32[] and value: float64[], both
    with SPARE rows in memory beyond their length; scale: float32, 0 or more.
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
    """Which of the nodes it is, from 0.

    Floats of 0 and more are in the order of their words as integers, among which _MOST stands for a node without
    visits, and _LEAST for what is beyond the last node.
    """

    def codegen(context, builder, sig, args):
        begin, last = (context.cast(builder, args[i], sig.args[i], types.int64) for i in (2, 3))
        scales = _all(builder, args[4], _FLOATS)
        best, found = (cgutils.alloca_once_value(builder, one) for one in (_INT(_LEAST), _INDEX(0)))
        with cgutils.for_range_slice(builder, _INDEX(0), last, _INDEX(LANES), _INDEX) as (done, _):
            node = builder.add(begin, done)
            seen = _load(context, builder, sig.args[0], args[0], node, _INTS)
            total = _load(context, builder, sig.args[1], args[1], node, _DOUBLES)
            key = builder.bitcast(_bounds(builder, seen, builder.fptrunc(total, _FLOATS), scales), _INTS)
            key = builder.select(builder.icmp_signed("==", seen, _INTS([0] * LANES)), _INTS([_MOST] * LANES), key)
            left = _all(builder, builder.trunc(builder.sub(last, done), _INT), _INTS)
            inside = builder.icmp_signed("<", _INTS(list(range(LANES))), left)
            key = builder.select(inside, key, _INTS([_LEAST] * LANES))
            most = _most(builder, key)
            better = builder.icmp_signed(">", most, builder.load(best))
            place = builder.add(done, _first(builder, builder.icmp_signed("==", key, _all(builder, most, _INTS))))
            builder.store(builder.select(better, place, builder.load(found)), found)
            builder.store(builder.select(better, most, builder.load(best)), best)
        return builder.load(found)

    return types.int64(visits, value, first, count, types.float32), codegen


def _bounds(builder, visits, value, scales):
    """The bounds of LANES nodes."""
    root = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_FLOATS, [_FLOATS]), f"llvm.sqrt.v{LANES}f32")
    share = builder.fdiv(_FLOATS([1.0] * LANES), builder.sitofp(visits, _FLOATS))
    return builder.fadd(builder.fmul(value, share), builder.call(root, [builder.fmul(scales, share)]))


def _load(context, builder, array_type, array, index, vector):
    """The elements of an array from an index on."""
    pointer = builder.gep(arrayobj.make_array(array_type)(context, builder, array).data, [index])
    return builder.load(builder.bitcast(pointer, vector.as_pointer()), align=array_type.dtype.bitwidth // 8)


def _all(builder, value, vector):
    """A vector of one number."""
    one = builder.insert_element(vector(ir.Undefined), value, _INT(0))
    return builder.shuffle_vector(one, vector(ir.Undefined), _INTS([0] * LANES))


def _most(builder, key):
    """The largest integer of a vector."""
    half = LANES // 2
    while half:
        other = builder.shuffle_vector(key, _INTS(ir.Undefined), _INTS([(i + half) % LANES for i in range(LANES)]))
        key = builder.select(builder.icmp_signed(">", key, other), key, other)
        half //= 2
    return builder.extract_element(key, _INT(0))


def _first(builder, mask):
    """The number of the first true element of a vector that has one."""
    bits = builder.zext(builder.bitcast(mask, ir.IntType(LANES)), _INDEX)
    return builder.cttz(bits, ir.IntType(1)(1))


def prefetch(array, index):
    """Bring the cache line of array[index] near, without waiting for it; nothing outside kernels."""


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
