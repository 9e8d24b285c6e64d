"""Selection by vectors against the plain loop."""

from math import sqrt

import numpy as np
from numba import njit

from arena.agents.core.selection import (
    LANES,
    LOGS,
    SPARE,
    UNVISITED,
    largest_bound,
    largest_bound_in_flight,
    log_of,
    root_of_log,
)
from arena.games.core.numbers.elementary import log


@njit
def chosen(bounds, first, count, scale):
    return largest_bound(bounds, first, count, scale)


@njit
def chosen_in_flight(counts, first, count, scale, weight, wu):
    return largest_bound_in_flight(counts, first, count, scale, weight, wu)


def test_vectors_choose_as_the_plain_loop_does():
    """Ties, unvisited nodes anywhere, and numbers of children that fill no vector; what lies beyond is never chosen."""
    rng, agreed = np.random.default_rng(5), 0
    for trial in range(3000):
        count, first = int(rng.integers(1, 3 * LANES + 2)), int(rng.integers(0, 20))
        visits = rng.integers(0 if trial % 3 else 1, 4 if trial % 2 else 1000, first + count + SPARE)
        visits[first + count :] = trial % 2
        share = np.float32(1.0) / np.maximum(visits, 1).astype(np.float32)
        bounds = np.stack((rng.integers(0, 2 * visits + 1) / 2.0 * share, np.sqrt(share)), axis=1).astype(np.float32)
        bounds[visits == 0] = UNVISITED, 0.0
        bounds[first + count :, 1] = np.inf
        memory, scale = bounds, np.float32(rng.random() if trial % 5 else 0.0)
        bounds = memory[: first + count]
        expected = largest_bound(bounds, first, count, scale)
        assert chosen(bounds, first, count, scale) == expected
        agreed += visits[expected] > 0
    assert agreed > 1000


def test_vectors_choose_as_the_plain_loop_does_with_simulations_in_flight():
    rng, agreed = np.random.default_rng(6), 0
    for trial in range(2000):
        count, first = int(rng.integers(1, 3 * LANES + 2)), int(rng.integers(0, 20))
        done = rng.integers(0 if trial % 3 else 1, 4 if trial % 2 else 1000, first + count + SPARE)
        counts = np.stack((done + rng.integers(0, 3, len(done)), rng.integers(0, 2 * done + 1) << 32 | done), axis=1)
        counts[first + count :] = trial % 2
        weight = np.float32((1.0, 0.0, 0.5)[trial % 7 % 3])
        arguments = (counts, first, count, np.float32(rng.random()), weight, bool(trial % 11 == 0))
        expected = largest_bound_in_flight(*arguments)
        assert chosen_in_flight(*arguments) == expected
        agreed += done[expected] > 0
    assert agreed > 700


def test_logarithms_of_the_table_are_those_beyond_it():
    compiled, root = njit(lambda visits: log_of(visits)), njit(lambda visits: root_of_log(visits))
    for visits in (0, 1, 2, 3, 1000, len(LOGS) - 1, len(LOGS), 10**7):
        assert compiled(visits) == log(max(visits, 1))
        assert root(visits) == np.float32(sqrt(log(max(visits, 1))))
