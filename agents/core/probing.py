"""Open addressing with linear probing: finds the slot of a key in a hash table.

A table is two arrays of one length: each slot's key, and a mark that says whether the slot is empty.  They may be the
same array if no key equals the empty mark.  Nothing is ever deleted, and at least one slot must stay empty.
"""

import numpy as np

from arena.games.core.jit import inlined

FILLED = 0.75  # of a table: a fuller one takes no new keys
LEAST = 1 << 10  # places


def room_for(places: int) -> int:
    """How many keys such a table takes."""
    return int(FILLED * places)


def places_for(keys: int, most: int) -> int:
    """The places, a power of two, of a table that takes so many keys, but at most `most`."""
    places = min(LEAST, most)
    while places < most and room_for(places) < keys:
        places *= 2
    return places


@inlined
def find_slot(keys, marks, empty, key, hashed):
    """The slot that holds `key`, or else the first empty one, where it belongs: int64.

    keys, marks: [slots]; a mark equals `empty` for an empty slot; hashed: uint64, where the search begins, modulo slots
    """
    slots = len(marks)
    if slots & (slots - 1) == 0:  # a power of two: no division
        slot = np.int64(np.uint64(hashed) & np.uint64(slots - 1))
    else:
        slot = np.int64(np.uint64(hashed) % np.uint64(slots))
    while marks[slot] != empty and keys[slot] != key:
        slot = slot + 1 if slot + 1 < slots else 0
    return slot
