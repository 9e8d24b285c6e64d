"""What SciPy has, too, but would take a third of a second to load for every table of a run."""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

EVALUATIONS = 200  # halving an interval so often leaves nothing
REJECTED, SHRUNK, GROWN = (
    0.15,
    0.25,
    0.75,
)  # of a step's foretold gain: below it is not taken, the radius shrinks, grows
RADIUS, MOST_RADIUS = 1.0, 10.0  # of the region of a step, for each parameter: at first, at most

normal_quantile = NormalDist().inv_cdf  # the inverse of normal_probability


def normal_probability(x: float) -> float:
    """The probability that a standard normal variable is less than x."""
    return 0.5 * math.erfc(-x / math.sqrt(2))


def normal_probabilities(x: np.ndarray) -> np.ndarray:
    """float of any shape."""
    return 0.5 * np.asarray(np.frompyfunc(math.erfc, 1, 1)(-x / math.sqrt(2)), float)


def logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^-x), without overflow, all digits where small."""
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, 1.0) / (1 + small)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """A zero of the function, between ends of different signs; ValueError if they do not differ."""
    below = function(low) < 0
    if below == (function(high) < 0):
        raise ValueError(f"the function has the same sign at {low} and at {high}")
    for _ in range(EVALUATIONS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if (function(middle) < 0) == below:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def reachable(edges: np.ndarray) -> np.ndarray:
    """bool[n, n]: edges, bool[n, n], lead from row to column in any number of steps."""
    reach = edges | np.eye(len(edges), dtype=bool)
    for _ in range(max(1, len(edges).bit_length())):
        with np.errstate(all="ignore"):  # some libraries' products warn of numbers beyond the matrix (BLAS on ARM)
            further = (reach.astype(np.float32) @ reach) > 0
        if (further == reach).all():
            break
        reach = further
    return reach


def components(edges: np.ndarray) -> np.ndarray:
    """int[n]: the node's component, in which edges, bool[n, n], lead from each node to each other."""
    reach = reachable(edges)
    return np.unique(np.argmax(reach & reach.T, axis=1), return_inverse=True)[1]


def has_negative_cycle(weights: np.ndarray) -> bool:
    """Whether edges of those weights, float[n, n] with inf for none, have a cycle of negative weight (Bellman, 1958;
    Ford, 1956).

    So they have as soon as the edges by which distances last became shorter have a cycle (Cherkassky & Goldberg,
    "Negative-cycle detection algorithms", 1999).
    """
    n = len(weights)
    distance, before = np.zeros(n), np.arange(n)
    for _ in range(n):
        lengths = distance[:, None] + weights
        nearest = lengths.argmin(axis=0)
        shorter = lengths[nearest, np.arange(n)]
        improved = shorter < distance
        if not improved.any():
            return False
        distance, before = np.where(improved, shorter, distance), np.where(improved, nearest, before)
        if _has_cycle(before):
            return True
    return True


def _has_cycle(before: np.ndarray) -> bool:
    """Whether steps from a node to the one before it, int[n], lead round in a circle; one before itself ends them."""
    ends = before == np.arange(len(before))
    for _ in range(len(before).bit_length()):
        before = before[before]
    return not ends[before].all()


def contrasts(n: int) -> np.ndarray:
    """float[n, n - 1]: orthonormal columns, each with sum 0 (Helmert's)."""
    columns = np.triu(np.ones((n, n - 1)))
    steps = np.arange(1, n)
    columns[steps, steps - 1] = -steps
    return columns / np.sqrt(steps * (steps + 1.0))


def minimum(function, theta: np.ndarray, steps: int, slope: float) -> np.ndarray:
    """The place of a minimum, sought from theta: float[n] until the slope is small or the steps are used up.

    function(theta) is the value, the gradient float[n] and second derivatives float[n, n], nowhere negative definite.
    Newton's steps within a trust region (Nocedal & Wright, "Numerical optimization", 2006, algorithm 4.1).
    """
    radius, most = RADIUS * math.sqrt(len(theta)), MOST_RADIUS * math.sqrt(len(theta))
    value, by, curvature = function(theta)
    for _ in range(steps):
        if np.linalg.norm(by) < slope:
            break
        step = _step_within(by, curvature, radius)
        foretold = -(by @ step + step @ curvature @ step / 2)
        new = function(theta + step)
        share = (value - new[0]) / foretold if foretold > 0 else 0.0
        if not share >= SHRUNK:
            radius *= 0.25
        elif share > GROWN and np.linalg.norm(step) > 0.99 * radius:
            radius = min(2 * radius, most)
        if share > REJECTED:
            theta = theta + step
            value, by, curvature = new
    return theta


def _step_within(by: np.ndarray, curvature: np.ndarray, radius: float) -> np.ndarray:
    """The step within the radius after which the quadratic model is least."""
    roots, directions = np.linalg.eigh(curvature)
    along, least = by @ directions, max(roots[-1], 1.0) * 1e-14
    roots = np.maximum(roots, least)

    def excess(damping):
        return float(np.linalg.norm(along / (roots + damping))) - radius

    damping = 0.0 if excess(0.0) <= 0 else root(excess, 0.0, 2.0 * float(np.linalg.norm(by)) / radius)
    return -directions @ (along / (roots + damping))
