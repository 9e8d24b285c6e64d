"""A surface of strength over parameters, from the results of agents at different points, and where its peak is.

The log-odds of a point won are a function of the agent's point, less that of the opponent's point, if the opponent has
these parameters too, or else plus a constant of the opponent's.  The function is a quadratic (a response surface: Box &
Wilson, JRSS B 13, 1951) plus a Gaussian process, for what is no quadratic (Rasmussen & Williams, "Gaussian Processes
for Machine Learning", 2006, section 2.7; results are not normal, hence Laplace's approximation, section 3.4).  Scales
of the process are averaged over by their evidence, so it takes part as far as the results want it.

A point has a number from 0 to 1 for each parameter, or the number of a choice.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.stats import qmc

from arena.results.statistics.elo import ELO_PER_LOGIT

LINEAR, SQUARE, CONSTANT = 10.0, 20.0, 10.0  # standard deviations, in log-odds, before any result
SIZES, LENGTHS = (0.2, 0.5, 1.0), (0.2, 0.4, 0.8)  # of the process: its standard deviation, and its length
ROUNDS = 4  # of Laplace's approximation
WIDEST = 8.0  # log-odds
TINY = 1e-8  # added to variances, so that matrices have a root
DRAWS, TRIED = 1000, 512  # of peaks; points that are compared for each
ZOOMS = 3  # each into where the draws before had their peaks
JITTER = 1e-9  # of their sum, added to variances of these points
LIGHT = 0.02  # weight of a model that is left out
INSIDE = 0.95
TINY = 1e-9  # of a sum of shares


@dataclass(frozen=True)
class Results:
    """Matches of two agents, one to a row.

    points: float64[agents, parameters], NaN for an agent that has none; one, other: int[matches], the agents' numbers,
    the first of which has a point; constant: int[matches], which matches share a constant, such as those against an
    opponent in a game; won, games: float64[matches], points of the first, and games; dispersion: the variance of a
    game's points over that of games without draws that have nothing to do with each other
    """

    points: np.ndarray
    one: np.ndarray
    other: np.ndarray
    constant: np.ndarray
    won: np.ndarray
    games: np.ndarray
    dispersion: float = 1.0


@dataclass(frozen=True)
class Model:
    """The function at known points, given a size and a length of the process.

    root: of their covariance before the results; mean, spread: of the standard normal variables that it multiplies
    """

    size: float
    length: float
    points: np.ndarray
    root: np.ndarray
    mean: np.ndarray
    spread: np.ndarray  # covariance
    weight: float


class Surface:
    """A fitted surface.  choices: for each parameter how many choices it has, 0 for a number; seed: of draws."""

    def __init__(self, models: Sequence[Model], choices: Sequence[int], seed: int):
        self.models, self.choices, self.seed = models, tuple(choices), seed

    def at(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log-odds at points float64[n, parameters]: mean float64[n], covariance float64[n, n]."""
        weights = np.array([model.weight for model in self.models])
        means, covariances = map(np.array, zip(*(self._of_model(model, points) for model in self.models)))
        mean = weights @ means
        between = means - mean
        return mean, np.tensordot(weights, covariances, 1) + (between.T * weights) @ between

    def elo(self, points: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Elo of points over the point `base`, and their standard errors."""
        mean, spread = self.at(np.vstack([base, points]))
        variance = np.diag(spread)[1:] + spread[0, 0] - 2 * spread[0, 1:]
        return (mean[1:] - mean[0]) * ELO_PER_LOGIT, np.sqrt(variance.clip(0)) * ELO_PER_LOGIT

    def _of_model(self, model: Model, points) -> tuple[np.ndarray, np.ndarray]:
        cross = _covariance(model.points, points, self.choices, model.size, model.length)
        white = solve_triangular(model.root, cross, lower=True)
        own = _covariance(points, points, self.choices, model.size, model.length)
        return white.T @ model.mean, own + white.T @ (model.spread - np.eye(len(white))) @ white

    @cached_property
    def _peaks(self) -> tuple[np.ndarray, np.ndarray]:
        rng, low, high = np.random.default_rng(self.seed), np.zeros(len(self.choices)), np.ones(len(self.choices))
        best = np.empty(0)
        for _ in range(1 + ZOOMS):
            tried = _spread_out(low, high, self.choices, rng)
            draws, mean = [], np.zeros(len(tried))
            for model in self.models:
                own, cov = self._of_model(model, tried)
                mean += model.weight * own
                root = np.linalg.cholesky(cov + JITTER * np.trace(cov) * np.eye(len(tried)))
                normal = rng.standard_normal((round(DRAWS * model.weight), len(tried)))
                draws.append(tried[(own + normal @ root.T).argmax(axis=1)])
            found, best = np.vstack(draws), tried[mean.argmax()]
            low, high = _around(found, best, low, high)
        return best, found

    @property
    def peak(self) -> np.ndarray:
        """The best point, float64[parameters]."""
        return self._peaks[0]

    @property
    def draws(self) -> np.ndarray:
        """Peaks of functions drawn from what the results leave possible, float64[n, parameters]."""
        return self._peaks[1]

    def region(self, parameter: int) -> tuple[float, float]:
        """The 95 % interval of the peak in a parameter that is a number."""
        low, high = np.quantile(self.draws[:, parameter], ((1 - INSIDE) / 2, (1 + INSIDE) / 2))
        return min(low, self.peak[parameter]), max(high, self.peak[parameter])

    def shares(self, parameter: int) -> np.ndarray:
        """For each choice of a parameter how probably it is the best."""
        return np.bincount(self.draws[:, parameter].astype(int), minlength=self.choices[parameter]) / len(self.draws)

    def likely(self, parameter: int) -> dict[int, float]:
        """The fewest choices of a parameter that hold the peak with 95 %, the likeliest first, with their shares."""
        shares = self.shares(parameter)
        order = np.argsort(-shares, kind="stable")
        few = order[: 1 + np.searchsorted(shares[order].cumsum(), INSIDE - TINY)]
        return {int(choice): float(shares[choice]) for choice in few}


def _spread_out(low, high, choices, rng) -> np.ndarray:
    """TRIED points between these, evenly; choices are all tried."""
    unit = qmc.Sobol(len(choices), rng=rng).random(TRIED)
    for i, count in enumerate(choices):
        unit[:, i] = np.minimum((unit[:, i] * count).astype(int), count - 1) if count else unit[:, i]
        if not count:
            unit[:, i] = low[i] + unit[:, i] * (high[i] - low[i])
    return unit


def _around(found, best, low, high) -> tuple[np.ndarray, np.ndarray]:
    """Bounds within the former ones that hold nearly all draws."""
    inner = np.quantile(found, (0.002, 0.998), axis=0)
    margin = 0.1 * (inner[1] - inner[0]) + 0.02 * (high - low)
    return np.maximum(low, np.minimum(inner[0], best) - margin), np.minimum(high, np.maximum(inner[1], best) + margin)


def fit(results: Results, choices: Sequence[int], seed: int = 0) -> Surface:
    """The surface of these results."""
    known = ~np.isnan(results.points).any(axis=1)
    place = np.cumsum(known) - 1
    points, rows = results.points[known], np.arange(len(results.one))
    names, constant = np.unique(results.constant, return_inverse=True)
    wanted = np.zeros((len(rows), len(points) + len(names)))
    wanted[rows, place[results.one]] = 1.0
    inner = known[results.other]
    wanted[rows[inner], place[results.other[inner]]] = -1.0
    wanted[rows[~inner], len(points) + constant[~inner]] = 1.0
    won, games = results.won / results.dispersion, results.games / results.dispersion
    found = []
    found += [_fitted(points, wanted, won, games, choices, size, length) for size in SIZES for length in LENGTHS]
    evidence = np.array([one[1] for one in found])
    weights = np.exp(evidence - evidence.max())
    weights = np.where(weights < LIGHT * weights.sum(), 0.0, weights)
    weights /= weights.sum()
    kept = [replace(model, weight=float(weight)) for (model, _), weight in zip(found, weights) if weight]
    return Surface(kept, choices, seed)


def _fitted(points, wanted, won, games, choices, size, length) -> tuple[Model, float]:
    """A model, and the logarithm of its evidence."""
    root = np.linalg.cholesky(_covariance(points, points, choices, size, length) + TINY * np.eye(len(points)))
    constants = wanted.shape[1] - len(points)
    design = np.hstack([wanted[:, : len(points)] @ root, CONSTANT * wanted[:, len(points) :]])
    at = np.zeros(design.shape[1])
    for _ in range(ROUNDS):
        odds = (design @ at).clip(-WIDEST, WIDEST)
        p = 1 / (1 + np.exp(-odds))
        weight = games * p * (1 - p)
        inner = np.eye(len(at)) + design.T @ (design * weight[:, None])
        half = np.linalg.cholesky(inner)
        at = cho_solve((half, True), design.T @ (weight * odds + won - games * p))
    odds = (design @ at).clip(-WIDEST, WIDEST)
    likelihood = (won * odds - games * np.logaddexp(0, odds)).sum()
    evidence = likelihood - at @ at / 2 - np.log(np.diag(half)).sum()
    spread = cho_solve((half, True), np.eye(len(at)))
    own = slice(0, len(at) - constants)
    return Model(size, length, points, root, at[own], spread[own, own], 1.0), float(evidence)


# -- The function before any result -------------------------------------------------------------------------------


def _covariance(one, other, choices, size, length) -> np.ndarray:
    """float64[len(one), len(other)] of points float64[n, parameters]."""
    found = _features(one, choices) @ _features(other, choices).T
    if size:
        square = np.zeros(found.shape)
        for i, count in enumerate(choices):
            gap = one[:, i, None] - other[None, :, i]
            square += (gap != 0) if count else gap**2
        found += size**2 * np.exp(-square / (2 * length**2))
    return found


def _features(points, choices) -> np.ndarray:
    """Numbers, their squares and products, and choices but the first, each times its standard deviation."""
    numbers = [points[:, i] - 0.5 for i, count in enumerate(choices) if not count]
    columns = [LINEAR * each for each in numbers] + [SQUARE * each**2 for each in numbers]
    columns += [SQUARE * one * other for one, other in combinations(numbers, 2)]
    columns += [LINEAR * (points[:, i] == choice) for i, count in enumerate(choices) for choice in range(1, count)]
    return np.column_stack(columns)
