"""The travelling salesman with time windows beside a naive tour, files of instances, and best-known tours."""

import pickle
import re
import sys

import numpy as np
import pytest
from numba import typeof

from arena import games
from tests import samples

SMALL = "3\n0 4 7.5\n5 0 2\n6 3 0\n0 100\n10 20\n0 11\n"


def naive_tour(instance, tour):
    """(cost, windows violated, time of return) of a tour from and to city 0."""
    cost = violations = 0
    time = instance.windows[0, 0]
    for here, there in zip([0, *tour], [*tour, 0]):
        opens, closes = instance.windows[there]
        cost += instance.distances[here, there]
        time += instance.distances[here, there]
        violations += time > closes
        time = max(time, opens)
    return cost, violations, time


@pytest.mark.parametrize("cities", [2, 10, 37])
def test_random_tours_beside_naive_ones(cities):
    game, random = games.make(f"tsptw(cities={cities}, seed=3)"), np.random.default_rng(5)
    for _ in range(20):
        tour = [int(city) for city in 1 + random.permutation(cities - 1)]
        state, left = game.initial(), set(tour)
        for city in tour:
            assert not game.is_over(state) and game.moves(state) == sorted(left)
            assert game.move_code(state, city) == ([0, *tour][len(tour) - len(left)]) * cities + city
            state = game.after(state, city)
            left.remove(city)
        cost, violations, time = naive_tour(game.instance, tour)
        assert game.is_over(state) and game.score(state) == pytest.approx(-cost - 1e6 * violations)
        assert game.render(state).splitlines() == [
            f"tour 0 {' '.join(map(str, tour))} 0",
            f"cost {cost:.2f}, violations {violations}, time {time:.2f}",
        ]


def test_a_small_instance_by_hand(tmp_path):
    """0-1-2-0: 4, wait until 10, 12 which is late by 1, 18.  0-2-1-0: 7.5, 10.5, 15.5."""
    (tmp_path / "small.txt").write_text(SMALL)
    game = games.make(f"tsptw({str(tmp_path / 'small.txt')!r})")
    assert game.score(game.read_line("1 2")[1]) == -(4 + 2 + 6) - 1e6
    assert game.score(game.read_line("2 1")[1]) == -(7.5 + 3 + 5)
    assert str(game) == f"tsptw(file={str(tmp_path / 'small.txt')!r}, cities=3)"
    assert games.make(str(game)) == game


@pytest.mark.parametrize("seed", range(5))
def test_random_instances_have_a_tour_without_violations(seed):
    game = games.make(f"tsptw(cities=30, seed={seed})")
    state = game.read_line(" ".join(map(str, range(1, 30))))[1]
    assert -30 * 80 < game.score(state) < 0
    assert (game.instance.windows[:, 0] < game.instance.windows[:, 1]).all()
    assert games.playouts(game, 1000, seed=1).score / 1000 < -1e6


def test_instances_share_kernels_and_files_are_read_anew(tmp_path):
    path = tmp_path / "small.txt"
    path.write_text(SMALL)
    first = games.make(f"tsptw({str(path)!r})")
    path.write_text(SMALL.replace("7.5", "8.5"))
    second = games.make(f"tsptw({str(path)!r})")
    assert typeof(first) is typeof(second) is typeof(games.make("tsptw(cities=3, seed=1)"))
    assert typeof(first) is not typeof(games.make("tsptw"))
    tours = [-(4 + 2 + 6) - 1e6, -(7.5 + 3 + 5)]
    for game, best in ((first, tours[1]), (second, tours[1] - 1)):
        mean = games.playouts(game, 1000, seed=2).score / 1000
        share = (mean - best) / (tours[0] - best)  # of the other tour
        assert 0.4 < share < 0.6
        assert game.score(game.read_line("2 1")[1]) == best


def test_kernels_read_the_arrays_of_a_game_and_keep_none_of_them():
    game = games.make("tsptw(cities=12)")
    games.playouts(game, 3, seed=0)  # the game's table points to them
    counts = [sys.getrefcount(array) for array in (game.distances, game.windows)]
    played = [games.playouts(game, 3, seed=seed).score for seed in range(500)]
    assert counts == [sys.getrefcount(array) for array in (game.distances, game.windows)]
    copied = pickle.loads(pickle.dumps(game))
    assert [games.playouts(copied, 3, seed=seed).score for seed in range(500)] == played
    spoilt = games.make("tsptw(cities=12)")
    vars(spoilt)["distances"] = game.distances.astype(np.float32)
    with pytest.raises(TypeError):
        games.playouts(spoilt, 3, seed=1)


@pytest.mark.parametrize(
    "text, message",
    [
        (None, "file = {} cannot be read"),
        ("", "file = {} should begin with the number of cities, 2 to 200, not 0"),
        ("1 0 0 9", "should begin with the number of cities, 2 to 200, not 1"),
        ("3 a", "file = {} should hold numbers only"),
        (SMALL + "8", "file = {} has 17 numbers; 3 cities need 16"),
        (SMALL.replace("10 20", "10 9"), "file = {}: numbers should be finite and 0 or more, and windows open before"),
        (SMALL.replace("7.5", "-1"), "file = {}: numbers should be finite and 0 or more"),
        (SMALL.replace("7.5", "nan"), "file = {}: numbers should be finite and 0 or more"),
    ],
)
def test_bad_files(tmp_path, text, message):
    path = tmp_path / "instance.txt"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message.format(repr(str(path))))):
        games.make(f"tsptw({str(path)!r})")


def test_bad_parameters(tmp_path):
    (tmp_path / "small.txt").write_text(SMALL)
    with pytest.raises(ValueError, match=r"cities = 4, but file .* has 3"):
        games.make(f"tsptw({str(tmp_path / 'small.txt')!r}, cities=4)")
    with pytest.raises(ValueError, match="cities = 201 is out of range: it can be 2 to 200"):
        games.make("tsptw(cities=201)")
    game = games.make("tsptw")
    with pytest.raises(games.IllegalMove, match="'0' is not a legal move"):
        game.parse_move(game.initial(), "0")


def test_best_known_tours(data_folder):
    text = (data_folder / samples.TOURS).read_text()
    lines = [line.split() for line in text.splitlines()[1:] if line.strip()]
    assert len(lines) >= 30
    for name, cost, violations, *tour in lines:
        game = games.make(f"tsptw({str(data_folder / 'tsptw' / 'instances' / name)!r})")
        score = game.score(game.read_line(" ".join(tour))[1])
        assert score == pytest.approx(-float(cost) - 1e6 * int(violations), abs=0.006)
