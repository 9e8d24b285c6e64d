"""Kalah against lists of seeds, its ends, and small values by exhaustive search."""

import numpy as np
import pytest

from arena import games
from tests.games.exact import exact_value


class NaiveKalah:
    """Two lists of houses, two stores; sown one seed at a time around a ring of places."""

    def __init__(self, houses, seeds):
        self.rows, self.stores, self.side = [[seeds] * houses, [seeds] * houses], [0, 0], 0

    def copy(self):
        other = NaiveKalah(0, 0)
        other.rows, other.stores, other.side = [list(row) for row in self.rows], list(self.stores), self.side
        return other

    def moves(self):
        return [house for house, seeds in enumerate(self.rows[self.side]) if seeds]

    def over(self):
        return not all(any(row) for row in self.rows)

    def score(self):
        return sum(self.rows[0]) + self.stores[0] - sum(self.rows[1]) - self.stores[1]

    def sow(self, house):
        """Returns how many seeds the move takes from the other player's house."""
        side, size = self.side, len(self.rows[0])
        ring = [(side, i) for i in range(size)] + ["store"] + [(1 - side, i) for i in range(size)]
        place, left, taken = house, self.rows[side][house], 0
        self.rows[side][house] = 0
        for _ in range(left):
            place = (place + 1) % len(ring)
            if ring[place] == "store":
                self.stores[side] += 1
            else:
                self.rows[ring[place][0]][ring[place][1]] += 1
        if place < size and self.rows[side][place] == 1 and self.rows[1 - side][size - 1 - place]:
            taken = self.rows[1 - side][size - 1 - place]
            self.stores[side] += 1 + taken
            self.rows[side][place] = self.rows[1 - side][size - 1 - place] = 0
        if ring[place] != "store":
            self.side = 1 - side
        return taken

    def words(self):
        return [*self.rows[0], self.stores[0], *self.rows[1], self.stores[1], self.side]


def naive_perft(naive, depth):
    if depth == 0:
        return 1
    if naive.over():
        return 0
    total = 0
    for house in naive.moves():
        after = naive.copy()
        after.sow(house)
        total += naive_perft(after, depth - 1)
    return total


@pytest.mark.parametrize("houses, seeds, depth", [(6, 4, 5), (3, 2, 9), (2, 9, 9)])
def test_perft_is_that_of_lists(houses, seeds, depth):
    game = games.make(f"kalah({houses}, {seeds})")
    assert games.perft(game, depth) == naive_perft(NaiveKalah(houses, seeds), depth)


@pytest.mark.parametrize("houses, seeds, count", [(6, 4, 30), (6, 6, 20), (2, 9, 60), (1, 3, 5), (4, 20, 10)])
def test_play_is_that_of_lists(houses, seeds, count):
    game, random = games.make(f"kalah({houses}, {seeds})"), np.random.default_rng(houses)
    for _ in range(count):
        state, naive = game.initial(), NaiveKalah(houses, seeds)
        while not naive.over():
            assert not game.is_over(state) and game.moves(state) == naive.moves()
            house = int(random.choice(naive.moves()))
            captures, again = game.captures(state, house), game.last_place(state, house) == game.store(naive.side)
            state, side = game.after(state, house), naive.side
            assert captures == naive.sow(house) and again == (naive.side == side)
            assert state.tolist() == naive.words()
        assert game.is_over(state) and game.score(state) == naive.score()


def naive_value(naive, known):
    """The first player's seeds less the second's under best play."""
    place = tuple(naive.words())
    if naive.over():
        return naive.score()
    if place not in known:
        values = []
        for house in naive.moves():
            after = naive.copy()
            after.sow(house)
            values.append(naive_value(after, known))
        known[place] = (max if naive.side == 0 else min)(values)
    return known[place]


@pytest.mark.parametrize("houses, seeds", [(1, 1), (1, 5), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_small_values(houses, seeds):
    game = games.make(f"kalah({houses}, {seeds})")
    assert exact_value(game, game.initial()) == naive_value(NaiveKalah(houses, seeds), {})


def test_drawing_and_evaluations():
    game = games.make("kalah(3, 2)")
    state = game.read_line("2")[1]  # the last seed falls into the store
    assert game.render(state) == "     3  2  1\n\n     2  2  2\n  0           1\n     2  0  3\n\n     1  2  3"
    assert game.player(state) == 0 and game.evaluate(state) == 1 / 13
    assert game.evaluate_seeds(state) == pytest.approx((1 - 0.5) / 13)
    assert game.move_order(game.initial(), 1) == 1 and game.move_order(game.initial(), 0) == 0


@pytest.mark.parametrize(
    "spec, message",
    [("kalah(0, 4)", "houses = 0 is out of range: it can be 1 to 10"), ("kalah(seeds=21)", "seeds = 21 is out of")],
)
def test_bad_parameters(spec, message):
    with pytest.raises(games.SpecError, match=message):
        games.make(spec)
