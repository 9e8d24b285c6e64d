"""End-game tables: the exact value of every position of an end-game, computed once and kept in a file.

Retrograde analysis (Thompson, "Retrograde analysis of certain endgames", 1986) works backwards from the ends of the
game.  Here no position repeats, so one sweep settles each position after those that follow.  A value is for the player
to move: d is a win in d plies, the quickest, -d a loss in d plies, the slowest, 0 a draw.

A table holds all positions that can follow from its roots: those of a small game (Nim, Othello on 4x4), or of all
end-games with a number of pieces, if the game lists them (`Game.endgames`).
"""

import os
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from arena.agents.core.children import moves_of
from arena.agents.core.probing import find_slot
from arena.agents.core.sides import result_of, side_to_move
from arena.agents.core.tree_node import after
from arena.games.core.jit import helper, kernel, uncompiled
from arena.games.core.play.playout import copy_state
from arena.games.core.random import mix
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.prepared_file import pack, stamp, unpack, wrong

KIND = "end-game table"
ABSENT = -(1 << 15)  # of an empty place
SLOT_BYTES = 10  # key and value
FULLEST = 0.75  # the largest share of places taken


class TablebaseError(UserError, ValueError):
    """An end-game table cannot be built; the message says why."""


class Endgames(NamedTuple):
    """A hash table of positions (agents/core/probing.py); it may have no places."""

    keys: np.ndarray  # uint64[places]
    values: np.ndarray  # int16[places], ABSENT where empty


def no_endgames() -> Endgames:
    """An empty table."""
    return Endgames(np.zeros(0, np.uint64), np.zeros(0, np.int16))


@helper
def place(endgames, key):
    """The place of a key, or the empty one where it belongs."""
    return find_slot(endgames.keys, endgames.values, ABSENT, key, mix(key))


@helper
def look_up(endgames, key):
    """The value of the position with that key, or ABSENT."""
    return np.int64(endgames.values[place(endgames, key)])


def build(game, roots: np.ndarray, most_positions: int = 10_000_000) -> Endgames:
    """The values of `roots`: dtype[n, state_size], and of all positions that can follow from them.

    TablebaseError if the game has chance or is for one player, or there are more than `most_positions`.
    """
    if game.has_chance or game.players != 2:
        raise TablebaseError(f"{game} is not a game for two players without chance: its positions have no such value")
    endgames, counts = _empty(most_positions), np.array([0, most_positions], np.int64)
    if not settle_kernel(game, endgames, np.atleast_2d(roots), counts):
        raise TablebaseError(f"{game} has more than {most_positions} positions there; allow more, or begin with fewer")
    taken = endgames.values != ABSENT
    packed = _empty(int(counts[0]))
    fill_kernel(game, packed, endgames.keys[taken], endgames.values[taken])
    return packed


def _empty(positions: int) -> Endgames:
    places = int(positions / FULLEST) + 2
    return Endgames(np.zeros(places, np.uint64), np.full(places, ABSENT, np.int16))


def positions(endgames: Endgames) -> int:
    """How many positions the table holds."""
    return int(np.count_nonzero(endgames.values != ABSENT))


def to_bytes(game, endgames: Endgames, about: str) -> bytes:
    """The contents of the table's file; `about` describes its positions."""
    data = endgames.keys.astype("<u8").tobytes() + endgames.values.astype("<i2").tobytes()
    header = {"about": about, "positions": positions(endgames), "places": len(endgames.values)}
    return pack(KIND, game, header, data)


def load(path: str | os.PathLike, game) -> Endgames:
    """The table, kept in memory; PreparedFileError if the file is unreadable, damaged, or for another game."""
    return _load(game, *stamp(path))


@lru_cache(maxsize=4)
def _load(game, path, changed, size) -> Endgames:
    header, data = unpack(KIND, game, path)
    places = header.get("places")
    if type(places) is not int or len(data) != SLOT_BYTES * places:
        raise wrong(KIND, path, f"it holds {len(data)} bytes, of {SLOT_BYTES} for each of {places!r:.20} places")
    keys = np.frombuffer(data, "<u8", places).astype(np.uint64)
    endgames = Endgames(keys, np.frombuffer(data, "<i2", places, 8 * places).astype(np.int16))
    if fault := _fault(game, endgames, header.get("positions")):
        raise wrong(KIND, path, fault)
    return endgames


def _fault(game, endgames: Endgames, claimed) -> str | None:
    """A defect that no table of `build` has.  Without an empty place, a look-up would never end."""
    taken = endgames.values != ABSENT
    values, keys = endgames.values[taken], np.sort(endgames.keys[taken])
    if type(claimed) is not int or len(values) != claimed:
        return f"it holds {len(values)} positions, of {claimed!r:.20}"
    if len(values) > FULLEST * len(taken):
        return f"{len(values)} of its {len(taken)} places are taken"
    if np.any(keys[1:] == keys[:-1]):
        return "it holds a position twice"
    if len(values) and np.abs(values).max() > game.max_plies:
        return f"it holds a value of more plies than {game} can have"
    return None


def best_move(game, endgames: Endgames, state: np.ndarray) -> tuple[int, int] | None:
    """(the first best move, its value) in a position that is not over; None if the table lacks it."""
    if not len(endgames.values) or look_up_kernel(game, endgames, state) == ABSENT:
        return None
    found = [(move, value_of_move(game, endgames, state, move)) for move in moves_of(game, state)]
    return max(found, key=lambda pair: uncompiled(rank)(pair[1]))


def value_of_move(game, endgames: Endgames, state: np.ndarray, move: int) -> int:
    """The value of a position of the table if the move is made."""
    return int(move_kernel(game, endgames, state, after(game, state, move)))


@kernel
def look_up_kernel(game, endgames, state):
    """The value of a position, or ABSENT."""
    return look_up(endgames, game.key(state))


@kernel
def move_kernel(game, endgames, state, after):
    """The value of a position by the move to `after`."""
    return by_move(game, endgames, state, after)


@kernel
def fill_kernel(game, endgames, keys, values):
    """Put keys and values into a table that has room for them."""
    for i in range(len(keys)):
        at = place(endgames, keys[i])
        endgames.keys[at], endgames.values[at] = keys[i], values[i]


@helper
def by_move(game, endgames, state, after):
    """The value of a position by a move to `after`, which is over or in the table."""
    if game.is_over(after):
        return np.int64(side_to_move(game, state) * result_of(game.score(after)))
    value = look_up(endgames, game.key(after))
    if game.player(after) != game.player(state):
        value = -value
    return value + 1 if value > 0 else (value - 1 if value < 0 else 0)


@helper
def rank(value):
    """Orders values: quick wins above slow ones, slow losses above quick ones."""
    return ABSENT * -2 - value if value > 0 else (ABSENT * 2 - value if value < 0 else 0)


class Sweep(NamedTuple):
    """The line to the position that is being settled, and scratch space."""

    states: np.ndarray  # dtype[max_plies + 2, state_size]
    moves: np.ndarray  # int32[max_plies + 2, max_moves]
    total: np.ndarray  # int64[max_plies + 2], moves
    tried: np.ndarray  # int64[max_plies + 2]
    best: np.ndarray  # int64[max_plies + 2]


@kernel
def settle_kernel(game, endgames, roots, counts):
    """Enter the roots and what follows; returns whether there was room.  counts: int64[2] = taken, most."""
    depth = game.max_plies + 2
    sweep = Sweep(
        np.empty((depth, game.state_size), roots.dtype),
        np.empty((depth, game.max_moves), np.int32),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
        np.zeros(depth, np.int64),
    )
    for i in range(len(roots)):
        if not game.is_over(roots[i]) and look_up(endgames, game.key(roots[i])) == ABSENT:
            copy_state(game, roots[i], sweep.states[0])
            if not settle(game, endgames, sweep, counts):
                return False
    return True


@helper
def settle(game, endgames, sweep, counts):
    """Enter sweep.states[0] and all that can follow, the last first; returns whether there was room."""
    ply = 0
    begin(game, sweep, ply)
    while ply >= 0:
        state, after = sweep.states[ply], sweep.states[ply + 1]
        if sweep.tried[ply] == sweep.total[ply]:
            if counts[0] == counts[1]:
                return False
            at = place(endgames, game.key(state))
            endgames.keys[at], endgames.values[at] = game.key(state), sweep.best[ply]
            counts[0] += 1
            ply -= 1
            continue
        game.play_into(state, sweep.moves[ply, sweep.tried[ply]], after)
        if not game.is_over(after) and look_up(endgames, game.key(after)) == ABSENT:
            ply += 1  # the move is tried again when the position after it is settled
            begin(game, sweep, ply)
            continue
        value = by_move(game, endgames, state, after)
        if sweep.tried[ply] == 0 or rank(value) > rank(sweep.best[ply]):
            sweep.best[ply] = value
        sweep.tried[ply] += 1
    return True


@helper
def begin(game, sweep, ply):
    """List the moves of the position at `ply`, with no value known."""
    sweep.total[ply], sweep.tried[ply] = game.legal_moves(sweep.states[ply], sweep.moves[ply]), 0
