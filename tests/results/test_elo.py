"""Elo between two players: worked figures of fastchess and fishtest, and scores without a finite estimate."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from arena.results.statistics.elo import PENTANOMIAL, elo, expected_score, pentanomial, trinomial


def rounded(estimate):
    return tuple(round(x, 2) for x in (estimate.elo, estimate.error, estimate.nelo, estimate.nelo_error))


def test_trinomial_agrees_with_fastchess():
    estimate = trinomial(136, 111, 96)
    assert rounded(estimate) == (40.70, 30.43, 49.77, 36.77)
    assert round(100 * estimate.los, 2) == 99.60


def test_pentanomial_agrees_with_fastchess():
    assert rounded(pentanomial([34, 54, 31 + 32, 64, 75])) == (55.58, 27.65, 57.94, 28.28)


def test_pentanomial_agrees_with_fishtest():
    estimate = pentanomial([43, 61, 144, 55, 37])
    assert rounded(estimate) == (-9.20, 20.93, -11.50, 26.11)
    assert round(100 * estimate.los, 2) == 19.41
    assert round(100 * estimate.draw_ratio, 2) == 42.35 and round(estimate.pairs_ratio, 2) == 0.88


def test_ratios():
    assert trinomial(2, 1, 1).draw_ratio == 0.25 and trinomial(2, 1, 1).pairs_ratio is None
    assert pentanomial([0, 0, 3, 1, 0]).pairs_ratio is None  # no pair below 1/2: no number says how many times more
    assert pentanomial([0, 0, 5, 0, 0]).draw_ratio == 1


def test_repeated_games_leave_the_estimate_and_not_the_errors():
    """Errors of 100 games of which 25 differ are those of 25 games with the same shares."""
    repeated, single = trinomial(60, 20, 20, distinct=25), trinomial(15, 5, 5)
    assert repeated.elo == single.elo and repeated.error == single.error and repeated.los == single.los
    assert repeated.nelo_error == single.nelo_error and trinomial(60, 20, 20).error < repeated.error
    assert trinomial(100, 0, 0, distinct=1).elo == trinomial(1, 0, 0).elo
    assert pentanomial([0, 0, 4, 8, 4], distinct=4).error == pentanomial([0, 0, 1, 2, 1]).error
    with pytest.raises(ValueError, match="distinct = 0 is out of range"):
        trinomial(1, 0, 0, distinct=0)


@given(st.floats(-2000, 2000))
def test_elo_and_expected_score_are_inverse(difference):
    assert elo(expected_score(difference)) == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize("score", [0.0, 1.0, 1.5, -0.1])
def test_no_elo_of_a_score_at_or_past_the_ends(score):
    with pytest.raises(ValueError, match="more than 0 and less than 1"):
        elo(score)


def test_perfect_score_is_the_exact_binomial_bound():
    """Ten wins have a probability of 5 % at an expected score of 0.05^(1/10)."""
    won, lost = trinomial(10, 0, 0), trinomial(0, 0, 10)
    assert expected_score(won.elo) ** 10 == pytest.approx(0.05)
    assert (won.bound, won.error, lost.bound, lost.elo) == (">", None, "<", -won.elo)
    assert won.los == 1 - 0.5**11 and lost.los == pytest.approx(1 - won.los)


@pytest.mark.parametrize("pairs", [
    [1, 1, 1, 1, 1], [4, 8, 12, 10, 6], [6, 11, 18, 14, 11], [9, 15, 30, 25, 20], [9, 15, 30, 26, 20],
    [12, 20, 38, 30, 20],
])  # fmt: skip
def test_errors_of_fewer_than_100_pairs_are_students_and_of_more_are_normal(pairs):
    """By the deviation of a sample, with n - 1; that of many is taken with n, as fastchess does."""
    n, estimate, few = sum(pairs), pentanomial(pairs), sum(pairs) < 100
    scores = np.repeat(PENTANOMIAL, pairs)
    mean, error = scores.mean(), scores.std(ddof=int(few)) / math.sqrt(n)
    law = stats.t(n - 1) if few else stats.norm()
    width = law.ppf(0.975) * error
    assert estimate.error == pytest.approx((elo(mean + width) - elo(mean - width)) / 2, rel=1e-7)
    assert estimate.los == pytest.approx(law.cdf((mean - 0.5) / error), rel=1e-6)


def test_pairs_that_are_all_drawn_can_err_on_both_sides():
    """Of eight, each other one has at most the share that leaves them a probability of 2.5 % (Clopper & Pearson)."""
    assert pentanomial([0, 0, 8, 0, 0]).error == pytest.approx(elo(1 - 0.025 ** (1 / 8) / 2))


def test_samples_that_are_all_alike_have_an_error():
    for counts in ([0, 0, 8, 0, 0], [0, 0, 0, 8, 0], [0, 8, 0, 0, 0]):
        assert 0 < pentanomial(counts).error < 400
    assert pentanomial([0, 0, 80, 0, 0]).error < pentanomial([0, 0, 8, 0, 0]).error


def test_bad_counts_are_refused():
    for counts in ([1, 2, 3], [1, -1, 0, 0, 0], [1, math.nan, 0, 0, 0]):
        with pytest.raises(ValueError, match="none of them negative"):
            pentanomial(counts)


@given(st.lists(st.integers(0, 30), min_size=5, max_size=5))
def test_estimates_are_finite_and_mirror(counts):
    estimate, mirror = pentanomial(counts), pentanomial(counts[::-1])
    if sum(counts) == 0:
        assert estimate.elo is None
        return
    numbers = [x for x in vars(estimate).values() if isinstance(x, float)]
    assert all(math.isfinite(x) for x in numbers)
    assert estimate.bound or estimate.error > 0
    assert estimate.elo == pytest.approx(-mirror.elo, abs=1e-9)
    assert estimate.los == pytest.approx(1 - mirror.los)


@pytest.mark.parametrize("pairs", [5, 10, 20, 50])
@pytest.mark.parametrize(
    "decided, drawn, won", [(0, 0, 0.5), (0, 0, 0.8), (0.4, 0, 0.65), (0, 0.5, 0.25), (0, 0.3, 0.5)]
)
def test_errors_of_few_pairs_cover(pairs, decided, drawn, won):
    """With games that are drawn, won and lost, and a share of pairs that the opening decides.  Scores of few pairs have
    few values, so that coverage is above 95 % or a little below.
    """
    lost, rounds, rng = 1 - drawn - won, 1000, np.random.default_rng(pairs)
    free = [lost**2, 2 * lost * drawn, drawn**2 + 2 * won * lost, 2 * won * drawn, won**2]
    shares = (1 - decided) * np.array(free) + decided * np.array([0, 0, 1, 0, 0])
    true = elo(float(shares @ np.array(PENTANOMIAL)))
    found = [pentanomial(counts) for counts in rng.multinomial(pairs, shares, rounds).tolist()]
    assert np.mean([_holds(estimate, true) for estimate in found]) >= 0.935
    if abs(true) < 1e-9:
        assert np.mean([not 0.025 <= estimate.los <= 0.975 for estimate in found]) <= 0.075


def _holds(estimate, true) -> bool:
    if estimate.bound:
        return (true >= estimate.elo) if estimate.bound == ">" else (true <= estimate.elo)
    return abs(true - estimate.elo) <= estimate.error
