"""Amazons: its rules, territory and tables against a board of squares."""

from collections import Counter

import numpy as np
import pytest

from arena import agents, games
from tests.games.naive_board import board_of

DIRECTIONS = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right]


def reached(board, origin):
    """The squares that a queen on `origin` reaches on a board of characters, row 0 below."""
    for down, right in DIRECTIONS:
        row, column = origin[0] + down, origin[1] + right
        while 0 <= row < board.shape[0] and 0 <= column < board.shape[1] and board[row, column] == ".":
            yield row, column
            row, column = row + down, column + right


def naive_moves(board, side):
    """[(origin, target, arrow)] of the player to move."""
    found = []
    for origin in map(tuple, np.argwhere(board == "WB"[side]).tolist()):
        left = board.copy()
        left[origin] = "."
        found += [(origin, target, arrow) for target in reached(board, origin) for arrow in reached(left, target)]
    return found


def squares_of(name):
    return [(int(part[1:]) - 1, ord(part[0]) - 97) for part in name.replace("/", "-").split("-")]


@pytest.mark.parametrize(
    "size, lines",
    [
        ("6", 6),
        pytest.param("7", 4, marks=pytest.mark.slow),
        pytest.param("8", 2, marks=pytest.mark.slow),
        pytest.param("9", 1, marks=pytest.mark.slow),
        ("10", 1),
        ("rows=5, columns=7", 2),
        ("rows=10, columns=6", 1),
    ],
)
def test_moves_are_those_of_a_board_of_squares(size, lines):
    game, random = games.make(f"amazons({size})"), np.random.default_rng(7)
    for _ in range(lines):
        state, side, board = game.initial(), 0, board_of(game, game.initial())
        longest = game.longest(state)
        while True:
            legal = game.moves(state)
            longest = game.after_leaving(state, longest)  # which bounds what is drawn in playouts
            shots = Counter((origin, target) for origin, target, _ in map(game.squares, legal))
            assert max(shots.values(), default=0) <= sum(longest) - 4
            assert all(game.reach_after(state, target, origin) == count for (origin, target), count in shots.items())
            moves = naive_moves(board, side)
            found = [tuple(squares_of(game.move_name(state, move))) for move in legal]
            assert sorted(found) == sorted(moves)
            assert bool(game.is_over(state)) == (not moves) and game.player(state) == side
            if not moves:
                break
            i = random.integers(len(legal))
            origin, target, arrow = found[i]
            board[origin], board[target], board[arrow] = ".", "WB"[side], "#"
            state, side = state.copy(), 1 - side
            game.play(state, legal[i])
            assert np.array_equal(board_of(game, state), board)
        assert game.score(state) == (1.0 if side == 1 else -1.0)


def distances(board, side):
    """How many queen's moves each free square is away from a player's queens."""
    found, waiting = {}, [tuple(square) for square in np.argwhere(board == "WB"[side]).tolist()]
    moves = 0
    while waiting:
        moves += 1
        waiting = list(dict.fromkeys(s for origin in waiting for s in reached(board, origin) if s not in found))
        found |= dict.fromkeys(waiting, moves)
    return found


@pytest.mark.parametrize("size", ["6", pytest.param("9", marks=pytest.mark.slow), "10", "rows=8, columns=5"])
def test_territory_is_that_of_a_search_by_squares(size):
    game, random = games.make(f"amazons({size})"), np.random.default_rng(3)
    state = game.initial()
    while not game.is_over(state):
        white, black = (distances(board_of(game, state), side) for side in (0, 1))
        value = 0.0
        for square in white.keys() | black.keys():
            ahead = black.get(square, np.inf) - white.get(square, np.inf)
            value += np.sign(ahead) if ahead else (0.2 if game.player(state) == 0 else -0.2)
        assert game.evaluate(state) == pytest.approx(value / board_of(game, state).size)
        for _ in range(3):
            if not game.is_over(state):
                state = game.after(state, int(random.choice(game.moves(state))))


def test_mobility_of_the_initial_position():
    game = games.make("amazons")
    assert game.mobility(game.initial(), 0) == game.mobility(game.initial(), 1) == 80
    assert game.evaluate_mobility(game.initial()) == 0
    assert game.evaluate(game.initial()) > 0  # even, and White to move


@pytest.mark.parametrize(
    "size, white, black",
    [
        (6, "a2 b1 e1 f2", "a5 b6 e6 f5"),
        (7, "a2 b1 f1 g2", "a6 b7 f7 g6"),
        (8, "a3 c1 f1 h3", "a6 c8 f8 h6"),
        (10, "a4 d1 g1 j4", "a7 d10 g10 j7"),
        ("rows=5, columns=6", "a1 b1 e1 f1", "a5 b5 e5 f5"),
        ("rows=10, columns=7", "a4 b1 f1 g4", "a7 b10 f10 g7"),
    ],
)
def test_initial_position(size, white, black):
    board = board_of(games.make(f"amazons({size})"), games.make(f"amazons({size})").initial())
    for squares, letter in ((white, "W"), (black, "B")):
        found = {tuple(square) for square in np.argwhere(board == letter).tolist()}
        assert found == set(squares_of(squares.replace(" ", "-")))


def test_queens_in_the_middle_have_more_moves_than_at_first():
    """Why max_moves is not the 2176 moves of the initial position."""
    game = games.make("amazons")
    state = game.read_line("g1-g5/j8 a7-a9/a10 a4-e8/a8 g10-j10/h10 j4-b4/b10 j7-a7/a2")[1]
    assert len(game.moves(state)) == len(naive_moves(board_of(game, state), 0)) == 2776 <= game.max_moves


def test_notation():
    game = games.make("amazons(6)")
    state = game.read_line("a2-d5/a2")[1]  # the arrow flies over the square that the queen has left, or to it
    assert game.render(state) == (
        "6 . B . . B .\n5 B . . W . B\n4 . . . . . .\n3 . . . . . .\n2 # . . . . W\n1 . W . . W .\n  a b c d e f"
    )
    for text in ("b6-b5/g5", "b6-b5", "b6-b5/b7", "a2-a3/a4", "b6-c4/c3", "b1-b2/b3"):
        with pytest.raises(games.IllegalMove, match="is not a legal move"):
            game.parse_move(state, text)


def test_bad_rectangles():
    with pytest.raises(games.SpecError, match="rows = columns = 5: two queens"):
        games.make("amazons(rows=5, columns=5)")
    with pytest.raises(games.SpecError, match="rows is not given"):
        games.make("amazons(columns=7)")


@pytest.mark.parametrize("size", [5, 11])
def test_bad_sizes(size):
    with pytest.raises(games.SpecError, match=f"size = {size} is out of range: it can be 6 to 10"):
        games.make(f"amazons({size})")


@pytest.mark.slow
def test_alphabeta_plays_it():
    """With symmetries in its transposition table, so that `transform` is compiled as searches compile it."""
    game = games.make("amazons(size=6)")
    move = agents.make("alphabeta(depth=1, symmetries=true)").choose(game, game.initial(), seed=1).move
    values = {move: game.evaluate(game.after(game.initial(), move)) for move in game.moves(game.initial())[::37]}
    assert game.evaluate(game.after(game.initial(), move)) >= max(values.values())
