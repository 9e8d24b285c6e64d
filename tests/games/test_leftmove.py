"""Left Move's exact figures."""

import numpy as np
import pytest

from arena import games
from arena.games.core.random import stream

GAME = games.make("leftmove")


def test_random_play_is_binomial():
    assert games.playouts(GAME, 1_000_000, seed=2).score / 1e6 == pytest.approx(30.0, abs=5 * (15 / 1e6) ** 0.5)
    room, rng = np.empty(2, np.int32), stream(4)
    with np.errstate(over="ignore"):
        scores = np.array([GAME.random_playout(GAME.initial(), room, rng)[0] for _ in range(1000)])
    assert scores.var() == pytest.approx(15.0, abs=3.0)  # standard error 0.67


@pytest.mark.parametrize("depth", [1, 63, 64, 65, 128, 200])
def test_playouts_from_the_middle_choose_what_is_left(depth):
    game = games.make(f"leftmove(depth={depth})")
    state = game.read_line("L " * (depth // 2))[1]
    summary = games.playouts(game, 20_000, seed=depth, state=state)
    rest = depth - depth // 2
    assert summary.plies == 20_000 * rest
    assert summary.score / 20_000 == pytest.approx(depth // 2 + rest / 2, abs=5 * (rest / 4 / 20_000) ** 0.5)


def test_codes_and_names():
    state = GAME.read_line("L R L")[1]
    assert [int(GAME.move_code(state, move)) for move in GAME.moves(state)] == [6, 7]
    assert GAME.render(state) == "2 left of 3 moves, 57 to go"
    assert GAME.score(GAME.read_line("L R " * 30)[1]) == 30
    assert GAME.key(GAME.read_line("L R")[1]) == GAME.key(GAME.read_line("R L")[1])
    with pytest.raises(games.IllegalMove):
        GAME.parse_move(state, "left")


def test_depth_out_of_range():
    with pytest.raises(ValueError, match="depth = 0 is out of range: it can be 1 to 10000"):
        games.make("leftmove(depth=0)")
