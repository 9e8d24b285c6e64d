"""Locks for threads that run compiled kernels: elements of an array, 1 while a thread holds them."""

import numpy as np

from arena.agents.core.atomics import atomic_compare_exchange, atomic_store, sched_yield
from arena.games.core.jit import helper

ONE = np.int32(1)


@helper
def acquire(locks, index):
    """Wait for locks[index]: int32, and take it."""
    while not atomic_compare_exchange(locks, index, np.int32(0), ONE):
        sched_yield()


@helper
def release(locks, index):
    """Free locks[index]."""
    atomic_store(locks, index, np.int32(0))
