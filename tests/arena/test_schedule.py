"""The schedule: what is known of the games before any is played."""

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from arena.formats.schedule import OpeningError, Schedule, opening

sizes = st.tuples(st.integers(2, 7), st.integers(1, 6).map(lambda pairs: 2 * pairs), st.integers(0, 2**63 - 1))


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_ids_seeds_and_numbers_are_unique(size):
    fixtures = list(Schedule(*size))
    assert len(fixtures) == len(Schedule(*size)) == len({f.id for f in fixtures}) == len({f.seed for f in fixtures})
    assert [f.number for f in fixtures] == list(range(len(fixtures)))


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_every_pair_meets_on_every_opening_with_both_sides(size):
    agents, number, seed = size
    met = Counter((f.opening, f.first, f.second) for f in Schedule(agents, number, seed))
    wanted = {
        (k, *sides) for k in range(number // 2) for a, b in combinations(range(agents), 2) for sides in ((a, b), (b, a))
    }
    assert met == dict.fromkeys(wanted, 1)


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_every_agent_is_first_as_often_as_second(size):
    fixtures = list(Schedule(*size))
    assert Counter(f.first for f in fixtures) == Counter(f.second for f in fixtures)


@settings(deadline=None)  # the machine may be busy
@given(sizes)
def test_more_games_leave_the_first_ones_as_they_were(size):
    agents, number, seed = size
    longer = list(Schedule(agents, number + 4, seed))
    assert list(Schedule(agents, number, seed)) == longer[: len(Schedule(agents, number, seed))]


def test_pairings_leave_out_the_other_games():
    everybody, some = list(Schedule(5, 6, 3)), list(Schedule(5, 6, 3, [(2, 0), (3, 4)]))
    assert some == [f for f in everybody if {f.first, f.second} in ({0, 2}, {3, 4})]
    assert len(some) == len(Schedule(5, 6, 3, [(2, 0), (3, 4)])) == 12


def test_the_first_round():
    fixtures = list(Schedule(3, 4, 1))
    assert [f.id for f in fixtures[:7]] == [
        "1v2-0000",
        "2v1-0000",
        "1v3-0000",
        "3v1-0000",
        "2v3-0000",
        "3v2-0000",
        "1v2-0001",
    ]
    assert [(f.pairing, f.opening, f.first, f.second) for f in fixtures[3:5]] == [(1, 0, 2, 0), (2, 0, 1, 2)]


def test_seeds_depend_on_the_tournaments_seed():
    assert not {f.seed for f in Schedule(4, 10, 1)} & {f.seed for f in Schedule(4, 10, 2)}


def test_openings_are_reproducible_and_legal():
    game = games.make("breakthrough(rows=6, columns=4)")
    lines = [opening(game, 5, k, 4) for k in range(20)]
    assert lines == [opening(game, 5, k, 4) for k in range(20)]
    assert len({tuple(line) for line in lines}) > 15
    assert lines != [opening(game, 6, k, 4) for k in range(20)]
    for line in lines:
        state = game.initial()
        for move in line:
            state = game.after(state, move)
        assert not game.is_over(state)


def test_an_opening_never_ends_the_game():
    game = games.make("tictactoe")
    for k in range(100):  # most lines of eight plies end the game before
        state = game.initial()
        for move in opening(game, 0, k, 7):
            state = game.after(state, move)
        assert not game.is_over(state)


def test_openings_are_uniform():
    game = games.make("tictactoe")
    seen = Counter(opening(game, 3, k, 1)[0] for k in range(1800))
    assert set(seen) == set(range(9)) and all(140 < n < 260 for n in seen.values())  # 200 +- 4.5 deviations


@pytest.mark.parametrize("plies", [9, 10_000])
def test_too_long_an_opening_is_an_error(plies):
    with pytest.raises(OpeningError, match=f"tictactoe is over within {plies} random plies"):
        opening(games.make("tictactoe"), 0, 0, plies)
