"""The model behind the ratings, and the parameters that make the results most likely.

Strengths are in logits here (1 logit = 400 / ln 10 Elo).  A game has x = strength of the first player + advantage
- strength of the second; a law of `draws` says how likely win, draw and loss then are.
"""

import math
from dataclasses import dataclass

import numpy as np

from arena.results.statistics.draws import Law
from arena.results.statistics.numeric import contrasts, minimum

SLOPE = 1e-7  # of a game's likelihood, where the fit ends
STEPS = 60  # ten are usual; few games, nearly all drawn, may make a kink


@dataclass(frozen=True)
class Games:
    """Results, one row for each ordered pair of players that met."""

    first: np.ndarray  # int[rows]
    second: np.ndarray  # int[rows]
    counts: np.ndarray  # float[rows, 3]: the first player's wins, draws, losses
    distinct: np.ndarray  # float[rows]: games that repeat no other; errors are based on it

    @classmethod
    def of(cls, counts: np.ndarray, distinct: np.ndarray) -> "Games":
        """float[players, players, 3]: the first player's wins, draws, losses, and those of distinct games."""
        first, second = np.nonzero(counts.sum(axis=2))
        return cls(first, second, counts[first, second], distinct[first, second].sum(axis=1))


@dataclass(frozen=True)
class Fit:
    """The most likely parameters, with their covariance from the expected (Fisher) information."""

    strengths: np.ndarray  # float[players], in logits; sum 0 in each group without an anchor
    advantage: float  # logits
    law: Law
    draws: float  # the law's parameter; -inf where there are no draws
    covariance: np.ndarray  # float[players + 1, players + 1] of strengths and advantage


def _basis(groups: np.ndarray, anchors: dict[int, float]) -> tuple[np.ndarray, np.ndarray]:
    """Orthonormal columns B: float[players, parameters], and fixed strengths c, so that all strengths are B theta + c.

    In a group with anchors those are fixed and the others free; in one without, the sum of strengths is 0.
    """
    fixed, blocks = np.zeros(len(groups)), [np.zeros((len(groups), 0))]
    fixed[list(anchors)] = list(anchors.values())
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        free = np.setdiff1d(members, list(anchors))
        if len(free) == len(members):
            block = np.zeros((len(groups), len(members) - 1))
            block[members] = contrasts(len(members))
        else:
            block = np.eye(len(groups))[:, free]
        blocks.append(block)
    return np.hstack(blocks), fixed


class _Likelihood:
    """-log likelihood of (strengths in the basis, advantage, the law's parameter), a game."""

    def __init__(self, games: Games, groups, with_advantage: bool, law: Law, draws: float | None, anchors: dict):
        self.games, self.law, self.draws = games, law, draws  # draws None: to be estimated
        self.basis, self.fixed = _basis(groups, anchors)
        self.with_advantage = with_advantage
        self.width = self.basis.shape[1] + with_advantage  # of the linear parameters
        self.total = games.counts.sum()

    def split(self, theta):
        """theta -> (linear parameters, the law's parameter)."""
        return (theta[:-1], min(theta[-1], self.law.limit)) if self.draws is None else (theta, self.draws)

    def probabilities(self, theta):
        linear, draws = self.split(theta)
        strengths = self.fixed + self.basis @ linear[: self.basis.shape[1]]
        advantage = linear[-1] if self.with_advantage else 0.0
        return self.law.probabilities(strengths[self.games.first] - strengths[self.games.second] + advantage, draws)

    def by_linear(self, by_gap):
        """Derivatives by the linear parameters, from those of each row by its gap: float[rows]."""
        by_strength = self._summed(self.games.first, by_gap) - self._summed(self.games.second, by_gap)
        found = self.basis.T @ by_strength
        return np.append(found, by_gap.sum()) if self.with_advantage else found

    def _summed(self, places, values):
        return np.bincount(places, values, len(self.fixed))

    def at(self, theta) -> tuple[float, np.ndarray, np.ndarray]:
        """The value, its gradient and its expected second derivatives, never indefinite, as observed ones may be."""
        p, derivatives = self.probabilities(theta)
        by_gap, by_draws = np.einsum("rk,rkc->cr", self.games.counts / p, derivatives)
        by_linear = self.by_linear(by_gap)
        gradient = by_linear if self.draws is not None else np.append(by_linear, by_draws.sum())
        information = self._information(p, derivatives, self.games.counts.sum(axis=1) / self.total)
        return -(self.games.counts * np.log(p)).sum() / self.total, -gradient / self.total, information

    def information(self, theta, played):
        """Fisher's expected information of `played` games in each row."""
        return self._information(*self.probabilities(theta), played)

    def _information(self, p, derivatives, played):
        by_gap, by_draws = derivatives[:, :, 0], derivatives[:, :, 1]
        weights = played[:, None] * by_gap / p
        information = self._of_gaps(_by_row(weights, by_gap))
        if self.draws is None:
            border, corner = self.by_linear(_by_row(weights, by_draws)), played @ _by_row(by_draws, by_draws / p)
            information = _bordered(information, border, corner)
        return information

    def _of_gaps(self, weights):
        """The information of the linear parameters, from that of each row on its gap: float[rows].

        Of strengths it is the Laplacian of the graph of those who met: as large as the pool, however many rows there
        are.
        """
        n = len(self.fixed)
        met = np.bincount(self.games.first * n + self.games.second, weights, n * n).reshape(n, n)
        met += met.T
        information = self.basis.T @ (np.diag(met.sum(axis=0)) - met) @ self.basis
        if self.with_advantage:
            information = _bordered(information, self.by_linear(weights)[:-1], weights.sum())
        return information


def _by_row(a, b):
    """The sums of products of each row."""
    return np.einsum("rk,rk->r", a, b)


def _bordered(matrix, border, corner):
    """A symmetric matrix with one more row and column."""
    return np.block([[matrix, border[:, None]], [border[None], corner]])


def fit(games: Games, groups: np.ndarray, with_advantage: bool, law: Law, anchors: dict[int, float]) -> Fit:
    """The most likely strengths, advantage and draws; the caller ensures that all are finite.

    `groups: int[players]`: which players are compared; no game is between two groups.  `anchors` are of known strength.
    Scoring (Newton's method with the expected information) in a trust region.  At a boundary of the draws the law's
    parameter is held: without draws, at that of no draws; where every game was drawn, at the least draw rate of equals
    that p^n = 5 % allows, since the greatest likelihood gives errors of 0.
    """
    wins, draws, losses = games.counts.sum(axis=0)
    parameter = None
    if draws == 0:
        parameter = -math.inf
    elif wins + losses == 0:
        parameter = law.parameter_of(0.05 ** (1 / games.distinct.sum()))
    likelihood = _Likelihood(games, groups, with_advantage, law, parameter, anchors)
    theta = np.zeros(likelihood.width)
    if parameter is None:
        theta = np.append(theta, law.parameter_of(draws / (wins + draws + losses)))
    if len(theta):
        theta = minimum(likelihood.at, theta, STEPS, SLOPE)
    return _result(likelihood, theta, with_advantage)


def _result(likelihood, theta, with_advantage) -> Fit:
    linear, draws = likelihood.split(theta)
    information = likelihood.information(theta, likelihood.games.distinct)
    width = len(linear)
    if likelihood.draws is not None or information[-1, -1] < 0.01:
        information = information[:width, :width]  # at a boundary, or as good as
    inverse = np.linalg.inv(information) if len(information) else information
    to_strengths = np.zeros((len(likelihood.basis) + 1, width))
    to_strengths[:-1, : likelihood.basis.shape[1]] = likelihood.basis
    if with_advantage:
        to_strengths[-1, -1] = 1.0
    values = to_strengths @ linear
    covariance = to_strengths @ inverse[:width, :width] @ to_strengths.T
    return Fit(values[:-1] + likelihood.fixed, float(values[-1]), likelihood.law, draws, covariance)
