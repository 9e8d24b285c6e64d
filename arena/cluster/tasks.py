"""The tasks that Dask's workers run: each worker has one station for a run, which all tasks of the run use.

A task whose parent is gone closes it.  A station without games for a while is closed too, as its parent may have been
killed between two batches; the next batch starts it again.
"""

import asyncio
import threading
import time
from collections.abc import Callable

from distributed import Worker, get_worker

from arena.cluster.post import Post
from arena.cluster.station_messages import StationAnswer, batch_of, packed

IDLE = 60.0  # seconds without a batch, after which a station is closed
UNWANTED = ("cancelled", "released", "forgotten")  # states of an unwanted task, as Dask names them


class StationSlot:
    """A run's configuration in a Dask worker, and its station while there is one."""

    def __init__(self, values: str, cores: int):
        self._values, self._cores = values, cores
        self._lock, self._over = threading.Lock(), threading.Event()
        self._post: Post | None = None
        self._busy, self._since = 0, time.monotonic()  # tasks that use the station; when the last one ended
        threading.Thread(target=self._close_when_idle, daemon=True).start()

    def use(self, task: Callable[[Post], StationAnswer]) -> StationAnswer:
        """The answer of a task that uses the station, started if necessary."""
        with self._lock:
            if self._post is None or (self._post.ended and not self._post.halted):
                self._close()
                self._post = starter(self._values, self._cores)
            post, self._busy = self._post, self._busy + 1
        try:
            return task(post)
        finally:
            with self._lock:
                self._busy, self._since = self._busy - 1, time.monotonic()

    def halt(self) -> None:
        """Tell the station to begin no more games; its tasks return what they have."""
        with self._lock:
            if self._post is not None:
                self._post.halt()

    def leave(self) -> None:
        """End the station for good."""
        self._over.set()
        with self._lock:
            self._close()

    def _close(self):
        if self._post is not None:
            self._post.close()
            self._post = None

    def _close_when_idle(self):
        while not self._over.wait(IDLE / 4):
            with self._lock:
                if not self._busy and time.monotonic() - self._since >= IDLE:
                    self._close()


starter: Callable[[str, int], Post] = Post  # starts a station
_slots: dict[tuple[str, str], StationSlot] = {}  # by run and worker's address, since workers may share a process


def join(run: str, values: str) -> tuple[bytes, dict[str, float]]:
    """Start a station from resolved values in JSON: (StationAnswer with its description, this worker's resources)."""
    worker, wanted = get_worker(), _asker()
    if before := _slots.get((run, worker.address)):  # this worker was silent, and taken to be gone
        before.leave()
    slot = _slots[run, worker.address] = StationSlot(values, worker.state.nthreads)
    return packed(slot.use(lambda post: post.describe(wanted))), dict(worker.state.total_resources)


def prepare(run: str) -> bytes:
    """Let the station compile: a StationAnswer with the seconds that it took."""
    wanted = _asker()
    return packed(_slot(run).use(lambda post: post.prepare(wanted)))


def play(run: str, batch: bytes) -> bytes:
    """Let the station play a batch of games: a StationAnswer with their records."""
    fixtures, wanted = batch_of(batch), _asker()
    return packed(_slot(run).use(lambda post: post.play(fixtures, wanted)))


def halt(run: str, dask_worker: Worker) -> None:
    """Begin no more games of a run; Dask passes the worker."""
    if slot := _slots.get((run, dask_worker.address)):
        slot.halt()


async def leave(run: str, dask_worker: Worker) -> None:
    """End a run's station; in a thread, so that the worker can answer meanwhile."""
    if slot := _slots.pop((run, dask_worker.address), None):
        await asyncio.to_thread(slot.leave)


def _slot(run) -> StationSlot:
    return _slots[run, get_worker().address]


def _asker() -> Callable[[], bool]:
    """A function that says whether anybody still wants this thread's task."""
    worker = get_worker()
    key = worker.get_current_task()

    def wanted() -> bool:
        task = worker.state.tasks.get(key)
        return task is not None and task.state not in UNWANTED

    return wanted
