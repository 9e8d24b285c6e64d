"""Threads that run compiled kernels, which do not hold the interpreter's lock."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

MOST_THREADS = 64


class Threads:
    """Some workers, of which the first is the calling thread."""

    def __init__(self, workers: int):
        self.workers = workers
        self._pool = ThreadPoolExecutor(workers)

    def run(self, work: Callable[[int], object]) -> list:
        """work(i) for each worker i, all at the same time; what they return."""
        others = [self._pool.submit(work, i) for i in range(1, self.workers)]
        return [work(0), *(other.result() for other in others)]
