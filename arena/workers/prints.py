"""What a process prints, line by line, as the process that has started it reads it."""

import os
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection

PRINTED = "printed"  # a name of a logger, for what processes print
LONGEST_LINE = 4096  # bytes of prints in a record
AT_ONCE = 1 << 18  # bytes


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
