"""The speed of what `arena bench` measures, by pytest-benchmark, to compare two versions; CONTRIBUTING.md says how.

A round's work is always the same: seeded playouts of a game, or one seeded search.
"""

import time

import pytest

pytest.importorskip("pytest_benchmark")

from arena.study.bench import usual_subjects
from arena.study.meter import workload

PLAYOUTS = 1000  # of a round


@pytest.mark.benchmark(timer=time.thread_time)  # of the processor: others may use it, too
@pytest.mark.parametrize("subject", usual_subjects(), ids=lambda one: " ".join(filter(None, (one.agent, one.game))))
def test_speed(benchmark, subject):
    load, count = workload(subject), 1 if subject.agent else PLAYOUTS
    load.work(count)  # compiles
    units, _ = benchmark(load.work, count)
    assert units >= 1
