"""Weak Schur numbers, and the game beside sets of integers in plain Python."""

from itertools import combinations

import numpy as np
import pytest

from arena import games


@pytest.mark.plain
@pytest.mark.parametrize("parts, best", [(1, 2), (2, 8), pytest.param(3, 23, marks=pytest.mark.slow)])
def test_weak_schur_numbers(parts, best):
    """By exhaustive search: there are ways to place WS(parts) numbers, and none to place one more (OEIS A072842)."""
    game = games.make(f"weakschur(parts={parts})")
    assert games.perft(game, best) > 0 and games.perft(game, best + 1) == 0


@pytest.mark.plain
def test_the_best_partition_into_two_is_unique():
    """{1, 2, 4, 8} and {3, 5, 6, 7} (OEIS A072842), in either order."""
    game = games.make("weakschur(parts=2)")
    assert games.perft(game, 8) == 2
    state = game.read_line("1 1 2 1 2 2 2 1")[1]
    assert game.is_over(state) and game.score(state) == 8
    assert game.render(state) == "1: 1 2 4 8\n2: 3 5 6 7"


def fits(part, number):
    return all(x + y != number for x, y in combinations(part, 2))


@pytest.mark.parametrize(
    "parts, careful, reached", [(3, 0.0, 5), (4, 0.5, 20), (5, 1.0, 64), (6, 0.98, 128), (6, 1.0, 128)]
)
def test_parts_are_those_of_plain_sets(parts, careful, reached):
    """Random games, the more careful the longer: with that probability the first part that is possible is taken."""
    game, random, longest = games.make(f"weakschur(parts={parts})"), np.random.default_rng(3), 0
    for _ in range(2):
        state, sets, number = game.initial(), [[] for _ in range(parts)], 0
        while not game.is_over(state):
            number += 1
            legal = [part for part in range(parts) if fits(sets[part], number)]
            assert game.moves(state) == legal
            move = legal[0] if random.random() < careful else int(random.choice(legal))
            assert game.move_code(state, move) == number * parts + move
            sets[move].append(number)
            state = game.after(state, move)
        assert not any(fits(part, number + 1) for part in sets)
        assert game.score(state) == number
        longest = max(longest, number)
    assert longest >= reached


def test_parts_out_of_range():
    with pytest.raises(ValueError, match="parts = 7 is out of range: it can be 1 to 6"):
        games.make("weakschur(parts=7)")
