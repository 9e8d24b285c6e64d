"""Laws of draws: the probabilities of win, draw and loss when the first player is x logits stronger.

Davidson (Journal of the American Statistical Association 65, 1970): D = nu sqrt(W L), and W / L = e^x, so that
W = p / (p + q + nu sqrt(p q)) of strengths p, q with x = log(p / q).  A first player's advantage multiplies p.  The
expected score grows more slowly with x, near 0 by the factor 1 - D at equals, so that ratings lie wider apart.

Logistic, the usual one (Ordo's): D = nu sqrt(W L), too, but the expected score is f = W + D/2 = 1 / (1 + e^-x), as
Elo's is, so W = f - D/2, L = 1 - f - D/2, and D solves D^2 = nu^2 (f - D/2)(1 - f - D/2).

Rao & Kupper (Journal of the American Statistical Association 62, 1967; the law of BayesElo): a difference of less than
delta logits passes for a draw, so W = 1 / (1 + e^(delta - x)), L = 1 / (1 + e^(delta + x)), D = (e^(2 delta) - 1) W L.
The expected score grows more slowly with x, near 0 by the factor 1 - D^2 at equals, so that ratings lie wider apart.
BayesElo prints ratings times that factor, which is 4 y / (1 + y)^2 with y = e^-delta.

A law's parameter is the logarithm of nu or delta, -inf where no game is ever drawn.
"""

import math
from dataclasses import dataclass

import numpy as np

from arena.results.statistics.numeric import logistic

LEAST_DECISIVE = 1 / 1500  # share of decisive games of equals, below which the parameter is held
TINY = 1e-300  # a floor, so that a probability has a logarithm


@dataclass(frozen=True)
class Law:
    """A law of draws; derive from it."""

    name: str

    def probabilities(self, x: np.ndarray, parameter: float) -> tuple[np.ndarray, np.ndarray]:
        """P: float[rows, 3] of win, draw, loss; its derivatives float[rows, 3, 2] by x and the parameter."""
        p, derivatives = self._never_drawn(x) if parameter == -math.inf else self._drawn(x, parameter)
        return np.maximum(p, TINY), derivatives

    @property
    def limit(self) -> float:
        """The largest useful one: hardly any game of equals is then decisive."""
        return self.parameter_of(1 - LEAST_DECISIVE)

    def parameter_of(self, draw_rate: float) -> float:
        """The parameter at which equals draw at this rate, 0 < draw_rate < 1."""
        raise NotImplementedError

    def draw_rate_of(self, parameter: float) -> float:
        """The rate at which equals draw."""
        raise NotImplementedError

    def _never_drawn(self, x):
        slope = logistic(x) * logistic(-x)
        p, derivatives = np.zeros((len(x), 3)), np.zeros((len(x), 3, 2))
        p[:, 0], p[:, 2] = logistic(x), logistic(-x)
        derivatives[:, 0, 0], derivatives[:, 2, 0] = slope, -slope
        return p, derivatives

    def _drawn(self, x, parameter):
        raise NotImplementedError


class Davidson(Law):
    """The parameter is log nu."""

    def _drawn(self, x, parameter):
        logs = np.stack([x / 2, np.full_like(x, parameter), -x / 2], axis=1)
        p = np.exp(logs - logs.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        by_logs = np.array([[0.5, 0.0], [0.0, 1.0], [-0.5, 0.0]])
        return p, p[:, :, None] * (by_logs - (p @ by_logs)[:, None])

    def parameter_of(self, draw_rate):
        return math.log(2 * draw_rate / (1 - draw_rate))  # at W = L = (1 - D) / 2, nu = 2 D / (1 - D)

    def draw_rate_of(self, parameter):
        return float(logistic(parameter - math.log(2)))


class Logistic(Davidson):
    """Davidson's draws, with the expected score of Elo."""

    def _drawn(self, x, parameter):
        f = logistic(x)
        slope = f * logistic(-x)  # df/dx, which is also f (1 - f)
        p, derivatives = np.empty((len(x), 3)), np.empty((len(x), 3, 2))
        q = math.exp(-2 * parameter)  # 1 / nu^2, finite where nu is not
        # the root that is a probability, multiplied out so that nothing cancels
        draw = 4 * slope / (1 + np.sqrt(1 - 4 * slope + 16 * slope * q))
        denominator = 2 * draw * q + (1 - draw) / 2  # derivative by D of D^2/nu^2 - (f - D/2)(1 - f - D/2)
        by_x, by_parameter = slope * (1 - 2 * f) / denominator, 2 * q * draw**2 / denominator
        p[:, 0], p[:, 1], p[:, 2] = f - draw / 2, draw, logistic(-x) - draw / 2
        derivatives[:, 0, 0], derivatives[:, 1, 0], derivatives[:, 2, 0] = slope - by_x / 2, by_x, -slope - by_x / 2
        derivatives[:, :, 1] = by_parameter[:, None] * np.array([-0.5, 1.0, -0.5])
        return p, derivatives


class RaoKupper(Law):
    """The parameter is log delta."""

    def parameter_of(self, draw_rate):
        return math.log(2 * math.atanh(draw_rate))  # at x = 0, D = tanh(delta / 2)

    def draw_rate_of(self, parameter):
        return math.tanh(math.exp(parameter) / 2)

    def _drawn(self, x, parameter):
        delta = math.exp(parameter)
        win, loss = logistic(x - delta), logistic(-x - delta)
        win_slope, loss_slope = win * logistic(delta - x), loss * logistic(delta + x)
        p = np.stack([win, math.expm1(2 * delta) * win * loss, loss], axis=1)
        by_x = np.stack([win_slope, loss_slope - win_slope, -loss_slope], axis=1)
        by_parameter = delta * np.stack([-win_slope, win_slope + loss_slope, -loss_slope], axis=1)
        return p, np.stack([by_x, by_parameter], axis=2)


LAWS = {law.name: law for law in (Logistic("logistic"), Davidson("davidson"), RaoKupper("rao-kupper"))}
USUAL = "logistic"
