"""Games for one player as environments of Gymnasium, by its own checks."""

import numpy as np
import pytest

from arena import games

pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install gymnasium")

from gymnasium.utils.env_checker import check_env

from arena.interop.gymnasium import NoEnvironment, to_gymnasium
from tests.shipped import GAMES

SOLO = [name for name in GAMES if games.make(name).players == 1]


@pytest.mark.parametrize("spec", SOLO)
def test_gymnasium_accepts_it(spec):
    check_env(to_gymnasium(games.make(spec), render_mode="ansi"), skip_render_check=False)


@pytest.mark.parametrize("spec", ["leftmove", "samegame(rows=4, columns=4)", "weakschur"])
def test_a_game_is_what_the_rules_say(spec):
    game, environment = games.make(spec), to_gymnasium(games.make(spec))
    observation, info = environment.reset(seed=1)
    environment.action_space.seed(2)
    state, over, rewards = game.initial(), False, []
    while not over:
        assert (observation == state).all()
        assert np.flatnonzero(info["action_mask"]).tolist() == sorted(game.moves(state))
        action = environment.action_space.sample(info["action_mask"])
        state = game.after(state, int(action))
        observation, reward, over, truncated, info = environment.step(action)
        rewards.append(reward)
        assert not truncated and over == game.is_over(state)
    assert rewards[-1] == game.score(state) and not any(rewards[:-1]) and info["action_mask"].sum() == 0


def test_an_illegal_move_ends_the_game():
    environment = to_gymnasium(games.make("samegame(rows=3, columns=3)"))
    _, info = environment.reset()
    illegal = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, over, _, info = environment.step(illegal)
    assert (reward, over, info["illegal"]) == (-1.0, True, True)


def test_games_of_two_are_refused():
    with pytest.raises(NoEnvironment, match=r"connect4 is for two players; .* use to_pettingzoo"):
        to_gymnasium(games.make("connect4"))
