"""The log of a run: one file, written by this process for itself and its workers.

A MultiProcessingHandler (multiprocessing-logging) has a queue, and a thread that moves records to the file: nobody
waits for the disk.  No worker has that queue, which could carry anything: workers send records and prints as messages.
"""

import io
import logging
import os
import queue
import sys
from collections.abc import Callable
from typing import Protocol

from multiprocessing_logging import MultiProcessingHandler

from arena.games.core.shared.files import open_to_append
from arena.games.core.shared.system import sharing
from arena.workers.confinement import safe_path
from arena.workers.messages import Logged, WorkersEnd

_FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"

WORKERS_LIMIT = 64 << 20  # bytes in the file: then workers' records are dropped
OVERHEAD = 80  # bytes of a record, besides its text
LONGEST_RECORD = 1 << 20  # characters of a worker's record


class LogFile(logging.FileHandler):
    """Reports its first failure and never stops the run."""

    def __init__(self, path, on_trouble: Callable[[str], None] | None = None):
        self._on_trouble = on_trouble
        self.trouble: str | None = None  # the first failure
        super().__init__(path, mode="a", encoding="utf-8")
        self.setFormatter(logging.Formatter(_FORMAT))

    def _open(self):
        # unbuffered: nothing fails late, and no forked worker writes it twice
        raw = open_to_append(self.baseFilename, buffering=0)
        return io.TextIOWrapper(raw, self.encoding, errors="backslashreplace", write_through=True)

    def handleError(self, record):
        """Report the first failure; `emit` calls this in an except clause."""
        if self.trouble is None:
            error = sys.exc_info()[1]
            self.trouble = f"the log {self.baseFilename} cannot be written: {getattr(error, 'strerror', None) or error}"
            if self._on_trouble:
                self._on_trouble(self.trouble)


class WorkersLog(Protocol):
    """Receives the log records of workers."""

    def of_worker(self, worker: str, name: str, level: int, text: str) -> None:
        """A record of a worker's logger, or a printed line."""


class ThreadQueue(queue.Queue):
    """What a MultiProcessingHandler wants of a queue, between threads."""

    def get(self, block=True, timeout=None):
        """The next record; Empty for a None that was put to wake who waits."""
        if (record := super().get(block, timeout)) is None:
            raise queue.Empty
        return record

    def close(self) -> None:
        """There is nothing to close."""

    def join_thread(self) -> None:
        """There is none."""


class Handler(MultiProcessingHandler):
    """A handler without the queue for processes, which nobody shares: its locks would outlive a killed run."""

    def __init__(self, name, sub_handler):
        self._queue = ThreadQueue()
        super().__init__(name, sub_handler)

    queue = property(lambda self: self._queue, lambda self, of_processes: None)

    def close(self):
        """Write what is left; the thread, which looks every 0.2 s whether to end, is woken for it."""
        if not self._is_closed:
            self._is_closed = True
            self._queue.put(None)
            self._receive_thread.join(5.0)
            self.sub_handler.close()
            logging.Handler.close(self)


class RunLog:
    """The log file of a run, attached to the logger "arena" in a context.

    OSError if it cannot be opened; `on_trouble` is called once, by another thread, if it cannot be written later.
    """

    def __init__(self, path, on_trouble: Callable[[str], None] | None = None, level=logging.INFO):
        self.file = LogFile(path, on_trouble)
        self._level = level
        self._logger = logging.getLogger("arena")
        self._room = WORKERS_LIMIT - os.path.getsize(path)  # bytes left for workers

    def __enter__(self):
        with safe_path(), sharing():  # it first makes a queue for processes, with locks
            self._handler = Handler("log of the run", sub_handler=self.file)
        self._level_before = self._logger.level
        self._logger.setLevel(self._level)
        self._logger.addHandler(self._handler)
        if self._room <= 0:
            self._tell_that_it_is_full()
        return self

    def __exit__(self, *error):
        self._logger.removeHandler(self._handler)
        self._logger.setLevel(self._level_before)
        self._handler.close()  # writes the queue and closes the file

    def of_worker(self, worker: str, name: str, level: int, text: str) -> None:
        """A worker's record or printed line; dropped if the file is long."""
        if self._room <= 0:
            return
        self._room -= len(name) + len(text) + OVERHEAD
        record = {"name": name, "levelno": level, "levelname": logging.getLevelName(level), "msg": text, "args": None}
        self._handler.handle(logging.makeLogRecord({**record, "processName": worker}))
        if self._room <= 0:
            self._tell_that_it_is_full()

    def _tell_that_it_is_full(self):
        self._logger.warning("the log is full of what workers log and print; the rest is left out")


class Sender(logging.Handler):
    """Sends the records of a worker to the supervisor."""

    def __init__(self, channel: WorkersEnd):
        super().__init__()
        self._channel = channel
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record):
        try:
            text = self.format(record).encode("utf-8", "backslashreplace").decode()
            self._channel.send(Logged(record.levelno, str(record.name), text[:LONGEST_RECORD]))
        except Exception:
            self.handleError(record)


def send_by(channel: WorkersEnd, level=logging.INFO) -> None:
    """Send a worker's records of all loggers by `channel`, and nowhere else."""
    logging.raiseExceptions = False  # a record that cannot be sent is lost
    arena = logging.getLogger("arena")
    arena.handlers.clear()  # the parent's, after a fork
    arena.setLevel(logging.NOTSET)
    root = logging.getLogger()
    root.handlers[:] = [Sender(channel)]
    root.setLevel(level)
