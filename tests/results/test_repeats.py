"""Games that repeat others: who counts as deterministic, and what tables say of it."""

import math
import random
from collections import Counter

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from arena import results
from arena.results.database.record import Reason
from arena.results.database.repeats import CHANCE, Ways, notes, pair_of, repeated, repeating
from arena.results.database.store import Store
from arena.results.statistics.elo import pentanomial
from tests.results.sample import AGENTS, META, make_game
from tests.typed import call


def frame(*rows):
    columns = ["first", "second", "opening_moves", "moves", "outcome"]
    return pd.DataFrame(rows, columns=columns).assign(condition=0, reason=Reason.PLAYED_OUT)


def test_deterministic_agents_that_repeat_themselves():
    games = frame(
        ("A", "B", "a", "b c", 1.0), ("B", "A", "a", "b c", 1.0), ("A", "B", "a", "b c", 1.0),
        ("A", "B", "d", "b c", 0.5), ("A", "B", "a", "b c", 1.0),
    )  # fmt: skip
    found = repeated(games)
    assert found.tolist() == [False, False, True, False, True]
    (note,) = notes(games[found].assign(games=1))
    assert "2 games between A and B repeat earlier ones" in note


def test_many_pairs_that_repeat_themselves_are_one_sentence():
    rows = [{"first": "A", "second": f"B{i}", "games": 1000 + (i == 2)} for i in range(5)]
    assert [note.split(" repeat")[0] for note in notes(pd.DataFrame(rows[:4]))][2] == "1,001 games between A and B2"
    (note,) = notes(pd.DataFrame(rows))
    assert note.startswith("5,001 games between 5 pairs of agents, as A and B2, repeat earlier ones move for move:")
    (note,) = notes(pd.DataFrame([{"first": "A", "second": "B", "games": 1}]))
    assert note.startswith("1 game between A and B repeats earlier ones")


def test_games_of_agents_that_vary_repeat_by_chance():
    twice, forfeit = [("A", "B", "", "x", 1.0)] * 2, ("A", "B", "", "x", 0.0)
    for games in (frame(*twice, ("B", "A", "", "x", 0.0), ("B", "A", "", "y", 0.0)), frame(*twice, forfeit)):
        assert not repeated(games).any() and notes(games[repeated(games)].assign(games=1)) == []


@given(st.integers(4, 40), st.integers(1, 4), st.data())
def test_a_slip_changes_nothing_of_other_games(games, openings, data):
    """Whatever one game of agents without chance does, all others are told as without it."""
    slip = data.draw(st.integers(0, games - 1))
    reason = data.draw(st.sampled_from([*Reason.FORFEITS, Reason.PLAYED_OUT]))
    usual = frame(*(("A", "B", f"o{k % openings}", f"m{k % openings}", 1.0) for k in range(games)))
    slipped = usual.copy()
    slipped.loc[slip, ["moves", "outcome", "reason"]] = ["another", 0.0, reason]
    again = (games - 1) // openings  # at least so many meet an opening again
    assume(reason != Reason.PLAYED_OUT or CHANCE * (games - openings) > 1)
    found, without = repeated(slipped), repeated(usual.drop(index=slip))
    assert not found[slip] and found.drop(index=slip).tolist() == without.tolist()
    assert without.sum() >= again - 1


def test_openings_that_transpose_are_one():
    games = frame(*(("A", "B", opening, "m", 1.0) for opening in ("a b c d", "c d a b", "a d c b", "b a d c")))
    assert repeated(games).tolist() == [False, True, True, False]
    stacked = frame(*(("A", "B", opening, "m", 1.0) for opening in ("1 1 2 1", "2 1 1 1", "1 2 3 4 1", "3 4 1 2 1")))
    assert repeated(stacked).tolist() == [False, False, False, True]


def test_who_often_goes_another_way_plays_by_chance():
    ways = Ways()
    for game in range(100):
        ways.repeats(0, "o", game if game % 8 == 0 else "usual", no_sign=False)
        if game > 20:
            assert ways.by_chance
    assert len(ways) == 14


@pytest.mark.parametrize("usual, by_chance", [(10, True), (11, False)])
def test_one_in_ten_of_the_games_that_could_repeat_is_chance_and_less_is_a_slip(usual, by_chance):
    """The first game of an opening could not."""
    ways = Ways()
    for way in [*["usual"] * usual, "another"]:
        ways.repeats(0, "o", way, no_sign=False)
    assert ways.by_chance == by_chance


@given(st.lists(st.tuples(*map(st.sampled_from, ("AB", "CD", ["", "o"], ["", "x", "y"], [1.0, 0.5])))))
def test_copies_of_imported_games_count_once(rows):
    """Whoever plays them: nothing tells how."""
    games = frame(*rows).assign(reason=Reason.IMPORTED)
    assert repeated(games).tolist() == (games.duplicated() & (games["moves"] != "")).tolist()


PGN = '[White "{}"]\n[Black "{}"]\n[Result "{}"]\n\n1. {}\n\n'
SGF = "(;GM[1]SZ[9]PB[{}]PW[{}]RE[{}]{})\n"


@pytest.mark.parametrize("kind, form, outcomes", [
    ("pgn", PGN, {"1-0": "e4 e5", "0-1": "d4", "1/2-1/2": "c4 c5"}),
    ("sgf", SGF, {"B+R": ";B[aa]", "W+R": ";B[bb]", "0": ";B[cc];W[dd]"}),
])  # fmt: skip
def test_files_with_copies_have_the_errors_of_the_games_alone(tmp_path, kind, form, outcomes):
    text = "".join(form.format(*pair, *game) for pair in ("AB", "BA") for game in outcomes.items())
    for times in (1, 10):
        (tmp_path / f"g.{kind}").write_text(text * times)
        done = call("import", tmp_path / f"g.{kind}", "--out", tmp_path / str(times))
        assert ("54 games between A and B repeat earlier ones" in " ".join(done.stderr.split())) == (times == 10)
    once, often = (results.load(tmp_path / times).standings() for times in ("1", "10"))
    assert once["error"].tolist() == pytest.approx(often["error"].tolist()) and often["games"].tolist() == [60, 60]


def test_void_games_and_games_without_moves_repeat_nothing():
    games = frame(
        ("A", "B", "a", "", 1.0),
        ("A", "B", "a", "", 1.0),
        ("A", "B", "a", "b", math.nan),
        ("A", "B", "a", "b", 1.0),
        ("A", None, "a", "b", 1.0),
        ("A", None, "a", "b", 1.0),
    )
    assert not repeated(games).any()
    assert not repeated(games[:0]).any()


def test_tables_count_repetitions_once_in_errors(tmp_path):
    """Twelve openings that are three, each of which the pair plays in the same way every time."""
    with Store.create(tmp_path, META, AGENTS[:2]) as store:
        for opening in range(12):
            for side, first in enumerate((0, 1)):
                outcome = [[1.0, 0.0], [1.0, 1.0], [0.5, 0.0]][opening % 3][side]
                store.add(
                    make_game(
                        f"{opening}-{side}",
                        2 * opening + side,
                        AGENTS[first]["name"],
                        AGENTS[1 - first]["name"],
                        outcome,
                        opening=opening,
                        opening_moves=f"o{opening % 3}",
                        moves=f"m{side}",
                    )
                )
    tournament = results.load(tmp_path)
    pair = tournament.pairs().iloc[0]
    assert pair[["WL_DD", "WD", "WW"]].tolist() == [4, 4, 4]
    assert pair["error"] == pentanomial([0, 0, 1, 1, 1]).error and pair["elo"] == pentanomial([0, 0, 1, 1, 1]).elo
    assert tournament.repeats.sum() == 18 and any("18 games between ann and bob" in note for note in tournament.notes())
    assert (tournament.bootstrap(samples=5)["samples"] <= 5).all()


def test_no_more_is_read_once_all_are_sure_to_play_by_chance():
    """The answer is that of all rows, whatever of the games is by chance; `met` may be more than there are."""
    chance = random.Random(3)
    for varies in (0.0, 0.05, 0.3, 1.0):
        rows = [row(chance, varies) for _ in range(2000)]
        met = Counter(pair_of(first, second) for _, first, _, second, *_ in rows)
        read = iter(rows)
        assert repeating(read, met + met) == repeating(rows)
        assert (next(read, None) is not None) == (varies >= 0.3)


def row(chance, varies):
    first, second = chance.sample("abc", 2)
    moves = str(chance.randrange(50)) if chance.random() < varies else "usual"
    return 0, first, chance.choice(["o", "p"]), second, 1.0, Reason.PLAYED_OUT, moves
