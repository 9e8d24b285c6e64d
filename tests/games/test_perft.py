"""Counts of move sequences: every registered game has a row of known figures."""

import pytest

import games
from tests.shipped import GAMES

# game: leaves at depth 1, 2, 3, ...
PERFT = {
    "tictactoe": [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872],
    "connect4": [7, 49, 343, 2401, 16807, 117649, 823536, 5673234],
    "breakthrough": [22, 484, 11132, 256036],
    "breakthrough(rows=6, columns=6)": [16, 256, 4308, 71478],
    "breakthrough(rows=5, columns=5)": [13, 156, 1924, 23084, 289828],
}


@pytest.mark.parametrize("spec", PERFT)
def test_perft(spec):
    game = games.make(spec)
    assert [games.perft(game, depth + 1) for depth in range(len(PERFT[spec]))] == PERFT[spec]


def test_every_game_has_a_row():
    assert set(GAMES) == {spec.split("(")[0] for spec in PERFT}


def naive_perft(game, state, depth):
    if depth == 0:
        return 1
    return sum(naive_perft(game, game.after(state, move), depth - 1) for move in game.moves(state))


@pytest.mark.parametrize("spec", PERFT)
def test_perft_equals_plain_python(spec):
    game = games.make(spec)
    state = game.initial()
    for _ in range(2):
        state = game.after(state, game.moves(state)[-1])
    assert games.perft(game, 3, state) == naive_perft(game, state, 3)


def test_perft_of_depth_zero_and_below():
    assert games.perft(games.make("tictactoe"), 0) == 1
    with pytest.raises(ValueError, match="depth = -1"):
        games.perft(games.make("tictactoe"), -1)
