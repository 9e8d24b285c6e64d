"""The sequential test: worked figures of fastchess, plain twins of the likelihoods, and error rates by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from arena.results.statistics import sprt
from arena.results.statistics.elo import NELO_SCALE, PENTANOMIAL, TRINOMIAL, expected_score
from arena.results.statistics.sprt import MIN_PAIRS, MODELS, Sprt, llr

DRAWS = 0.3  # of the simulated games


@pytest.mark.parametrize("model, counts, expected", [
    ("normalized", [36027, 68692, 36433], 0.92),
    ("logistic", [57030, 106593, 57433], -2.59),
    ("normalized", [365, 16618, 36029 + 200, 16974, 390], 2.25),
])  # fmt: skip
def test_worked_figures_of_fastchess(model, counts, expected):
    assert round(llr(counts, 0, 2, model), 2) == expected


def constrained_maximum(counts, constraint):
    """The greatest log-likelihood of a distribution that obeys the constraint, by a general optimiser."""
    counts = np.where(np.array(counts) == 0, 1e-3, counts)
    n = counts.sum()
    found = minimize(
        lambda p: -(counts @ np.log(p)) / n,
        np.full(len(counts), 1 / len(counts)),
        method="SLSQP",
        bounds=[(1e-9, 1)] * len(counts),
        options={"ftol": 1e-14, "maxiter": 500},
        constraints=[{"type": "eq", "fun": lambda p: p.sum() - 1}, {"type": "eq", "fun": constraint}],
    )
    assert found.success
    return -found.fun * n


@pytest.mark.parametrize("counts", [[20, 30, 40], [5, 9, 30, 12, 7], [60, 3, 2, 4, 1], [2, 80, 3]])
@pytest.mark.parametrize("model", MODELS)
def test_against_a_general_optimiser(counts, model):
    scores = np.array(TRINOMIAL if len(counts) == 3 else PENTANOMIAL)

    def obeys(elo):
        if model == "logistic":
            return lambda p: p @ scores - expected_score(elo)
        t = elo / NELO_SCALE * math.sqrt(2 if len(counts) == 5 else 1)
        return lambda p: p @ scores - 0.5 - t * math.sqrt(p @ scores**2 - (p @ scores) ** 2)

    expected = constrained_maximum(counts, obeys(40)) - constrained_maximum(counts, obeys(-10))
    assert llr(counts, -10, 40, model) == pytest.approx(expected, abs=2e-4)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 10**5), min_size=5, max_size=5) | st.lists(st.integers(0, 99), min_size=3, max_size=3),
    st.floats(-300, 300),
    st.floats(0.5, 300),
    st.sampled_from(MODELS),
)
def test_finite_and_mirrored(counts, elo0, width, model):
    """Whatever is counted; and the opponent's results test the opposite hypotheses."""
    elo1 = elo0 + width
    value = llr(counts, elo0, elo1, model)
    assert math.isfinite(value)
    assert llr(counts[::-1], -elo1, -elo0, model) == pytest.approx(-value, rel=1e-5, abs=1e-3)


def test_results_far_from_both_hypotheses():
    """Where the most likely distribution is found in 91 steps; five are usual."""
    counts = [75241, 0, 0, 48073, 3474]
    assert llr(counts, 0, 259, "normalized") == pytest.approx(-llr(counts[::-1], -259, 0, "normalized"), rel=1e-6)


def test_no_samples_no_evidence():
    assert llr([0, 0, 0], 0, 5, "logistic") == 0
    assert Sprt(0, 5).state([0] * 5).verdict == "continue"


def test_bounds_and_verdicts():
    test = Sprt(0, 100, alpha=0.05, beta=0.1, model="logistic")
    assert test.bounds == (math.log(0.1 / 0.95), math.log(0.9 / 0.05))
    assert test.state([0, 0, 0, 0, 40]).verdict == "H1" and test.state([40, 0, 0, 0, 0]).verdict == "H0"
    assert test.state([3, 4, 5, 4, 3]).verdict == "continue"
    state = test.state([1, 2, 3, 4, 5])
    assert (state.lower, state.upper) == test.bounds and state.llr == llr([1, 2, 3, 4, 5], 0, 100, "logistic")


@pytest.mark.parametrize("number, verdict", [(0, "H0"), (1, "H1")])
def test_a_verdict_comes_at_its_bound_and_not_just_before(monkeypatch, number, verdict):
    test = Sprt(0, 5)
    bound = test.bounds[number]
    for ratio, expected in ((bound, verdict), (math.nextafter(bound, 0), "continue"), (0.95 * bound, "continue")):
        monkeypatch.setattr(sprt, "llr", lambda *_, ratio=ratio: ratio)
        assert test.state([9, 9, 9, 9, 9]).verdict == expected


def test_no_verdict_before_enough_pairs():
    test = Sprt(0, 500, model="logistic")
    for counts in ([0, 0, 0, 0, MIN_PAIRS - 1], [0, 0, 2 * MIN_PAIRS - 1]):
        assert test.state(counts).llr > test.bounds[1] and test.state(counts).verdict == "continue"
    assert test.state([0, 0, 0, 0, MIN_PAIRS]).verdict == test.state([0, 0, 2 * MIN_PAIRS]).verdict == "H1"


@pytest.mark.parametrize("values, message", [
    (dict(elo0=5, elo1=5), "elo0 = 5 must be less than elo1 = 5"),
    (dict(elo0=0, elo1=math.nan), "elo1 = nan is out of range"),
    (dict(elo0=0, elo1=5, alpha=0), "alpha = 0 is out of range"),
    (dict(elo0=0, elo1=5, beta=0.5), "beta = 0.5 is out of range"),
    (dict(elo0=0, elo1=5, model="bayes"), "'bayes' is not one of logistic, normalized"),
    (dict(elo0=0, elo1=5, min_pairs=-1), "min_pairs = -1"),
])  # fmt: skip
def test_bad_tests_are_refused(values, message):
    with pytest.raises(ValueError, match=message):
        Sprt(**values)


def test_bad_counts_are_refused():
    for counts in ([1, 2], [1, -1, 1], [1, 2, math.inf]):
        with pytest.raises(ValueError, match="3 numbers"):
            llr(counts, 0, 5, "logistic")


def pair_probabilities(score, draw_rate):
    """Of the five scores of a pair of independent games with that mean score and draw rate."""
    win = score - draw_rate / 2
    one = np.array([1 - win - draw_rate, draw_rate, win])
    return np.convolve(one, one)


@pytest.mark.slow
@pytest.mark.parametrize("model, elo1", [("logistic", 60), ("normalized", 80)])
@pytest.mark.parametrize("truth", ["H0", "H1"])
def test_error_rates(model, elo1, truth):
    """Of 1,000 simulated tests at each bound, looked at after every 5 pairs, under 6 % end with the wrong verdict."""
    test, rng = Sprt(0, elo1, model=model), np.random.default_rng(7)
    p = pair_probabilities(score_at(elo1 if truth == "H1" else 0, model, DRAWS), DRAWS)
    verdicts = [verdict_of(test, rng.multinomial(5, p, size=400)) for _ in range(1000)]
    assert set(verdicts) == {"H0", "H1"}
    assert verdicts.count(truth) > 940


def score_at(elo, model, draws):
    """The mean score of a player `elo` stronger, of games drawn with that probability."""
    if model == "logistic":
        return expected_score(elo)
    t = elo / NELO_SCALE  # (s - 1/2)^2 = t^2 v with v = (1 - draws) / 4 - (s - 1/2)^2
    return 0.5 + math.copysign(math.sqrt(t * t * (1 - draws) / 4 / (1 + t * t)), t)


def verdict_of(test, batches):
    for counts in np.cumsum(batches, axis=0):
        if (verdict := test.state(counts).verdict) != "continue":
            return verdict
    return "none"


@pytest.mark.parametrize("model", ["logistic", "normalized"])
@pytest.mark.parametrize("bounds", [(-10_000, 10_000), (9000, 10_000), (-10_000, -9000), (-5000, 5000), (-1500, -500)])
def test_hypotheses_far_apart(model, bounds):
    """As after a change that loses nearly every game."""
    test = Sprt(*bounds, model=model)
    for counts in ([144, 3, 1, 0, 0], [0, 0, 0, 0, 99], [0, 0, 50, 0, 0]):
        mirrored = llr(counts[::-1], -bounds[1], -bounds[0], model)
        assert test.state(counts).llr == pytest.approx(-mirrored, rel=1e-6, abs=1e-6)
    lost, won = test.state([144, 3, 1, 0, 0]).llr, test.state([0, 0, 1, 3, 144]).llr
    assert lost < won
    with pytest.raises(ValueError, match="elo1 = 10001 is out of range: it can be -10000 to 10000"):
        Sprt(0, 10001)
