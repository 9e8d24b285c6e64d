"""Clobber: its rules against a board of squares."""

from functools import cache

import numpy as np
import pytest

from arena import games


def naive_moves(board, side):
    """{name: (origin, target)} on a board of characters, row 0 below."""
    rows, columns = board.shape
    own, other = "ox"[side], "xo"[side]
    found = {}
    for row, column in np.argwhere(board == own).tolist():
        for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            r, c = row + down, column + right
            if 0 <= r < rows and 0 <= c < columns and board[r, c] == other:
                found[f"{chr(97 + column)}{row + 1}{chr(97 + c)}{r + 1}"] = (row, column), (r, c)
    return found


@pytest.mark.parametrize("spec", ["clobber", "clobber(5, 6)", "clobber(6, 5)", "clobber(1, 26)", "clobber(16, 4)"])
def test_moves_are_those_of_a_board_of_squares(spec):
    game, random = games.make(spec), np.random.default_rng(7)
    for _ in range(15):
        state, side = game.initial(), 0
        board = np.array([["ox"[(game.rows - 1 - r + c) % 2] for c in range(game.columns)] for r in range(game.rows)])
        assert board[-1, 0] == "o"
        while True:
            moves = naive_moves(board, side)
            assert {game.move_name(state, move) for move in game.moves(state)} == set(moves)
            assert bool(game.is_over(state)) == (not moves) and game.player(state) == side
            if not moves:
                break
            name = str(random.choice(sorted(moves)))
            origin, target = moves[name]
            board[origin], board[target] = ".", "ox"[side]
            state, side = game.after(state, game.parse_move(state, name)), 1 - side
            drawn = [line.split()[1:] for line in reversed(game.render(state).splitlines()[:-1])]
            assert drawn == board.tolist()
        assert game.score(state) == (1.0 if side == 1 else -1.0)


def naive_wins(board, side):
    """Whether the player to move wins, on a tuple of rows."""

    @cache
    def wins(rows, side):
        board = np.array([list(row) for row in rows])
        for origin, target in naive_moves(board, side).values():
            after = board.copy()
            after[origin], after[target] = ".", "ox"[side]
            if not wins(tuple(map("".join, after.tolist())), 1 - side):
                return True
        return False

    return wins(board, side)


@pytest.mark.parametrize("rows, columns", [(1, 2), (1, 5), (1, 8), (2, 3), (3, 2), (3, 3), (2, 5), (3, 4)])
def test_winners_are_those_of_a_naive_search(rows, columns):
    game = games.make(f"clobber({rows}, {columns})")

    @cache
    def wins(first, second):
        state = np.array([first, second], np.uint64)
        return any(not wins(*map(int, game.after(state, move))) for move in game.moves(state))

    board = tuple("".join("ox"[(rows - 1 - r + c) % 2] for c in range(columns)) for r in range(rows))
    assert wins(*map(int, game.initial())) == naive_wins(board, 0)


@pytest.mark.parametrize("size, count", [((8, 8), 4), ((7, 7), 8), ((5, 6), 2), ((5, 7), 4), ((1, 7), 2), ((4, 6), 2)])
def test_symmetries_keep_the_initial_position(size, count):
    game = games.make(f"clobber{size}")
    image = game.initial()
    assert game.symmetries == count
    for symmetry in range(count):
        game.transform(game.initial(), symmetry, image)
        assert np.array_equal(image, game.initial())


def test_evaluations():
    """o o x . o: all four of the left part are in play over the stones between them, and the last o is not."""
    game = games.make("clobber(1, 5)")
    state = np.array([0b10011, 0b00100], np.uint64)
    assert game.evaluate(state) == pytest.approx((2 - 1) / 4)
    assert game.evaluate_contact(state) == pytest.approx((1 - 1) / 3)
    assert abs(game.evaluate_parity(state)) == 1 / 2


def test_codes_tell_direction_and_surroundings():
    game = games.make("clobber(1, 4)")
    state, other = np.array([0b0101, 0b1010], np.uint64), np.array([0b1001, 0b0110], np.uint64)
    right, left = game.parse_move(state, "a1b1"), game.parse_move(state, "c1b1")
    assert game.move_code(state, right) == game.move_code(other, right) != game.move_code(state, left)
    assert game.feature_code(state, right) != game.feature_code(other, right)


@pytest.mark.parametrize(
    "sizes, message", [("0, 4", "rows = 0"), ("2, 27", "columns = 27"), ("9, 8", "2 to 64"), ("1, 1", "2 to 64")]
)
def test_bad_sizes(sizes, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(f"clobber({sizes})")
