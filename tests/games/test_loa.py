"""Lines of Action against a board of characters, and its ends."""

import numpy as np
import pytest

from arena import games
from arena.games.loa import CAPTURE, DRAWN, PASS
from tests.games.naive_board import board_of

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def inside(board, row, column):
    return 0 <= row < len(board) and 0 <= column < len(board)


def line_through(board, row, column, down, right):
    """All squares of a line, by steps both ways."""
    found = [(row, column)]
    for sign in (1, -1):
        r, c = row + sign * down, column + sign * right
        while inside(board, r, c):
            found.append((r, c))
            r, c = r + sign * down, c + sign * right
    return found


def naive_moves(board, side):
    """{name: (origin, target)} of a player."""
    found, own, other = {}, "BW"[side], "WB"[side]
    for row, column in map(tuple, np.argwhere(board == own).tolist()):
        for down, right in DIRECTIONS:
            count = sum(board[square] != "." for square in line_through(board, row, column, down, right))
            path = [(row + i * down, column + i * right) for i in range(1, count + 1)]
            if inside(board, *path[-1]) and board[path[-1]] != own and all(board[s] != other for s in path[:-1]):
                sign = "x" if board[path[-1]] == other else "-"
                name = f"{chr(97 + column)}{row + 1}{sign}{chr(97 + path[-1][1])}{path[-1][0] + 1}"
                found[name] = ((row, column), path[-1])
    return found


def groups(board, side):
    """The groups of a player's pieces, as sets of squares."""
    left, found = set(map(tuple, np.argwhere(board == "BW"[side]).tolist())), []
    while left:
        group, waiting = set(), [left.pop()]
        while waiting:
            row, column = waiting.pop()
            group.add((row, column))
            beside = {(row + down, column + right) for down, right in DIRECTIONS} & left
            left -= beside
            waiting += beside
        found.append(group)
    return found


def naive_end(board, side):
    """The score after a move of `side`, or None while the game goes on."""
    own, other = len(groups(board, side)) == 1, len(groups(board, 1 - side)) == 1
    if own or other:
        return 0.0 if own and other else (1.0 if own == (side == 0) else -1.0)
    return None


def moved(board, move):
    (origin, target), after = move, board.copy()
    after[target], after[origin] = board[origin], "."
    return after


def naive_perft(board, side, depth):
    if depth == 0:
        return 1
    if naive_end(board, 1 - side) is not None:
        return 0
    return sum(naive_perft(moved(board, move), 1 - side, depth - 1) for move in naive_moves(board, side).values())


@pytest.mark.plain
@pytest.mark.parametrize("size, depth", [(8, 2), (7, 2), (6, 2), (5, 3)])
def test_perft_is_that_of_a_board_of_characters(size, depth):
    game = games.make(f"loa(size={size})")
    assert games.perft(game, depth) == naive_perft(board_of(game, game.initial()), 0, depth)


@pytest.mark.parametrize("size, lines", [(8, 1), (7, 1), (6, 3), (5, 8)])
def test_play_is_that_of_a_board_of_characters(size, lines):
    game, random = games.make(f"loa(size={size}, horizon=1000)"), np.random.default_rng(5)
    for _ in range(lines):
        state, side = game.initial(), 0
        board = board_of(game, state)
        while (score := naive_end(board, 1 - side)) is None:
            moves = naive_moves(board, side)
            assert not game.is_over(state) and game.player(state) == side
            assert {game.move_name(state, move) for move in game.moves(state)} == set(moves)
            name = str(random.choice(sorted(moves)))
            board, side = moved(board, moves[name]), 1 - side
            state = state.copy()
            game.play(state, game.parse_move(state.copy(), name) if random.random() < 0.1 else number(game, name))
            assert np.array_equal(board_of(game, state), board)
        assert game.is_over(state) and game.score(state) == score


def number(game, name):
    """A move by its name, as the module's picture of the squares has it."""
    origin, target = ((int(word[1]) - 1) * 8 + ord(word[0]) - 97 for word in (name[:2], name[3:]))
    return 64 * origin + target


@pytest.mark.parametrize("size", [5, 8])
def test_evaluations_are_those_of_a_board_of_characters(size):
    game, random = games.make(f"loa(size={size})"), np.random.default_rng(2)
    state = game.initial()
    assert game.evaluate(state) == game.evaluate_mobility(state) == game.evaluate_groups(state) == 0
    while not game.is_over(state):
        board, spreads = board_of(game, state), []
        for side in (0, 1):
            pieces = np.argwhere(board == "BW"[side])
            spreads.append(np.abs(pieces - pieces.mean(axis=0)).max(axis=1).mean())
        assert game.evaluate(state) == pytest.approx((spreads[1] - spreads[0]) / (sum(spreads) + 1))
        black, white = (len(naive_moves(board, side)) for side in (0, 1))
        assert game.evaluate_mobility(state) == pytest.approx((black - white) / (black + white + 1))
        black, white = (len(groups(board, side)) for side in (0, 1))
        assert game.evaluate_groups(state) == pytest.approx((white - black) / (black + white))
        for _ in range(7):
            if not game.is_over(state):
                state = game.after(state, int(random.choice(game.moves(state))))


def position(game, drawing, side):
    """A state of a board drawn from its upper row, with `side` to move."""
    state = game.initial()
    state[:] = 0
    for row, line in enumerate(reversed(drawing.split())):
        for column, letter in enumerate(line):
            if letter != ".":
                state["BW".index(letter)] |= np.uint64(1) << np.uint64(8 * row + column)
    state[2] = side
    return state


def test_a_capture_that_joins_both_is_a_draw():
    game = games.make("loa(size=5)")
    state = position(game, "WW... ..... B.W.. .BB.. .....", 0)
    after = game.after(state, game.parse_move(state, "a3xc3"))
    assert game.is_over(after) and after[3] == DRAWN and game.score(after) == 0


def test_a_capture_that_joins_the_other_player_loses():
    game = games.make("loa(size=5)")
    state = position(game, "WW... ..... B.W.. ..... B.B..", 0)
    after = game.after(state, game.parse_move(state, "a3xc3"))
    assert game.is_over(after) and game.score(after) == -1


def test_captures_come_first_and_then_moves_inwards():
    game = games.make("loa(size=5)")
    state = position(game, "WW... ..... B.W.. .BB.. .....", 0)
    ranks = {game.move_name(state, move): game.move_order(state, move) for move in game.moves(state)}
    quiet = [rank for name, rank in ranks.items() if "x" not in name]
    assert ranks["a3xc3"] == CAPTURE + 2 and max(quiet) == 1 < min(ranks[name] for name in ranks if "x" in name)


def test_who_cannot_move_passes():
    """The pieces in the corners are shut in by those of the other player, which they would have to pass over."""
    game = games.make("loa(size=5)")
    state = position(game, "BW.WB WW.WW ..... WW.WW BW.WB", 0)
    assert naive_moves(board_of(game, state), 0) == {} and game.moves(state) == [PASS]
    after = game.after(state, game.parse_move(state, "pass"))
    assert np.array_equal(after[:2], state[:2]) and game.player(after) == 1 and not game.is_over(after)
    assert game.transform_move(PASS, 5) == PASS and game.move_order(state, PASS) == 0


def test_a_game_that_does_not_end_is_a_draw():
    game = games.make("loa(horizon=4)")
    state = game.read_line("b1-b3 a2-c2 b3-b1 c2-a2")[1]
    assert game.is_over(state) and game.score(state) == 0 and game.plies_left(game.initial()) == 4


def test_drawing_and_bad_moves():
    game = games.make("loa(size=5)")
    assert game.render(game.initial()) == "5 . B B B .\n4 W . . . W\n3 W . . . W\n2 W . . . W\n1 . B B B .\n  a b c d e"
    with pytest.raises(games.IllegalMove, match="'b1-b2' is not a legal move"):
        game.parse_move(game.initial(), "b1-b2")


@pytest.mark.parametrize(
    "spec, message", [("loa(size=9)", "size = 9 is out of range: it can be 5 to 8"), ("loa(horizon=0)", "horizon = 0")]
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
