"""Runs one program, and ends it with all its descendants: `python guard.py CONTROL MEMORY PROCESSES MARK COMMAND...`.

CONTROL is the number of an open pipe.  When its other end is closed, on purpose or by the owner's death, the program
and all its descendants are killed; also when the program itself ends, and when they are more than PROCESSES, unless
that is 0: the system's own limit (RLIMIT_NPROC) covers everything that a user runs.  MEMORY is a limit in bytes for
each process, or 0.  The program has MARK in its environment, as ARENA_MARK, and the standard streams; the exit code is
its own, or 128 plus the signal.

A worker cannot do this itself: a killed worker kills nothing, a signal to the group misses processes that have left it,
and code between fork and exec is unsafe with threads.  On Linux all orphans of the program become children of this
process, which finds them that way; elsewhere the program's group is killed.

On Linux an outer process runs an inner one, which runs the program.  If either is killed, the other kills the program,
and the outer one ends by SIGKILL, which tells the owner.  A stopped inner one is continued by the outer one, and either
when its own parent ends.  Elsewhere orphans cannot be found, so there is one process.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from contextlib import suppress

SET_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # of Linux's prctl
LOOK = 0.05  # seconds between counts of processes
PAUSE = 0.002  # seconds between checks that killed processes have ended
CANNOT_START = 127


def main() -> int:
    """Run the program; returns this process's exit code."""
    control, memory, most, mark, command = *map(int, sys.argv[1:4]), sys.argv[4], sys.argv[5:]
    os.set_inheritable(control, False)  # the owner sees this process's end by the pipe

    def become():
        _become(command, memory, mark)

    if sys.platform != "linux":
        return _shown(_guard(control, become, most))
    inner_control, ours = os.pipe()

    def run_inner():
        os.close(control)
        os.close(ours)
        os._exit(_shown(_guard(inner_control, become, most)))

    code = _guard(control, run_inner, wakes=True)
    if code < 0:
        os.kill(os.getpid(), signal.SIGKILL)  # so that the owner sees it
    return code


def _guard(control: int, run, most: int = 0, wakes: bool = False) -> int:
    """Fork a process that does `run`; when it or `control` ends, kill all below this one.  Returns its exit code."""
    _prctl(SET_CHILD_SUBREAPER, 1)
    _prctl(SET_DEATH_SIGNAL, signal.SIGCONT)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        run()
    for stream in (0, 1):
        os.close(stream)  # so that they end with the program
    code, ready, looked = None, [], time.monotonic()
    while code is None and control not in ready:
        ready = select.select([control, woken], [], [], LOOK if most else None)[0]
        if woken in ready:
            os.read(woken, 64)
            code, _ = _reaped(child, wakes)
        if most and time.monotonic() - looked >= LOOK:
            looked = time.monotonic()
            if code is None and _has_more_than(most):
                os.write(2, f"more than {most} processes at a time: it is ended\n".encode())
                code = -signal.SIGKILL
    _kill_all(child)
    return 0 if code is None else code


def _shown(code: int) -> int:
    return code if code >= 0 else 128 - code


def _become(command: list[str], memory: int, mark: str) -> None:
    try:
        os.setpgid(0, 0)
        _prctl(SET_DEATH_SIGNAL, signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if memory:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        os.environ["ARENA_MARK"] = mark
        os.execvp(command[0], command)
    except BaseException as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="backslashreplace"))
    finally:
        os._exit(CANNOT_START)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _reaped(child: int, wakes: bool = False) -> tuple[int | None, bool]:
    """Collect ended children: (the exit code of `child` if it has ended, whether none is left).

    wakes: continue those that are stopped
    """
    code = None
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG | (os.WUNTRACED if wakes else 0))
        except ChildProcessError:
            return code, True
        if pid == 0:
            return code, False
        if os.WIFSTOPPED(status):
            os.kill(pid, signal.SIGCONT)
        elif pid == child:
            code = os.waitstatus_to_exitcode(status)


def _kill_all(child: int) -> None:
    """Kill the child's group and all descendants: orphans become children of this process."""
    with suppress(OSError):
        os.killpg(child, signal.SIGKILL)  # none of them can fork any more
    while not _reaped(child)[1]:
        for pid in _descendants():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)


def _has_more_than(most: int) -> bool:
    found, ahead = 0, [str(os.getpid())]
    while ahead and found <= most:
        try:
            below = _children(ahead.pop())
        except FileNotFoundError:
            if not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):  # not every Linux has it
                return len(_descendants()) > most
            continue  # it has ended
        found += len(below)
        ahead += below
    return found > most


def _children(pid: str) -> list[str]:
    found = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/children") as file:
            found += file.read().split()
    return found


def _descendants() -> list[int]:
    """All processes below this one; without /proc, none."""
    children: dict[int, list[int]] = {}
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                parent = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        children.setdefault(parent, []).append(pid)
    found, ahead = [], [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


if __name__ == "__main__":
    os._exit(main())
