"""Pools of processes: their answers, and what becomes of processes that die; and the order of virtual time."""

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from arena.agents.core.pool import FREE, Pool, WorkerError
from arena.agents.core.virtual import VirtualClock


def begin(number, folder):
    """Work by name; "once" kills the process the first time."""

    def work(given):
        yield number, given
        if given == "fail":
            raise KeyError("no such word")
        if given == "exit":
            os._exit(3)
        if given == "kill" or (given == "once" and not (mark := Path(folder, "killed")).exists()):
            given == "once" and mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield number, "end"

    return work


class Words(Pool):
    def __init__(self, folder, workers):
        super().__init__("test", workers, begin, folder, restarts=2)


class User:
    """Has a pool until it is forgotten."""

    def __init__(self, folder, workers):
        self.pool = Words.take(self, folder, workers)
        self.pool.open()


def answers(pool, count):
    found = []
    with pool.ended_by_errors():
        while len(found) < count:
            found += pool.wait()
    for given in pool.given:
        given.clear()
    return sorted(answer for _, answer in found)


@pytest.fixture
def folder(tmp_path):
    yield str(tmp_path)
    for key in [key for key in FREE if Words in key]:
        for pool in FREE.pop(key):
            pool.close()


def test_work_of_a_killed_process_is_done_by_another_and_the_pool_is_kept(folder):
    user = User(folder, 2)
    pool, pids = user.pool, [one.process.pid for one in user.pool.team]
    pool.give(0, "once")
    pool.give(1, "word")
    assert answers(pool, 5) == [(0, "end"), (0, "once"), (0, "once"), (1, "end"), (1, "word")]
    assert pool.team[0].process.pid != pids[0] and pool.team[1].process.pid == pids[1]
    assert User(folder, 2).pool is not pool
    del user
    user = User(folder, 2)
    assert user.pool is pool
    assert pool.wait(0) == []
    pool.close()


@pytest.mark.parametrize(
    "word, message",
    [
        ("fail", "KeyError in a process of the test: 'no such word'"),
        ("exit", r"a process of the test died \(exit code 3\)"),
    ],
)
def test_errors_are_told_and_end_the_processes(folder, word, message):
    pool = User(folder, 1).pool
    process = pool.team[0].process
    pool.give(0, word)
    with pytest.raises(WorkerError, match=message):
        answers(pool, 9)
    assert not process.is_alive() and pool.team == [] and pool.given == [[]]


@pytest.mark.slow
def test_answers_start_the_count_of_deaths_again(folder):
    pool = User(folder, 1).pool
    for _ in range(4):  # as often as not even three in a row could be
        os.kill(pool.team[0].process.pid, signal.SIGKILL)
        pool.give(0, "word")
        assert answers(pool, 2) == [(0, "end"), (0, "word")]
    begun, start = [], pool.start
    pool.start = lambda number: (begun.append(number), one := start(number), os.kill(one.process.pid, 9))[1]
    os.kill(pool.team[0].process.pid, signal.SIGKILL)
    with pytest.raises(WorkerError, match=r"a process of the test died 3 times in a row \(exit code -9\)"):
        answers(pool, 1)
    assert begun == [0, 0]


@pytest.mark.slow
def test_free_pools_of_one_kind_are_bounded(tmp_path, folder, monkeypatch):
    """Those for other games end when one is taken; for one game, several agents have theirs."""
    before = set(multiprocessing.active_children())
    for game in ("one", "two", "three"):
        user = User(str(tmp_path / game), 2)
        assert len(set(multiprocessing.active_children()) - before) == 2
        del user
    monkeypatch.setattr("arena.agents.core.pool.KEPT", 1)
    for workers in (1, 2, 3):
        User(folder, workers)
    assert [pool.workers for pool in FREE[os.getpid(), Words]] == [2, 3]
    user = User(folder, 3)
    assert user.pool.workers == 3 and [pool.workers for pool in FREE[os.getpid(), Words]] == [2]


def test_virtual_time_orders_events_by_time_and_then_by_worker():
    clock, seen = VirtualClock(3), []
    while clock.events:
        worker = clock.next()
        seen.append((clock.now, worker))
        if clock.now < 4:
            clock.plan(2 if worker == 1 else 4, worker)
    assert seen == [(0, 0), (0, 1), (0, 2), (2, 1), (4, 0), (4, 1), (4, 2)]
