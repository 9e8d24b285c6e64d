"""Selection by vectors against the plain loop."""

from math import log

import numpy as np
from numba import njit

from arena.agents.core.selection import LANES, LOGS, SPARE, largest_bound, largest_bound_in_flight, log_of


@njit
def chosen(visits, value, first, count, scale):
    return largest_bound(visits, value, first, count, scale)


@njit
def chosen_in_flight(counts, first, count, scale, weight, wu):
    return largest_bound_in_flight(counts, first, count, scale, weight, wu)


def test_vectors_choose_as_the_plain_loop_does():
    """Ties, unvisited nodes anywhere, and numbers of children that fill no vector; what lies beyond is never chosen."""
    rng, agreed = np.random.default_rng(5), 0
    for trial in range(3000):
        count, first = int(rng.integers(1, 3 * LANES + 2)), int(rng.integers(0, 20))
        memory = rng.integers(0 if trial % 3 else 1, 4 if trial % 2 else 1000, first + count + SPARE).astype(np.int32)
        value = rng.integers(0, 2 * memory + 1) / 2.0
        memory[first + count :], value[first + count :] = trial % 2, np.inf
        visits, scale = memory[: first + count], np.float32(rng.random() if trial % 5 else 0.0)
        expected = largest_bound(visits, value, first, count, scale)
        assert chosen(visits, value, first, count, scale) == expected
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
    compiled = njit(lambda visits: log_of(visits))
    for visits in (0, 1, 2, 3, 1000, len(LOGS) - 1, len(LOGS), 10**7):
        assert compiled(visits) == log(max(visits, 1))
