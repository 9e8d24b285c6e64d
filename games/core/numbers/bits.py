"""Bit operations on uint64 that are an instruction or two in a kernel, and plain Python outside."""

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic, overload

from arena.games.core.jit.parts import part, processor_features

WORD = np.uint64
ZERO, ONE, TWO, TOP = WORD(0), WORD(1), WORD(2), WORD(1 << 63)
NUMBERS = (int, np.integer)
_WORD = ir.IntType(64)
_HAS_DEPOSIT = "bmi2" in processor_features()  # pdep, of x86 processors since 2013


def popcount(word):
    """The number of bits set (int), or in each lane."""
    return int(word).bit_count() if isinstance(word, NUMBERS) else word.popcount()


def trailing_zeros(word):
    """Index of the lowest bit of a word that is not 0 (int)."""
    word = int(word)
    return (word & -word).bit_length() - 1


def nth_bit(word, n):
    """The n-th lowest bit of `word`, from 0, as a word; n < popcount(word).  In each lane, too."""
    if not isinstance(word, NUMBERS):
        return word.nth_bit(n)
    word = int(word)
    for _ in range(int(n)):
        word &= word - 1
    return WORD(word & -word)


def reversed_bytes(word):
    """The eight bytes reversed: a board of 8x8 upside down."""
    return WORD(int.from_bytes(int(word).to_bytes(8, "little"), "big"))


def reversed_bits(word):
    """Bit i goes to 63 - i."""
    return WORD(int(f"{int(word):064b}"[::-1], 2))


def reach(lower, upper, occupied):
    """The squares that a slider reaches both ways on a line, with the first occupied one.

    `lower` and `upper` are the line's squares below and above the slider.
    """
    lower, upper, occupied = int(lower), int(upper), int(occupied)
    below, above = lower & occupied, upper & occupied
    nearest = 1 << max(below.bit_length() - 1, 0)
    return WORD(lower & -nearest | upper & ((above & -above) * 2 - 1))


@part
def list_bits(word, moves, count, factor, first):
    """Write first + factor * i for each bit i of a word behind `count` others; return the number of all."""
    while word != ZERO:
        moves[count] = first + factor * trailing_zeros(word)
        word &= word - ONE
        count += 1
    return count


@part
def image_of(word, images, symmetry):
    """A set's image, where images[symmetry, square] is a square's."""
    image = ZERO
    while word != ZERO:
        image |= ONE << WORD(images[symmetry, trailing_zeros(word)])
        word &= word - ONE
    return image


@intrinsic
def _popcount_instruction(typing_context, word):
    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def _trailing_zeros_instruction(typing_context, word):
    def codegen(context, builder, signature, args):
        # declaring the intrinsic by name crashes LLVM's parser
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def _leading_zeros_instruction(typing_context, word):
    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), codegen


@intrinsic
def _reverse_instruction(typing_context, word):
    def codegen(context, builder, signature, args):
        return builder.bswap(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def _mirror_instruction(typing_context, word):
    def codegen(context, builder, signature, args):
        return builder.bitreverse(args[0])

    return types.uint64(types.uint64), codegen


@intrinsic
def _deposit_instruction(typing_context, source, mask):
    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), ir.FunctionType(_WORD, [_WORD, _WORD]))
        return builder.call(function, args)

    return types.uint64(types.uint64, types.uint64), codegen


@overload(popcount)
def _popcount(word):
    return (lambda word: _popcount_instruction(WORD(word))) if isinstance(word, types.Integer) else None


@overload(trailing_zeros)
def _trailing_zeros(word):
    return lambda word: _trailing_zeros_instruction(WORD(word))


@overload(reversed_bytes)
def _reversed_bytes(word):
    return lambda word: _reverse_instruction(WORD(word))


@overload(reversed_bits)
def _reversed_bits(word):
    return lambda word: _mirror_instruction(WORD(word))


@overload(reach)
def _reach(lower, upper, occupied):
    def obstruction_difference(lower, upper, occupied):
        above = upper & occupied
        nearest = TOP >> _leading_zeros_instruction(lower & occupied | ONE)
        return (lower | upper) & ((above & (~above + ONE)) * TWO - nearest)

    return obstruction_difference


@overload(nth_bit)
def _nth_bit(word, n):
    if not isinstance(word, types.Integer):
        return None
    if _HAS_DEPOSIT:
        return lambda word, n: _deposit_instruction(ONE << WORD(n), WORD(word))

    def loop(word, n):
        for _ in range(n):
            word &= word - ONE
        return word & (~word + ONE)

    return loop
