"""An index of the rows that hold positions, which turns a proof-number tree into a directed acyclic graph.

No position repeats in a game, so there are no cycles (Schijf, Allis & Uiterwijk, "Proof-number search and
transpositions", 1994).

Rows of the same position form a list that begins with the first one, its holder.  A hash table of row numbers finds the
holders; it grows with them, so that a small graph touches little memory.
"""

from typing import NamedTuple

import numpy as np

from arena.agents.proof.numbers import salted
from arena.games.core.jit import helper
from arena.games.core.random import GAMMA

FIRST_SLOTS = 1024  # a power of two
ROW_BYTES, SLOT_BYTES = 20, 4  # of a row, with its place in the queue of updates, and of a slot
SLOTS, HOLDERS = range(2)  # of Index.used


class Index(NamedTuple):
    """Empty arrays for a tree.  Row 0, the root, is in no slot: no other row has its position."""

    key: np.ndarray  # uint64[capacity], of rows that are in the table or in a list
    first: np.ndarray  # int32[capacity], the row's holder
    next: np.ndarray  # int32[capacity], the next row of the same position, or -1
    slots: np.ndarray  # int32[a power of two, more than twice the capacity], a holder, or 0
    used: np.ndarray  # int64[2] = slots in use, holders in them


def new_index(capacity: int) -> Index:
    """Room for that many rows; none for a tree."""
    slots = max(FIRST_SLOTS, 2 << capacity.bit_length()) if capacity else 0
    return Index(
        key=np.empty(capacity, np.uint64),
        first=np.empty(capacity, np.int32),
        next=np.empty(capacity, np.int32),
        slots=np.zeros(slots, np.int32),
        used=np.array([FIRST_SLOTS, 0], np.int64),
    )


def index_bytes(index: Index, rows: int) -> int:
    """The bytes for that many rows."""
    return ROW_BYTES * rows + SLOT_BYTES * int(index.used[SLOTS]) if len(index.key) else 0


@helper
def is_graph(index):
    """Whether positions are looked up."""
    return len(index.key) > 0


@helper
def forget(index):
    """Empty it."""
    if is_graph(index):
        for slot in range(index.used[SLOTS]):
            index.slots[slot] = 0
        index.used[SLOTS], index.used[HOLDERS] = FIRST_SLOTS, 0


@helper
def new_row(index, row):
    """Make a row hold its own position, outside the table as yet."""
    if is_graph(index):
        index.key[row], index.first[row], index.next[row] = np.uint64(0), row, -1


@helper
def orient(game, task, state, image):
    """Turn a state into its image with the least key, if the task uses symmetries."""
    if task.symmetries:
        _, symmetry = game.least_key(state, image)
        if symmetry > 0:
            game.transform(state, symmetry, image)
            for i in range(game.state_size):
                state[i] = image[i]


@helper
def joined(game, task, index, row, state, ply):
    """The holder of a row's position, an oriented state `ply` plies below the root: the row itself if new."""
    if not is_graph(index):
        return np.int64(row)
    key = salted(game, task.goal, game.key(state), ply)
    slot = slot_of(index, key)
    known, index.key[row] = np.int64(index.slots[slot]), key
    if known != 0:
        index.first[row], index.next[row] = known, index.next[known]
        index.next[known] = row
        return known
    index.slots[slot] = row
    index.used[HOLDERS] += 1
    if 2 * index.used[HOLDERS] > index.used[SLOTS]:
        double(index, row)
    return np.int64(row)


@helper
def slot_of(index, key):
    """The slot of that key, or the empty one where it belongs."""
    mask = index.used[SLOTS] - 1
    slot = np.int64((key * GAMMA) >> np.uint64(33)) & mask
    while index.slots[slot] != 0 and index.key[index.slots[slot]] != key:
        slot = (slot + 1) & mask
    return slot


@helper
def double(index, last):
    """Double the slots, and enter the holders up to the last row again."""
    for slot in range(index.used[SLOTS]):
        index.slots[slot] = 0
    index.used[SLOTS] *= 2
    for row in range(1, last + 1):
        if index.first[row] == row and index.key[row] != 0:
            index.slots[slot_of(index, index.key[row])] = row
