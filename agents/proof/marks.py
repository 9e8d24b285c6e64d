"""Marks that threads leave at the nodes above them, to send others elsewhere (agents/proof/parallel_dfpn.py)."""

from typing import NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load
from arena.agents.proof.numbers import INFINITE, MOST
from arena.games.core.jit import inlined
from arena.games.core.random import mix

PLACES_BITS = 16
SHARE = 8  # a mark adds 1 and an eighth of the number


class Marks(NamedTuple):
    """The threads' positions, and one thread's own notes."""

    busy: np.ndarray  # int32[2**PLACES_BITS], threads below the nodes with that place; shared by all
    virtual: np.ndarray  # int32[max_moves], the marks' additions to the children's numbers
    stays: bool  # whether a search whose nodes are spent stays where it is, or goes back to the root


def no_marks() -> Marks:
    """The marks of a lone thread, which leaves none."""
    return Marks(np.zeros(0, np.int32), np.zeros(0, np.int32), False)


@inlined
def place_of(key):
    """The place for a node's key."""
    return np.int64(mix(key) >> np.uint64(64 - PLACES_BITS))


@inlined
def mark(marks, key, change):
    """Put a mark at a node (1), or take it back (-1)."""
    atomic_add(marks.busy, place_of(key), np.int32(change))


@inlined
def add_marks(marks, keys, numbers, count):
    """Raise the numbers of `count` children by the threads below them."""
    for i in range(count):
        threads, number = np.int64(atomic_load(marks.busy, place_of(keys[i]))), np.int64(numbers[i])
        marks.virtual[i] = 0
        if threads > 0 and 0 < number < INFINITE:
            marks.virtual[i] = min(MOST - number, threads * (1 + number // SHARE))
        numbers[i] += marks.virtual[i]


@inlined
def take_marks(marks, numbers, count):
    """Undo `add_marks`."""
    for i in range(count):
        numbers[i] -= marks.virtual[i]
