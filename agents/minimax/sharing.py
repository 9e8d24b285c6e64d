"""Rules that keep threads apart when they search one position to the end in one table: Lazy SMP and ABDADA.

    lazy     every thread but the first adds its own noise to the move order, which breaks ties and small differences
    abdada   a thread postpones a move to a position that another one is searching, unless it is the first move
             (J.-C. Weill, "The ABDADA distributed minimax search algorithm", ICCA Journal, 1996)

All threads begin at the root; the first one with the answer ends the search.
"""

from dataclasses import dataclass

import numpy as np

from arena.agents.core.atomics import atomic_add, atomic_load, atomic_store
from arena.agents.minimax.exact import Alone
from arena.agents.minimax.ordering import OWN_SHIFT
from arena.games.core.jit import helper
from arena.games.core.random import GAMMA, mix

BUSY_PLACES = 1 << 16
MARKED_AFTER = 4  # positions visited below one before it is marked: marks cost more than tiny searches
MARKED = 1  # of a node's `split`
PUT_OFF = -(1 << 61)  # the rank of a postponed move
NOISE = (1 << OWN_SHIFT + 1) - 1  # of ranks: less than two steps of the game's own order


@dataclass(frozen=True)
class Lazy(Alone):
    """Lazy SMP."""

    def own_rank(self, search, key, move):
        thread = search.counts[0].thread
        return np.int64(mix(key ^ np.uint64(move * 64 + thread)) & np.uint64(NOISE)) if thread > 0 else 0

    def answered(self, search):
        atomic_store(search.stop, 0, 1)


@dataclass(frozen=True)
class Abdada(Alone):
    """ABDADA; `shared` is int32[a power of two], by keys: how many threads are below a position."""

    def new_shared(self, game, workers):
        return (np.zeros(BUSY_PLACES, np.int32),)

    def assemble(self, shared):
        shared[0][:] = 0

    def is_put_off(self, search, ply, key):
        node, ranks, busy = search.nodes[ply], search.ranks[ply], search.shared[0]
        if ply > 0 and node.split != MARKED and search.counts[0].nodes - node.entered >= MARKED_AFTER:
            node.split = MARKED
            atomic_add(busy, place_of(busy, node.key), np.int32(1))
        last = node.tried - 1
        if last > 0 and ranks[last] > PUT_OFF and atomic_load(busy, place_of(busy, key)) > 0:
            node.tried = last
            ranks[last] = PUT_OFF
            search.counts[0].nodes -= 1
            return True
        return False

    def left(self, search, ply):
        node, busy = search.nodes[ply], search.shared[0]
        if node.split == MARKED:
            atomic_add(busy, place_of(busy, node.key), np.int32(-1))

    def answered(self, search):
        atomic_store(search.stop, 0, 1)


@helper
def place_of(busy, key):
    """The place of a key in `busy`."""
    return np.int64((key * GAMMA) >> np.uint64(40)) & (len(busy) - 1)
