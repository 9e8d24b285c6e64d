"""Breakthrough's and its kin's known figures, and their rules against a board of squares."""

import numpy as np
import pytest

from arena import games


@pytest.mark.slow
@pytest.mark.parametrize(
    "size, share, plies", [((8, 8), 0.510, 64.1), ((6, 6), 0.515, 28.1), ((5, 5), 0.517, 15.9)], ids=str
)
def test_random_play(size, share, plies):
    summary = games.playouts(games.make(f"breakthrough{size}"), 200_000, seed=6)
    assert summary.wins / 200_000 == pytest.approx(share, abs=0.005)
    assert summary.plies / 200_000 == pytest.approx(plies, abs=0.1)


PAWN, KNIGHT = ((1, -1), (1, 0), (1, 1)), ((2, -1), (2, 1), (1, -2), (1, 2))  # rows ahead, columns to the right


def naive_moves(board, side, steps):
    """Names of the moves on a board of characters, row 0 below."""
    rows, columns = board.shape
    own, other, up = ("W", "B", 1) if side == 0 else ("B", "W", -1)
    names = set()
    for row in range(rows):
        for column in range(columns):
            for ahead, aside in steps:
                r, c = row + up * ahead, column + aside
                if board[row, column] != own or not (0 <= r < rows and 0 <= c < columns) or board[r, c] == own:
                    continue
                if aside or board[r, c] != other:
                    names.add(f"{row + 1}{chr(97 + column)}{r + 1}{chr(97 + c)}")
    return names


@pytest.mark.parametrize(
    "spec, steps, prize",
    [
        ("breakthrough", PAWN, 1.0),
        ("breakthrough(rows=6, columns=4)", PAWN, 1.0),
        ("breakthrough(rows=5, columns=12)", PAWN, 1.0),
        ("misere_breakthrough(rows=6, columns=4)", PAWN, -1.0),
        ("knightthrough", KNIGHT, 1.0),
        ("knightthrough(rows=5, columns=12)", KNIGHT, 1.0),
        ("knightthrough(rows=16, columns=4)", KNIGHT, 1.0),
        ("misere_knightthrough(rows=6, columns=5)", KNIGHT, -1.0),
    ],
)
def test_games_are_those_of_a_board_of_squares(spec, steps, prize):
    game, random = games.make(spec), np.random.default_rng(7)
    for _ in range(20):
        state, side = game.initial(), 0
        board = np.full((game.rows, game.columns), ".")
        board[:2], board[-2:] = "W", "B"
        over = False
        while not over:
            assert not game.is_over(state)
            names = {game.move_name(state, move): move for move in game.moves(state)}
            assert set(names) == naive_moves(board, side, steps) != set()
            name = str(random.choice(sorted(names)))
            origin, target = divmod(names[name], 64)
            ends = [divmod(square, game.columns) for square in (origin, target)]
            assert name == "".join(f"{row + 1}{chr(97 + column)}" for row, column in ends)
            board[divmod(target, game.columns)], board[divmod(origin, game.columns)] = "WB"[side], "."
            state, side = game.after(state, names[name]), 1 - side
            over = (board[-1] == "W").any() or (board[0] == "B").any() or not (board == "WB"[side]).any()
        assert game.is_over(state) and game.score(state) == (prize if side == 1 else -prize)


def test_the_lecture_notes_game():
    game = games.make("breakthrough(rows=6, columns=4)")
    notes = "2a3a 5a4a 2b3b 4a3b 2c3b 6a5a 3a4a 5b4a 3b4a 6b5b 4a5b 6c5b 1a2a 5a4a 2a3a 5b4b 3a4b 5c4b 1b2b"
    assert game.render(game.read_line(notes)[1]) == (
        "6 . . . B\n5 . . . B\n4 B B . .\n3 . . . .\n2 . W . W\n1 . . W W\n  a b c d"
    )


def test_taking_the_last_pawn_wins():
    game = games.make("breakthrough(rows=4, columns=2)")
    state = np.array([1 << 2, 1 << 5, 0], np.uint64)  # White on 2a, Black on 3b
    state = game.after(state, game.parse_move(state, "2a3b"))
    assert game.is_over(state) and game.score(state) == 1.0


@pytest.mark.parametrize(
    "rows, columns, name", [(4, 8, "rows"), (17, 4, "rows"), (8, 3, "columns"), (5, 13, "columns")]
)
def test_sizes_of_knightthrough(rows, columns, name):
    with pytest.raises(games.SpecError, match=f"{name} = .* is out of range"):
        games.make(f"knightthrough({rows}, {columns})")
    with pytest.raises(games.SpecError, match=r"rows \* columns = 72 is out of range"):
        games.make("misere_knightthrough(8, 9)")


@pytest.mark.slow
def test_a_misere_game_is_lost_by_who_would_win():
    for name in ("breakthrough", "knightthrough"):
        plain, misere = (games.playouts(games.make(spec), 10_000, seed=8) for spec in (name, f"misere_{name}"))
        assert (plain.wins, plain.plies) == (misere.losses, misere.plies)


def test_evaluations_of_a_position():
    game = games.make("breakthrough(rows=6, columns=4)")
    state = np.array([1 << 16 | 1 << 1, 1 << 23, 0], np.uint64)  # White on 5a and 1b, Black on 6d
    values = {name: game.with_evaluation(name).evaluate(state) for name in ["", *game.evaluations()]}
    white, black = 3 + 16 / 3 + 3, 3
    assert values == pytest.approx({"": (white - black) / (white + black), "material": 1 / 3, "advance": 16 / 17})
    misere = games.make("misere_breakthrough(rows=6, columns=4)")
    assert misere.evaluate(state) == pytest.approx((1 + 5 - 5) / (1 + 5 + 5 + 1))  # rows ahead of each
    assert all(misere.with_evaluation(name).evaluate(state) == values[name] for name in misere.evaluations())
