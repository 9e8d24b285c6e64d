"""Games of two players as environments of PettingZoo (Terry et al., "PettingZoo: Gym for multi-agent reinforcement
learning", NeurIPS 2021), for programs that learn by playing.

An action is a move's integer.  Chance moves by itself, seeded by `reset`.
"""

from typing import Any

import numpy as np

from arena.games.core.game import Game
from arena.games.core.random import stream
from arena.interop.observations import NoEnvironment, mask_of, observed, settled, space_of

try:
    import gymnasium.spaces as spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers
except ModuleNotFoundError as error:
    missing = "PettingZoo is not installed: pip install pettingzoo, or the extra interop of search-arena"
    raise ModuleNotFoundError(missing, name=error.name) from None

ILLEGAL = -1.0  # the reward of an illegal move, which ends the game


def to_pettingzoo(game: Game, render_mode: str | None = None, observation: str = "state") -> AECEnv:
    """A PettingZoo environment of a game for two players.

    The agents are `player_0`, which moves first, and `player_1`.  An observation is a dict: `"observation"` is the
    game's own state, dtype[state_size], or the board as the agent sees it; `"action_mask"` is int8[move_limit], 1 for
    each legal move.  The reward at the end is 1, 0 or -1.
    render_mode: "ansi" makes `render` return the board as text; "human" prints it.
    observation: "state", or "planes": int8[planes, rows, columns] of `arena.interop.observations.planes_of`
    NoEnvironment if the game is for one player, NoObservation if it has no planes.
    """
    if game.players != 2:
        raise NoEnvironment(f"{game} is for one player; an environment of PettingZoo needs a game of two")
    inner = GameEnvironment(game, render_mode, observation)
    environment = wrappers.TerminateIllegalWrapper(inner, illegal_reward=ILLEGAL)
    return wrappers.OrderEnforcingWrapper(environment)


class GameEnvironment(AECEnv):
    """The environment without checks of calls; see `to_pettingzoo`."""

    def __init__(self, game: Game, render_mode: str | None = None, observation: str = "state"):
        super().__init__()
        self.game, self.render_mode, self.seen = game, render_mode, observation
        self.metadata = {"name": str(game), "render_modes": ["ansi", "human"], "is_parallelizable": False}
        self.possible_agents = ["player_0", "player_1"]
        self.agent_selection: str = self.possible_agents[0]
        mask = spaces.Box(0, 1, (game.move_limit,), np.int8)
        both = spaces.Dict({"observation": space_of(game, observation), "action_mask": mask})
        self.observation_spaces = dict.fromkeys(self.possible_agents, both)
        self.action_spaces = {agent: spaces.Discrete(game.move_limit) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Space:
        """What a player observes, the same for both."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        """The actions, the same for both players."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Chance draws from `seed`, or if None goes on, at first from seed 0."""
        if seed is not None or not hasattr(self, "_rng"):
            self._rng = stream(seed or 0, "chance")
        self.agents = list(self.possible_agents)
        self.rewards, self._cumulative_rewards = (dict.fromkeys(self.agents, 0.0) for _ in range(2))
        self.terminations, self.truncations = (dict.fromkeys(self.agents, False) for _ in range(2))
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.state_array = self.game.initial()
        self._let_chance_move()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """The mask has legal moves only for the agent to move."""
        moves = agent == self.agent_selection and not self.terminations[agent]
        mask = mask_of(self.game, self.state_array) if moves else np.zeros(self.game.move_limit, np.int8)
        seen = observed(self.game, self.state_array, self.possible_agents.index(agent), self.seen)
        return {"observation": seen, "action_mask": mask}

    def step(self, action: Any) -> None:
        """Make the move of `agent_selection`."""
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            self._was_dead_step(action)
            return
        mover = self.agent_selection
        self._cumulative_rewards[mover] = 0.0
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self.state_array = self.game.after(self.state_array, int(action))
        self._let_chance_move()
        if self.game.is_over(self.state_array):
            first = float(np.sign(self.game.score(self.state_array)))
            self.rewards = {"player_0": first, "player_1": -first}
            self.terminations = dict.fromkeys(self.agents, True)
            self.agent_selection = self.possible_agents[1 - self.possible_agents.index(mover)]
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _let_chance_move(self):
        self.state_array = settled(self.game, self.state_array, self._rng)
        if not self.game.is_over(self.state_array):
            self.agent_selection = self.possible_agents[int(self.game.player(self.state_array))]

    def render(self) -> str | None:
        """The board as text, returned or printed as `render_mode` says."""
        board = self.game.render(self.state_array)
        if self.render_mode == "human":
            print(board)
            return None
        return board

    def close(self) -> None:
        """There is nothing to close."""
