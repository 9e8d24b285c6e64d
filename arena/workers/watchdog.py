"""Kills what is left of a run's process groups once the run's own process has ended, in whatever way.

A worker ends with its parent, but its agents' processes do not: they are in its process group, unless they have left
it.  The file runs as a script without the rest of the project: it reads "+GROUP" and "-GROUP" from standard input.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress


class Watchdog:
    """If it is killed, the next start of a worker replaces it."""

    def __init__(self):
        self._groups: set[int] = set()
        self._process: subprocess.Popen | None = None

    def watch(self, group: int | None) -> None:
        """Kill the group if this process ends."""
        if group is None or not hasattr(os, "killpg"):
            return
        self._groups.add(group)
        if self._process is None or self._process.poll() is not None:
            self.close()
            command = [sys.executable, "-I", "-S", __file__]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
            for one in self._groups:
                self._send(f"+{one}")
        else:
            self._send(f"+{group}")

    def forget(self, group: int | None) -> None:
        """The group has ended."""
        if group in self._groups:
            self._groups.remove(group)
            self._send(f"-{group}")

    def close(self) -> None:
        """End the watchdog, which kills the groups it still watches."""
        if self._process is not None:
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None

    def _send(self, line):
        if self._process is not None and self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.write(f"{line}\n".encode())
                self._process.stdin.flush()


def main() -> None:
    """Track the groups until the input ends, then kill the rest."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    groups = set[int]()
    for line in sys.stdin:
        (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
    for group in groups:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


if __name__ == "__main__":
    main()
