"""The factor at which two players are even, from matches with some factors between their efforts.

Matches far from even say little about where that is, and a curve that bends otherwise than assumed makes them mislead.
So the factor is found where the matches are about even, and each match counts less the farther it is from that:

    logit of the expected score = intercept - slope * log2 factor + misfit,    misfit ~ N(0, (MISFIT * logit)^2)

by weighted quasi-likelihood, with variances of pairs of games (sandwich estimate).  The 95 % interval holds each factor
that a t-test of "the logit is 0 here" does not reject (Fieller, JRSS B 16, 1954), and ends at matches that one of the
players surely won.  Where the slope is not sure it is open.  Simulated, it covers 95 % or more where the curve is
logistic, whatever share of pairs the opening decides, and 92 % where it is twice as steep on one side of even.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, stdtrit

from arena.results.statistics.elo import CONFIDENCE, PENTANOMIAL, score_interval

PAIR_VALUES = np.array(PENTANOMIAL)
NEAR = 1.8  # doublings on each side of even whose matches count; the two nearest ones do in any case
MISFIT = 0.5  # standard deviation of a match's logit from the curve, over that logit
WARY = 2.0  # times the misfit in the weights: what is near counts more than by the errors alone
SMALL = 0.5  # a misfit of this share of a match's own error need not be made smaller
FAR = 2.5  # doublings from even to the farthest match that is asked for
APART = 0.3  # doublings between neighbours, at least
FINE = 4  # factors to a doubling, where the matches are even
CONTINUITY = 0.25  # of a pair, added to each side, so that a perfect score has a finite logit
ROUNDS = 4  # of fitting with weights, and weighing by what was fitted


@dataclass(frozen=True)
class EvenFactor:
    """The 95 % interval is open below at 0, above at infinity.

    `bound` is ">" or "<" where all matches are on one side of even: `value` is then NaN, and the interval says what is
    known.  All are NaN without matches.
    """

    value: float
    low: float
    high: float
    bound: str = ""


def next_factor(
    matches: Mapping[float, np.ndarray], least: float, most: float, playouts: int | None = None
) -> float | None:
    """The factor of the next match; None when the matches suffice for an interval.

    matches: counts int[5] of pairs (LL to WW, for the first player) by factor; its score falls with it
    least, most: the range of factors
    playouts: what a factor multiplies, if its product is to be whole
    """
    for factor, apart in _wanted(matches):
        whole = max(1, round(factor * playouts)) / playouts if playouts else factor
        if least <= factor <= most and all(abs(math.log2(whole / known)) >= apart for known in matches):
            return whole
    return None


def _wanted(matches) -> Iterator[tuple[float, float]]:
    """Factors in the order in which they are wanted, with their least distance to another, in doublings.

    Powers of two until two that differ by 2 at most enclose the even point, or beyond all; then those around it, for
    the slope; then where the curve is even, if no match is that near; then farther ones where the interval is open.
    """
    won = [math.log2(factor) for factor, counts in matches.items() if _score(counts) >= 0.5]
    lost = [math.log2(factor) for factor, counts in matches.items() if _score(counts) < 0.5]
    above = [log for log in lost if not won or log > max(won)]
    if not won:
        yield 2.0 ** (math.ceil(min(lost)) - 1), APART
    elif not above:  # perhaps by chance, as one below was lost
        yield 2.0 ** (math.floor(max(won)) + 1), APART
    elif min(above) - max(won) > 1:
        yield 2.0 ** round((max(won) + min(above)) / 2), APART
    if won and lost:
        middle = _middle(matches)
        yield from ((2.0 ** round(middle + step), APART) for step in (-0.5, 0.5, -1.5, 1.5))
        fit = _Fit(matches)
        if fit.inside and MISFIT * np.min(np.abs(fit.logits)) > SMALL * fit.errors[np.argmin(np.abs(fit.logits))]:
            yield 2.0 ** (round(FINE * fit.even) / FINE), 0.5 / FINE
        found = even_factor(matches)
        yield from [(2.0 ** round(middle + FAR), APART)] if found.high == math.inf else []
        yield from [(2.0 ** round(middle - FAR), APART)] if found.low == 0.0 else []


def even_factor(matches: Mapping[float, np.ndarray]) -> EvenFactor:
    """Where two players are even; `matches` as in `next_factor`."""
    if not matches:
        return EvenFactor(math.nan, math.nan, math.nan)
    scores = [_score(counts) for counts in matches.values()]
    fit = _Fit(matches)
    low, high = fit.interval()
    low = -math.inf if low < fit.logs[0] - 1 else low  # beyond what was played, the curve is only a guess
    high = math.inf if high > fit.logs[-1] + 1 else high
    known = {math.log2(factor): score_interval(np.asarray(counts).tolist()) for factor, counts in matches.items()}
    won = max((log for log, (least, _) in known.items() if least > 0.5), default=-math.inf)
    lost = min((log for log, (_, most) in known.items() if most < 0.5), default=math.inf)
    if won < lost:  # a misfit bends the curve, but does not change who is better
        low, high = max(low, won), min(high, lost)
    if min(scores) >= 0.5:  # none is known to be under a factor above all that were tried
        return EvenFactor(math.nan, _power(min(low, fit.logs[-1])), math.inf, ">")
    if max(scores) < 0.5:
        return EvenFactor(math.nan, 0.0, _power(max(high, fit.logs[0])), "<")
    return EvenFactor(_power(fit.even), _power(min(low, fit.even)), _power(max(high, fit.even)))


def _power(log) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp2(log))


def _score(counts) -> float:
    return float(PAIR_VALUES @ counts / np.sum(counts))


def _middle(matches) -> float:
    """log2 of where the scores, made monotone and interpolated, pass one half; the nearest match's if none does."""
    logs = np.log2(sorted(matches))
    counts = [matches[factor] for factor in sorted(matches)]
    pairs = [float(np.sum(each)) for each in counts]
    scores = isotonic_regression([_score(each) for each in counts], weights=pairs, increasing=False).x
    lost = np.flatnonzero(scores < 0.5)
    if not len(lost) or lost[0] == 0:
        return float(logs[0 if len(lost) else -1])
    at = lost[0]
    return float(np.interp(-0.5, -scores[at - 1 : at + 1], logs[at - 1 : at + 1]))


class _Fit:
    """The curve about the even point."""

    def __init__(self, matches):
        middle = _middle(matches)
        order = sorted(matches, key=lambda factor: abs(math.log2(factor) - middle))
        near = sorted(factor for i, factor in enumerate(order) if i < 2 or abs(math.log2(factor) - middle) <= NEAR)
        self.logs = np.log2(near)
        counts = np.array([matches[factor] for factor in near], float)
        self.free = max(1.0, counts.sum() - len(near))
        counts[:, [0, -1]] += CONTINUITY
        pairs = counts.sum(1)
        means = counts @ PAIR_VALUES / pairs
        variances = (counts * (PAIR_VALUES - means[:, None]) ** 2).sum(1) / (pairs - 1) / pairs
        design, weights = np.column_stack([np.ones_like(near), middle - self.logs]), np.ones(len(near))
        parameters = np.array([0.0, 1.0])
        for _ in range(ROUNDS):
            parameters = _logistic(design, weights * pairs, means, parameters)
            self.logits = design @ parameters
            slopes = expit(self.logits) * expit(-self.logits)
            self.errors = np.sqrt(variances) / slopes
            spread = self.errors**2 + (MISFIT * self.logits) ** 2
            used = weights * pairs * slopes
            weights = self.errors**2 / (self.errors**2 + (WARY * MISFIT * self.logits) ** 2)
        bread = np.linalg.pinv(design.T @ (design * used[:, None]))
        self.intercept, self.slope = parameters
        self.covariance = bread @ (design.T @ (design * (used**2 * spread)[:, None])) @ bread
        self.middle = middle
        even = middle + self.intercept / self.slope if self.slope > 0 else math.nan
        self.inside = bool(self.logs[0] <= even <= self.logs[-1])
        self.even = even if self.inside else middle

    def interval(self) -> tuple[float, float]:
        """log2 of the factors whose expected score may be one half: all x in

        (intercept - slope x)^2 <= t^2 Var(intercept - slope x).
        """
        (among, mixed), (_, steep) = self.covariance
        square = stdtrit(self.free, (1 + CONFIDENCE) / 2) ** 2
        first = self.slope**2 - square * steep
        second, third = square * mixed - self.intercept * self.slope, self.intercept**2 - square * among
        root = second**2 - first * third
        if first == 0 or root < 0 or (first > 0 and self.slope <= 0):
            return -math.inf, math.inf
        ends = sorted(((-second - math.sqrt(root)) / first, (-second + math.sqrt(root)) / first))
        if first > 0:
            return self.middle + ends[0], self.middle + ends[1]
        if self.intercept - self.slope * sum(ends) / 2 > 0:  # between them, the score is surely more than one half
            return self.middle + ends[1], math.inf
        return -math.inf, self.middle + ends[0]


def _logistic(design, weights, means, start) -> np.ndarray:
    """The parameters of weighted logistic regression."""

    def loss(parameters):
        logits = design @ parameters
        return float(weights @ (np.logaddexp(0, logits) - means * logits)) / weights.sum()

    def gradient(parameters):
        return design.T @ (weights * (expit(design @ parameters) - means)) / weights.sum()

    return minimize(loss, start, jac=gradient, method="BFGS").x
