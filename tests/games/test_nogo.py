"""NoGo: its rules against a naive board, and its values on small boards."""

import numpy as np
import pytest

import games
from tests.games.test_atarigo import first_player_wins, naive_placing_game
from tests.games.test_go import names


@pytest.mark.parametrize("size, first", [(2, True), (3, True), (4, False)])
def test_values(size, first):
    assert first_player_wins(games.make(f"nogo(size={size})")) == first


@pytest.mark.parametrize("size, count", [(3, 100), (5, 20), (9, 2)])
def test_games_are_those_of_a_naive_board(size, count):
    game, random = games.make(f"nogo(size={size})"), np.random.default_rng(size)
    assert not any(naive_placing_game(game, False, random) for _ in range(count))


def test_nobody_captures_nor_plays_without_a_liberty():
    game = games.make("nogo(size=3)")
    state = game.read_line("a2 c3 b1")[1]
    assert names(game, state) == {"c1", "b2", "a3", "b3", "c2"}  # a1 is suicide
    assert names(game, game.read_line("a3", state)[1]) == {"a1", "b2", "c1", "c2"}  # b3 would capture a3


def test_evaluation_is_mobility():
    game = games.make("nogo(size=3)")
    assert game.evaluate(game.initial()) == 0
    state = game.read_line("a2 c3 b1")[1]  # of six empty points, White may not play a1; Black may play all
    assert game.evaluate(state) == (6 - 5) / 12


def test_bad_parameters():
    for size in (1, 14):
        with pytest.raises(games.SpecError, match=f"size = {size} is out of range: it can be 2 to 13"):
            games.make(f"nogo(size={size})")
