"""The table of a study: cells against arithmetic by hand, intervals that cover, and every format."""

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena import results
from arena.results.database.store import Store
from arena.results.shown.export import render
from arena.results.shown.study_table import MEAN
from arena.results.statistics.elo import PENTANOMIAL, mean_interval, pentanomial, score_interval, trinomial
from tests.results.sample import configuration, make_game

BUDGETS = ({"playouts": 100}, {"playouts": 1000})


def store(folder, names, config, games):
    """A run of games (condition, opening, first, second, outcome), each with moves of its own."""
    with Store.create(folder, {"config": config}, [{"name": name, "spec": name} for name in names]) as made:
        for number, (condition, opening, first, second, outcome) in enumerate(games):
            made.add(
                make_game(
                    str(number), number, first, second, outcome, condition=condition, opening=opening,
                    moves=f"m{number}", decisions=(),
                )
            )  # fmt: skip
    return results.load(folder)


def pair(condition, opening, one, other, first, second):
    """The two games of a pair, with the points of `one` as first and as second player."""
    return [(condition, opening, one, other, first), (condition, opening, other, one, 1 - second)]


@pytest.fixture
def tournament(tmp_path):
    """hex: 1 + 0.5, 2, 2 points of p in three pairs at 100 playouts, 2 each at 1000; nogo: 1 each, then 0 to 2."""
    points = {0: [(1, 0.5), (1, 1), (1, 1)], 1: [(1, 1)] * 3, 2: [(1, 0)] * 3, 3: [(0, 0), (1, 0), (1, 1)]}
    games = [
        game for at, pairs in points.items() for k, won in enumerate(pairs) for game in pair(at, k, "p", "u", *won)
    ]
    return store(tmp_path / "study", "pu", configuration("hex(size=5)", "nogo", budgets=BUDGETS), games)


def test_cells_by_hand(tournament):
    frame = tournament.study().set_index(["instance", "budget"])
    assert frame["games"].tolist() == [6, 6, 6, 6, 12, 12] and set(frame["agent"]) == {"p"}
    assert frame["value"].tolist() == pytest.approx([5.5 / 6, 1, 0.5, 0.5, 8.5 / 12, 0.75])
    hex_100 = frame.loc[("hex(size=5)", "100 playouts")]
    assert (hex_100["low"], hex_100["high"]) == score_interval([0, 0, 0, 1, 2])
    assert frame.loc[("hex(size=5)", "1000 playouts"), "low"] == pytest.approx(0.025 ** (1 / 3))
    assert frame.loc[("hex(size=5)", "1000 playouts"), "high"] == 1
    assert (frame["low"] <= frame["value"]).all() and (frame["value"] <= frame["high"]).all()
    mean = frame.loc[(MEAN, "1000 playouts")]
    own = frame.loc[[("hex(size=5)", "1000 playouts"), ("nogo", "1000 playouts")]]
    assert tuple(mean[["value", "low", "high"]]) == mean_interval(own["value"], own["low"], own["high"])


def test_it_comes_first_where_there_are_several_conditions(tournament, folder):
    assert tournament.kinds[:3] == ("study", "standings", "ratings")
    assert tournament.table().attrs["kind"] == "study" and "study" not in results.load(folder).kinds


def test_people_read_a_row_a_game_and_a_column_a_budget(tournament):
    text = render(tournament.table(), "text").splitlines()
    assert text[0] == "Score of p against u in %, with 95 % intervals; 6 games a cell"
    assert text[2].split() == ["game", "100", "playouts", "1000", "playouts"]
    assert [line.split()[0] for line in text[4:]] == ["hex(size=5)", "nogo", "mean"]
    assert "100.0 (29.2–100.0)" in text[4] and text[5].split()[1] == "50.0"
    latex = render(tournament.table(), "latex")
    assert r"\toprule" in latex and r"100.0 & (\ensuremath{29.2}--\ensuremath{100.0})" in latex
    assert r"in \%" in latex and "–" not in latex
    for format in ("markdown", "html"):
        assert "100.0 (29.2–100.0)" in render(tournament.table(), format)


def test_programs_read_every_digit(tournament):
    frame = tournament.table()
    columns = ["instance", "budget", "agent", "games", "value", "low", "high"]
    for back in (
        pd.read_csv(io.StringIO(render(frame, "csv"))),
        pd.DataFrame(json.loads(render(frame, "json"))),
        pd.read_parquet(io.BytesIO(render(frame, "parquet"))),
    ):
        assert back.columns.tolist() == columns
        pd.testing.assert_frame_equal(back, frame, check_dtype=False, check_exact=True)


def test_of_many_agents_each_against_all_others(tmp_path):
    games = [
        *pair(0, 0, "a", "b", 1, 1), *pair(0, 0, "a", "c", 1, 0), *pair(0, 0, "b", "c", 0.5, 0.5),
        (1, 0, "a", "b", 1.0), (1, 0, "b", "a", None),
    ]  # fmt: skip
    run = store(tmp_path / "run", "abc", configuration("hex(size=5)", "nogo"), games)
    frame = run.study().set_index(["instance", "agent"])
    of_hex = frame.loc["hex(size=5)"]
    assert of_hex["value"].tolist() == [0.75, 0.25, 0.5] and of_hex["games"].tolist() == [4, 4, 4]
    one = frame.loc[("hex(size=5)", "b")]
    assert (one["low"], one["high"]) == score_interval([1, 0, 1, 0, 0])
    assert frame.loc["nogo"]["games"].tolist() == [1, 1, 0] and np.isnan(frame.loc[("nogo", "c"), "value"])
    assert tuple(frame.loc[("nogo", "a")][["low", "high"]]) == score_interval([0, 0, 1])
    assert frame.loc[MEAN].index.tolist() == ["a", "b"]  # c has not played both games
    text = render(run.table(), "text").splitlines()
    assert text[0].startswith("Score of each agent against all others in %") and text[0].endswith("0 to 4 games a cell")
    assert text[2].split() == ["game", "a", "b", "c"] and text[5].split()[-1] == "-"
    at_two = store(tmp_path / "two", "abc", configuration("hex(size=5)", budgets=BUDGETS), games)
    assert render(at_two.table(), "csv").count("\n") == 7
    assert "a, 1000 playouts" in render(at_two.table(), "html")
    narrow = render(run.table(), "text", width=56)
    assert max(map(len, narrow.splitlines())) <= 56 < max(map(len, text)) and "…" not in narrow
    assert "75.0 (" in narrow and narrow.count("hex(size=5)") == 2  # in two tables


def test_repeated_games_count_once(tmp_path):
    games = [game for k in range(8) for game in pair(0, k, "p", "u", 1, k % 2)] + pair(1, 0, "p", "u", 1, 1)
    run = store(tmp_path / "run", "pu", configuration("hex(size=5)", "nogo"), games)
    every = run.study().iloc[0]
    run.repeats = pd.Series(run.games["opening"] >= 2)
    once = run.study().iloc[0]
    assert once["value"] == every["value"] == 0.75
    assert (once["low"], once["high"]) == score_interval([0, 0, 4, 0, 4], 2)
    assert once["low"] < every["low"] and once["high"] > every["high"]


@pytest.mark.parametrize("other, last", [("samegame(seed=2)", ["all instances"]), ("leftmove", [])])
def test_one_player(tmp_path, other, last):
    config = configuration("samegame(seed=1)", other, budgets=BUDGETS, format="single_player")
    games = [(at, run, "p", None, None) for run in range(3) for at in range(4)]
    with Store.create(tmp_path / "run", {"config": config}, [{"name": "p", "spec": "p"}]) as made:
        for number, (at, run, *names, outcome) in enumerate(games):
            changes = dict(condition=at, opening=run, score=1000.0 * at + run, decisions=())
            made.add(make_game(str(number), number, *names, outcome, **changes))
    tournament = results.load(tmp_path / "run")
    frame = tournament.study().set_index(["instance", "budget"])
    names = tournament.instances
    assert frame["value"].tolist()[:4] == [1, 1001, 2001, 3001] and frame["games"].tolist()[:4] == [3] * 4
    assert frame.loc[(names[1], "100 playouts"), ["low", "high"]].tolist() == [2000, 2002]
    assert [name for name in dict.fromkeys(frame.index.get_level_values(0)) if name not in names] == last
    assert "3,001 (3,000–3,002)" in render(tournament.table("study"), "text")
    assert tournament.plot.study().get_xlabel().startswith("Mean score")


def test_the_figure_shows_the_cells(tournament):
    axes = tournament.plot.study()
    frame = tournament.study()
    drawn = [container.lines[0].get_xdata().tolist() for container in axes.containers]
    for budget, values in zip(tournament.budgets, drawn, strict=True):
        assert values == pytest.approx(100 * frame["value"][frame["budget"] == budget])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["hex(size=5)", "nogo", "mean"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == tournament.budgets
    given = axes.figure.subplots()
    assert tournament.plot.study(given) is given


def test_nothing_played(tmp_path):
    run = store(tmp_path / "run", "pu", configuration("hex(size=5)", "nogo"), [])
    assert run.study()["value"].isna().all() and len(run.study()) == 2
    assert "0 games a cell" in render(run.table(), "text")
    run.plot.study().figure.canvas.draw()


# -- intervals --------------------------------------------------------------------------------------------------------


def test_without_draws_and_pairs_it_is_wilsons():
    """Newcombe, Statistics in Medicine 17 (1998), table I, method 3."""
    for wins, games, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)):
        assert score_interval([games - wins, 0, wins]) == pytest.approx((low, high), abs=1e-4)


def test_of_many_games_it_is_the_standard_error():
    counts = [300, 500, 1500, 700, 400]
    low, high = score_interval(counts)
    estimate = pentanomial(counts)
    assert (low, high) == pytest.approx(
        (estimate.score - 1.96 * estimate.se, estimate.score + 1.96 * estimate.se), abs=2e-4
    )


@pytest.mark.parametrize("shares", [(0.1, 0.2, 0.4, 0.2, 0.1), (0.02, 0.05, 0.2, 0.33, 0.4), (0.3, 0, 0.4, 0, 0.3)])
@pytest.mark.parametrize("pairs", [10, 20, 100])
def test_of_few_pairs_it_covers_as_much_as_it_says(shares, pairs):
    """The normal quantile covered 91 to 93 % of 10 to 20 pairs; here 3 standard errors of 2,000 samples are 1.5 %."""
    drawn = np.random.default_rng(pairs).multinomial(pairs, shares, 2000)
    within = [
        low <= np.dot(shares, PENTANOMIAL) <= high for low, high in (score_interval(each) for each in drawn.tolist())
    ]
    assert 0.935 <= np.mean(within) <= 0.985


def test_perfect_scores_have_the_exact_bound():
    low, high = score_interval([0, 0, 0, 0, 10])
    assert low**10 == pytest.approx(0.025) and high == 1
    assert score_interval([10, 0, 0, 0, 0]) == pytest.approx((1 - high, 1 - low))
    low, high = score_interval([0, 0, 10, 0, 0])
    assert low == pytest.approx(1 - high) and low == pytest.approx(0.5 * 0.025**0.1)
    assert all(map(math.isnan, score_interval([0, 0, 0])))


@example([0, 0, 0, 0, 19])  # 1 after rounding, too
@given(st.lists(st.integers(0, 30), min_size=5, max_size=5).filter(any))
def test_intervals_hold_the_score_and_mirror(counts):
    low, high = score_interval(counts)
    assert 0 <= low <= pentanomial(counts).score <= high <= 1 and low < high
    assert score_interval(counts[::-1]) == pytest.approx((1 - high, 1 - low))


@pytest.mark.parametrize("probabilities", [[0.05, 0.1, 0.3, 0.25, 0.3], [0.0, 0.01, 0.04, 0.15, 0.8]])
def test_intervals_cover(probabilities):
    """At least 93 of 100 samples of 50 pairs; with 2000 samples fewer are a matter of one in ten thousand."""
    rng = np.random.default_rng(1)
    true = float(np.dot(probabilities, [0, 0.25, 0.5, 0.75, 1]))
    found = [score_interval(counts) for counts in rng.multinomial(50, probabilities, 2000).tolist()]
    assert 0.93 <= np.mean([low <= true <= high for low, high in found]) <= 0.98


def test_the_mean_of_intervals():
    """Of symmetric intervals it is the one of the normal theory; one that is exact adds nothing."""
    mean, low, high = mean_interval([0.4, 0.6], [0.3, 0.4], [0.5, 0.8])
    assert (mean, high - mean) == pytest.approx((0.5, math.hypot(0.1, 0.2) / 2)) and mean - low == pytest.approx(
        high - mean
    )
    assert mean_interval([1.0], [0.9], [1.0]) == (1.0, 0.9, 1.0)
    assert trinomial(0, 0, 3).score == 0
