"""The station: a process on a machine of the cluster that plays games by a supervisor of its own.

It reads orders from one socket and writes messages to another; it ends when the first is closed, as when Dask's worker
dies.  `arena.cluster.post` starts it.
"""

import json
import logging
import multiprocessing
import os
import platform
import signal
import socket
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from arena.cluster import station_messages
from arena.cluster.describing import describe_station
from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.games.core.shared import cache
from arena.games.core.shared.system import start_method
from arena.workers.crew import Crew
from arena.workers.messages import SupervisorsEnd, WorkersEnd
from arena.workers.supervisor import Supervisor

ROOM = 8 << 20  # characters of the log that it sends
PATIENCE = 600.0  # seconds to wait for another station that compiles
LOOK = 1.0  # seconds between looks whether the parent is alive


class SentLog(logging.Handler):
    """Sends the log of the supervisor, whose RunLog it is, and its workers to the parent."""

    def __init__(self, channel: WorkersEnd):
        super().__init__()
        self._channel, self._room = channel, ROOM

    def emit(self, record):
        with suppress(Exception):  # a record that cannot be sent is lost
            self.of_worker(record.processName or "", record.name, record.levelno, self.format(record))

    def of_worker(self, worker: str, name: str, level: int, text: str) -> None:
        """A record of a worker's logger, or a line that it printed."""
        if self._room > 0:
            self._room -= len(text)
            text = text.encode("utf-8", "backslashreplace").decode()
            self._channel.send(
                station_messages.LogLine(
                    worker, name, level, text if self._room > 0 else "the rest of this log is left out"
                )
            )


class Inbox:
    """The games that have arrived: a `Feed` of the supervisor."""

    def __init__(self, end: socket.socket):
        self._end, self.open = SupervisorsEnd(end, station_messages.orders), True
        self._games: deque[Fixture] = deque()
        self.supervisor: Supervisor | None = None

    def fileno(self) -> int:
        return self._end.fileno()

    def read(self) -> None:
        arrived, self.open = self._end.receive()
        for order in arrived:
            if isinstance(order, station_messages.Games):
                self._games.extend(order.fixtures)
            elif isinstance(order, station_messages.Halt) and self.supervisor:
                self.supervisor.request_stop()
        if not self.open and self.supervisor:
            self.supervisor.request_stop(now=True)

    def next(self) -> Fixture | None:
        """The next game; None if none has arrived."""
        return self._games.popleft() if self._games else None


def main(orders_from: int, messages_to: int) -> None:
    """Play games from one descriptor, and send messages to the other, until nobody listens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with(os.getppid())
    # this process has no threads, and has imported what its workers need
    multiprocessing.set_start_method(start_method(threads=False))
    incoming = socket.socket(fileno=orders_from)
    channel, first = WorkersEnd(socket.socket(fileno=messages_to)), WorkersEnd(incoming, station_messages.orders)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # nobody listens
        begin = first.receive()
        if (config := _settle_in(channel, begin)) and isinstance(first.receive(), station_messages.Prepare):
            _play(channel, Inbox(incoming), config, begin.cores)


def _settle_in(channel, begin: station_messages.Begin) -> Config | None:
    """The run's configuration; None, after sending the reason, if it cannot be made here."""
    try:
        config = Config.restored(json.loads(begin.values))
        channel.send(station_messages.Described(describe_station(config)))
        return config
    except ImportError as error:
        channel.send(
            station_messages.Refusal(
                f"it cannot import what the run needs: {error}; plug-ins must be installed there too"
            )
        )
        return None
    except Exception as error:  # any error of a plug-in
        channel.send(station_messages.Refusal(f"{type(error).__name__}: {error}"))
        return None


def _play(channel, inbox: Inbox, config: Config, cores: int) -> None:
    run_log = SentLog(channel)
    arena = logging.getLogger("arena")
    arena.addHandler(run_log)
    arena.setLevel(logging.INFO)

    def send(records):
        for record in records:
            channel.send(station_messages.Over(record))

    def on_tick():
        harm.tell()
        channel.send(station_messages.Alive())

    with Crew() as crew:
        supervisor = Supervisor(
            config,
            inbox.next,
            send,
            run_log,
            crew=crew,
            workers=cores,
            on_trouble=lambda text: channel.send(station_messages.Trouble(text)),
            on_tick=on_tick,
            feed=inbox,
        )
        inbox.supervisor, harm = supervisor, HarmReport(channel, supervisor)
        with _one_a_machine():
            supervisor.prepare(lambda name: None, lambda *loaded: channel.send(station_messages.Loaded(*loaded)))
        harm.tell()
        channel.send(station_messages.Prepared())
        supervisor.run()


class HarmReport:
    """Sends each harm of agents and games to processes once."""

    def __init__(self, channel: WorkersEnd, supervisor: Supervisor):
        self._channel, self._supervisor = channel, supervisor
        self._before: tuple[Counter[int], Counter[int]] = Counter(), Counter()

    def tell(self) -> None:
        """Send what has happened since the last call."""
        known = self._supervisor.verdicts.known()
        spoilt, broken = (now - before for now, before in zip(known, self._before))
        self._before = known
        if spoilt or broken:
            self._channel.send(station_messages.Harm(dict(spoilt), dict(broken)))


@contextmanager
def _one_a_machine() -> Iterator[None]:
    """A context for one station of a machine at a time: the others find its kernels on disk."""
    folder = cache.folder()
    lock = FileLock(Path(folder, f".compiling-{platform.node()}.lock"), timeout=PATIENCE) if folder else None
    with suppress(OSError, Timeout, NotImplementedError):  # then several compile at once
        if lock:
            lock.acquire()
    try:
        yield
    finally:
        if lock:
            lock.release()


def _end_with(parent: int) -> None:
    """End this process and its workers soon after its parent; by a timer, not by a thread."""
    own = os.getpid()

    def look(number, frame):
        if os.getpid() == own and os.getppid() != parent:
            os._exit(1)

    signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, LOOK, LOOK)
