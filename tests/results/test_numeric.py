"""What stands in for SciPy, beside SciPy."""

import math

import numpy as np
import pytest
from scipy import linalg, optimize, special
from scipy.sparse import csr_array
from scipy.sparse.csgraph import NegativeCycleError, bellman_ford, connected_components

from arena.results.statistics import numeric

WIDE = np.array([-700.0, -40.0, -8.3, -1.0, -1e-9, 0.0, 1e-9, 0.3, 2.0, 9.0, 40.0, 700.0])


def random_edges(rng, n, share):
    return rng.random((n, n)) < share


def same_partition(one, other):
    """Whether two numberings put the same things together."""
    return ((one[:, None] == one) == (other[:, None] == other)).all()


def test_normal_distribution():
    assert numeric.normal_probabilities(WIDE.reshape(3, 4)) == pytest.approx(
        special.ndtr(WIDE).reshape(3, 4), rel=1e-13
    )
    for share in (1e-12, 0.025, 0.5, 0.975, 1 - 1e-9):
        assert numeric.normal_quantile(share) == pytest.approx(special.ndtri(share), rel=1e-13, abs=1e-13)


def test_logistic():
    assert numeric.logistic(WIDE) == pytest.approx(special.expit(WIDE), rel=1e-13)


def test_root():
    assert numeric.root(lambda x: math.exp(x) - 3, -100, 100) == pytest.approx(math.log(3), rel=1e-15)
    assert numeric.root(lambda x: 2 - x, 0, 5) == 2
    with pytest.raises(ValueError, match="the same sign at 1 and at 2"):
        numeric.root(math.exp, 1, 2)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1, 0.3])
@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_graphs(n, share):
    rng = np.random.default_rng(n)
    for _ in range(10):
        edges = random_edges(rng, n, share)
        graph = csr_array(edges)
        assert same_partition(numeric.components(edges), connected_components(graph, connection="strong")[1])
        assert same_partition(numeric.components(edges | edges.T), connected_components(graph, directed=False)[1])
        weights = np.where(edges, rng.choice([-1.0, 1.0], (n, n), p=[0.1, 0.9]), math.inf)
        assert numeric.has_negative_cycle(weights) == scipy_finds_negative_cycle(weights)


def scipy_finds_negative_cycle(weights):
    edges = np.isfinite(weights)
    try:
        bellman_ford(csr_array((weights[edges], np.nonzero(edges)), weights.shape))
    except NegativeCycleError:
        return True
    return False


def test_contrasts():
    for n in (1, 2, 7):
        columns = numeric.contrasts(n)
        assert columns.T @ columns == pytest.approx(np.eye(n - 1), abs=1e-14)
        assert columns.sum(axis=0) == pytest.approx(np.zeros(n - 1), abs=1e-14)
    assert np.abs(numeric.contrasts(7).T) == pytest.approx(np.abs(linalg.helmert(7)), abs=1e-14)


@pytest.mark.parametrize("start", [(0.0, 0.0), (-1.2, 1.0), (30.0, -20.0)])
def test_minimum(start):
    """A sum of log(1 + e^...) as of ratings, with a direction in which it is nearly flat, from near and from far."""
    rows = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.99], [-0.5, -0.51], [1e-3, -1e-3]])

    def function(theta):
        return float(np.logaddexp(0, rows @ theta).sum() + 1e-4 * theta @ theta)

    def gradient(theta):
        return rows.T @ special.expit(rows @ theta) + 2e-4 * theta

    def hessian(theta):
        slope = special.expit(rows @ theta) * special.expit(-rows @ theta)
        return rows.T @ (slope[:, None] * rows) + 2e-4 * np.eye(2)

    def all_three(theta):
        return function(theta), gradient(theta), hessian(theta)

    found = numeric.minimum(all_three, np.array(start), 60, 1e-9)
    known = optimize.minimize(function, np.array(start), jac=gradient, hess=hessian, method="trust-exact", tol=1e-9)
    assert np.linalg.norm(gradient(found)) < 1e-9
    assert found == pytest.approx(known.x, abs=1e-4)


def test_minimum_without_a_slope_stays():
    there = numeric.minimum(lambda x: (0.0, 0 * x, np.zeros((2, 2))), np.array([3.0, 4.0]), 9, 1e-7)
    assert there.tolist() == [3.0, 4.0]
