"""Ranks of a pool: their intervals, what Elo does not explain of who beats whom, and two rankings without Elo."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from arena.results.statistics.bootstrap import resampled
from arena.results.statistics.draws import LAWS, USUAL
from arena.results.statistics.elo import ELO_PER_LOGIT
from arena.results.statistics.ratings import Ratings

POPULATION, SELECTION = 50, 100.0  # of alpha-rank, as in OpenSpiel
SURE = 0.01  # a p-value below which Elo is said not to explain the results
SAMPLES = 200


def rank_intervals(agents: Sequence[str], games: pd.DataFrame, samples: int = SAMPLES, seed: int = 0) -> pd.DataFrame:
    """95 % intervals of ranks, 1 the best, by ratings of pairs drawn with replacement: columns agent, low, high.

    games: as of `bootstrap`; NaN without a sample in which every agent has a finite rating
    """
    ratings = resampled(agents, games, samples, seed)
    ranks = 1 + (ratings[:, None, :] > ratings[:, :, None]).sum(axis=2)
    if not len(ratings):
        ranks = np.full((1, len(agents)), np.nan)
    low, high = np.percentile(ranks, [2.5, 97.5], axis=0, method="nearest")
    return pd.DataFrame({"agent": list(agents), "low": low, "high": high})


# -- What Elo does not explain ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Misfit:
    """How far results are from what ratings expect.

    share: of what is more than chance, that Elo does not explain; p: the chance of results as far from it, if it did;
    cycle: three agents, each better than the next in their games, the most decisive ones; or none
    """

    share: float
    p: float
    cycle: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """In words, if it matters; else ""."""
        if not self.p < SURE:
            return ""
        such = f", as {' beats '.join([*self.cycle, self.cycle[0]])}" if self.cycle else ""
        left = f"{self.share:.0%} of what is more than chance is left"
        return f"Elo does not tell who beats whom: {left}{such} (p = {self.p:.2g})."

    @property
    def otherwise(self) -> str:
        """In words, if it does not."""
        if math.isnan(self.p):
            return "Too few agents have met to see whether Elo tells who beats whom."
        return f"Elo tells who beats whom, as far as these games can show (p = {self.p:.2g})."


def misfit(ratings: Ratings, met: pd.DataFrame) -> Misfit:
    """The test of Elo on pairs of games.

    met: columns a, b (numbers of agents), pairs, mean (of a's points in a game), spread (variance of a pair's mean).
    Residuals are compared with the spread of pairs, pooled, so that neither draws nor openings that favour a side pass
    for cycles.  NaN if there are no more meetings than ratings.
    """
    met = met[np.isfinite(ratings.elo[met["a"]]) & np.isfinite(ratings.elo[met["b"]]) & (met["pairs"] > 1)]
    freedom = len(met) - len(set(met["a"]) | set(met["b"])) + 1
    if freedom < 1 or not len(met):
        return Misfit(math.nan, math.nan, ())
    expected, variance = _expected(ratings, met)
    pairs = met["pairs"].to_numpy(float)
    dispersion = ((pairs - 1) * met["spread"]).sum() / ((pairs - 1) * variance).sum()
    if not dispersion > 0:  # all pairs of all meetings are alike
        return Misfit(math.nan, math.nan, ())
    chi = pairs / (dispersion * variance)
    left, whole = (chi * (met["mean"] - expected) ** 2).sum(), (chi * (met["mean"] - 0.5) ** 2).sum()
    from scipy.special import fdtrc  # for few commands, and quicker to import than scipy.stats

    p = float(fdtrc(freedom, (pairs - 1).sum(), left / freedom))
    share = max(0.0, left - freedom) / max(whole - len(met), left - freedom, 1e-9)
    return Misfit(share, p, _cycle(ratings.agents, met))


def residuals(ratings: Ratings, met: pd.DataFrame) -> np.ndarray:
    """float64[agents, agents]: the row's score against the column less what Elo expects; NaN where none is."""
    found = np.full((len(ratings.agents), len(ratings.agents)), math.nan)
    apart = met["mean"].to_numpy() - _expected(ratings, met)[0]
    found[met["a"], met["b"]], found[met["b"], met["a"]] = apart, -apart
    return found


def _expected(ratings: Ratings, met: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """The mean of a's points in a game, both sides alike, and the variance of such a pair's mean."""
    law = LAWS[USUAL]
    parameter = law.parameter_of(ratings.draw_rate) if ratings.draw_rate > 0 else -math.inf
    apart = (ratings.elo[met["a"]] - ratings.elo[met["b"]]) / ELO_PER_LOGIT
    advantage = 0.0 if math.isnan(ratings.advantage) else ratings.advantage / ELO_PER_LOGIT
    mean, variance = np.zeros(len(met)), np.zeros(len(met))
    for side in (1, -1):
        won, drawn, _ = law.probabilities(apart + side * advantage, parameter)[0].T
        mean += (won + drawn / 2) / 2
        variance += (won + drawn / 4 - (won + drawn / 2) ** 2) / 4
    return mean, variance


def _cycle(agents, met) -> tuple[str, ...]:
    n = len(agents)
    over = np.zeros((n, n))
    sure = (met["mean"] - 0.5) / np.sqrt(met["spread"] / met["pairs"] + 1e-6)
    over[met["a"], met["b"]] = sure
    over[met["b"], met["a"]] = -sure
    best = 0.0
    found: tuple[str, ...] = ()
    for i in range(n):
        beaten = np.flatnonzero(over[i] > best)
        weakest = np.minimum(np.minimum(over[i, beaten, None], over[beaten]), over[:, i][None])
        if weakest.size and weakest.max() > best:
            best = weakest.max()
            j, k = np.unravel_index(weakest.argmax(), weakest.shape)
            found = (agents[i], agents[beaten[j]], agents[k])
    return found


# -- Rankings without Elo ---------------------------------------------------------------------------------------------


def nash_average(payoffs: np.ndarray) -> np.ndarray:
    """The equilibrium of the game in which each side names an agent, the one of most entropy: float64[agents].

    payoffs: what the row's agent wins from the column's, antisymmetric (Balduzzi et al., "Re-evaluating evaluation",
    NeurIPS 2018)
    """
    from scipy.optimize import minimize

    named = _in_some_equilibrium(payoffs)
    n, played = named.sum(), payoffs[:, named]

    def entropy(p):
        return float((p * np.log(np.maximum(p, 1e-300))).sum())

    limits = [
        {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones(n)},
        {"type": "ineq", "fun": lambda p: -(played @ p), "jac": lambda p: -played},
    ]
    found = minimize(
        entropy, np.full(n, 1 / n), jac=lambda p: np.log(np.maximum(p, 1e-300)) + 1, bounds=[(0, 1)] * n,
        constraints=limits, method="SLSQP", options={"ftol": 1e-15, "maxiter": 1000},
    )  # fmt: skip
    average = np.zeros(len(payoffs))
    average[named] = np.maximum(found.x, 0)
    return average / average.sum()


def _in_some_equilibrium(payoffs) -> np.ndarray:
    """bool[agents]: who is named in an equilibrium, and so in the one of most entropy; without the others, 0 there,
    that one is found at once.

    Equilibria are all p >= 0 of any sum with payoffs p <= 0.  One linear programme finds the largest support: most of
    sum(min(p, 1)).
    """
    from scipy.optimize import linprog

    n = len(payoffs)
    limits = np.block([[payoffs, np.zeros((n, n))], [-np.eye(n), np.eye(n)]])  # of p, and of parts of it up to 1
    found = linprog(np.repeat([0, -1], n), limits, np.zeros(2 * n), bounds=[(0, None)] * n + [(0, 1)] * n)
    return found.x[n:] > 0.5


def alpha_rank(payoffs: np.ndarray, alpha: float = SELECTION, population: int = POPULATION) -> np.ndarray:
    """How often each agent is the whole population, in which better ones replace others: float64[agents].

    payoffs: what the row's agent gets against the column's (Omidshafiei et al., "alpha-Rank", Scientific Reports 9,
    2019)
    """
    n = len(payoffs)
    edge = alpha * (payoffs.T - payoffs)  # [s, r] of r, that comes into a population of s
    equal = np.isclose(edge, 0, atol=1e-14)
    safe = np.where(equal, 1.0, edge)
    with np.errstate(over="ignore"):
        fixed = np.where(equal, 1 / population, np.expm1(-safe) / np.expm1(-population * safe))
    chain = np.nan_to_num(fixed) / (n - 1)
    np.fill_diagonal(chain, 0.0)
    np.fill_diagonal(chain, 1 - chain.sum(axis=1))
    system = np.vstack([chain.T - np.eye(n), np.ones(n)])
    found = np.linalg.lstsq(system, np.append(np.zeros(n), 1.0), rcond=None)[0]
    return np.maximum(found, 0) / np.maximum(found, 0).sum()
