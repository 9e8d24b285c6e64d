"""The processes that compile and play: kept from one run to the next, as between the steps of a study."""

import itertools
import time
from contextlib import suppress
from multiprocessing import connection as pipes

from arena.config.config import Config
from arena.workers import worker_main
from arena.workers.logs import WorkersLog
from arena.workers.machine import sources_of
from arena.workers.messages import Leave
from arena.workers.watchdog import Watchdog
from arena.workers.worker import Worker

FAREWELL_SECONDS = 5.0  # for idle workers to end by themselves


class Crew:
    """Workers that are hired for a configuration and, if they are kept, for the next one, their kernels loaded.

    A context, at whose end no process is left.
    """

    def __init__(self):
        self._idle: list[Worker] = []
        self._names, self._watchdog = itertools.count(1), Watchdog()
        self._config: Config | None = None
        self._sources = ""

    def __enter__(self) -> "Crew":
        return self

    def __exit__(self, *error) -> None:
        self._say_farewell()
        for worker in self._idle:
            worker.kill()
            worker.close()
        self._idle.clear()
        self._watchdog.close()

    def hire(self, config: Config, run_log: WorkersLog) -> Worker:
        """A worker for this configuration, which may not be ready yet; an idle one if there is."""
        if config is not self._config:
            self._config, self._sources = config, sources_of(config, values=False)
        while self._idle:
            worker = self._idle.pop()
            if worker.serve(config, self._sources, run_log):
                return worker
            worker.kill()
            worker.close()
        name = f"worker-{next(self._names)}"
        return Worker(name, worker_main.main, config, self._sources, run_log, self._watchdog)

    def keep(self, worker: Worker) -> None:
        """Take back a worker that has nothing to do."""
        worker.hear_out()
        self._idle.append(worker)

    def _say_farewell(self) -> None:
        """Let idle workers end by themselves, so that their last log records arrive."""
        until = time.monotonic() + FAREWELL_SECONDS
        for worker in self._idle:
            with suppress(OSError):  # it has ended
                worker.end.send(Leave())
        for worker in self._idle:
            while not worker.dead() and (left := until - time.monotonic()) > 0:
                pipes.wait(worker.watched(), left)
                if not worker.hear_out():
                    worker.ends_within(until - time.monotonic())
