"""Locks for threads that run compiled kernels: elements of an array, 1 while a thread holds them.

A thread that has failed, since a game raised an exception, frees nothing and counts nothing down.  So whoever waits
looks for LOST, which agents/core/threads.py writes then.
"""

import numpy as np

from arena.agents.core.atomics import atomic_compare_exchange, atomic_load, atomic_store, sched_yield
from arena.games.core.jit import helper

ONE = np.int32(1)
LOST = np.int32(2)


class ThreadLost(RuntimeError):
    """A thread for which this one waited has failed."""


@helper
def wait(words, index):
    """Let other threads run; ThreadLost where words[index]: int32 is LOST."""
    if atomic_load(words, index) == LOST:
        raise ThreadLost
    sched_yield()


@helper
def acquire(locks, index):
    """Wait for locks[index]: int32, and take it."""
    while not atomic_compare_exchange(locks, index, np.int32(0), ONE):
        wait(locks, index)


@helper
def release(locks, index):
    """Free locks[index]."""
    atomic_store(locks, index, np.int32(0))
