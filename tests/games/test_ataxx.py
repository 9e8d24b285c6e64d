"""Ataxx against a board of characters, and its ends."""

import numpy as np
import pytest

from arena import games
from arena.games.ataxx import PASS
from tests.games.naive_board import board_of


def cells_within(board, square, distance):
    """The squares at just that distance of a king."""
    row, column = square
    return [
        (r, c)
        for r in range(row - distance, row + distance + 1)
        for c in range(column - distance, column + distance + 1)
        if 0 <= r < len(board) and 0 <= c < len(board) and max(abs(r - row), abs(c - column)) == distance
    ]


def name_of(square):
    return f"{chr(97 + square[1])}{square[0] + 1}"


def naive_moves(board, side):
    """{name: (origin or None, target)} of a player; a pass where there are none."""
    found = {}
    for origin in map(tuple, np.argwhere(board == "BW"[side]).tolist()):
        for target in cells_within(board, origin, 1):
            if board[target] == ".":
                found[name_of(target)] = (None, target)
        for target in cells_within(board, origin, 2):
            if board[target] == ".":
                found[name_of(origin) + name_of(target)] = (origin, target)
    return found or {"pass": None}


def moved(board, side, move):
    after = board.copy()
    if move:
        origin, target = move
        if origin:
            after[origin] = "."
        after[target] = "BW"[side]
        for square in cells_within(board, target, 1):
            if after[square] == "WB"[side]:
                after[square] = "BW"[side]
    return after


def naive_over(board):
    """Whether a player has no pieces, or neither has a move; a full board is one of these cases."""
    stuck = all(naive_moves(board, side) == {"pass": None} for side in (0, 1))
    return stuck or any((board == letter).sum() == 0 for letter in "BW")


def naive_perft(board, side, depth):
    if depth == 0:
        return 1
    if naive_over(board):
        return 0
    return sum(naive_perft(moved(board, side, move), 1 - side, depth - 1) for move in naive_moves(board, side).values())


@pytest.mark.plain
@pytest.mark.parametrize("size, depth", [(7, 2), (8, 2), (4, 3), pytest.param(3, 5, marks=pytest.mark.slow)])
def test_perft_is_that_of_a_board_of_characters(size, depth):
    game = games.make(f"ataxx(size={size})")
    assert games.perft(game, depth) == naive_perft(board_of(game, game.initial()), 0, depth)


@pytest.mark.parametrize("size, lines", [(7, 1), (5, 2), (4, 10), (3, 20)])
def test_play_is_that_of_a_board_of_characters(size, lines):
    game, random, passes = games.make(f"ataxx(size={size})"), np.random.default_rng(size), 0
    for _ in range(lines):
        state, side = game.initial(), 0
        board = board_of(game, state)
        while not naive_over(board):
            moves = naive_moves(board, side)
            assert not game.is_over(state) and game.player(state) == side
            numbers = {game.move_name(state, move): move for move in game.moves(state)}
            assert set(numbers) == set(moves)
            name = str(random.choice(sorted(moves)))
            passes += name == "pass"
            state = state.copy()
            game.play(state, numbers[name])
            board, side = moved(board, side, moves[name]), 1 - side
            assert np.array_equal(board_of(game, state), board)
        assert game.is_over(state) and game.score(state) == (board == "B").sum() - (board == "W").sum()
    assert passes > 0 or size != 4


def test_pieces_are_counted():
    game = games.make("ataxx(size=3)")
    state = game.read_line("b3 b1")[1]
    assert game.render(state) == "3 B B B\n2 . . .\n1 W W W\n  a b c"
    assert game.evaluate(state) == game.evaluate_safe(state) == 0
    state = game.read_line("a2", state)[1]
    assert game.render(state) == "3 B B B\n2 B . .\n1 B B W\n  a b c"
    assert game.evaluate(state) == (6 - 1) / 8


def test_safe_pieces_have_no_empty_square_beside_them():
    game, random = games.make("ataxx(size=5)"), np.random.default_rng(1)
    state = game.initial()
    while not game.is_over(state):
        board, counts = board_of(game, state), []
        for letter in "BW":
            pieces = list(map(tuple, np.argwhere(board == letter).tolist()))
            safe = [piece for piece in pieces if all(board[cell] != "." for cell in cells_within(board, piece, 1))]
            counts.append(len(pieces) + len(safe))
        assert game.evaluate_safe(state) == pytest.approx((counts[0] - counts[1]) / (sum(counts) + 1))
        state = game.after(state, int(random.choice(game.moves(state))))


def test_a_jump_leaves_its_square_and_turns_what_is_beside():
    game = games.make("ataxx(size=4)")
    state = game.read_line("d1c3")[1]
    assert game.render(state) == "4 B . . B\n3 . . B .\n2 . . . .\n1 W . . .\n  a b c d"
    assert game.turns(game.initial(), game.parse_move(game.initial(), "d1c3")) == 1
    assert not game.is_over(state) and game.score(state) == 2


def test_a_move_that_turns_four_pieces_is_unstable():
    game = games.make("ataxx(size=5)")
    state, move = game.initial(), 65 * 18  # to c3, beside an own piece on d4
    state[0] = np.uint64(1 << 27)
    for white, turned in ((1 << 9 | 1 << 10 | 1 << 11, 3), (1 << 9 | 1 << 10 | 1 << 11 | 1 << 17, 4)):
        state[1] = np.uint64(white)
        assert game.turns(state, move) == turned and game.is_unstable(state, move) == (turned == 4)


def test_a_game_that_does_not_end_is_counted():
    game = games.make("ataxx(horizon=1)")
    state = game.read_line("a6")[1]
    assert game.is_over(state) and game.score(state) == 1 and game.plies_left(game.initial()) == 1


def test_a_pass():
    game = games.make("ataxx(size=3)")
    assert game.transform_move(PASS, 3) == PASS and game.move_order(game.initial(), PASS) == 0
    with pytest.raises(games.IllegalMove, match="'pass' is not a legal move"):
        game.parse_move(game.initial(), "pass")


@pytest.mark.parametrize(
    "spec, message",
    [("ataxx(size=2)", "size = 2 is out of range: it can be 3 to 8"), ("ataxx(horizon=0)", "horizon = 0")],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
