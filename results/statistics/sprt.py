"""The sequential probability ratio test of two Elo differences, from the empirical distribution of the results.

Of H0, "the difference is elo0", against H1, "it is elo1", the log-likelihood ratio (LLR) of N samples is

    LLR = N sum_i phat_i ln(p1_i / p0_i)

with phat_i the share of samples with score a_i, p0 and p1 the likeliest distributions over these scores under each
hypothesis (generalised SPRT; Van den Bergh, "A practical introduction to the GSPRT", 2020).  It ends outside ln(beta /
(1 - alpha)) to ln((1 - beta) / alpha) (Wald, Annals of Mathematical Statistics 16, 1945).  Samples are games
(trinomial: loss, draw, win) or pairs of games (pentanomial).  A hypothesis fixes the mean score ("logistic"), or its
distance from 1/2 in standard deviations of a game ("normalized"), so that the draw rate does not change a test's
length.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from arena.results.statistics.elo import NELO_SCALE, PENTANOMIAL, TRINOMIAL, expected_score

MODELS = ("logistic", "normalized")
MIN_PAIRS = 10  # no verdict before: phat is no estimate yet
EMPTY = 1e-3  # the count of a score never seen, so that likelihoods are positive
STEPS = 500  # of the fixed point of the normalized model; five are usual, a hundred far from the results
FARTHEST = 10_000  # Elo of a hypothesis, as fastchess allows
STILL = 1e-6  # change of a probability at which the search ends: the error left is its square, or rounding


@dataclass(frozen=True)
class State:
    """`verdict` is "H0" or "H1", the hypothesis accepted, or "continue"."""

    llr: float
    lower: float
    upper: float
    verdict: str


@dataclass(frozen=True)
class Sprt:
    """A test with error probabilities alpha (H1 accepted though H0 holds) and beta (the reverse).

    elo0 < elo1 are Elo or, in the normalized model, normalized Elo.  No verdict before `min_pairs` pairs (twice as many
    games).  ValueError says what is out of range.
    """

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: str = "normalized"
    min_pairs: int = MIN_PAIRS

    def __post_init__(self):
        for name in ("elo0", "elo1"):
            if not abs(getattr(self, name)) <= FARTHEST:
                raise ValueError(f"{name} = {getattr(self, name)} is out of range: it can be {-FARTHEST} to {FARTHEST}")
        if not self.elo0 < self.elo1:
            raise ValueError(f"elo0 = {self.elo0:g} must be less than elo1 = {self.elo1:g}")
        for name in ("alpha", "beta"):
            if not 0 < getattr(self, name) < 0.5:
                raise ValueError(f"{name} = {getattr(self, name)} is out of range: more than 0, less than 0.5")
        if self.model not in MODELS:
            raise ValueError(f"model = {self.model!r} is not one of {', '.join(MODELS)}")
        if self.min_pairs < 0:
            raise ValueError(f"min_pairs = {self.min_pairs} is out of range: it can be 0 or more")

    @property
    def bounds(self) -> tuple[float, float]:
        """The LLRs that end a test: H0 at or below the first, H1 at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def state(self, counts: Sequence[float]) -> State:
        """The test's state after `counts` of losses, draws, wins, or of pairs LL, LD, WL or DD, WD, WW."""
        value, (lower, upper) = llr(counts, self.elo0, self.elo1, self.model), self.bounds
        verdict = "H1" if value >= upper else "H0" if value <= lower else "continue"
        return State(value, lower, upper, "continue" if self.too_few(counts) else verdict)

    def too_few(self, counts: Sequence[float]) -> bool:
        """Fewer than `min_pairs` pairs: no verdict, whatever the LLR."""
        return sum(counts) * (1 if len(counts) == len(PENTANOMIAL) else 0.5) < self.min_pairs


def in_words(verdict: str, elo0: float, elo1: float) -> str:
    """The hypothesis that the results favour, and no more."""
    return {
        "H0": f"H0 is accepted: elo0 = {elo0:g} is favoured over elo1 = {elo1:g}.",
        "H1": f"H1 is accepted: elo1 = {elo1:g} is favoured over elo0 = {elo0:g}.",
        "continue": "Neither is accepted: play on.",
    }[verdict]


def llr(counts: Sequence[float], elo0: float, elo1: float, model: str) -> float:
    """The log-likelihood ratio of elo1 against elo0; 0 without samples.

    `counts` are 3 numbers (losses, draws, wins) or 5 (LL, LD, WL or DD, WD, WW).
    """
    return _llr(tuple(map(float, counts)), elo0, elo1, model)


@functools.lru_cache(4096)  # a test that goes on by a pair, or is looked at again, asks for the same counts
def _llr(counts: tuple[float, ...], elo0: float, elo1: float, model: str) -> float:
    given = np.array(counts)
    values = {len(TRINOMIAL): TRINOMIAL, len(PENTANOMIAL): PENTANOMIAL}.get(len(given))
    if values is None or not (np.isfinite(given) & (given >= 0)).all():
        raise ValueError(f"counts = {given.tolist()} must be 3 numbers (games) or 5 (pairs), none of them negative")
    if given.sum() == 0:
        return 0.0
    samples = np.where(given == 0, EMPTY, given)
    shares, scores = samples / samples.sum(), np.array(values)
    most_likely = {"logistic": _with_mean, "normalized": _with_distance}[model]
    h0, h1 = (most_likely(shares, scores, elo) for elo in (elo0, elo1))
    return float(samples @ np.log(h1 / h0))


def _with_mean(shares, scores, elo):
    """The most likely distribution whose mean is the expected score of `elo`."""
    phi = scores - expected_score(elo)
    phi[-1] = expected_score(-elo)  # 1 less the expected score, of which a difference would leave nothing
    return _tilted(shares, phi)


def _with_distance(shares, scores, elo):
    """The most likely distribution whose mean is t standard deviations above 1/2, t from the normalized `elo`.

    Near a distribution with mean m and deviation s, (mean - 1/2) / deviation = t is linear in p: sum p phi = 0 with phi
    = a - 1/2 - (t s / 2)(1 + ((a - m) / s)^2); linearised again until the solution is still.
    """
    t = elo / NELO_SCALE * (math.sqrt(2) if len(scores) == len(PENTANOMIAL) else 1.0)
    p = np.zeros(len(scores))
    p[-1] = 0.5 + 0.5 * t / math.sqrt(1 + t * t)  # losses and wins alone: obeys the law, and phi has both signs
    p[0] = 1 - p[-1]
    for _ in range(STEPS):
        mean = p @ scores
        deviation = math.sqrt(p @ (scores - mean) ** 2)
        phi = scores - 0.5 - t * deviation / 2 * (1 + ((scores - mean) / deviation) ** 2)
        if not phi.min() < 0 < phi.max():
            break
        before, p = p, _tilted(shares, phi)
        if np.abs(p - before).max() < STILL:
            return p
    raise ValueError(f"normalized Elo {elo:g} is too far from these results to be tested; use the logistic model")


def _tilted(shares, phi):
    """The distribution p of greatest likelihood sum shares ln p with sum p phi = 0 (Owen, Empirical Likelihood, 2001).

    p_i = shares_i / (1 + theta phi_i), with theta the root of a function that falls between two poles.
    """
    from scipy.optimize import brentq  # loads for half a second, and every format is looked at

    low, high = -1 / phi.max(), -1 / phi.min()
    margin = 1e-12 * (high - low)  # a share of 1e-12 or so at the pole makes the ends differ in sign

    def excess(theta):
        return (shares * phi / (1 + theta * phi)).sum()

    theta = brentq(excess, low + margin, high - margin, xtol=1e-15, rtol=1e-14)
    return shares / (1 + theta * phi)
