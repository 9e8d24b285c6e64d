"""Games as environments of PettingZoo, by its own tests; pip install pettingzoo, or the extra `interop`."""

import numpy as np
import pytest

from arena import games

pytest.importorskip("pettingzoo", reason="PettingZoo is not installed: pip install pettingzoo")

from pettingzoo.test import api_test, seed_test

from arena.interop.pettingzoo import NoEnvironment, to_pettingzoo
from tests.shipped import GAMES

SPECS = ["connect4(rows=4, columns=4)", "breakthrough(rows=5, columns=4)", "othello(size=4)", "pig(target=20)"]


@pytest.mark.parametrize("spec", SPECS)
def test_pettingzoo_accepts_it(spec):
    api_test(to_pettingzoo(games.make(spec)), num_cycles=200)
    seed_test(lambda: to_pettingzoo(games.make(spec)), num_cycles=50)


@pytest.mark.parametrize("spec", SPECS)
def test_a_game_is_what_the_rules_say(spec):
    """Random games: the mask has the legal moves, and the rewards at the end are those of the score."""
    game, environment, random = games.make(spec), to_pettingzoo(games.make(spec)), np.random.default_rng(3)
    for seed in range(5):
        environment.reset(seed=seed)
        rewards = {}
        for agent in environment.agent_iter():
            observation, reward, over, _, _ = environment.last()
            if over:
                rewards[agent] = reward
                environment.step(None)
                continue
            state, legal = observation["observation"], np.flatnonzero(observation["action_mask"])
            assert agent == f"player_{game.player(state)}" and legal.tolist() == sorted(game.moves(state))
            environment.step(int(random.choice(legal)))
        first = np.sign(game.score(environment.unwrapped.state_array))
        assert rewards == {"player_0": first, "player_1": -first}


@pytest.mark.parametrize("spec", [name for name in GAMES if games.make(name).players == 2])
def test_every_game_of_two_players_is_accepted(spec):
    api_test(to_pettingzoo(games.make(spec)), num_cycles=30)


def test_an_illegal_move_ends_the_game():
    environment = to_pettingzoo(games.make("connect4(rows=4, columns=4)"))
    environment.reset(seed=1)
    for _ in range(4):
        environment.step(0)
    environment.step(0)  # the column is full
    assert environment.terminations == {"player_0": True, "player_1": True}
    assert environment.rewards["player_0"] == -1.0


def test_puzzles_are_refused():
    with pytest.raises(NoEnvironment, match=r"leftmove.* is for one player"):
        to_pettingzoo(games.make("leftmove"))


@pytest.mark.parametrize("spec", ["connect4(rows=4, columns=4)", "othello(size=4)"])
def test_planes_are_accepted_and_seen_from_each_side(spec):
    api_test(to_pettingzoo(games.make(spec), observation="planes"), num_cycles=50)
    environment = to_pettingzoo(games.make(spec), observation="planes")
    environment.reset(seed=1)
    environment.step(int(np.flatnonzero(environment.observe("player_0")["action_mask"])[0]))
    first, second = (environment.observe(agent)["observation"] for agent in environment.possible_agents)
    assert (first[:2] == second[1::-1]).all() and first[-1].all() and not second[-1].any()
