"""How large a game is, by depth: sequences of moves (perft), games that end, positions, and each up to symmetry.

Sequences are counted one by one, which tests the rules and measures their speed.  Up to symmetry, two sequences are the
same if their positions are images of each other at every ply; so they are counted along the classes of positions.
"""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from arena.games.core.game import Game
from arena.games.core.jit import kernel
from arena.games.core.shared.errors import UserError

AT_ONCE = 1 << 20  # positions made before those that are the same are dropped
MOST = 20_000_000  # positions of a depth
SPLIT = 2  # plies


class Level(NamedTuple):
    """What lies that many plies below a position; None where it was not counted."""

    depth: int
    sequences: int
    games: int  # sequences that end the game here
    positions: int | None = None  # different ones
    classes: int | None = None  # of positions that are images of each other
    sequences_of_classes: int | None = None
    games_of_classes: int | None = None


@kernel
def count_kernel(game, states, moves, ply, found):
    """Count sequences below states[ply]: found[ply] = sequences, games."""
    found[ply, 0] += 1
    if game.is_over(states[ply]):
        found[ply, 1] += 1
    elif ply < len(states) - 1:
        for i in range(game.legal_moves(states[ply], moves[ply])):
            game.play_into(states[ply], moves[ply, i], states[ply + 1])
            count_kernel(game, states, moves, ply + 1, found)


@kernel
def grow_kernel(game, states, after, keys, parents, moves, image, symmetric):
    """Write the different positions (or classes) after each state, their keys and parents; returns how many."""
    count = 0
    for i in range(len(states)):
        first = count
        if not game.is_over(states[i]):
            for j in range(game.legal_moves(states[i], moves)):
                game.play_into(states[i], moves[j], after[count])
                keys[count] = game.least_key(after[count], image)[0] if symmetric else game.key(after[count])
                parents[count] = i
                new = True
                for k in range(first, count if symmetric else first):
                    new = new and keys[k] != keys[count]
                if new:
                    count += 1
    return count


@kernel
def over_kernel(game, states, over):
    """over[i]: whether the game has ended in states[i]."""
    for i in range(len(states)):
        over[i] = game.is_over(states[i])


def counted(game: Game, state: np.ndarray, depth: int, split: int = SPLIT) -> np.ndarray:
    """int64[depth + 1, 2]: sequences, and games that end, of each depth.

    The first `split` plies are made in Python, so that Ctrl-C is heard between kernels.
    """
    found = np.zeros((depth + 1, 2), np.int64)
    if depth > split > 0 and not game.is_over(state):
        found[0, 0] = 1
        for move in game.moves(state):
            found[1:] += counted(game, game.after(state, move), depth - 1, split - 1)
        return found
    states = np.empty((depth + 1, len(state)), state.dtype)
    states[0] = state
    count_kernel(game, states, np.empty((depth + 1, game.max_moves), np.int32), 0, found)
    return found


def by_position(game: Game, state: np.ndarray, depth: int, symmetric: bool) -> Iterator[tuple[int, int, int]]:
    """(positions or their classes, sequences, games that end) at each depth from 0; UserError if above MOST."""
    states, ways = state[None].copy(), np.ones(1, np.int64)
    for ply in range(depth + 1):
        over = np.zeros(len(states), np.bool_)
        over_kernel(game, states, over)
        yield len(states), int(ways.sum()), int(ways[over].sum())
        if ply < depth:
            states, ways = _grown(game, states, ways, symmetric)


def _grown(game: Game, states: np.ndarray, ways: np.ndarray, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """The positions one ply on, each once, and the ways that lead to them."""
    step = max(1, AT_ONCE // game.max_moves)
    room = min(step, len(states)) * game.max_moves
    after, keys, parents = (
        np.empty((room, states.shape[1]), states.dtype),
        np.empty(room, np.uint64),
        np.empty(room, int),
    )
    moves, image = np.empty(game.max_moves, np.int32), states[0].copy()
    found = [(states[:0], keys[:0].copy(), ways[:0])]
    for start in range(0, len(states), step):
        made = grow_kernel(game, states[start : start + step], after, keys, parents, moves, image, symmetric)
        found.append(_merged(after[:made], keys[:made], ways[start + parents[:made]]))
    grown, _, ways = _merged(*map(np.concatenate, zip(*found)))
    if len(grown) > MOST:
        raise UserError(f"there are {len(grown):,} positions, and room for {MOST:,}: count fewer plies")
    return grown, ways


def _merged(states: np.ndarray, keys: np.ndarray, ways: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each position once, with the sum of its ways."""
    kept, first, group = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros(len(kept), np.int64)
    np.add.at(sums, group, ways)
    return states[first].copy(), kept, sums


def levels(
    game: Game, state: np.ndarray, depth: int, with_positions: bool, report: Callable[[str], None]
) -> tuple[list[Level], float]:
    """(a level for each depth from 0 to `depth`, the seconds that counting sequences took, without compiling)."""
    report("sequences")
    counted(game, state, 0)  # compiles
    begun = time.perf_counter()
    found = [Level(ply, *row) for ply, row in enumerate(counted(game, state, depth).tolist())]
    seconds = time.perf_counter() - begun
    if with_positions:
        report("positions")
        every = by_position(game, state, depth, symmetric=False)
        found = [level._replace(positions=row[0]) for level, row in zip(found, every)]
    if with_positions and game.symmetries > 1:
        report("positions up to symmetry")
        classes = by_position(game, state, depth, symmetric=True)
        found = [Level(*level[:4], *row) for level, row in zip(found, classes)]
    return found, seconds
