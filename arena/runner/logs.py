"""The log of a run: one file, written by this process for itself and for its workers.

This process's own records go through an ordinary file handler.  Each worker has a MultiProcessingHandler of its own
(multiprocessing-logging): a queue, and a thread here that moves its records to the file.  A worker that is killed
while it holds its queue's lock spoils that queue and no other, and both end with the worker.
"""

import io
import logging
import logging.handlers
import sys
import threading
from collections.abc import Callable

from multiprocessing_logging import MultiProcessingHandler

_FORMAT = "%(asctime)s %(levelname)s %(processName)s %(name)s: %(message)s"
_PLAIN = ("name", "levelno", "levelname", "msg", "created", "msecs", "processName", "process")


class LogFile(logging.FileHandler):
    """A file handler that reports its first failure in words, and never stops the run."""

    def __init__(self, path, on_trouble: Callable[[str], None] | None = None):
        self._on_trouble = on_trouble
        self.trouble: str | None = None  # what went wrong first
        super().__init__(path, mode="a", encoding="utf-8")
        self.setFormatter(logging.Formatter(_FORMAT))

    def _open(self):
        # without a buffer nothing can fail late, at the close, and no forked worker can write it again
        raw = open(self.baseFilename, "ab", buffering=0)  # noqa: SIM115 - the handler closes it
        return io.TextIOWrapper(raw, self.encoding, errors="backslashreplace", write_through=True)

    def handleError(self, record):
        """Called by `emit` in an except clause."""
        if self.trouble is None:
            error = sys.exc_info()[1]
            self.trouble = f"the log {self.baseFilename} cannot be written: {getattr(error, 'strerror', None) or error}"
            if self._on_trouble:
                self._on_trouble(self.trouble)


class _Relay(logging.Handler):
    """Hands a worker's records to the file, which outlives the worker."""

    def __init__(self, file):
        super().__init__()
        self._file = file

    def emit(self, record):
        self._file.handle(record)


class WorkerLog:
    """Carries one worker's records to the file.  `queue` is the worker's end, for `send_to`."""

    def __init__(self, name: str, file: LogFile):
        self._handler = MultiProcessingHandler(f"log of {name}", sub_handler=_Relay(file))
        self.queue = self._handler.queue
        self._closing: threading.Thread | None = None

    def started(self) -> None:
        """Call this once the worker's process has started.

        From then on the worker holds the only writing end of the queue, so that its death, even in the middle of a
        record, ends the queue.  (multiprocessing has no public name for that end.)
        """
        self.queue._writer.close()

    def close(self) -> None:
        """Deliver what the dead worker has sent; returns at once."""
        self._closing = threading.Thread(target=self._close, daemon=True)
        self._closing.start()

    def _close(self):
        self._handler.close()
        if not self._handler._receive_thread.is_alive():
            self.queue._reader.close()  # which Queue.close leaves open

    def closed(self) -> bool:
        """Whether `close` is done."""
        return self._closing is not None and not self._closing.is_alive()

    def join(self, seconds: float) -> None:
        """Wait until `close` is done, no longer than `seconds`."""
        if self._closing is not None:
            self._closing.join(seconds)


class RunLog:
    """The log file of a run, attached to the logger "arena" while the context lasts.

    OSError if the file cannot be opened; `on_trouble` is told, once, if it cannot be written later.
    """

    def __init__(self, path, on_trouble: Callable[[str], None] | None = None, level=logging.INFO):
        self.file = LogFile(path, on_trouble)
        self._level = level
        self._logger = logging.getLogger("arena")

    def __enter__(self):
        self._level_before = self._logger.level
        self._logger.setLevel(self._level)
        self._logger.addHandler(self.file)
        return self

    def __exit__(self, *error):
        self._logger.removeHandler(self.file)
        self._logger.setLevel(self._level_before)
        self.file.close()

    def worker(self, name: str) -> WorkerLog:
        """The log of a worker about to be started."""
        return WorkerLog(name, self.file)


class _PlainQueueHandler(logging.handlers.QueueHandler):
    """Sends records of plain values, which any process can unpickle."""

    def prepare(self, record):
        record = super().prepare(record)
        return logging.makeLogRecord({key: getattr(record, key) for key in _PLAIN})


def send_to(queue, level=logging.INFO) -> None:
    """In a worker: send the records of every logger into `queue`, and nowhere else."""
    arena = logging.getLogger("arena")
    arena.handlers.clear()  # under fork they are the parent's
    arena.setLevel(logging.NOTSET)
    root = logging.getLogger()
    root.handlers[:] = [_PlainQueueHandler(queue)]
    root.setLevel(level)
