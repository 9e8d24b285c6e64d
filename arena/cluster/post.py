"""A station as seen by the tasks of the Dask worker that started it."""

import math
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from arena.cluster import station_messages
from arena.formats.fixture import Fixture
from arena.games.core.shared.system import kill_group
from arena.workers.messages import WorkersEnd

LOOK = 0.5  # seconds between looks whether the games are still wanted
FAREWELL = 10.0  # seconds to end by itself
SILENT = 30.0  # seconds without a word of a playing station, which is stopped, or hangs: it is ended
COMMAND = "import sys; from arena.cluster.station import main; main(int(sys.argv[1]), int(sys.argv[2]))"


class Post:
    """Starts a station, hands it games of several tasks at once, sorts its messages."""

    def __init__(self, values: str, cores: int):
        ours, theirs = zip(*(socket.socketpair() for _ in ("orders", "messages")))
        numbers = [end.fileno() for end in theirs]
        # not by `-m`, or its workers would run the module again; with this process's path, where the project was found
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", COMMAND, *map(str, numbers)],
            pass_fds=numbers,
            stdin=subprocess.DEVNULL,
            process_group=0,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        )
        for end in theirs:
            end.close()
        self._orders, self._ends = WorkersEnd(ours[0]), ours
        self._changed = threading.Condition()
        self._said: list[station_messages.Message] = []  # not yet returned by a task
        self._records: dict[str, station_messages.Over] = {}  # likewise, by the ids of games
        self._machine: station_messages.Described | station_messages.Refusal | None = None
        self._asked = self._prepared = self.ended = self.halted = False
        threading.Thread(
            target=self._listen, args=(WorkersEnd(ours[1], station_messages.messages),), daemon=True
        ).start()
        self._order(station_messages.Begin(values, cores))

    def describe(self, wanted: Callable[[], bool]) -> station_messages.StationAnswer:
        """Its description, or why it cannot play."""
        self._wait(lambda: self._machine is not None, wanted)
        return station_messages.StationAnswer([self._machine] if self._machine else [], self._lost())

    def prepare(self, wanted: Callable[[], bool]) -> station_messages.StationAnswer:
        """Let it compile, once."""
        with self._changed:
            asked, self._asked = self._asked, True
        if not asked:
            self._order(station_messages.Prepare())
        self._wait(lambda: self._prepared, wanted)
        return self._answer([])

    def play(self, fixtures: list[Fixture], wanted: Callable[[], bool]) -> station_messages.StationAnswer:
        """Play these games; returns when they are over, the station has ended, or nobody wants them."""
        ids = [fixture.id for fixture in fixtures]
        if not self._prepared:  # a new station, for a closed one
            self.prepare(wanted)
        if not self.halted:
            self._order(station_messages.Games(fixtures))
            self._wait(lambda: all(id in self._records for id in ids), wanted, SILENT)
        return self._answer(ids)

    def halt(self) -> None:
        """Tell it to begin no more games."""
        self.halted = True
        self._order(station_messages.Halt())

    def close(self) -> None:
        """End it, and wait until it has ended."""
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            kill_group(self._process.pid)  # its workers, too, which may be stopped
            self._process.wait()

    def _order(self, order) -> None:
        with suppress(OSError):  # it has ended, as its silence shows, too
            self._orders.send(order)

    def _wait(self, done: Callable[[], bool], wanted: Callable[[], bool], patience: float = math.inf) -> None:
        """Wait until `done()` or that is impossible; close a station that nobody wants, or that falls silent."""
        silent = 0.0  # not by a clock, which goes on while this process is stopped
        with self._changed:
            while not (done() or self.ended) and wanted() and silent < patience:
                silent = 0.0 if self._changed.wait(LOOK) else silent + LOOK
            over = done() or self.ended
        if not over:
            self.close()

    def _answer(self, ids: Iterable[str]) -> station_messages.StationAnswer:
        with self._changed:
            said, self._said = self._said, []
            records = [self._records.pop(id) for id in ids if id in self._records]
        return station_messages.StationAnswer([*said, *records], self._lost(), self.halted)

    def _lost(self) -> str:
        """How it ended; "" while it lives, or if it ended on request."""
        if not self.ended or self.halted:
            return ""
        try:
            code = self._process.wait(FAREWELL)
        except subprocess.TimeoutExpired:
            return "its station fell silent"
        return f"its station ended with exit code {code}"

    def _listen(self, end: WorkersEnd) -> None:
        with suppress(EOFError, OSError):
            while True:
                message = end.receive()
                with self._changed:
                    self._note(message)
                    self._changed.notify_all()
        with self._changed:
            self.ended = True
            self._changed.notify_all()
        for one in self._ends:
            one.close()

    def _note(self, message: station_messages.Message) -> None:
        if isinstance(message, station_messages.Over):
            self._records[message.record.id] = message
        elif isinstance(message, station_messages.Described | station_messages.Refusal):
            self._machine = message
        elif isinstance(message, station_messages.Prepared):
            self._prepared = True
        elif not isinstance(message, station_messages.Alive):
            self._said.append(message)
