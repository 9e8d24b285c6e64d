"""Connect 4's known figures."""

import numpy as np
import pytest

from arena import games
from tests import samples

GAME = games.make("connect4")


def test_positions_by_ply():
    """OEIS A212693: positions after n plies."""
    level, counts = {int(GAME.key(GAME.initial())): GAME.initial()}, []
    for _ in range(6):
        children = [GAME.after(state, move) for state in level.values() for move in GAME.moves(state)]
        level = {int(GAME.key(state)): state for state in children}
        counts.append(len(level))
    assert counts == [7, 49, 238, 1120, 4263, 16422]


def test_random_play():
    summary = games.playouts(GAME, 400_000, seed=3)
    assert summary.wins / 400_000 == pytest.approx(0.5559, abs=0.004)
    assert summary.losses / 400_000 == pytest.approx(0.4415, abs=0.004)
    assert summary.draws / 400_000 == pytest.approx(0.0026, abs=0.0005)
    assert summary.plies / 400_000 == pytest.approx(21.3, abs=0.05)


def test_a_board_may_have_64_bits():
    game = games.make("connect4(rows=7, columns=8)")
    state = game.initial()
    for column in (7, 0, 7, 0, 7, 0):
        game.play(state, column)
    assert not game.is_over(state) and game.is_over(game.after(state, 7)) and game.max_plies == 56
    for column in (0, 7, 7, 0, 0, 7, 7, 0):  # the last one is full then, up to its bit 62
        game.play(state, column)
    assert not game.is_over(state) and game.moves(state) == [1, 2, 3, 4, 5, 6]
    with pytest.raises(games.SpecError, match=r"\(rows \+ 1\) \* columns = 65 is out of range: it can be 1 to 64"):
        games.make("connect4(rows=12, columns=5)")


def line_exists(grid):
    """Four equal stones in a row, looked for square by square."""
    rows, columns = grid.shape
    for row in range(rows):
        for column in range(columns):
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                cells = [(row + k * down, column + k * right) for k in range(4)]
                if all(r < rows and 0 <= c < columns for r, c in cells) and len({grid[cell] for cell in cells}) == 1:
                    if grid[row, column]:
                        return True
    return False


@pytest.mark.parametrize("spec", ["connect4", "connect4(rows=4, columns=10)", "connect4(rows=8, columns=7)"])
def test_wins_are_those_of_a_board_of_squares(spec):
    game, random = games.make(spec), np.random.default_rng(5)
    for _ in range(60):
        grid, state, ply = np.zeros((game.rows, game.columns), int), game.initial(), 0
        while not game.is_over(state):
            move = int(random.choice(game.moves(state)))
            grid[np.count_nonzero(grid[:, move]), move] = 1 + ply % 2
            state, ply = game.after(state, move), ply + 1
            assert bool(game.is_over(state)) == (line_exists(grid) or grid.all())
        expected = (1.0 if ply % 2 == 1 else -1.0) if line_exists(grid) else 0.0
        assert game.score(state) == expected


def test_evaluation_likes_the_centre():
    assert GAME.evaluate(GAME.read_line("4")[1]) > GAME.evaluate(GAME.read_line("1")[1]) > 0
    assert GAME.evaluate(GAME.initial()) == 0


def test_columns_are_named_from_one():
    state = GAME.read_line("1 7 1")[1]
    assert GAME.render(state).splitlines()[-3:] == ["X  .  .  .  .  .  .", "X  .  .  .  .  .  O", "1  2  3  4  5  6  7"]
    with pytest.raises(games.IllegalMove, match="'8' is not a legal move"):
        GAME.parse_move(state, "8")


def test_positions_of_the_literature_can_be_read(data_folder):
    for line in (data_folder / samples.CONNECT4).read_text().splitlines():
        moves, score = line.split()
        state = GAME.read_line(" ".join(moves))[1]
        assert not GAME.is_over(state) and abs(int(score)) <= 21


def weight_of_fours(game, own, other):
    """1, 4, 16 or 64 for one to four own stones in each four squares in line that the other has no stone in."""
    weight = 0
    for square in range(64):
        for step in (1, game.rows, game.rows + 1, game.rows + 2):
            line = [square + step * i for i in range(4)]
            stones = sum(own >> place & 1 for place in line)
            if all(int(game.board) >> place & 1 and not other >> place & 1 for place in line) and stones:
                weight += 4 ** (stones - 1)
    return weight


@pytest.mark.parametrize("spec", ["connect4", "connect4(rows=4, columns=10)", "connect4(rows=8, columns=7)"])
def test_evaluation_counts_open_fours(spec):
    game, random = games.make(spec), np.random.default_rng(6)
    for _ in range(10):
        state = game.initial()
        while not game.is_over(state):
            state = game.after(state, int(random.choice(game.moves(state))))
            first = int(state[0]) if game.player(state) == 0 else int(state[0] ^ state[1])
            second = int(state[1]) ^ first
            total = weight_of_fours(game, first, second) - weight_of_fours(game, second, first)
            assert game.evaluate(state) == total / (32.0 + abs(total))
