"""What programs that learn see of a position: the words of its state, or planes of its board."""

from typing import TYPE_CHECKING, Any

import numpy as np

from arena.games.core.game import CHANCE, Game
from arena.games.core.shared.errors import UserError

if TYPE_CHECKING:
    from gymnasium.spaces import Box

KINDS = ("state", "planes")


class NoEnvironment(UserError, ValueError):
    """A game that cannot become an environment."""


class NoObservation(UserError, ValueError):
    """An observation that a game does not have."""


def check_observation(game: Game, kind: str) -> None:
    """NoObservation unless the game can be seen so."""
    if kind not in KINDS:
        raise NoObservation(f"observation = {kind!r} is not one of {', '.join(KINDS)}")
    if kind == "planes" and not game.has_planes:
        raise NoObservation(f"{game} does not say what its cells hold: observation = 'planes' is for games that do")


def plane_shape(game: Game) -> tuple[int, int, int]:
    """The shape of `planes_of`."""
    return len(game.planes(game.initial())) + 1, *game.grid.shape


def planes_of(game: Game, state: np.ndarray, player: int) -> np.ndarray:
    """int8[planes, rows, columns], 0 or 1: what `player` has, what the other has, what else there is, and last a plane
    of ones if `player` is the first one.  Cells are where the game's `grid` has them."""
    words = [np.uint64(word) for word in game.planes(state)]
    words[:2] = words[:2][:: -1 if player == 1 else 1]
    grid = game.grid
    bits = np.maximum(grid, 0).astype(np.uint64)
    found = np.array([word >> bits & np.uint64(1) for word in words], np.int8) * (grid >= 0)
    return np.concatenate([found, np.full((1, *grid.shape), player == 0, np.int8)]).astype(np.int8)


def settled(game: Game, state: np.ndarray, rng: np.ndarray) -> np.ndarray:
    """The position once chance has moved."""
    while not game.is_over(state) and game.player(state) == CHANCE:
        state = game.after(state, int(game.random_outcome(state, rng)))
    return state


def mask_of(game: Game, state: np.ndarray) -> np.ndarray:
    """int8[move_limit]: 1 for each legal move."""
    mask = np.zeros(game.move_limit, np.int8)
    mask[game.moves(state)] = 1
    return mask


def observed(game: Game, state: np.ndarray, player: int, kind: str) -> np.ndarray:
    """What `player` sees of a position."""
    return state.copy() if kind == "state" else planes_of(game, state, player)


def space_of(game: Game, kind: str) -> "Box":
    """The space of such observations in Gymnasium, which must be installed."""
    from gymnasium.spaces import Box

    check_observation(game, kind)
    if kind == "planes":
        return Box(0, 1, plane_shape(game), np.int8)
    dtype: Any = game.dtype
    limits = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
    return Box(limits.min, limits.max, (game.state_size,), dtype)
