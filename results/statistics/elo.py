"""Elo of a score between two players, from single games (trinomial) or from pairs of games (pentanomial).

A win scores 1, a draw 1/2, a loss 0.  A pair is two games of one opening with the sides swapped; its score is their
mean.  Games of a pair are not independent, so pairs are the better sample.  Errors and likelihoods of superiority of
fewer than FEW samples are Student's, with n - 1 for n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from arena.results.statistics.numeric import normal_probability

Z = 1.959963985  # two-sided 95 %
CONFIDENCE = 0.95
ELO_PER_LOGIT = 400 / math.log(10)
NELO_SCALE = 2 * ELO_PER_LOGIT

FEW = 100  # samples; of fewer the spread is not sure, and Student's t stands for the normal distribution

TRINOMIAL = (0.0, 0.5, 1.0)
PENTANOMIAL = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class Estimate:
    """What is known of the first of two players; None where there is no estimate.

    `bound` is `">"` or `"<"` where `elo` is a one-sided 95 % bound, because the score is perfect; else empty.
    """

    score: float | None = None  # 0 to 1
    se: float | None = None  # standard error of the score
    elo: float | None = None
    error: float | None = None  # half of the 95 % interval
    bound: str = ""
    los: float | None = None  # likelihood of superiority, 0 to 1
    nelo: float | None = None  # normalized Elo; None where all samples are alike
    nelo_error: float | None = None
    draw_ratio: float | None = None  # share of the samples that score 1/2
    pairs_ratio: float | None = None  # pairs above 1/2 for each below; None where none is below, and of single games


def elo(score: float) -> float:
    """The Elo at which `score` is expected, 0 < score < 1; ValueError at 0 and 1."""
    if not 0 < score < 1:
        raise ValueError(f"score = {score} has no Elo: it must be more than 0 and less than 1")
    return 400 * math.log10(score / (1 - score))


def expected_score(difference: float) -> float:
    """The expected score of a player `difference` Elo stronger than the opponent; the inverse of `elo`."""
    return 1 / (1 + 10 ** (-difference / 400))


def trinomial(wins: float, draws: float, losses: float, distinct: float | None = None) -> Estimate:
    """The estimate from games; `distinct`: how many repeat no other, for the errors."""
    return _estimate((losses, draws, wins), TRINOMIAL, 1, distinct)


def pentanomial(counts: Sequence[float], distinct: float | None = None) -> Estimate:
    """The estimate from pairs: LL, LD, WL or DD, WD, WW; `distinct` as in `trinomial`, of pairs."""
    estimate, (two_lost, half_lost, _, half_won, two_won) = _estimate(counts, PENTANOMIAL, 2, distinct), counts
    below = two_lost + half_lost
    return replace(estimate, pairs_ratio=(half_won + two_won) / below if below else None)


def score_interval(counts: Sequence[float], distinct: float | None = None) -> tuple[float, float]:
    """The 95 % interval of a score, from `counts` as of `trinomial` (losses, draws, wins) or of `pentanomial`.

    Wilson's (JASA 22, 1927) for as many games without draws as have the same standard error; it stays within 0 and 1
    (effective sample sizes: Korn & Graubard, Survey Methodology 24, 1998).  The spread of pairs is estimated from the
    pairs themselves, so their standard error has n - 1, and Student's t stands for the normal quantile.  Exact where
    all samples are alike (Clopper & Pearson, Biometrika 1934).  NaN without samples.
    """
    n = sum(counts)
    if n == 0:
        return math.nan, math.nan
    estimate = _estimate(counts, PENTANOMIAL if len(counts) == 5 else TRINOMIAL, 1, distinct)
    score, se = estimate.score or 0.0, estimate.se
    if se is None:
        share = ((1 - CONFIDENCE) / 2) ** (1 / (n if distinct is None else distinct))
        return score * share, 1 - (1 - score) * share
    independent = n if distinct is None else distinct
    width = _student(se, independent) if len(counts) == len(PENTANOMIAL) and independent > 1 else Z * se
    squares = width**2 / (score * (1 - score))  # of the quantile, over the number of games
    half = math.sqrt(width**2 + squares**2 / 4)
    return (score + squares / 2 - half) / (1 + squares), (score + squares / 2 + half) / (1 + squares)


def mean_interval(values: Sequence[float], lows: Sequence[float], highs: Sequence[float]) -> tuple[float, float, float]:
    """The mean of independent estimates with 95 % intervals, and its interval, by variance estimates recovery (Zou &
    Donner, Statistics in Medicine 27, 2008), which keeps asymmetric ones so.
    """
    mean, n = math.fsum(values) / len(values), len(values)
    below = math.hypot(*(value - low for value, low in zip(values, lows))) / n
    above = math.hypot(*(high - value for value, high in zip(values, highs))) / n
    return mean, mean - below, mean + above


def _estimate(counts, values, games_per_sample, distinct) -> Estimate:
    if len(counts) != len(values) or not all(0 <= count < math.inf for count in counts):
        raise ValueError(f"counts = {list(counts)} must be {len(values)} numbers, none of them negative")
    n = sum(counts)
    if n == 0:
        return Estimate()
    independent = n if distinct is None else distinct
    if not 0 < independent <= n:
        raise ValueError(f"distinct = {distinct} is out of range: more than 0, at most {n:g}")
    score = sum(count * value for count, value in zip(counts, values)) / n
    variance = sum(count * (value - score) ** 2 for count, value in zip(counts, values)) / n
    draw_ratio = counts[len(counts) // 2] / n
    if sum(count > 0 for count in counts) == 1:
        return replace(_all_alike(score, independent), draw_ratio=draw_ratio)
    se = math.sqrt(variance / independent)
    sigma = math.sqrt(variance * games_per_sample)
    few = 1 < independent < FEW
    return Estimate(
        score,
        se,
        elo(score),
        _elo_error(score, _student(se, independent) if few else Z * se),
        "",
        _student_los(score, se, independent) if few else normal_probability((score - 0.5) / se),
        NELO_SCALE * (score - 0.5) / sigma,
        Z * NELO_SCALE / math.sqrt(independent * games_per_sample),
        draw_ratio,
    )


def _elo_error(score, width) -> float:
    """Half of the interval, from that of the score; by the slope where this leaves (0, 1)."""
    low, high = score - width, score + width
    if low > 0 and high < 1:
        return (elo(high) - elo(low)) / 2
    return width * ELO_PER_LOGIT / (score * (1 - score))


def _student(se, n) -> float:
    """Half of the 95 % interval of a mean of n samples, n > 1, whose spread is estimated from themselves."""
    from scipy.special import stdtrit  # takes a while to load

    return float(stdtrit(n - 1, (1 + CONFIDENCE) / 2)) * se * math.sqrt(n / (n - 1))


def _student_los(score, se, n) -> float:
    from scipy.special import stdtr

    return float(stdtr(n - 1, (score - 0.5) / (se * math.sqrt(n / (n - 1)))))


def _all_alike(score, n) -> Estimate:
    """The estimate where all n samples were equal: their variance says nothing."""
    los = 0.5 if score == 0.5 else 0.5 ** (n + 1)  # of a uniform prior on the chance to win
    p = _least_share(score, n)
    if score in (0.0, 1.0):
        limit = elo(p)
        if score == 1.0:
            return Estimate(score, None, limit, None, ">", 1 - los)
        return Estimate(score, None, -limit, None, "<", los)
    error = (elo(score * p + (1 - p)) - elo(score * p)) / 2
    return Estimate(score, None, elo(score), error, "", 1 - los if score > 0.5 else los)


def _least_share(score, n) -> float:
    """How probable samples of this score must at least be, after n of them and no other, with 95 % confidence.

    If that is p, seeing nothing else has probability p^n, so p > alpha^(1/n) with confidence 1 - alpha (Clopper &
    Pearson, Biometrika 1934).  A perfect score can err on one side only, others on both.
    """
    alpha = 1 - CONFIDENCE if score in (0.0, 1.0) else (1 - CONFIDENCE) / 2
    return alpha ** (1 / n)
