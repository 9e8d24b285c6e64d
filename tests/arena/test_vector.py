"""Games side by side: each is played as the rules in plain Python say, and as it is alone."""

import numpy as np
import pytest

import arena
from arena import games
from arena.games.core.game import CHANCE, IllegalMove
from arena.interop.observations import NoObservation, check_observation, plane_shape, planes_of
from arena.interop.vector import VectorEnvironment
from tests.shipped import GAMES

SPECS = ["tictactoe", "connect4(rows=4, columns=4)", "othello(size=4)", "pig(target=10)", "leftmove", "backgammon"]


def check_lists(environment, game):
    """The player to move, and the legal moves as masks and lists, are those of the states."""
    for i, state in enumerate(environment.states):
        assert not game.is_over(state) and game.player(state) == environment.players[i] != CHANCE
        legal = sorted(game.moves(state))
        assert sorted(environment.moves[i, : environment.moves_of[i]].tolist()) == legal
        assert np.flatnonzero(environment.masks[i]).tolist() == legal


@pytest.mark.plain
@pytest.mark.parametrize("spec", SPECS)
def test_games_are_those_of_the_rules(spec):
    game, ends = games.make(spec), 0
    environment = VectorEnvironment(game, 7, seed=3)
    check_lists(environment, game)
    for _ in range(70):
        before, actions = environment.states.copy(), environment.random_actions()
        results, ended = environment.step(actions)
        check_lists(environment, game)
        for i in range(7):
            after = game.after(before[i], int(actions[i]))
            if not game.has_chance:
                assert ended[i] == game.is_over(after)
                assert (environment.states[i] == (game.initial() if ended[i] else after)).all()
                score = float(game.score(after)) if ended[i] else 0.0
                assert results[i] == (score if game.players == 1 else np.sign(score))
        ends += ended.sum()
        assert (results[~ended] == 0).all()
    assert ends > 0 or game.max_plies > 70


@pytest.mark.plain
def test_a_game_does_not_depend_on_the_others_or_on_threads():
    game, seen = games.make("pig(target=10)"), []
    for count, threads in ((9, 1), (9, 3), (4, 1)):
        environment = VectorEnvironment(game, count, seed=5, threads=threads)
        steps = [environment.step(environment.random_actions())[0][:4].tolist() for _ in range(40)]
        seen.append((steps, environment.states[:4].tolist()))
    assert seen[0] == seen[1] == seen[2]
    other = VectorEnvironment(game, 9, seed=6)
    assert [other.step(other.random_actions())[0][:4].tolist() for _ in range(40)] != seen[0][0]


@pytest.mark.plain
def test_an_illegal_move_makes_no_move_at_all():
    environment = VectorEnvironment(games.make("tictactoe"), 3, seed=1)
    environment.step(np.array([4, 4, 4]))
    before = environment.states.copy()
    for bad in ([0, 4, 0], [0, 9, 0], [0, -1, 0]):
        with pytest.raises(IllegalMove, match=rf"actions\[1\] = {bad[1]} is not legal; legal: \[0, 1, 2, 3, 5"):
            environment.step(np.array(bad))
    for bad in (np.zeros(2, int), np.zeros(3), [[0, 0, 0]]):
        with pytest.raises(ValueError, match=r"should be whole numbers of shape \(3,\)"):
            environment.step(bad)
    assert (environment.states == before).all()
    environment.reset()
    assert (environment.states == 0).all() and environment.masks.all()


@pytest.mark.plain
@pytest.mark.parametrize("spec", ["tictactoe", "othello(size=4)", "breakthrough(rows=5, columns=4)", "ataxx"])
def test_planes_are_the_board_as_the_player_to_move_sees_it(spec):
    game = games.make(spec)
    environment = VectorEnvironment(game, 5, seed=2)
    for _ in range(3):
        environment.step(environment.random_actions())
        planes = environment.planes()
        assert planes.shape == (5, *plane_shape(game))
        for i, state in enumerate(environment.states):
            expected = planes_of(game, state, int(environment.players[i]))
            assert (planes[i] == expected).all() and expected.dtype == np.int8


def test_planes_of_a_known_position():
    game = games.make("tictactoe")
    state = game.read_line("2b 1a")[1]
    own, other, first = planes_of(game, state, 0)
    assert own.tolist() == [[0, 0, 0], [0, 1, 0], [0, 0, 0]] and other.sum() == 1 and (first == 1).all()
    theirs, mine, first = planes_of(game, state, 1)
    assert (mine == own).all() and (theirs == other).all() and (first == 0).all()
    with pytest.raises(NoObservation, match="does not say what its cells hold"):
        check_observation(games.make("nim"), "planes")
    with pytest.raises(NoObservation, match="'words' is not one of state, planes"):
        check_observation(game, "words")


@pytest.mark.slow
@pytest.mark.parametrize("spec", [name for name in GAMES if games.make(name).compiles])
def test_every_game_can_be_stepped(spec):
    game = games.make(spec)
    environment = arena.VectorEnvironment(game, 4, seed=1)
    for _ in range(30):
        environment.step(environment.random_actions())
    check_lists(environment, game)


def test_it_has_no_more_threads_than_cores_that_it_may_use(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: {0}, raising=False)
    assert len(VectorEnvironment(games.make("tictactoe"), 4096, seed=1)._shares) == 1
