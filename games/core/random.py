"""Random numbers: SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).

The state is one word, `rng: uint64[1]`.  A step is one addition, so that draws do not wait for each other: in playouts,
every other generator we tried cost more.
"""

from collections.abc import MutableSequence, Sequence
from typing import Any, TypeVar

import numpy as np
from numba import njit, types
from numba.extending import overload

from arena.games.core.shared.seeds import derive_seed

WORD = np.uint64
GAMMA, _MIX1, _MIX2 = WORD(0x9E3779B97F4A7C15), WORD(0xBF58476D1CE4E5B9), WORD(0x94D049BB133111EB)
_MASK = (1 << 64) - 1


T = TypeVar("T")


class Stream(np.ndarray):
    """The array that kernels take, with methods for agents in plain Python, which draw from the same numbers."""

    def below(self, bound: int) -> int:
        """Uniform on 0..bound-1, for a bound from 1 to 2**32."""
        if not 1 <= bound <= 1 << 32:
            raise ValueError(f"below({bound}): the bound can be 1 to 2**32")
        return int(random_below(self, bound))

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Uniform from low to high, which is left out."""
        return low + (high - low) * float(random_unit(self))

    def choice(self, items: Sequence[T]) -> T:  # type: ignore[override, unused-ignore]
        """One of the items; ValueError if there is none."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[Any]) -> None:
        """Put the items into a random order, in place."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"rng has no {name}; it has below(n), uniform(low, high), choice(items) and shuffle(items)"
        )


def stream(seed: int, *key) -> Stream:
    """A separate generator for each (seed, key): uint64[1]."""
    return np.array([derive_seed(seed, *key)], WORD).view(Stream)


@njit
def _mix_compiled(word):
    word = (word ^ word >> WORD(30)) * _MIX1
    word = (word ^ word >> WORD(27)) * _MIX2
    return word ^ word >> WORD(31)


def mix(word):
    """SplitMix64's finaliser: a bijection of uint64; each output bit depends on every input bit."""
    word = int(word)
    word = ((word ^ word >> 30) * int(_MIX1)) & _MASK
    word = ((word ^ word >> 27) * int(_MIX2)) & _MASK
    return WORD(word ^ word >> 31)


@overload(mix)
def _mix(word):
    return lambda word: _mix_compiled(word)


def next_word(rng):
    """64 random bits, uint64, or in each lane; changes rng."""
    if not isinstance(rng, np.ndarray):
        return rng.next_lanes()
    rng[0] = (int(rng[0]) + int(GAMMA)) & _MASK
    return mix(rng[0])


@overload(next_word)
def _next_word(rng):
    if not isinstance(rng, types.Array):
        return None

    def compiled(rng):
        rng[0] += GAMMA
        return mix(rng[0])

    return compiled


def random_below(rng, bound):
    """Uniform on 0..bound-1, for a bound under 2**32 (multiply and shift; bias under bound / 2**32).

    In each lane, below a number or its own bound.
    """
    if not isinstance(rng, np.ndarray):
        return rng.below(bound)
    return np.int64(((next_word(rng) >> WORD(32)) * WORD(bound)) >> WORD(32))


@overload(random_below)
def _random_below(rng, bound):
    if not isinstance(rng, types.Array):
        return None
    return lambda rng, bound: np.int64(((next_word(rng) >> WORD(32)) * WORD(bound)) >> WORD(32))


def random_unit(rng):
    """Uniform on [0, 1), a multiple of 2**-53."""
    return np.float64(next_word(rng) >> WORD(11)) * 2.0**-53


@overload(random_unit)
def _random_unit(rng):
    return lambda rng: np.float64(next_word(rng) >> WORD(11)) * 2.0**-53
