"""AtariGo: its rules against a naive board, and its values on small boards."""

import numpy as np
import pytest

from arena import games
from arena.games.core.jit import kernel
from arena.games.core.play.playout import copy_state
from tests.games.test_go import NaiveBoard, names, stones_of


@kernel
def wins(game, states, moves, ply, table):
    """True if the player to move in states[ply] wins; the last bit of a word of `table` says so of its key."""
    if game.is_over(states[ply]):
        return (game.score(states[ply]) > 0.0) == (game.player(states[ply]) == 0)
    key = game.key(states[ply]) >> np.uint64(1)
    slot = key % np.uint64(len(table))
    if table[slot] >> np.uint64(1) == key:
        return table[slot] & np.uint64(1) != 0
    won, i, count = False, 0, game.legal_moves(states[ply], moves[ply])
    while not won and i < count:
        copy_state(game, states[ply], states[ply + 1])
        game.play(states[ply + 1], moves[ply, i])
        won = not wins(game, states, moves, ply + 1, table)
        i += 1
    table[slot] = key << np.uint64(1) | np.uint64(won)
    return won


def first_player_wins(game):
    """By an exact search."""
    states = np.zeros((game.max_plies + 1, game.state_size), np.uint64)
    states[0] = game.initial()
    moves = np.empty((game.max_plies + 1, game.max_moves), np.int32)
    return wins(game, states, moves, 0, np.zeros(1 << 22, np.uint64))


@pytest.mark.plain
@pytest.mark.parametrize("size, first", [(3, True), pytest.param(4, False, marks=pytest.mark.slow)])
def test_values(size, first):
    assert first_player_wins(games.make(f"atarigo(size={size})")) == first


def naive_placing_game(game, may_capture, random):
    """A random game in step with a naive board."""
    state, board, ply, over = game.initial(), NaiveBoard(game.height, game.width), 0, False
    while not over:
        legal = naive_placing_moves(board, 1 + ply % 2, may_capture)
        assert game.moves(state) == [row * game.width + column for row, column in legal]
        point = legal[random.integers(len(legal))]
        captured = board.put(point, 1 + ply % 2)
        state, ply = game.after(state, point[0] * game.width + point[1]), ply + 1
        over = bool(captured) or not naive_placing_moves(board, 1 + ply % 2, may_capture)
        assert game.is_over(state) == over
    assert game.score(state) == (1.0 if (ply % 2 == 1) == game.last_mover_wins else -1.0)
    return bool(captured)


def naive_placing_moves(board, colour, may_capture):
    legal = []
    for point in board.points():
        if point not in board.stones:
            after = board.copy()
            if (not after.put(point, colour) or may_capture) and after.liberties(point):
                legal.append(point)
    return legal


@pytest.mark.parametrize("size, count", [(3, 200), (5, 30), (9, 3)])
def test_games_are_those_of_a_naive_board(size, count):
    game, random = games.make(f"atarigo(size={size})"), np.random.default_rng(size)
    ends = {naive_placing_game(game, True, random) for _ in range(count)}
    assert ends == {True, False} or size == 9  # on small boards, players run out of moves too


def test_the_first_capture_wins():
    game = games.make("atarigo")
    state = game.read_line("a1 a2 h8 b1")[1]
    assert game.is_over(state) and game.score(state) == -1.0
    assert stones_of(game, state) == {(0, 0): 1, (1, 0): 2, (7, 7): 1, (0, 1): 2}


def test_a_player_without_a_move_loses():
    """Black c3 leaves White, with b1, suicide at a1 and at a3; Black's own chain has both for liberties."""
    game = games.make("atarigo(size=3)")
    black = sum(1 << game.parse_move(game.initial(), name) for name in ("c1", "a2", "b2", "c2", "b3"))
    state = np.array([black, 1 << 1, 0], np.uint64)
    assert not game.is_over(state) and names(game, state) == {"a1", "a3", "c3"}
    state = game.read_line("c3", state)[1]
    assert game.is_over(state) and game.score(state) == 1.0 and stones_of(game, state)[0, 1] == 2


def test_evaluation_is_the_difference_of_the_fewest_liberties():
    game = games.make("atarigo")
    assert game.evaluate(game.initial()) == 0
    assert game.evaluate(game.read_line("a1")[1]) == (2 - 4) / 6
    state = game.read_line("d4 a1 d5 h8 e5 a2")[1]  # three black stones in an angle share a liberty: 7, not 8
    assert game.evaluate(state) == (7 - 2) / 9


def test_render_and_bad_parameters():
    game = games.make("atarigo(size=9)")
    assert game.render(game.read_line("j9 a1")[1]).splitlines()[0] == "9 . . . . . . . . X"
    assert game.render(game.initial()).splitlines()[-1] == "  a b c d e f g h j"
    with pytest.raises(games.IllegalMove, match="'pass' is not a legal move"):
        game.parse_move(game.initial(), "pass")
    for size in (1, 14):
        with pytest.raises(games.SpecError, match=f"size = {size} is out of range: it can be 2 to 13"):
            games.make(f"atarigo(size={size})")
