"""The factor at which two players are even: matches of known strength, the matches asked for, and coverage."""

import itertools
import math
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq, minimize
from scipy.special import expit

from arena.results.statistics.even_factor import even_factor, next_factor

WIN, LOSS, EVEN = np.array([0, 0, 0, 0, 10]), np.array([10, 0, 0, 0, 0]), np.array([0, 0, 10, 0, 0])


def test_without_matches_nothing_is_known():
    assert math.isnan(even_factor({}).value) and math.isnan(even_factor({}).low)


def test_limits_where_the_matches_do_not_enclose_it():
    """The limit is one of a test, not the last factor tried."""
    better = even_factor({1.0: WIN, 8.0: EVEN})
    assert better.bound == ">" and math.isnan(better.value) and 1.0 <= better.low < 8.0 and better.high == math.inf
    worse = even_factor({1.0: LOSS, 8.0: LOSS})
    assert (worse.bound, worse.low, worse.high) == ("<", 0.0, 1.0) and math.isnan(worse.value)


def test_of_draws_alone_nothing_follows():
    found = even_factor({1.0: EVEN, 2.0: EVEN, 4.0: EVEN})
    assert (found.bound, found.low, found.high) == (">", 0.0, math.inf)


def test_scores_that_rise_with_the_factor_say_nothing():
    found = even_factor({1.0: LOSS, 8.0: WIN})
    assert found.low == 0.0 and found.high == math.inf


def test_a_speed_up_again_by_a_general_optimiser():
    """The point and the ends of the interval, from the definitions in the module's heading and SciPy alone."""
    matches = {1.0: [4, 10, 30, 20, 36], 2.0: [12, 16, 34, 18, 20], 4.0: [30, 20, 32, 10, 8]}
    logs, pairs, means, variances = [], [], [], []
    for factor, counts in matches.items():
        won = np.repeat(np.arange(5) / 4, counts)
        ends = [0.25, 0, 0, 0, 0.25]  # of a pair on each side, so that a perfect score has a finite logit
        weight = np.array(counts) + ends
        mean = np.average(np.arange(5) / 4, weights=weight)
        logs, pairs, means = [*logs, math.log2(factor)], [*pairs, len(won) + 0.5], [*means, mean]
        variances.append(np.average((np.arange(5) / 4 - mean) ** 2, weights=weight) / (len(won) - 0.5))
    x, n, mean = np.array(logs), np.array(pairs), np.array(means)

    def logit(line):
        return line[0] - line[1] * x

    def loss(line, weights):
        return weights @ (np.logaddexp(0, logit(line)) - mean * logit(line))

    weights, line = np.ones(3), np.array([0.0, 1.0])
    for _ in range(4):
        own = weights * n
        line = minimize(loss, line, (own,), tol=1e-9).x
        slopes = expit(logit(line)) * expit(-logit(line))
        errors = np.sqrt(variances) / slopes
        weights = errors**2 / (errors**2 + logit(line) ** 2)  # twice the misfit: 0.5 of the logit
    rows = np.column_stack([np.ones(3), -x])
    outer = np.linalg.inv(rows.T @ np.diag(own * slopes) @ rows)
    spread = (own * slopes) ** 2 * (errors**2 + (0.5 * logit(line)) ** 2)
    covariance = outer @ rows.T @ np.diag(spread) @ rows @ outer

    def surely(log):
        """Above 0 where a t-test rejects that both are even at this factor."""
        at = np.array([1.0, -log])
        return (at @ line) ** 2 - stats.t.ppf(0.975, 300 - 3) ** 2 * (at @ covariance @ at)

    even = line[0] / line[1]
    found = even_factor({factor: np.array(counts) for factor, counts in matches.items()})
    assert math.log2(found.value) == pytest.approx(even, abs=1e-3)
    assert math.log2(found.low) == pytest.approx(brentq(surely, -2, even), abs=1e-3)
    assert math.log2(found.high) == pytest.approx(brentq(surely, even, 4), abs=1e-3)


def test_perfect_scores_have_a_factor():
    found = even_factor({1.0: WIN, 2.0: WIN, 4.0: LOSS, 8.0: LOSS})
    assert found.value == pytest.approx(math.sqrt(8), rel=1e-3) and 2.0 <= found.low < found.value < found.high <= 4.0


def test_an_interval_is_open_where_the_slope_is_not_sure(recwarn):
    found = even_factor({1.0: np.array([0, 0, 1, 0, 0]), 2.0: np.array([0, 1, 0, 0, 0])})
    assert found.low == 0.0 and found.value > 0 and found.high == math.inf and not recwarn.list


@pytest.mark.parametrize(
    "matches, wanted",
    [
        ({1.0: WIN, 16.0: LOSS}, 4.0),
        ({1.0: WIN, 4.0: WIN, 16.0: LOSS}, 8.0),
        ({1.0: WIN, 6.0: LOSS}, 2.0),
        ({2.0: WIN, 6.0: LOSS}, 4.0),
        ({1.0: WIN, 6.0: EVEN}, 8.0),
        ({1.0: WIN, 8.0: WIN}, None),
        ({1.0: LOSS, 4.0: LOSS}, 0.5),
        ({0.25: LOSS, 1.0: LOSS}, None),
        ({1.0: LOSS, 4.0: WIN}, 8.0),
        ({1.0: WIN, 4.0: WIN, 8.0: LOSS}, 2.0),  # a neighbour, for the slope
        ({0.5: EVEN, 1.0: WIN, 2.0: WIN, 4.0: WIN, 8.0: LOSS}, 2**2.25),  # where they are even
    ],
)
def test_the_next_match(matches, wanted):
    assert next_factor(matches, 0.25, 8.0) == wanted


@given(
    st.sampled_from([1, 2, 5, 8, 64, 1024]),
    st.integers(4, 300),
    st.lists(st.integers(0, 4), min_size=60, max_size=60),
    st.floats(0.01, 300),
)
def test_matches_end_whatever_comes_out(workers, playouts, results, time):
    """No factor is asked twice, each is of whole playouts, and there are few."""
    known = {float(workers), max(1, round(time * playouts)) / playouts}
    outcomes = iter(results)
    matches = {factor: np.bincount([next(outcomes)], minlength=5) for factor in sorted(known)}
    while (factor := next_factor(matches, 0.25, 2.0 * workers, playouts)) is not None:
        assert factor not in matches and (factor * playouts) == pytest.approx(round(factor * playouts))
        matches[factor] = np.bincount([next(outcomes)], minlength=5)
    assert len(matches) < 30
    found = even_factor(matches)
    assert found.low <= found.high and (found.bound or found.low <= found.value <= found.high)


# -- Coverage, by simulation of a whole point: the matches that are asked for, and the interval from them -----------


CURVES = {
    "logistic": lambda x: expit(-x),
    "one side twice as steep": lambda x: expit(-x if x < 0 else -2 * x),
    "Gompertz": lambda x: np.exp(-math.log(2) * np.exp(0.7 * x)),
}
POINTS = ((1.0, 1), (0.7, 1), (2.3, 4), (4.0, 4), (12.0, 4), (8.0, 16), (20.0, 64), (40.0, 1024), (700.0, 1024))


def pairs_of(score, decided, count, rng):
    """Pairs of games; the opening decides the share `decided`, in which each side wins once."""
    shares = np.array([(1 - score) ** 2, 0, 2 * score * (1 - score), 0, score**2])
    return rng.multinomial(count, (1 - decided) * shares + decided * np.array([0, 0, 1, 0, 0]))


def coverage(curve, slope, decided, point, pairs, rounds):
    """(the share of intervals that hold the truth, the mean error in doublings of the enclosed points)."""
    true, workers = point
    rng = np.random.default_rng(crc32(f"{curve} {slope} {decided} {point} {pairs}".encode()))
    covered, errors = 0, []
    for _ in range(rounds):
        matches = {}
        factor = 1.0
        while factor is not None:
            matches[factor] = pairs_of(CURVES[curve](slope * math.log2(factor / true)), decided, pairs, rng)
            asked = float(workers) if float(workers) not in matches else None
            factor = asked or next_factor(matches, 0.25, 2.0 * workers, 100)
        found = even_factor(matches)
        covered += found.low <= true <= found.high
        errors += [] if found.bound else [math.log2(found.value / true)]
    return covered / rounds, float(np.mean(errors)) if errors else 0.0


def noise(rounds):
    """Three standard deviations of a share of 0.95."""
    return 3 * math.sqrt(0.95 * 0.05 / rounds)


@pytest.mark.parametrize("curve, least", [
    ("logistic", 0.93),
    *(pytest.param(curve, 0.92, marks=pytest.mark.slow) for curve in ("one side twice as steep", "Gompertz")),
])  # fmt: skip
def test_intervals_cover(curve, least):
    """Of few cells; the long form has all."""
    rounds, cells = 30, list(itertools.product(((1.0, 1), (20.0, 64)), (10, 100)))
    shares = [coverage(curve, 1.0, 0.2, point, pairs, rounds)[0] for point, pairs in cells]
    assert np.mean(shares) >= least - noise(rounds * len(cells))


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [5, 10, 25, 50, 200, 500])
@pytest.mark.parametrize("curve, least", [("logistic", 0.93), ("one side twice as steep", 0.92), ("Gompertz", 0.92)])
def test_intervals_cover_in_every_cell(curve, least, pairs):
    """Shares decided by the opening, slopes from flat to steep, 1 to 1,024 workers; a minute or two each."""
    rounds = 100
    for slope, decided, point in itertools.product((0.5, 1.0, 2.0), (0.0, 0.2, 0.4), POINTS):
        share, error = coverage(curve, slope, decided, point, pairs, rounds)
        cell = f"slope {slope}, {decided} decided, speed-up {point[0]}, {point[1]} workers"
        assert share >= least - noise(rounds), cell
        assert pairs < 50 or slope < 1 or point == (12.0, 4) or abs(error) < 0.25 / slope, (cell, error)
