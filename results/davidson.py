"""The model behind the ratings: probabilities of win, draw and loss, and the parameters that make them most likely.

Strengths are in logits here (1 logit = 400 / ln 10 Elo).  With x = strength of the first player + advantage
- strength of the second, the first player's expected score is f = 1 / (1 + e^-x), and draws follow Davidson's law
(Journal of the American Statistical Association 65, 1970), D = nu sqrt(W L).  So W = f - D/2, L = 1 - f - D/2, and
D solves D^2 = nu^2 (f - D/2)(1 - f - D/2).
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert
from scipy.optimize import minimize
from scipy.special import expit

LOG_NU_LIMIT = 8.0    # above it equals decide a game once in 1500; where more draws fit better, it is held there
STEPS = 60            # ten are the rule; a few games, nearly all drawn, may have a kink there: 60 leave under 3 Elo
TINY = 1e-300         # a probability's floor, so that its logarithm exists


@dataclass(frozen=True)
class Games:
    """Results, one row for each ordered pair of players that met: first player, second player, and counts."""

    first: np.ndarray    # int[rows]
    second: np.ndarray   # int[rows]
    counts: np.ndarray   # float[rows, 3]: the first player's wins, draws, losses

    @classmethod
    def of(cls, counts: np.ndarray) -> "Games":
        """From counts: float[players, players, 3], the first player's wins, draws and losses against the second."""
        first, second = np.nonzero(counts.sum(axis=2))
        return cls(first, second, counts[first, second])


@dataclass(frozen=True)
class Fit:
    """The parameters of greatest likelihood, and their covariance from the expected (Fisher) information."""

    strengths: np.ndarray   # float[players], in logits; their sum in each group is 0
    advantage: float        # logits
    log_nu: float           # -inf where there are no draws
    covariance: np.ndarray  # float[players + 1, players + 1] of strengths and advantage


def probabilities(x: np.ndarray, log_nu: float) -> tuple[np.ndarray, np.ndarray]:
    """P: float[rows, 3] of win, draw, loss; and its derivatives float[rows, 3, 2] by x and by log_nu."""
    f = expit(x)
    slope = f * expit(-x)  # df/dx, which is also f (1 - f)
    p, derivatives = np.empty((len(x), 3)), np.empty((len(x), 3, 2))
    draw, by_x, by_log_nu = _draws(f, slope, log_nu)
    p[:, 0], p[:, 1], p[:, 2] = f - draw / 2, draw, expit(-x) - draw / 2
    derivatives[:, 0, 0], derivatives[:, 1, 0], derivatives[:, 2, 0] = slope - by_x / 2, by_x, -slope - by_x / 2
    derivatives[:, :, 1] = by_log_nu[:, None] * np.array([-0.5, 1.0, -0.5])
    return np.maximum(p, TINY), derivatives


def _draws(f, slope, log_nu):
    """The probability of a draw, and its derivatives by x and by log_nu, of rows with f and slope = f (1 - f)."""
    if log_nu == -math.inf:
        zero = np.zeros_like(f)
        return zero, zero, zero
    q = math.exp(-2 * log_nu)  # 1 / nu^2, which stays finite where nu does not
    # the root of the quadratic in D that is a probability, multiplied out so that nothing cancels
    root = np.sqrt(1 - 4 * slope + 16 * slope * q)
    draw = 4 * slope / (1 + root)
    denominator = 2 * draw * q + (1 - draw) / 2  # derivative by D of D^2/nu^2 - (f - D/2)(1 - f - D/2)
    by_x = slope * (1 - 2 * f) / denominator
    return draw, by_x, 2 * q * draw**2 / denominator


def _centred_basis(groups: np.ndarray) -> np.ndarray:
    """Orthonormal columns that span the strengths whose sum is 0 in each group: float[players, players - groups]."""
    blocks = [np.zeros((len(groups), 0))]
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        if len(members) > 1:
            block = np.zeros((len(groups), len(members) - 1))
            block[members] = helmert(len(members)).T
            blocks.append(block)
    return np.hstack(blocks)


class _Likelihood:
    """-log likelihood of (strengths in the centred basis, advantage, log_nu), a game, for SciPy."""

    def __init__(self, games: Games, groups: np.ndarray, with_advantage: bool, log_nu: float | None):
        self.games, self.log_nu = games, log_nu  # log_nu None: to be estimated
        self.basis = _centred_basis(groups)
        columns = [self.basis[games.first] - self.basis[games.second]]
        if with_advantage:
            columns.append(np.ones((len(games.first), 1)))
        self.design = np.hstack(columns)
        self.total = games.counts.sum()
        self.played = games.counts.sum(axis=1)

    def split(self, theta):
        """theta -> (linear parameters, log_nu)."""
        return (theta[:-1], min(theta[-1], LOG_NU_LIMIT)) if self.log_nu is None else (theta, self.log_nu)

    def value(self, theta):
        linear, log_nu = self.split(theta)
        p, _ = probabilities(self.design @ linear, log_nu)
        return -(self.games.counts * np.log(p)).sum() / self.total

    def gradient(self, theta):
        linear, log_nu = self.split(theta)
        p, derivatives = probabilities(self.design @ linear, log_nu)
        by = np.einsum("rk,rkc->rc", self.games.counts / p, derivatives)
        by_linear = self.design.T @ by[:, 0]
        return -(np.append(by_linear, by[:, 1].sum()) if self.log_nu is None else by_linear) / self.total

    def information(self, theta):
        """Expected second derivatives of `value`: never indefinite, as observed ones may be far from the optimum."""
        linear, log_nu = self.split(theta)
        p, derivatives = probabilities(self.design @ linear, log_nu)
        a_game = np.einsum("rkc,rk,rkd->rcd", derivatives, 1 / p, derivatives)
        weighted = a_game * (self.played / self.total)[:, None, None]
        information = self.design.T @ (weighted[:, 0, 0, None] * self.design)
        if self.log_nu is None:
            cross = self.design.T @ weighted[:, 0, 1]
            information = np.block([[information, cross[:, None]], [cross[None], weighted[:, 1, 1].sum()]])
        return information


def fit(games: Games, groups: np.ndarray, with_advantage: bool) -> Fit:
    """The most likely strengths, advantage and draws; all must be finite, which the caller sees to.

    `groups: int[players]` says which players are compared; no game is between two groups.

    Scoring (Newton's method with the expected information) in a trust region: scipy.optimize, "trust-exact".
    At a boundary of the draws nu is held there: 0 without draws; where every game was drawn, what the least draw
    rate of equals that p^n = 5 % allows gives, since at the greatest likelihood errors would be 0.
    """
    wins, draws, losses = games.counts.sum(axis=0)
    log_nu = None
    if draws == 0:
        log_nu = -math.inf
    elif wins + losses == 0:
        log_nu = log_nu_of(0.05 ** (1 / draws))
    likelihood = _Likelihood(games, groups, with_advantage, log_nu)
    theta = np.zeros(likelihood.design.shape[1])
    if log_nu is None:
        theta = np.append(theta, log_nu_of(draws / (wins + draws + losses)))
    if len(theta):
        theta = minimize(
            likelihood.value, theta, jac=likelihood.gradient, hess=likelihood.information, method="trust-exact",
            options={"gtol": 1e-7, "max_trust_radius": 10.0, "maxiter": STEPS},
        ).x
    return _result(likelihood, theta, with_advantage)


def _result(likelihood, theta, with_advantage) -> Fit:
    linear, log_nu = likelihood.split(theta)
    information = likelihood.information(theta) * likelihood.total
    width = len(linear)
    if likelihood.log_nu is not None or information[-1, -1] < 0.01:
        information = information[:width, :width]  # nu is at a boundary, or as good as there
    inverse = np.linalg.inv(information) if len(information) else information
    to_strengths = np.zeros((len(likelihood.basis) + 1, width))
    to_strengths[:-1, : likelihood.basis.shape[1]] = likelihood.basis
    if with_advantage:
        to_strengths[-1, -1] = 1.0
    values = to_strengths @ linear
    return Fit(values[:-1], float(values[-1]), log_nu, to_strengths @ inverse[:width, :width] @ to_strengths.T)


def log_nu_of(draw_rate: float) -> float:
    """log nu, of the draw rate of equals, 0 < draw_rate < 1: at W = L = (1 - D) / 2, nu = 2 D / (1 - D)."""
    return math.log(2 * draw_rate / (1 - draw_rate))


def draw_rate_of(log_nu: float) -> float:
    """The draw rate of equals, of log nu."""
    return float(expit(log_nu - math.log(2)))
