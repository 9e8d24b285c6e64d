"""A transposition table: a search's results for positions, shared by all moves that lead to them.

A place holds a position's full key, two numbers (a bound and a move, or a proof and a disproof number), and the work
that they cost, such as nodes.  If all places for a key are taken, the scheme decides what is replaced (Breuker,
Uiterwijk & van den Herik, "Replacement schemes for transposition tables", 1994):

    new       one place: the newest position takes it
    big       one place: the position that cost more work keeps it
    two_big   two places: one for the position that cost most, the other for the newest of the rest
    collect   eight places: the position that cost least gives way.  When seven eighths of all places are taken, the
              cheaper half is discarded (SmallTreeGC of Nagai 1999).  For one thread

Entries from before the last `new_generation` give way to anything newer.  The key's word is stored as the exclusive or
of all four words, so that threads share a table without locks: a place that two wrote at the same time matches no key
(Hyatt & Mann, "A lock-less transposition-table implementation", 2002).
"""

import os
from typing import NamedTuple

import numpy as np

from arena.agents.core.atomics import atomic_add
from arena.agents.core.reuse import leave, taken
from arena.agents.core.selection import prefetch
from arena.games.core.game import check_choice
from arena.games.core.jit import COMPILED, helper, inlined
from arena.games.core.random import GAMMA

SCHEMES = ("new", "big", "two_big")
COLLECT = "collect"
ALL_SCHEMES = (*SCHEMES, COLLECT)
NEW, BIG, TWO_BIG, COLLECTING = range(4)
PLACES, SHIFTS = (1, 1, 2, 8), (0, 0, 1, 3)  # of a key, and their logarithms
CHECK, FIRST, SECOND, WORK = range(4)  # of a row
PROBES, HITS, STORES, REPLACED = range(4)  # of Table.counts
ROW_BYTES, LINE_WORDS = 32, 8  # a row; a cache line, which holds the places of a key
FIRST_ROWS = 1 << 14  # emptying so many single rows is quicker than the whole table
SHARED_WORDS = 2  # at an array's end: generation, places taken
GENERATION_SHIFT = 44
MOST_WORK = (1 << GENERATION_SHIFT) - 1
COLLECT_AT = 8  # when at most an eighth of the places is free
LAST_GENERATION = (1 << 63 - GENERATION_SHIFT) - 1


class Table(NamedTuple):
    """A row of `words` is a place; it is empty if its work is 0."""

    words: np.ndarray  # int64[rows, 4] = check, first number, second number, generation and work
    scheme: np.ndarray  # int64[1], which of ALL_SCHEMES
    generation: np.ndarray  # int64[1], from 1
    counts: np.ndarray  # int64[4] = probes, hits, stores, stores that replaced another position
    taken: np.ndarray  # int64[1], how many places; shared by threads
    first: np.ndarray  # int64[n], the first rows that were taken, in that order; n is 0 if nobody asks


def new_table(mebibytes: float, scheme: str = "two_big") -> Table:
    """An empty table; ValueError if the machine has less memory.  Unused places cost none."""
    words = table_words(mebibytes, scheme)
    table = taken(("table", scheme, words), lambda: table_in(np.zeros(words, np.int64), scheme, FIRST_ROWS))
    table.counts[:] = 0
    table.generation[0] = 1
    return table


def leave_table(table: Table) -> None:
    """Leave a table that is not used any more to the next `new_table` of its kind, emptied."""
    scheme = ALL_SCHEMES[table.scheme[0]]
    if scheme == COLLECT:
        return
    if filled(table) <= len(table.first):
        table.words[table.first[: filled(table)]] = table.taken[0] = 0
    else:
        clear(table)
    leave(("table", scheme, table.words.size + LINE_WORDS + SHARED_WORDS), table, table.words.nbytes)


def table_words(mebibytes: float, scheme: str) -> int:
    """The length of an int64 array for a table of that size; ValueError as for `new_table`."""
    check_table(mebibytes, scheme, ALL_SCHEMES)
    places = max(2, PLACES[ALL_SCHEMES.index(scheme)])
    rows = max(1, int(mebibytes * 2**20) // ROW_BYTES // places) * places
    return 4 * rows + LINE_WORDS + SHARED_WORDS


def table_in(room: np.ndarray, scheme: str, first: int = 0) -> Table:
    """The table in such an array, which processes may share; its maker sets the generation to 1.

    first: how many rows to remember, of those that are taken first
    """
    rows = (len(room) - LINE_WORDS - SHARED_WORDS) // 4
    words = aligned(room, 4 * rows).reshape(rows, 4)
    number = np.array([ALL_SCHEMES.index(scheme)], np.int64)
    return Table(words, number, room[-2:-1], new_counts(), room[-1:], np.zeros(first, np.int64))


def aligned(room: np.ndarray, words: int) -> np.ndarray:
    """So many words of an int64 array, from a cache line on; LINE_WORDS more are enough room."""
    begin = -room.ctypes.data // 8 % LINE_WORDS
    return room[begin : begin + words]


def new_counts() -> np.ndarray:
    """Counters at 0, of which each thread takes its own: `table._replace(counts=new_counts())`."""
    return np.zeros(4, np.int64)


def check_table(mebibytes: float, scheme: str = "two_big", schemes: tuple[str, ...] = SCHEMES) -> None:
    """ValueError if the table is too large, or the scheme not offered."""
    check_choice("scheme", scheme, schemes)
    if not 2 * ROW_BYTES <= mebibytes * 2**20 <= ROW_BYTES * 2**32:
        raise ValueError(f"table = {mebibytes:g} MiB is out of range: it can be 0.001 to {ROW_BYTES * 2**12}")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**20
    if mebibytes > memory:
        raise ValueError(f"table = {mebibytes:g} MiB is more than the memory of this machine, {memory:.0f} MiB")


def new_generation(table: Table) -> None:
    """Older entries are still found, but give way to any new one."""
    if table.generation[0] == LAST_GENERATION:
        clear(table)
    table.generation[0] += 1


def clear(table: Table) -> None:
    """Empty the table."""
    table.words[:] = table.taken[:] = 0
    table.generation[0] = 1


def filled(table: Table) -> int:
    """How many places are taken."""
    return int(table.taken[0])


@helper
def place_of(table, key):
    """The row of the first place for a key."""
    shift = SHIFTS[table.scheme[0]]
    return share_of(key, len(table.words) >> shift) << shift


@inlined
def share_of(key, shares):
    """Which of `shares` equal shares a key is in; keys may be no hashes."""
    spread = (key * GAMMA) >> np.uint64(32)
    return np.int64((spread * np.uint64(shares)) >> np.uint64(32))


@inlined
def fetch(table, key):
    """Start to load the places of a key."""
    prefetch(table.words, 4 * place_of(table, key))


@helper
def read_place(table, row, key):
    """(whether the place holds the key, first number, second number)."""
    words = table.words
    first, second, work = words[row, FIRST], words[row, SECOND], words[row, WORK]
    held = work != 0 and words[row, CHECK] == np.int64(key) ^ first ^ second ^ work
    return held, first, second


@helper
def write_place(table, row, key, first, second, work):
    """Write a position into a place."""
    words = table.words
    words[row, CHECK] = np.int64(key) ^ first ^ second ^ work
    words[row, FIRST], words[row, SECOND], words[row, WORK] = first, second, work


@helper
def count_place(table, row):
    """Count a place about to be taken, unless it already was."""
    if table.words[row, WORK] == 0:
        if COMPILED:
            place = atomic_add(table.taken, 0, 1)
        else:
            place = table.taken[0]
            table.taken[0] += 1
        if place < len(table.first):
            table.first[place] = row


@helper
def probe(table, key):
    """(whether the position is stored, its first number, its second number)."""
    table.counts[PROBES] += 1
    row = place_of(table, key)
    held, first, second = read_place(table, row, key)
    if not held:
        last = row + PLACES[table.scheme[0]] - 1
        while not held and row < last:
            row += 1
            held, first, second = read_place(table, row, key)
    table.counts[HITS] += held
    return held, first, second


@helper
def store(table, key, first, second, work):
    """Store two numbers for a position; `work`, 0 or more, is their cost.  key: uint64."""
    words, row = table.words, place_of(table, key)
    work = table.generation[0] << GENERATION_SHIFT | min(work, MOST_WORK)
    if table.scheme[0] == COLLECTING:
        store_in_eight(table, row, key, (first, second, work))
        return
    held = read_place(table, row, key)[0]
    table.counts[STORES] += 1
    if table.scheme[0] == TWO_BIG and not held:
        if work >= words[row, WORK]:
            table.counts[REPLACED] += words[row + 1, WORK] != 0 and not read_place(table, row + 1, key)[0]
            count_place(table, row + 1 if words[row, WORK] != 0 else row)
            for i in range(4):
                words[row + 1, i] = words[row, i]
            write_place(table, row, key, first, second, work)
            return
        row += 1
        held = read_place(table, row, key)[0]
    if held or table.scheme[0] != BIG or work >= words[row, WORK]:
        table.counts[REPLACED] += words[row, WORK] != 0 and not held
        count_place(table, row)
        write_place(table, row, key, first, second, work)


@helper
def store_in_eight(table, row, key, entry):
    """`store` by the scheme collect; entry = first number, second number, work."""
    words, chosen, held = table.words, row, False
    for place in range(row, row + PLACES[COLLECTING]):
        held = read_place(table, place, key)[0]
        if held or words[place, WORK] < words[chosen, WORK]:
            chosen = place
        if held:
            break
    table.counts[STORES] += 1
    table.counts[REPLACED] += words[chosen, WORK] != 0 and not held
    count_place(table, chosen)
    write_place(table, chosen, key, entry[0], entry[1], entry[2])
    if (len(words) - table.taken[0]) * COLLECT_AT <= len(words):
        collect(table)


@helper
def collect(table):
    """Discard half of the entries: older generations first, then those of least work, by powers of two."""
    words, unwanted, rank = table.words, table.taken[0] // 2, 0
    while unwanted > 0:
        for row in range(len(words)):
            if unwanted > 0 and words[row, WORK] != 0 and rank_of(table, row) == rank:
                for i in range(4):
                    words[row, i] = 0
                table.taken[0] -= 1
                unwanted -= 1
        rank += 1


@helper
def rank_of(table, row):
    """0 for a place of an older generation; else growing with its work."""
    work, rank = table.words[row, WORK] - (table.generation[0] << GENERATION_SHIFT), 0
    while work >= 0:
        work, rank = (work >> 1) - (work <= 1), rank + 1
    return rank


@inlined
def move_image(game, move, symmetry):
    """The image of a move under a symmetry."""
    return move if symmetry == 0 else game.transform_move(move, symmetry)


@inlined
def table_key(game, search, state):
    """(the key of the position in the table, the symmetry that leads there)."""
    if search.options.symmetries:
        return game.least_key(state, search.scratch[0])
    return game.key(state), 0
