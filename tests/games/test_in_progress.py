"""A game in progress: every game played at random, taken back and played again, and read from its words."""

import random

import numpy as np
import pytest

from arena import games
from arena.games.core.play.in_progress import NOBODY, GameInProgress
from tests.shipped import GAMES

PLIES = 30


@pytest.mark.parametrize("spec", GAMES)
def test_a_game_is_taken_back_and_played_again(spec):
    game, chance = games.make(spec), random.Random(spec)
    line = GameInProgress(game)
    while not line.is_over and len(line.moves) < PLIES:
        name, move = chance.choice(sorted(line.legal.items()))
        assert line.side == int(game.player(line.state))
        line.push(move)
        assert line.names[-1] == name and line.sides[-1] == int(game.player(line.states[-2]))
    assert (line.side == NOBODY) == line.is_over == bool(game.is_over(line.state))
    moves, names, sides, states = list(line.moves), list(line.names), list(line.sides), list(line.states)
    assert [move for _, move in GameInProgress(game).ahead([*moves, 10**6])] == moves
    ply = chance.randint(0, len(moves))
    line.back_to(ply)
    assert np.array_equal(line.state, states[ply]) and (line.names, line.sides) == (names[:ply], sides[:ply])
    for name in names[ply:]:
        line.play(name)
    assert (line.moves, line.sides) == (moves, sides)
    assert all(np.array_equal(one, other) for one, other in zip(line.states, states, strict=True))
    assert np.array_equal(game.read_line(" ".join(line.words))[1], line.state)


def test_the_last_move_of_a_side():
    line = GameInProgress(games.make("tictactoe"), [0, 4, 8])
    assert [line.last_of(sides) for sides in ((0,), (1,), (0, 1), ())] == [2, 1, 2, None]
    assert line.last_of((1,), 2) is None
