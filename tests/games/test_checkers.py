"""Checkers: published counts, a board of characters, and its ends."""

import numpy as np
import pytest

from arena import games
from arena.games.core.jit import kernel
from arena.games.core.play.playout import copy_state
from tests.games.naive_board import board_of

GAME = games.make("checkers")
PUBLISHED = [7, 49, 302, 1469, 7361, 36768, 179740, 845931]  # a chain of jumps is one move


@kernel
def turns_kernel(game, states, moves, ply, turns):
    """Leaves after so many turns: a player who goes on jumping is in the same turn."""
    if game.is_over(states[ply]):
        return 1 if turns == 0 else 0
    leaves, player = 0, game.player(states[ply])
    if turns == 0:
        return 1
    for i in range(game.legal_moves(states[ply], moves[ply])):
        copy_state(game, states[ply], states[ply + 1])
        game.play(states[ply + 1], np.int64(moves[ply, i]))
        again = game.player(states[ply + 1]) == player
        leaves += turns_kernel(game, states, moves, ply + 1, turns if again else turns - 1)
    return leaves


@pytest.mark.plain
def test_published_counts(kernels):
    states, moves = np.zeros((40, GAME.state_size), GAME.dtype), np.zeros((40, GAME.max_moves), np.int32)
    states[0] = GAME.initial()
    expected = PUBLISHED[:4] if kernels == "plain" else PUBLISHED
    assert [turns_kernel(GAME, states, moves, 0, turns + 1) for turns in range(len(expected))] == expected


def steps_of(piece):
    """How a piece goes, in rows and columns."""
    ahead = [(1, 1), (1, -1)] if piece in "bB" else []
    back = [(-1, 1), (-1, -1)] if piece in "wW" else []
    return [(1, 1), (1, -1), (-1, 1), (-1, -1)] if piece in "BW" else ahead + back


def jumps_of(board, square):
    found = []
    piece, enemies = board[square], "wW" if board[square] in "bB" else "bB"
    for down, right in steps_of(piece):
        over, target = (square[0] + down, square[1] + right), (square[0] + 2 * down, square[1] + 2 * right)
        if all(0 <= x < 8 for x in target) and board[over] in enemies and board[target] == ".":
            found.append((square, target))
    return found


def naive_moves(board, side, jumper):
    """(origin, target) of the legal moves."""
    own = [tuple(square) for square in np.argwhere(np.isin(board, list(("bB", "wW")[side]))).tolist()]
    jumps = [move for square in ([jumper] if jumper else own) for move in jumps_of(board, square)]
    if jumps:
        return jumps
    found = []
    for row, column in own:
        for down, right in steps_of(board[row, column]):
            target = (row + down, column + right)
            if all(0 <= x < 8 for x in target) and board[target] == ".":
                found.append(((row, column), target))
    return found


def naive_play(board, move):
    """(board after a move, the piece's square if it has to go on jumping)."""
    (origin, target), after = move, board.copy()
    piece = after[target] = board[origin]
    after[origin] = "."
    jump = abs(origin[0] - target[0]) == 2
    if jump:
        after[(origin[0] + target[0]) // 2, (origin[1] + target[1]) // 2] = "."
    if target[0] == (7 if piece == "b" else 0) and piece in "bw":
        after[target] = piece.upper()
        return after, None
    return after, target if jump and jumps_of(after, target) else None


def number(square):
    """A square's number: from the right of the lowest row on."""
    return 4 * square[0] + (7 - square[1]) // 2 + 1


def test_play_is_that_of_a_board_of_characters():
    random, kings, chains = np.random.default_rng(4), 0, 0
    for _ in range(12):
        state, side, jumper, quiet = GAME.initial(), 0, None, 0
        board = board_of(GAME, state)
        while (moves := naive_moves(board, side, jumper)) and quiet < 80:
            assert not GAME.is_over(state) and GAME.player(state) == side
            names = {f"{number(a)}{'x' if abs(a[0] - b[0]) == 2 else '-'}{number(b)}": (a, b) for a, b in moves}
            numbers = {GAME.move_name(state, move): move for move in GAME.moves(state)}
            assert set(numbers) == set(names)
            name = str(random.choice(sorted(names)))
            state = state.copy()
            GAME.play(state, numbers[name])
            king = board[names[name][0]] in "BW"
            quiet = quiet + 1 if king and "-" in name else 0
            board, jumper = naive_play(board, names[name])
            side = side if jumper else 1 - side
            chains += jumper is not None
            kings += king
            assert np.array_equal(board_of(GAME, state), board) and GAME.quiet_moves(state) == quiet
        assert GAME.is_over(state) and GAME.score(state) == (0 if moves else (-1 if side == 0 else 1))
    assert kings > 50 and chains > 5


def test_names_and_drawing():
    state = GAME.initial()
    assert GAME.parse_move(state, "a3b4") == GAME.parse_move(state, "12-16") == 64 * 16 + 25
    assert GAME.render(state).splitlines()[-3:] == ["2 . b . b . b . b", "1 b . b . b . b .", "  a b c d e f g h"]
    state = GAME.read_line("11-15 22-18")[1]
    assert [GAME.move_name(state, move) for move in GAME.moves(state)] == ["15x22"]
    for text in ("a3b5", "b4c5", "11-16", ""):
        with pytest.raises(games.IllegalMove, match="is not a legal move"):
            GAME.parse_move(state, text)


def test_a_draw_by_quiet_moves():
    """Two kings that go back and forth."""
    game = games.make("checkers(quiet=4)")
    state = game.initial()
    state[:] = [1, 1 << 63, 1 | 1 << 63, 0]
    state = game.read_line("a1b2 h8g7 b2a1", state)[1]
    assert not game.is_over(state)
    state = game.read_line("g7h8", state)[1]
    assert game.is_over(state) and game.score(state) == 0


def test_who_is_stuck_after_the_last_quiet_move_has_lost():
    game = games.make("checkers(quiet=1)")
    state = game.initial()
    state[:] = [1 << 9 | 1 << 11, 1 << 16, 1 << 11, 0]  # a man on b2 and a king on d2 against a man on a3
    blocked, free = (game.read_line(name, state)[1] for name in ("d2c1", "d2e1"))
    assert game.is_over(blocked) and game.score(blocked) == 1
    assert game.is_over(free) and game.score(free) == 0


def test_new_kings_come_before_kings_that_are_taken():
    state = GAME.initial()
    state[:] = [1 << 41 | 1 << 20, 1 << 50 | 1 << 29, 1 << 29, 0]  # men on b6 and e3, a man on c7, a king on f4
    ranks = {name: GAME.move_order(state, GAME.parse_move(state, name)) for name in ("b6d8", "e3g5")}
    assert ranks == {"b6d8": 2, "e3g5": 1}


def test_evaluations():
    state = GAME.initial()
    assert GAME.evaluate(state) == GAME.evaluate_material(state) == 0
    state[:] = [1 << 2 | 1 << 18, 1 << 63, 1 << 18, 0]  # a man on c1 and a king on c3 against a man on h8
    assert GAME.evaluate_material(state) == (2.5 - 1) / 4.5
    assert GAME.with_evaluation("material").terms(state) == [("men", 1, 1, 1.0), ("kings", 1, 0, 1.5)]
    state[0] = 1 << 18 | 1 << 27  # the man on d4, three rows ahead
    assert GAME.evaluate(state) == pytest.approx((2.65 - 1) / 4.65)


def test_bad_parameters():
    with pytest.raises(games.SpecError, match="quiet = 0 is out of range: it can be 1 to 1000"):
        games.make("checkers(quiet=0)")
