"""Every registered game, at its default size and some others, against the conformance suite."""

import pytest

import games
from games.core.check import CHECKS
from tests.shipped import GAMES

OTHER_SIZES = {
    "connect4": ["connect4(rows=4, columns=5)", "connect4(rows=5, columns=10)", "connect4(rows=3, columns=2)"],
    "breakthrough": ["breakthrough(rows=6, columns=4)", "breakthrough(rows=4, columns=16)", "breakthrough(rows=32, columns=2)"],
}
SPECS = [spec for name in GAMES for spec in [name, *OTHER_SIZES.get(name, [])]]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("spec", SPECS)
def test_conforms(spec, check):
    check(games.make(spec), seed=1)


@pytest.mark.parametrize("spec", SPECS)
def test_spec_round_trip(spec):
    game = games.make(spec)
    assert games.make(str(game)) == game


def test_other_sizes_are_of_registered_games():
    assert set(OTHER_SIZES) <= set(GAMES)
