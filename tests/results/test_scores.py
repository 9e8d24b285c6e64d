"""Score tables: figures by hand, intervals against the normal theory, curves of the best score so far."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from arena.results.shown import plots
from arena.results.shown.scores import ALL, best_so_far, interval, scores


def runs(*rows):
    return pd.DataFrame(rows, columns=["instance", "first", "score", "seconds"])


def test_figures_by_hand():
    table = scores(
        ["a", "b"],
        ["x", "y"],
        runs(
            (0, "a", 1, 1.0),
            (0, "a", 3, 2.0),
            (0, "a", None, 6.0),
            (0, "b", 5, 1.0),
            (0, "b", 5, 1.0),
            (1, "a", 10, 1.0),
        ),
    )
    assert table["instance"].tolist() == ["x", "x", "y", "y", ALL, ALL]
    by_place = table.set_index(["instance", "agent"])
    assert by_place.loc[("x", "a"), ["rank", "runs", "failed", "mean", "best", "median"]].tolist() == [2, 2, 1, 2, 3, 2]
    assert by_place.loc[("x", "a"), "deviation"] == pytest.approx(2**0.5) and by_place.loc[("x", "a"), "seconds"] == 3
    assert by_place.loc[("x", "b"), ["mean", "low", "high", "deviation"]].tolist() == [5, 5, 5, 0]
    assert by_place.loc[("y", "a"), ["rank", "runs", "mean"]].tolist() == [1, 1, 10]
    assert by_place.loc[("y", "a"), ["low", "high", "deviation"]].isna().all()  # one run tells no spread
    assert by_place.loc[("y", "b"), "runs"] == 0 and pd.isna(by_place.loc[("y", "b"), "rank"])
    assert by_place.loc[(ALL, "a"), ["mean", "best"]].tolist() == [12, 13] and np.isnan(
        by_place.loc[(ALL, "b"), "mean"]
    )


def test_equal_means_share_a_rank():
    table = scores(["a", "b", "c"], ["x"], runs((0, "a", 2, 1.0), (0, "b", 4, 1.0), (0, "c", 4, 1.0)))
    assert dict(zip(table["agent"], table["rank"])) == {"a": 3, "b": 1, "c": 1}


def test_intervals_agree_with_the_normal_theory():
    """Of the sum of two means: 1.96 standard errors, within the bootstrap's own error and its lack of n / (n - 1)."""
    rng = np.random.default_rng(1)
    samples = [rng.normal(10, 3, 400), rng.normal(-2, 1, 100)]
    low, high = interval(samples, np.random.default_rng(2))
    error = np.sqrt(sum(sample.var() / len(sample) for sample in samples))
    middle = sum(sample.mean() for sample in samples)
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.05)
    assert (high + low) / 2 == pytest.approx(middle, abs=0.1 * error)


def test_intervals_cover_the_mean():
    """About 95 of 100 samples of 30; fewer than 85 has a probability of one in ten thousand."""
    rng, covered = np.random.default_rng(3), 0
    for _ in range(100):
        low, high = interval([rng.normal(0, 1, 30)], rng)
        covered += low <= 0 <= high
    assert 85 <= covered <= 100


def test_the_same_runs_give_the_same_table():
    table = runs(*((0, "a", float(i * i % 17), 1.0) for i in range(20)))
    pd.testing.assert_frame_equal(scores(["a"], ["x"], table), scores(["a"], ["x"], table))


def test_best_so_far_is_the_mean_of_steps():
    improvements = pd.DataFrame(
        [("1", 1, 2.0), ("1", 10, 6.0), ("2", 3, 4.0), ("2", 10, 8.0), ("2", 50, 10.0)],
        columns=["id", "playouts", "score"],
    ).assign(instance="x", agent="a", seconds=0.0)
    curve = best_so_far(improvements, "playouts")
    assert curve["playouts"].tolist() == [3, 10, 50] and curve["mean"].tolist() == [3.0, 7.0, 8.0]
    assert curve["low"].tolist() == [2.5, 6.5, 7.0]
    axes = plots.best_so_far(Figure().subplots(), curve, "x")
    assert axes.lines[0].get_ydata().tolist() == [3.0, 7.0, 8.0] and axes.get_xscale() == "log"
    assert best_so_far(improvements.iloc[:0], "seconds").empty
    longer = best_so_far(improvements, "playouts", pd.Series({"1": 100, "2": 80}))
    assert longer["playouts"].tolist() == [3, 10, 50, 80, 100] and longer["mean"].tolist() == [3.0, 7.0, 8.0, 8.0, 8.0]
    with pytest.raises(ValueError, match="against = 'plies' is not one of playouts, seconds"):
        best_so_far(improvements, "plies")
