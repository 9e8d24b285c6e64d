"""The laws of draws: what defines them, and their derivatives."""

import math

import numpy as np
import pytest

from arena.results.statistics.draws import LAWS

X = np.linspace(-3, 3, 13)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_derivatives_and_mirror(law):
    for parameter in (-2.0, 0.0, math.log(2), 2.0):
        p, derivatives = law.probabilities(X, parameter)
        assert p.sum(axis=1) == pytest.approx(1) and p[::-1, ::-1] == pytest.approx(p)
        h = 1e-6
        by_x = (law.probabilities(X + h, parameter)[0] - law.probabilities(X - h, parameter)[0]) / (2 * h)
        by_parameter = (law.probabilities(X, parameter + h)[0] - law.probabilities(X, parameter - h)[0]) / (2 * h)
        assert derivatives[:, :, 0] == pytest.approx(by_x, abs=1e-8)
        assert derivatives[:, :, 1] == pytest.approx(by_parameter, abs=1e-8)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_draw_rate_of_equals(law):
    for rate in (0.01, 0.5, 0.99, 1 - 1 / 1500):
        parameter = law.parameter_of(rate)
        assert law.draw_rate_of(parameter) == pytest.approx(rate)
        assert law.probabilities(np.zeros(1), parameter)[0][0] == pytest.approx([(1 - rate) / 2, rate, (1 - rate) / 2])


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_without_draws_it_is_the_logistic_curve(law):
    p, derivatives = law.probabilities(X, -math.inf)
    nearly, nearby = law.probabilities(X, -20.0)
    assert p[:, 0] == pytest.approx(1 / (1 + np.exp(-X))) and (p[:, 1] < 1e-200).all()
    assert p == pytest.approx(nearly, abs=1e-8) and derivatives == pytest.approx(nearby, abs=1e-8)


def test_davidson():
    """D = nu sqrt(W L); by Davidson W / L is that of the strengths, else the expected score is logistic."""
    for log_nu in (-2.0, 0.0, 3.0):
        p, _ = LAWS["davidson"].probabilities(X, log_nu)
        assert p[:, 0] / p[:, 2] == pytest.approx(np.exp(X))
        assert p[:, 1] == pytest.approx(math.exp(log_nu) * np.sqrt(p[:, 0] * p[:, 2]))
        p, _ = LAWS["logistic"].probabilities(X, log_nu)
        assert p[:, 0] + p[:, 1] / 2 == pytest.approx(1 / (1 + np.exp(-X)))
        assert p[:, 1] == pytest.approx(math.exp(log_nu) * np.sqrt(p[:, 0] * p[:, 2]))


def test_rao_kupper():
    """Differences below a threshold delta are draws: W = P(x + noise > delta) with logistic noise."""
    for delta in (0.1, 1.0, 4.0):
        p, _ = LAWS["rao-kupper"].probabilities(X, math.log(delta))
        assert p[:, 0] == pytest.approx(1 / (1 + np.exp(delta - X)))
        assert p[:, 2] == pytest.approx(1 / (1 + np.exp(delta + X)))
        assert p[:, 1] == pytest.approx(1 - p[:, 0] - p[:, 2])
        p, derivatives = LAWS["rao-kupper"].probabilities(np.zeros(1), math.log(delta))
        slower = (derivatives[0, 0, 0] + derivatives[0, 1, 0] / 2) / 0.25  # than the logistic curve's expected score
        y = math.exp(-delta)
        assert slower == pytest.approx(1 - p[0, 1] ** 2) == pytest.approx(4 * y / (1 + y) ** 2)
