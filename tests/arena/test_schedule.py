"""The schedule: what is known of the games before any is played."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import games
from arena.config.openings import OpeningError, random_opening
from arena.formats.schedule import Schedule
from tests.arena.fixtures import resolved, round_robin

sizes = st.tuples(st.integers(2, 7), st.integers(1, 6).map(lambda pairs: 2 * pairs), st.integers(0, 2**63 - 1))


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_ids_seeds_and_numbers_are_unique(size):
    fixtures = round_robin(*size)
    assert len(fixtures) == len(Schedule(resolved(*size))) == len({f.id for f in fixtures})
    assert len(fixtures) == len({f.seed for f in fixtures})
    assert [f.number for f in fixtures] == list(range(len(fixtures)))


@settings(deadline=None)  # the machine may be busy
@given(sizes, st.integers(1, 3), st.integers(1, 3))
def test_conditions_share_the_openings_and_no_ids_seeds_or_numbers(size, instances, budgets):
    names, limits = [f"g{i}" for i in range(instances)], [{"playouts": n + 1} for n in range(budgets)]
    fixtures = round_robin(*size, instances=names, budgets=limits)
    assert len(fixtures) == len({f.id for f in fixtures}) == len({f.seed for f in fixtures})
    assert [f.number for f in fixtures] == list(range(len(fixtures)))
    alone = Counter((f.seats, f.opening) for f in round_robin(*size))
    for condition in range(instances * budgets):
        assert Counter((f.seats, f.opening) for f in fixtures if f.condition == condition) == alone


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_every_pair_meets_on_every_opening_with_both_sides(size):
    agents, number, _ = size
    met = Counter((f.opening, *f.seats) for f in round_robin(*size))
    wanted = {
        (k, *sides) for k in range(number // 2) for a, b in combinations(range(agents), 2) for sides in ((a, b), (b, a))
    }
    assert met == dict.fromkeys(wanted, 1)


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_every_agent_is_first_as_often_as_second(size):
    fixtures = round_robin(*size)
    assert Counter(f.seats[0] for f in fixtures) == Counter(f.seats[1] for f in fixtures)


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_more_games_leave_the_first_ones_as_they_were(size):
    agents, number, seed = size
    assert round_robin(*size) == round_robin(agents, number + 4, seed)[: len(round_robin(*size))]


def test_pairings_leave_out_the_other_games():
    everybody, some = round_robin(5, 6, 3), round_robin(5, 6, 3, pairings=[["a2", "a0"], ["a3", "a4"]])
    assert some == [f for f in everybody if set(f.seats) in ({0, 2}, {3, 4})]
    assert len(some) == 12


def test_the_first_round():
    fixtures = round_robin(3, 4, 1)
    ids = ["1v2-0000", "2v1-0000", "1v3-0000", "3v1-0000", "2v3-0000", "3v2-0000", "1v2-0001"]
    assert [f.id for f in fixtures[:7]] == ids
    assert [(f.condition, f.opening, f.seats) for f in fixtures[3:5]] == [(0, 0, (2, 0)), (0, 0, (1, 2))]


def test_ids_of_several_conditions_tell_which():
    fixtures = round_robin(2, 2, instances=["x", "y"], budgets=[{"nodes": 1}, {"nodes": 2}])
    assert [f.id for f in fixtures][:3] == ["1v2on1-0000", "2v1on1-0000", "1v2on2-0000"]
    assert [f.condition for f in fixtures] == [0, 0, 1, 1, 2, 2, 3, 3]


def test_seeds_depend_on_the_tournaments_seed():
    assert not {f.seed for f in round_robin(4, 10, 1)} & {f.seed for f in round_robin(4, 10, 2)}


def test_openings_are_reproducible_and_legal():
    game = games.make("breakthrough(rows=6, columns=4)")
    lines = [random_opening(game, 5, k, 4) for k in range(20)]
    assert lines == [random_opening(game, 5, k, 4) for k in range(20)]
    assert len({tuple(line) for line in lines}) > 15
    assert lines != [random_opening(game, 6, k, 4) for k in range(20)]
    for line in lines:
        state = game.initial()
        for move in line:
            state = game.after(state, move)
        assert not game.is_over(state)


def test_an_opening_never_ends_the_game():
    game = games.make("tictactoe")
    for k in range(100):  # most lines of eight plies end the game before
        state = game.initial()
        for move in random_opening(game, 0, k, 7):
            state = game.after(state, move)
        assert not game.is_over(state)


def test_openings_are_uniform():
    game = games.make("tictactoe")
    seen = Counter(random_opening(game, 3, k, 1)[0] for k in range(1800))
    assert set(seen) == set(range(9)) and all(140 < n < 260 for n in seen.values())  # 200 +- 4.5 deviations


@pytest.mark.parametrize("plies", [9, 10_000])
def test_too_long_an_opening_is_an_error(plies):
    with pytest.raises(OpeningError, match=f"tictactoe is over within {plies} random plies"):
        random_opening(games.make("tictactoe"), 0, 0, plies)
