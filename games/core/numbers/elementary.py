"""Exponential and logarithm, the same to the last bit on every processor and system.

IEEE 754 fixes what +, -, *, / and sqrt give; exp and log are each C library's own, and differ in the last bit between
processors with and without fused multiply-add. A search decides by such bits. These need nothing but what is fixed,
are off by less than one unit in the last place, and take the time of the library's.

Source: the reductions of FDLIBM (Sun Microsystems, 1993), with plain series in place of minimax polynomials.
"""

from math import factorial

import numpy as np

from arena.games.core.jit import helper, uncompiled

LN2_HIGH = float.fromhex("0x1.62e42fefap-1")  # ln 2 to 37 bits: a multiple of it by an exponent is exact
LN2_LOW = float.fromhex("0x1.cf79abc9e3b39p-40")  # the rest of it
LOG2_E = float.fromhex("0x1.71547652b82fep+0")
LARGEST, LEAST = 709.782712893384, -745.2  # beyond, exp overflows, or is 0
EXP_TERMS = tuple(1.0 / factorial(n) for n in range(13, 1, -1))  # of (e^r - 1 - r) / r^2, |r| <= ln(2) / 2
LOG_TERMS = tuple(2.0 / n for n in range(25, 1, -2))  # of (2 artanh(s) - 2 s) / s^3, |s| <= 0.172
EXPONENT, BIAS, INFINITE = 52, 1023, 0x7FF << 52  # a double's bits: where its exponent is, of 1, of infinity
LEAST_NORMAL, ROOT_HALF = 1 << 52, 0x3FE6A09E667F3BCD  # bits of the least normal number, and of sqrt(1 / 2)


@helper
def exp(x):
    """e^x, float64; 0 and infinity where it leaves the range."""
    x = np.float64(x)
    if x > LARGEST:
        return np.inf
    if x < LEAST:
        return 0.0
    if x != x:
        return x
    twos = np.floor(x * LOG2_E + 0.5)
    r = (x - twos * LN2_HIGH) - twos * LN2_LOW
    square, odd, even = r * r, 0.0, 0.0
    for i in range(0, len(EXP_TERMS), 2):
        odd, even = odd * square + EXP_TERMS[i], even * square + EXP_TERMS[i + 1]
    twos = np.int64(twos)
    half = twos >> 1  # in two steps, so that neither leaves the range where the result does not
    return (1.0 + (r + square * (odd * r + even))) * _power_of_two(half) * _power_of_two(twos - half)


@helper
def log(x):
    """ln x, float64; -infinity of 0, NaN below it."""
    x, twos = np.float64(x), 0
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    bits = x.view(np.int64)
    if bits >= INFINITE:
        return x
    if bits < LEAST_NORMAL:
        bits, twos = np.float64(x * 2.0**54).view(np.int64), -54
    more = (bits - ROOT_HALF) >> EXPONENT
    return _log_of(np.int64(bits - (more << EXPONENT)).view(np.float64), np.float64(twos + more))


def logs(numbers):
    """ln of an array of numbers that are positive and normal, outside kernels: float64, as `log` gives them."""
    bits = numbers.astype(np.float64).view(np.int64)
    twos = (bits - ROOT_HALF) >> EXPONENT
    return uncompiled(_log_of)((bits - (twos << EXPONENT)).view(np.float64), twos.astype(np.float64))


@helper
def _log_of(x, twos):
    """ln(2^twos x), where x is between the roots of 1/2 and of 2."""
    f = x - 1.0
    s = f / (2.0 + f)
    square, odd, even = s * s, 0.0, 0.0
    fourth = square * square
    for i in range(0, len(LOG_TERMS), 2):
        odd, even = odd * fourth + LOG_TERMS[i], even * fourth + LOG_TERMS[i + 1]
    return twos * LN2_HIGH + (f - (s * (f - square * (odd * square + even)) - twos * LN2_LOW))


@helper
def _power_of_two(exponent):
    return np.int64((exponent + BIAS) << EXPONENT).view(np.float64)
