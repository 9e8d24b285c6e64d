"""The lecture notes' coin game."""

import pytest

from arena import games
from arena.games.core.game import CHANCE
from tests.games.exact import exact_value


def test_value():
    """MAX: 2 by stopping at heads; at tails -1 by going on, where MIN would keep 0 and -2."""
    game = games.make("coin")
    lines = ("", "heads", "heads go", "tails", "tails go", "tails stop")
    assert [exact_value(game, game.read_line(line)[1]) for line in lines] == [0.5, 2.0, 0.5, -1.0, -1.0, -2.0]


@pytest.mark.parametrize(("stake", "penalty"), [(2, 0), (4, 1), (1, 1), (2, 5)])
def test_value_of_other_stakes(stake, penalty):
    game = games.make(f"coin(stake={stake}, penalty={penalty})")
    heads = max(stake, (min(stake, penalty) + min(0, penalty)) / 2)
    tails = max(-stake, (min(0, penalty) + min(-stake, penalty)) / 2)
    assert exact_value(game, game.initial()) == (heads + tails) / 2 == stake / 4


@pytest.mark.parametrize(
    ("line", "score"),
    [
        ("heads stop", 2),
        ("tails stop", -2),
        ("heads go heads keep", 2),
        ("heads go tails keep", 0),
        ("tails go heads keep", 0),
        ("tails go tails keep", -2),
        ("heads go heads pay", 1),
        ("tails go tails pay", 1),
    ],
)
def test_payoffs_are_those_of_the_notes(line, score):
    game = games.make("coin")
    state = game.read_line(line)[1]
    assert game.is_over(state) and game.score(state) == score
    assert game.render(state) == line


def test_nodes_are_chance_max_chance_min():
    game = games.make("coin")
    lines = ("", "heads", "heads go", "heads go tails")
    assert [game.player(game.read_line(line)[1]) for line in lines] == [CHANCE, 0, CHANCE, 1]
    with pytest.raises(games.IllegalMove, match="legal: stop go"):
        game.parse_move(game.read_line("heads")[1], "pay")


@pytest.mark.parametrize(
    ("spec", "message"),
    [("coin(stake=-1)", "stake = -1.0 is out of range"), ("coin(penalty=1e9)", "penalty = 1000000000.0 is out")],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
