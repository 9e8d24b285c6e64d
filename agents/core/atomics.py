"""Atomic operations on elements of arrays that threads share, which Numba lacks for CPUs."""

from numba import types
from numba.core import cgutils
from numba.core.typing import signature
from numba.extending import intrinsic
from numba.np import arrayobj

# Lets another thread run.  Found by name, so kernels that call it can be cached.
sched_yield = types.ExternalFunction("sched_yield", signature(types.int32))


def _pointer(context, builder, sig, args):
    """The address of args[0][args[1]]; args[1] is an integer or a tuple."""
    array = arrayobj.make_array(sig.args[0])(context, builder, args[0])
    several = isinstance(sig.args[1], types.BaseTuple)
    indices = cgutils.unpack_tuple(builder, args[1]) if several else [args[1]]
    indices = [
        context.cast(builder, i, t, types.intp) for i, t in zip(indices, sig.args[1] if several else sig.args[1:])
    ]
    return cgutils.get_item_pointer(context, builder, sig.args[0], array, indices, wraparound=False)


@intrinsic
def atomic_add(typing_context, array, index, value):
    """array[index] += value, without losing other threads' additions; returns the old value."""

    def codegen(context, builder, sig, args):
        operation = "fadd" if isinstance(sig.args[0].dtype, types.Float) else "add"
        return builder.atomic_rmw(operation, _pointer(context, builder, sig, args), args[2], "monotonic")

    return array.dtype(array, index, array.dtype), codegen


@intrinsic
def atomic_compare_exchange(typing_context, array, index, expected, value):
    """If array[index] == expected, store value; returns whether it was stored."""

    def codegen(context, builder, sig, args):
        pointer = _pointer(context, builder, sig, args)
        return builder.extract_value(builder.cmpxchg(pointer, args[2], args[3], "acq_rel", "acquire"), 1)

    return types.boolean(array, index, array.dtype, array.dtype), codegen


@intrinsic
def atomic_load(typing_context, array, index):
    """array[index]; afterwards this thread sees all earlier writes of the storing thread (acquire)."""

    def codegen(context, builder, sig, args):
        align = sig.args[0].dtype.bitwidth // 8
        return builder.load_atomic(_pointer(context, builder, sig, args), "acquire", align)

    return array.dtype(array, index), codegen


@intrinsic
def atomic_store(typing_context, array, index, value):
    """array[index] = value; a thread that loads this value sees all earlier writes of this one (release)."""

    def codegen(context, builder, sig, args):
        align = sig.args[0].dtype.bitwidth // 8
        builder.store_atomic(args[2], _pointer(context, builder, sig, args), "release", align)
        return context.get_dummy_value()

    return types.void(array, index, array.dtype), codegen
