"""Y: its rules against a search for chains, and its evaluation."""

import numpy as np
import pytest

from arena import games

NEIGHBOURS = [(-1, 0), (-1, 1), (0, 1), (1, 0), (1, -1), (0, -1)]


def joins_all_sides(stones, size):
    """Whether a chain of these (row, column) touches the three sides."""
    left = set(stones)
    while left:
        waiting, sides = [left.pop()], set()
        while waiting:
            row, column = waiting.pop()
            sides |= {side for side, touches in enumerate((row == 0, column == 0, row + column == size - 1)) if touches}
            beside = {(row + down, column + right) for down, right in NEIGHBOURS} & left
            left -= beside
            waiting += beside
        if len(sides) == 3:
            return True
    return False


def naive_perft(size, stones, depth):
    if depth == 0:
        return 1
    if any(joins_all_sides(own, size) for own in stones):
        return 0
    free = [(r, c) for r in range(size) for c in range(size - r) if (r, c) not in stones[0] | stones[1]]
    return sum(naive_perft(size, (stones[1], stones[0] | {cell}), depth - 1) for cell in free)


@pytest.mark.plain
@pytest.mark.parametrize("size, depth", [(2, 3), (3, 5), (4, 3)])
def test_perft_is_that_of_sets(size, depth):
    assert games.perft(games.make(f"y(size={size})"), depth) == naive_perft(size, (set(), set()), depth)


@pytest.mark.parametrize("size, count", [(3, 60), (6, 30), (11, 3), (14, 1)])
def test_the_winner_is_who_joins_all_sides(size, count):
    game, random, winners = games.make(f"y(size={size})"), np.random.default_rng(size), set()
    for _ in range(count):
        state, stones = game.initial(), (set(), set())
        cells = [(r, c) for r in range(size) for c in range(size - r)]
        for ply, i in enumerate(random.permutation(len(cells))):
            assert not game.is_over(state) and len(game.moves(state)) == len(cells) - ply
            stones[ply % 2].add(cells[i])
            state = game.after(state, cells[i][0] * size + cells[i][1])
            if joins_all_sides(stones[ply % 2], size):
                break
        assert game.is_over(state) and game.score(state) == (1 if ply % 2 == 0 else -1)
        winners.add(ply % 2)
    assert len(winners) == 2 or size > 6


def exact_chance(game, state):
    """The first player's share of all ways to fill a board of size 2, each free cell being either player's."""
    size, found = game.size, []
    cells = [(r, c) for r in range(size) for c in range(size - r)]
    free = [cell for cell in cells if game.colour(state, *cell) == 0]
    for filling in range(1 << len(free)):
        own = {cell for i, cell in enumerate(free) if filling >> i & 1}
        own |= {cell for cell in cells if game.colour(state, *cell) == 1}
        found.append(joins_all_sides(own, size))
    return np.mean(found)


def test_the_evaluation_is_the_chance_where_three_cells_are_left():
    game = games.make("y(size=2)")
    for line in ("", "a1", "b1", "a2"):
        state = game.read_line(line)[1]
        assert game.evaluate(state) == pytest.approx(0.999 * (2 * exact_chance(game, state) - 1))


def test_the_evaluation_knows_the_centre():
    game = games.make("y(size=5)")
    values = {game.move_name(game.initial(), m): game.evaluate(game.after(game.initial(), m)) for m in range(5)}
    assert game.evaluate(game.initial()) == 0 and min(values.values()) > 0
    assert game.evaluate(game.read_line("b2")[1]) > max(values.values())


def test_swap_and_drawing():
    game = games.make("y(size=3, swap=true)")
    state = game.read_line("b1 swap")[1]
    assert game.render(state) == "   a b c\n 1 . O .\n  2 . .\n   3 ."
    assert game.player(state) == 0 and len(game.moves(state)) == 5
    with pytest.raises(games.IllegalMove, match="'c2' is not a legal move"):
        game.parse_move(state, "c2")


@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_first_player_wins(size):
    """As a stone more never hurts."""
    game, known = games.make(f"y(size={size})"), {}

    def wins(state):
        if game.is_over(state):
            return False
        if state.tobytes() not in known:
            known[state.tobytes()] = any(not wins(game.after(state, move)) for move in game.moves(state))
        return known[state.tobytes()]

    assert wins(game.initial())


def test_bad_parameters():
    with pytest.raises(games.SpecError, match="size = 15 is out of range: it can be 2 to 14"):
        games.make("y(size=15)")
