"""One running program: lines to it and from it, deadlines and limits, and its end with all its descendants."""

import os
import secrets
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from arena.games.core.shared.system import with_mark

GUARD = Path(__file__).with_name("guard.py")
LONGEST_LINE = 1 << 20  # bytes
MOST_OUTPUT = 16 << 20  # bytes of one answer, with all lines before it
MOST_LOG = 64 << 20  # bytes of its error stream
TAIL = 2000  # bytes kept of each stream, for messages
LAST_LINES, LINE_SHOWN = 4, 200  # of the tail, in a message
CLEAN = 3  # looks in a row that find no process: while it turns into a program it has no environment
GRACE = 0.5  # seconds in which a program may end by itself
CHUNK = 1 << 16
ROUNDS = 64  # chunks of unexpected output to read
TO_BE_FOUND = "give its path, such as ./engine, and make it executable: chmod +x engine"
TO_BE_TRIED = "run it by itself, and type what is sent to it"


class Surroundings(NamedTuple):
    """Where a program runs: its working folder, "" for ours, and variables added to its environment."""

    folder: str = ""
    environment: tuple[tuple[str, str], ...] = ()


HERE = Surroundings()


def lacking(command: str, surroundings: Surroundings = HERE) -> str:
    """The message that this machine lacks the program or its folder; empty if they are there."""
    if surroundings.folder and not os.path.isdir(surroundings.folder):
        return f"there is no folder {surroundings.folder!r}"
    first = next(iter(shlex.split(command)), "")
    path = os.path.join(surroundings.folder, first) if "/" in first else first
    if first and shutil.which(path, path=dict(surroundings.environment).get("PATH")):
        return ""
    return (
        f"there is no program {first!r}{f' in {surroundings.folder}' if surroundings.folder and '/' in first else ''}"
    )


class EngineError(RuntimeError):
    """An outside program broke a rule: what it did, how its author may mend that, and its last lines."""

    def __init__(self, what: str, mend: str = "", said: str = ""):
        self.what, self.mend, self.said = what, mend, said
        super().__init__(what)

    def __str__(self):
        return f"{self.what}; it {self.said}" if self.said else self.what


class Silent(EngineError):
    """A program did not answer in time."""


class Bounds(NamedTuple):
    """Limits of a program; 0 is no limit."""

    memory: int = 0  # of each of its processes, in MiB
    processes: int = 0  # at a time, itself among them


class Process:
    """A running program, until `close`.

    command: split into words as by a shell, run without one; bounds: it is ended beyond them; log: a file to which its
        error stream is appended, "" for none; surroundings: where it runs.  EngineError if there is no such program;
        from all other methods, if the program has ended or writes too much.
    """

    def __init__(
        self,
        command: str,
        bounds: Bounds = Bounds(),  # noqa: B008 - a tuple of numbers
        log: str = "",
        surroundings: Surroundings = HERE,
    ):
        if fault := lacking(command, surroundings):
            raise EngineError(fault, TO_BE_FOUND)
        words = shlex.split(command)
        control, self._control = os.pipe()
        self._mark = secrets.token_hex(16)
        about = control, bounds.memory << 20, bounds.processes, self._mark
        self._log, self._logged = None, 0
        try:
            self._log = open(log, "ab", buffering=0) if log else None  # noqa: SIM115
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), *map(str, about), *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                pass_fds=[control],
                cwd=surroundings.folder or None,
                env={**os.environ, **dict(surroundings.environment)},
                start_new_session=True,  # Ctrl-C is for us
            )
        except BaseException:
            os.close(self._control)
            if self._log:
                self._log.close()
            raise
        finally:
            os.close(control)
        assert self._guard.stdin and self._guard.stdout and self._guard.stderr
        self._stdin, self._stdout, self._stderr = self._guard.stdin, self._guard.stdout, self._guard.stderr
        os.set_blocking(self._stdin.fileno(), False)
        self._poll = select.poll()
        for stream in (self._stdout, self._stderr):
            self._poll.register(stream, select.POLLIN)
        self._poll.register(self._control, 0)  # an error there: the guard has ended
        self._sending, self._received, self._searched, self._answered = bytearray(), bytearray(), 0, 0
        self._tails = {self._stdout.fileno(): b"", self._stderr.fileno(): b""}
        self.closed = False

    def send(self, text: str) -> None:
        """Send `text`; `line` sends the rest of what the program does not take at once."""
        self._answered = 0
        waited = bool(self._sending)
        self._sending += text.encode()
        if not waited:
            self._write()
            if self._sending:
                self._poll.register(self._stdin, select.POLLOUT)

    def line(self, until: float) -> bytes:
        """The program's next line, without its end; Silent if there is none by `until`, of time.monotonic."""
        while (end := self._received.find(b"\n", self._searched)) < 0:
            self._searched = len(self._received)
            if self._searched > LONGEST_LINE:
                raise EngineError(f"wrote a line of more than {LONGEST_LINE >> 20} MiB", "write shorter lines")
            left = until - time.monotonic()
            if left < 0 or not self._pump(left):
                raise Silent("has not answered in time")
        if end > LONGEST_LINE:
            raise EngineError(f"wrote a line of {end} bytes; it may have {LONGEST_LINE}", "write shorter lines")
        found = bytes(self._received[:end]).rstrip(b"\r")
        del self._received[: end + 1]
        self._searched = 0
        return found

    def unasked(self) -> bytes:
        """Discard and return the output since its last answer: nothing, if the program only answers."""
        for _ in range(ROUNDS):
            if not self._pump(0):
                break
        found = bytes(self._received)
        self._received.clear()
        self._searched = 0
        return found

    def last_lines(self) -> str:
        """The end of its output, for messages; "" if there is none."""
        parts = []
        for name, tail in zip(("wrote last", "wrote to its error stream"), self._tails.values()):
            lines = [line.strip() for line in tail.decode(errors="backslashreplace").split("\n") if line.strip()]
            if lines:
                shown = " | ".join(line[-LINE_SHOWN:] for line in lines[-LAST_LINES:])
                shown = "".join(letter if letter.isprintable() else f"\\x{ord(letter):02x}" for letter in shown)
                parts.append(f"{name}: {shown}")
        return "; ".join(parts)

    def close(self, farewell: str | None = None, grace: float = GRACE) -> None:
        """End it: at once, or after a farewell ("": the end of its input) and seconds of grace to end by itself."""
        if self.closed:
            return
        self.closed = True
        self._guard.send_signal(signal.SIGCONT)  # if somebody has stopped it
        if farewell is not None:
            with suppress(EngineError):
                self.send(farewell)
            self._stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._guard.wait(grace)
        os.close(self._control)
        try:
            self._guard.wait(10 * GRACE)
        except subprocess.TimeoutExpired:
            self._guard.kill()
            self._guard.wait()
        if self._guard.returncode < 0:
            kill_marked(self._mark)
        self._hear_last_words()
        for stream in (self._stdin, self._stdout, self._stderr, *([self._log] if self._log else [])):
            with suppress(OSError):
                stream.close()

    def _write(self) -> None:
        try:
            while self._sending:
                del self._sending[: os.write(self._stdin.fileno(), self._sending[:CHUNK])]
        except BlockingIOError:
            pass
        except OSError:
            self._sending.clear()  # its end is noticed when it should answer

    def _pump(self, seconds: float) -> bool:
        """Wait that long for the program to read or write; returns whether it did."""
        ready = self._poll.poll(seconds * 1000)
        for number, _ in ready:
            if number == self._stdin.fileno():
                self._write()
                if not self._sending:
                    self._poll.unregister(number)
            elif number != self._control:
                self._read(number)
            elif len(ready) == 1:  # all that it had written is read
                raise EngineError(self._end(), TO_BE_TRIED)
        return bool(ready)

    def _take(self, number: int) -> bytes:
        """The output on a stream; errors go to the log while there is room."""
        found = os.read(number, CHUNK)
        self._tails[number] = (self._tails[number] + found)[-TAIL:]
        if self._log and number == self._stderr.fileno() and self._logged < MOST_LOG:
            self._log.write(found)
            self._logged += len(found)
        return found

    def _read(self, number: int) -> None:
        found = self._take(number)
        if number == self._stdout.fileno():
            self._received += found
            self._answered += len(found)
            if not found:
                raise EngineError(self._end(), TO_BE_TRIED)
            if self._answered > MOST_OUTPUT:
                raise EngineError(f"wrote over {MOST_OUTPUT >> 20} MiB at once", "write remarks to the error stream")
        elif not found:
            self._poll.unregister(number)

    def _end(self) -> str:
        """How it ended, once its output has."""
        try:
            code = self._guard.wait(4 * GRACE)
        except subprocess.TimeoutExpired:
            return "has closed its output"
        self._hear_last_words()
        if code < 0:
            return "has lost its guard, the process that ends it and all that it has started"
        half = " in the middle of a line" if self._received else ""
        killed = code - 128 in signal.valid_signals()  # an exit code of 255 is none
        return f"was killed by signal {code - 128}{half}" if killed else f"ended with exit code {code}{half}"

    def _hear_last_words(self) -> None:
        """Take the rest of its error stream; its descendants may still write there."""
        number = self._stderr.fileno()
        for _ in range(ROUNDS):
            if not select.select([number], [], [], 0)[0] or not self._take(number):
                return


def kill_marked(mark: str) -> None:
    """Kill the processes with that mark in their environment: a program has lost both its guards."""
    until, passes = time.monotonic() + 10 * GRACE, 0
    while passes < CLEAN and time.monotonic() < until:
        passes += 1
        for pid in with_mark(mark):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                passes = 0
        time.sleep(GRACE / 20)
