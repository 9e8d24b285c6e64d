"""NoGo: its rules against a naive board, and its values on small boards."""

import numpy as np
import pytest

from arena import games
from tests.games.test_atarigo import first_player_wins, naive_placing_game, naive_placing_moves
from tests.games.test_go import NaiveBoard, names


def mover_wins(board, colour, misere, known):
    """Whether the player to move wins, by minimax on a naive board."""
    place = (board.position(), colour)
    if place not in known:
        afters = [board.copy() for _ in board.points()]
        moves = naive_placing_moves(board, colour, False)
        for after, move in zip(afters, moves):
            after.put(move, colour)
        known[place] = any(not mover_wins(after, 3 - colour, misere, known) for after, _ in zip(afters, moves))
        known[place] |= misere and not moves
    return known[place]


@pytest.mark.plain
@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("name", ["nogo", "misere_nogo"])
def test_values_by_minimax_on_a_naive_board(name, size):
    game = games.make(f"{name}(size={size})")
    assert first_player_wins(game) == mover_wins(NaiveBoard(size), 1, name.startswith("misere"), {})


@pytest.mark.slow
@pytest.mark.parametrize("name, size, first", [("nogo", 4, False), ("misere_nogo", 4, True)])
def test_values(name, size, first):
    assert first_player_wins(games.make(f"{name}(size={size})")) == first


MORE = ("nogo", 5, 20), ("nogo", 9, 2), ("misere_nogo", 4, 50)


@pytest.mark.parametrize(
    "name, size, count",
    [
        ("nogo", 3, 100),
        ("nogo", 5, 5),
        ("misere_nogo", 4, 20),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in MORE),
    ],
)
def test_games_are_those_of_a_naive_board(name, size, count):
    game, random = games.make(f"{name}(size={size})"), np.random.default_rng(size)
    assert not any(naive_placing_game(game, False, random) for _ in range(count))


@pytest.mark.parametrize("rows, columns, count", [(2, 5, 40), (6, 3, 20), (1, 7, 20), (13, 2, 2)])
def test_games_on_rectangles_are_those_of_a_naive_board(rows, columns, count):
    game, random = games.make(f"nogo(rows={rows}, columns={columns})"), np.random.default_rng(rows)
    assert not any(naive_placing_game(game, False, random) for _ in range(count))
    assert game.symmetries == 4 and len(game.render(game.initial()).splitlines()) == rows + 1


@pytest.mark.plain
@pytest.mark.parametrize("rows, columns", [(2, 4), (3, 2), (1, 6)])
@pytest.mark.parametrize("name", ["nogo", "misere_nogo"])
def test_values_of_rectangles_by_minimax_on_a_naive_board(name, rows, columns):
    game = games.make(f"{name}(rows={rows}, columns={columns})")
    assert first_player_wins(game) == mover_wins(NaiveBoard(rows, columns), 1, name.startswith("misere"), {})


@pytest.mark.parametrize("name", ["nogo", "misere_nogo"])
def test_symmetries_are_those_of_the_board(name):
    assert games.make(name).symmetries == games.make(f"{name}(rows=3, columns=3)").symmetries == 8
    assert games.make(f"{name}(rows=3, columns=4)").symmetries == 4


@pytest.mark.parametrize(
    "parameters, message",
    [
        ("rows=3", "a rectangle needs rows and columns, and columns is not given"),
        ("columns=99", "columns = 99 is out of range: it can be 1 to 13"),
        ("rows=3, columns=14", "columns = 14 is out of range: it can be 1 to 13"),
        ("rows=1, columns=1", "the board needs 2 points or more"),
    ],
)
def test_bad_rectangles(parameters, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(f"nogo({parameters})")


def test_nobody_captures_nor_plays_without_a_liberty():
    game = games.make("nogo(size=3)")
    state = game.read_line("a2 c3 b1")[1]
    assert names(game, state) == {"c1", "b2", "a3", "b3", "c2"}  # a1 is suicide
    assert names(game, game.read_line("a3", state)[1]) == {"a1", "b2", "c1", "c2"}  # b3 would capture a3


@pytest.mark.plain
def test_a_misere_game_is_lost_by_who_would_win(kernels):
    count = 100 if kernels == "plain" else 2000
    plain, misere = (games.playouts(games.make(f"{name}(size=5)"), count, seed=8) for name in ("nogo", "misere_nogo"))
    assert (plain.wins, plain.plies) == (misere.losses, misere.plies) and 0 < plain.wins < count


def test_evaluation_is_mobility():
    game, misere = games.make("nogo(size=3)"), games.make("misere_nogo(size=3)")
    assert game.evaluate(game.initial()) == 0
    state = game.read_line("a2 c3 b1")[1]  # of six empty points, White may not play a1; Black may play all
    assert game.evaluate(state) == (6 - 5) / 12 == -misere.evaluate(state)


def test_bad_parameters():
    for size in (1, 14):
        with pytest.raises(games.SpecError, match=f"size = {size} is out of range: it can be 2 to 13"):
            games.make(f"nogo(size={size})")
