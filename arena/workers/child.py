"""A process that this one starts: its connection, what it prints, and its end.  Workers are such, and their hosts."""

import multiprocessing
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import msgspec

from arena.games.core.shared.system import kill_group
from arena.workers.confinement import inherited, safe_path
from arena.workers.messages import SupervisorsEnd
from arena.workers.starting import having_children, no_interrupt, start_process
from arena.workers.verdicts import death
from arena.workers.waiting import Failure

PRINTED = "printed"  # a name of a logger, for what processes print
LONGEST_LINE = 4096  # bytes of prints in a record
AT_ONCE = 1 << 18  # bytes
ORDER_BYTES = 1 << 17  # more than an order has, so that it is sent whole: some systems give a socket less room


class Child:
    """A process that runs `target`, of a connection's end, what `confine` takes, and more arguments.

    decoder: of what it sends; take: called with each line that it prints
    """

    def __init__(
        self, name: str, target: Callable, more: tuple, decoder: msgspec.msgpack.Decoder, take: Callable[[str], Any]
    ):
        inheritance = inherited()
        ours, theirs = socket.socketpair()
        for end, room in ((ours, socket.SO_SNDBUF), (theirs, socket.SO_RCVBUF)):
            end.setsockopt(socket.SOL_SOCKET, room, ORDER_BYTES)
        printed, output = multiprocessing.Pipe(duplex=False)
        self._served = multiprocessing.get_start_method() == "forkserver"
        with having_children(), no_interrupt(), safe_path():
            arguments = (theirs, (output, inheritance), *more)
            self.process = multiprocessing.Process(target=target, name=name, args=arguments)
            start_process(self.process)
        theirs.close()
        output.close()
        assert self.process.pid is not None
        self.pid: int = self.process.pid
        self.end, self.printed = SupervisorsEnd(ours, decoder), Printed(printed, take)

    def dead(self) -> bool:
        """Whether its process has ended."""
        return self.process.exitcode is not None

    def ends_within(self, seconds: float) -> bool:
        """Wait for its end: not by its sentinel, to which a forked process may write."""
        until = time.monotonic() + seconds
        while not self.dead() and time.monotonic() < until:
            time.sleep(0.005)
        return self.dead()

    def death(self, agent: int | None = None, warming: bool = False) -> Failure:
        """The failure of a dead process; agent: whose code ran; warming: before play."""
        return death(self.process.exitcode, agent, warming, self._served)

    def kill(self) -> None:
        """Kill its process and process group, which includes what it has started."""
        self.process.kill()
        kill_group(self.pid)

    def close(self) -> None:
        """Wait for the end of a killed process, and drop unread messages."""
        self.process.join()
        self.printed.close()
        self.end.close()


class Printed:
    """The reading end of a pipe that a process prints to; take: called with each line."""

    def __init__(self, pipe: Connection, take: Callable[[str], None]):
        self._pipe, self._take, self._line = pipe, take, b""
        os.set_blocking(pipe.fileno(), False)

    @property
    def closed(self) -> bool:
        """Whether nothing more can come."""
        return self._pipe.closed

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._pipe.fileno()

    def read(self) -> None:
        """Take the lines that have come."""
        with suppress(BlockingIOError):
            read = 0
            while read < AT_ONCE and not self.closed:
                piece = os.read(self._pipe.fileno(), 1 << 16)
                if not piece:
                    self._pipe.close()
                read += len(piece)
                *lines, self._line = (self._line + piece).split(b"\n")
                if len(self._line) > LONGEST_LINE or self.closed:
                    lines, self._line = [*lines, self._line], b""
                for line in lines:
                    self._cut(line)

    def close(self) -> None:
        """Take what is left, and close the pipe."""
        if not self.closed:
            self.read()
            self._pipe.close()

    def _cut(self, line: bytes) -> None:
        for begin in range(0, len(line), LONGEST_LINE):
            if text := line[begin : begin + LONGEST_LINE].decode("utf-8", "backslashreplace").rstrip():
                self._take(text)
