"""Hex's known figures, and its bit tricks against a board of cells."""

import math

import numpy as np
import pytest
from numba import njit

from arena import games
from arena.games.core.numbers.bits import ONE, WORD
from arena.games.core.play.playout import copy_state
from arena.games.hex import NEIGHBOURS

SHIFT = WORD(64 - 22)  # of a key, to its place in a table of 2**22
SIZES = [2, 3, 5, 8, 9, 11, 12, 14]  # boards of one to four words


def distances(board, colour):
    """The least free cells that join one side of a colour to each cell, by relaxation; colour 2 goes left to right."""
    size = len(board)
    cost = np.array([[0 if cell == colour else 1 if cell == 0 else math.inf for cell in row] for row in board])
    found = np.full((size, size), math.inf)
    border = [(0, i) if colour == 1 else (i, 0) for i in range(size)]
    for cell in border:
        found[cell] = cost[cell]
    waiting = list(border)
    while waiting:
        row, column = waiting.pop()
        for down, right in NEIGHBOURS:
            r, c = row + down, column + right
            if 0 <= r < size and 0 <= c < size and found[row, column] + cost[r, c] < found[r, c]:
                found[r, c] = found[row, column] + cost[r, c]
                waiting.append((r, c))
    return found


def shortest(board, colour):
    """The least free cells that join the two sides of a colour; 0 if it has a chain, infinite if it can have none."""
    found = distances(board, colour)
    return found[-1].min() if colour == 1 else found[:, -1].min()


def cell_of(game, name):
    return int(name[1:]) - 1, ord(name[0]) - ord("a")


@pytest.mark.parametrize("size", [pytest.param(size, marks=[pytest.mark.slow] if size > 9 else []) for size in SIZES])
def test_play_is_that_of_a_board_of_cells(size):
    game, random = games.make(f"hex({size})"), np.random.default_rng(size)
    for _ in range(3 if size < 11 else 1):
        state, board, side = game.initial(), np.zeros((size, size), int), 0
        while not game.is_over(state):
            free = {cell_of(game, game.move_name(state, move)): move for move in game.moves(state)}
            assert set(free) == set(zip(*np.nonzero(board == 0)))
            ahead = shortest(board, 2) - shortest(board, 1) + (0.5 if side == 0 else -0.5)
            assert game.evaluate(state) == pytest.approx(ahead / (2 + abs(ahead)))
            cell = list(free)[random.integers(len(free))]
            state, board[cell], side = game.after(state, free[cell]), side + 1, 1 - side
            assert bool(game.is_over(state)) == (shortest(board, 2 - side) == 0)
        assert game.score(state) == (1.0 if side == 1 else -1.0)


@pytest.mark.parametrize("size", SIZES)
def test_the_reduction_finds_chains_on_full_boards(size):
    game, random = games.make(f"hex({size})"), np.random.default_rng(size)
    for _ in range(50):
        board = (random.random((size, size)) < 0.5) + 1
        first = game.table(lambda row, column, board=board: board[row, column] == 1)
        assert game.joins_rows(first) == (shortest(board, 1) == 0) == (shortest(board, 2) > 0)


@njit
def wins(game, states, moves, ply, table):
    """Whether the player to move wins, by trying everything; `table` keeps what is known, by the position's key."""
    key = game.key(states[ply]) & ~ONE  # the last bit says whether it is a win
    if table[key >> SHIFT] & ~ONE == key:
        return table[key >> SHIFT] & ONE == ONE
    won = False
    for i in range(game.legal_moves(states[ply], moves[ply])):
        copy_state(game, states[ply], states[ply + 1])
        game.play(states[ply + 1], moves[ply, i])
        if game.is_over(states[ply + 1]) or not wins(game, states, moves, ply + 1, table):
            won = True
            break
    table[key >> SHIFT] = key | ONE if won else key
    return won


def winning_openings(spec):
    """The first moves that win, by exact search."""
    game = games.make(spec)
    states = np.zeros((game.max_plies + 1, game.state_size), game.dtype)
    moves = np.zeros((game.max_plies + 1, game.max_moves), np.int32)
    table, found = np.zeros(1 << 22, np.uint64), set()
    for move in game.moves(game.initial()):
        states[1] = game.after(game.initial(), move)
        if not wins(game, states, moves, 1, table):
            found.add(game.move_name(game.initial(), move))
    return found


@pytest.mark.slow
def test_winning_openings():
    assert winning_openings("hex(2)") == {"b1", "a2"}
    assert winning_openings("hex(3)") == {"c1", "a2", "b2", "c2", "a3"}
    assert winning_openings("hex(4)") == {"d1", "c2", "b3", "a4"}  # the short diagonal


@pytest.mark.slow
def test_with_the_swap_rule_the_second_player_wins():
    assert winning_openings("hex(2, swap=true)") == winning_openings("hex(3, swap=true)") == set()


def test_swap():
    game = games.make("hex(3, swap=true)")
    state = game.read_line("b1 swap")[1]
    assert game.render(state) == "   a b c\n 1 . . .\n  2 O . .\n   3 . . ."
    assert game.player(state) == 0 and len(game.moves(state)) == 8
    later = game.read_line("b1 a1")[1]
    for position in (game.initial(), state, later):
        with pytest.raises(games.IllegalMove, match="'swap' is not a legal move"):
            game.parse_move(position, "swap")
    with pytest.raises(games.IllegalMove, match="'swap' is not a legal move"):
        games.make("hex(3)").read_line("b1 swap")


@pytest.mark.parametrize("spec", ["hex", "hex(3, swap=true)", "hex(14)"])
def test_random_subsets_are_uniform(spec):
    """Every cell is as often in one, and every two cells."""
    game, rng = games.make(spec), np.array([9], np.uint64)
    with np.errstate(over="ignore"):
        state = game.read_line("a1 c3")[1]
        free, size, count = game.free(state), (game.cells - 2) // 2, 3000
        chosen = np.zeros((count, game.cells))
        for sample in chosen:
            subset = game.random_subset(free, size, rng)
            sample[:] = [int(subset[cell >> 6]) >> (cell & 63) & 1 for cell in range(game.cells)]
    assert (chosen.sum(axis=1) == size).all()
    assert chosen[:, 0].sum() == chosen[:, 2 * game.size + 2].sum() == 0
    others = [cell for cell in range(game.cells) if cell not in (0, 2 * game.size + 2)]
    share = size / len(others)
    assert chosen[:, others].mean(axis=0) == pytest.approx(share, abs=5 * (share * (1 - share) / count) ** 0.5)
    pairs = (chosen[:, others].T @ chosen[:, others] / count)[np.triu_indices(len(others), 1)]
    share *= (size - 1) / (len(others) - 1)
    assert pairs == pytest.approx(share, abs=6 * (share * (1 - share) / count) ** 0.5)


def test_early_moves_are_unhindered():
    """No chain has fewer stones than the board has rows."""
    game = games.make("hex")
    assert [games.perft(game, depth) for depth in (1, 2, 3)] == [121, 121 * 120, 121 * 120 * 119]


@pytest.mark.slow
def test_random_play():
    """The share of an independent C++ program that plays move by move and joins groups: 0.52254 +- 0.00032."""
    summary = games.playouts(games.make("hex"), 400_000, seed=4)
    assert summary.wins / 400_000 == pytest.approx(0.52254, abs=0.0035)
    assert summary.draws == 0 and summary.plies == 400_000 * 121


def test_evaluation_counts_the_stones_still_needed():
    game = games.make("hex(4)")
    assert game.evaluate(game.initial()) == pytest.approx(0.5 / 2.5)
    state = game.read_line("b2 a1 b3")[1]  # the first player needs two more; the second, who is to move, three
    assert game.evaluate(state) == pytest.approx(0.5 / 2.5)
    state = game.read_line("c1", state)[1]  # now the second needs two as well, b1 and d1
    assert game.evaluate(state) == pytest.approx(0.5 / 2.5)


def test_features_tell_neighbourhoods_apart():
    game = games.make("hex(5)")
    centre, corner = game.parse_move(game.initial(), "c3"), game.parse_move(game.initial(), "e1")
    assert game.feature_code(game.initial(), centre) == centre << 12
    # of e1, clockwise from above: two cells of the top row's border (one beyond both), the right border, then cells
    assert game.feature_code(game.initial(), corner) == corner << 12 | 0b01_11_10_00_00_00
    state = game.read_line("c2 d2")[1]
    assert game.feature_code(state, centre) == centre << 12 | 0b01_10_00_00_00_00


def test_cells_are_named_by_column_and_row():
    game = games.make("hex")
    assert game.parse_move(game.initial(), "k11") == 120 and game.move_name(game.initial(), 11) == "a2"
    lines = game.render(game.read_line("c1 a10")[1]).splitlines()
    assert lines[0] == "   a b c d e f g h i j k"
    assert lines[1] == " 1 . . X . . . . . . . ." and lines[10] == "         10 O . . . . . . . . . ."


@pytest.mark.parametrize("size", [1, 15])
def test_sizes_out_of_range(size):
    with pytest.raises(games.SpecError, match=f"size = {size} is out of range: it can be 2 to 14"):
        games.make(f"hex({size})")
