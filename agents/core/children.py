"""A root's moves, and the positions after them, by compiled rules: those in plain Python take 15 ms each in Amazons."""

import numpy as np

from arena.agents.core.tree_arrays import shuffled_moves
from arena.games.core.jit import kernel

IN_ORDER = np.empty(0, np.uint64)  # no generator


def moves_of(game, state: np.ndarray, rng: np.ndarray | None = None) -> list[int]:
    """The moves of `game.moves`, in its order or, with a generator, in random order."""
    moves = np.empty(game.max_moves, np.int32)
    return moves[: moves_kernel(game, state, moves, IN_ORDER if rng is None else rng)].tolist()


@kernel
def moves_kernel(game, state, moves, rng):
    """Write the legal moves, in random order if rng has a word; returns how many, 0 when the game is over."""
    if game.is_over(state):
        return 0
    return shuffled_moves(game, state, moves, rng) if len(rng) else game.legal_moves(state, moves)


@kernel
def put_after(game, state, move, after):
    """Write the state after a move to `after`."""
    game.play_into(state, move, after)
