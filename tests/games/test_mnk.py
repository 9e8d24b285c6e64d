"""m,n,k-games: tic-tac-toe's figures, and the rules against a board of characters."""

from collections import Counter

import numpy as np
import pytest

from arena import games

GOMOKU = games.make("mnk")


def rows_of(k, rows, columns):
    """Every way to place k in a row, as lists of squares."""
    return [
        [(row + i * down) * columns + column + i * right for i in range(k)]
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1))
        for row in range(rows)
        for column in range(columns)
        if 0 <= row + (k - 1) * down < rows and 0 <= column + (k - 1) * right < columns
    ]


def is_won(board, ways):
    return any(board[way[0]] != "." and len({board[square] for square in way}) == 1 for way in ways)


def naive_perft(rows, columns, k, depth):
    """Leaves at depth 1, 2, ..., counting for each position the ways to get there."""
    ways, level, leaves = rows_of(k, rows, columns), Counter({"." * (rows * columns): 1}), []
    for ply in range(depth):
        after = Counter()
        for board, count in level.items():
            for square in range(0 if is_won(board, ways) else rows * columns):
                if board[square] == ".":
                    after[board[:square] + "XO"[ply % 2] + board[square + 1 :]] += count
        leaves.append(after.total())
        level = after
    return leaves


@pytest.mark.plain
@pytest.mark.parametrize(
    "rows, columns, k, depth",
    [(3, 4, 3, 8), *(pytest.param(*one, marks=pytest.mark.slow) for one in ((5, 2, 3, 9), (4, 4, 4, 6)))],
)
def test_perft_equals_that_of_a_board_of_characters(rows, columns, k, depth, kernels):
    depth = min(depth, 5 if rows == 5 else 4) if kernels == "plain" else depth
    game = games.make(f"mnk{rows, columns, k}")
    assert [games.perft(game, i + 1) for i in range(depth)] == naive_perft(rows, columns, k, depth)


@pytest.mark.slow
@pytest.mark.plain
def test_perft_of_gomoku():
    assert [games.perft(GOMOKU, depth) for depth in (1, 2)] == [225, 225 * 224]


@pytest.mark.parametrize("spec", ["mnk", "mnk(4, 19, 3)", "mnk(19, 7, 4)", "mnk(5, 5, 2)"])
def test_wins_are_those_of_a_board_of_characters(spec):
    game, random = games.make(spec), np.random.default_rng(9)
    ways, results = rows_of(game.k, game.rows, game.columns), Counter()
    for _ in range(8):
        state, board, ply = game.initial(), ["."] * game.cells, 0
        while not game.is_over(state):
            assert not is_won(board, ways) and "." in board and game.player(state) == ply % 2
            free = [square for square in range(game.cells) if board[square] == "."]
            assert game.moves(state) == free
            move = int(random.choice(free))
            board[move] = "XO"[ply % 2]
            state, ply = game.after(state, move), ply + 1
        won = is_won(board, ways)
        assert won or "." not in board
        assert game.score(state) == ((1.0 if ply % 2 else -1.0) if won else 0.0)
        drawn = [line.split()[1:] for line in game.render(state).splitlines()[-2::-1]]
        assert [symbol for row in drawn for symbol in row] == board
        results[game.score(state)] += 1
    assert len(results) > 1


def test_3_3_3_is_tic_tac_toe():
    """Ends, results, evaluation and player are the same along random games, and the moves have the same numbers."""
    mnk, tictactoe, random = games.make("mnk(3, 3, 3)"), games.make("tictactoe"), np.random.default_rng(10)
    for _ in range(100):
        one, other = mnk.initial(), tictactoe.initial()
        while not mnk.is_over(one):
            assert not tictactoe.is_over(other) and mnk.player(one) == tictactoe.player(other)
            assert mnk.moves(one) == tictactoe.moves(other)
            assert mnk.evaluate(one) == pytest.approx(tictactoe.evaluate(other))
            move = int(random.choice(mnk.moves(one)))
            one, other = mnk.after(one, move), tictactoe.after(other, move)
        assert tictactoe.is_over(other) and mnk.score(one) == tictactoe.score(other)


@pytest.mark.plain
def test_random_play_on_3_3_3_has_the_exact_probabilities(kernels):
    playouts = 4000 if kernels == "plain" else 400_000
    summary = games.playouts(games.make("mnk(3, 3, 3)"), playouts, seed=20)
    for count, probability in ((summary.wins, 0.584921), (summary.losses, 0.288095), (summary.draws, 0.126984)):
        error = (probability * (1 - probability) / playouts) ** 0.5
        assert abs(count / playouts - probability) < 4 * error


def test_symmetries():
    assert GOMOKU.symmetries == 8 and games.make("mnk(3, 4, 3)").symmetries == 4
    images = {tuple(int(GOMOKU.transform_move(move, s)) for move in range(225)) for s in range(8)}
    assert len(images) == 8 and all(sorted(image) == list(range(225)) for image in images)


def test_more_than_k_in_a_row_win():
    state = GOMOKU.read_line("a1 a15 b1 b15 c1 c15 e1 e15 f1 f15 d1")[1]
    assert GOMOKU.is_over(state) and GOMOKU.score(state) == 1.0


def test_render_and_notation():
    game = games.make("mnk(3, 4, 3)")
    state = game.read_line("b2 d3 a1")[1]
    assert game.render(state) == "3 . . . O\n2 . X . .\n1 X . . .\n  a b c d"
    assert GOMOKU.move_name(GOMOKU.initial(), 112) == "h8"


@pytest.mark.parametrize(
    "spec, message",
    [
        ("mnk(rows=20)", "rows = 20 is out of range: it can be 2 to 19"),
        ("mnk(columns=1)", "columns = 1 is out of range: it can be 2 to 19"),
        ("mnk(3, 4, 5)", "k = 5 is out of range: it can be 2 to 4"),
        ("mnk(3, 4, 1)", "k = 1 is out of range: it can be 2 to 4"),
    ],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)


def test_evaluations_against_a_board_of_characters():
    """Open ways and threats, counted way by way."""
    game, random = games.make("mnk(6, 7, 4)"), np.random.default_rng(11)
    ways = rows_of(4, 6, 7)
    for _ in range(20):
        state, board = game.initial(), ["."] * 42
        for ply in range(int(random.integers(1, 20))):
            move = int(random.choice(game.moves(state)))
            state, board[move] = game.after(state, move), "XO"[ply % 2]
            if game.is_over(state):
                break
        held = [Counter(board[square] for square in way) for way in ways]
        opened = sum((count["O"] == 0) - (count["X"] == 0) for count in held)
        assert game.evaluate(state) == pytest.approx(opened / (len(ways) + 1))
        weight = {0: 0, 1: 1, 2: 4, 3: 16, 4: 64}
        threats = sum(
            (weight[count["X"]] if count["O"] == 0 else 0) - (weight[count["O"]] if count["X"] == 0 else 0)
            for count in held
        )
        assert game.evaluate_threats(state) == pytest.approx(threats / (32 + abs(threats)))


def test_feature_codes_tell_the_stones_around_apart():
    state = GOMOKU.read_line("h8 a1")[1]
    codes = {move: int(GOMOKU.feature_code(state, move)) & (1 << 18) - 1 for move in GOMOKU.moves(state)}
    near = [move for move in codes if codes[move]]
    assert near == [1, 15, 16, 96, 97, 98, 111, 113, 126, 127, 128]
    assert len({codes[move] for move in near}) == len(near)
