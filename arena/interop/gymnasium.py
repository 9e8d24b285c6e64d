"""Games for one player as environments of Gymnasium (Towers et al., "Gymnasium: a standard interface for reinforcement
learning environments", 2024), for programs that learn by playing.

An action is a move's integer.  Chance moves by itself, seeded by `reset`.
"""

from typing import Any

import numpy as np

from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.interop.observations import NoEnvironment, mask_of, observed, settled, space_of

try:
    import gymnasium
except ModuleNotFoundError as error:
    missing = "Gymnasium is not installed: pip install gymnasium, or the extra interop of search-arena"
    raise ModuleNotFoundError(missing, name=error.name) from None

ILLEGAL = -1.0  # the reward of an illegal move, which ends the game


def to_gymnasium(game: Game, render_mode: str | None = None, observation: str = "state") -> gymnasium.Env:
    """A Gymnasium environment of a game for one player.

    The reward is the score, at the end.  `info["action_mask"]` is int8[move_limit], 1 for each legal move, as
    `action_space.sample(mask)` takes it; an illegal move ends the game with a reward of -1.
    render_mode: "ansi" makes `render` return the board as text
    observation: "state": dtype[state_size]; "planes": int8[planes, rows, columns]
    NoEnvironment if the game is for two players, NoObservation if it has no planes.
    """
    if game.players != 1:
        raise NoEnvironment(f"{game} is for two players; an environment of Gymnasium has one: use to_pettingzoo")
    return SoloEnvironment(game, render_mode, observation)


class SoloEnvironment(gymnasium.Env[np.ndarray, np.int64]):
    """See `to_gymnasium`."""

    metadata = {"render_modes": ["ansi"]}  # Gymnasium declares it so

    def __init__(self, game: Game, render_mode: str | None = None, observation: str = "state"):
        self.game, self.render_mode, self.seen = game, render_mode, observation
        self.observation_space = space_of(game, observation)
        self.action_space = gymnasium.spaces.Discrete(game.move_limit)
        self._rng, self._state = stream(0, "chance"), game.initial()

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None):
        """(observation, info); chance draws from `seed`, or if None goes on, at first from seed 0."""
        super().reset(seed=seed)
        if seed is not None:
            self._rng = stream(seed, "chance")
        self._state = settled(self.game, self.game.initial(), self._rng)
        return self._observed(), {"action_mask": mask_of(self.game, self._state)}

    def step(self, action):
        """(observation, reward, terminated, truncated, info)."""
        if int(action) not in self.game.moves(self._state):
            about = {"action_mask": mask_of(self.game, self._state), "illegal": True}
            return self._observed(), ILLEGAL, True, False, about
        self._state = settled(self.game, self.game.after(self._state, int(action)), self._rng)
        over = bool(self.game.is_over(self._state))
        reward = float(self.game.score(self._state)) if over else 0.0
        return self._observed(), reward, over, False, {"action_mask": mask_of(self.game, self._state)}

    def render(self):
        """The board as text, if `render_mode` is "ansi"."""
        return self.game.render(self._state) if self.render_mode == "ansi" else None

    def _observed(self) -> np.ndarray:
        return observed(self.game, self._state, 0, self.seen)
