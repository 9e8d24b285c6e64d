"""Runs one program, and ends it with all its descendants: `python guard.py CONTROL MEMORY PROCESSES MARK COMMAND...`.

CONTROL is the number of an open pipe.  When its other end is closed, on purpose or by the owner's death, the program
and all its descendants are killed; also when the program itself ends, and when they are more than PROCESSES, unless
that is 0: the system's own limit (RLIMIT_NPROC) covers everything that a user runs.  MEMORY is a limit in bytes for
each process, or 0.  The program has MARK in its environment, as ARENA_MARK, and the standard streams; the exit code is
its own, or 128 plus the signal.

A worker cannot do this itself: a killed worker kills nothing, a signal to the group misses processes that have left it,
and code between fork and exec is unsafe with threads.  Where the system gathers orphans, as Linux does, they become
children of this process, which finds them that way; elsewhere the program's group is killed.

There an outer process runs an inner one, which runs the program.  If either is killed, the other kills the program,
and the outer one ends by SIGKILL, which tells the owner.  A stopped inner one is continued by the outer one, and either
when its own parent ends.  Elsewhere orphans cannot be found, so there is one process.
"""

import os
import select
import signal
import sys
import time
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location

# by its file: this program begins without the project's packages, in a few milliseconds
HERE = os.path.dirname(os.path.abspath(__file__))
SPEC = spec_from_file_location("system", os.path.join(HERE, "..", "..", "games", "core", "shared", "system.py"))
assert SPEC is not None and SPEC.loader is not None
system = module_from_spec(SPEC)
SPEC.loader.exec_module(system)
LOOK = 0.05 if system.PROC else 0.5  # seconds between counts of processes
PAUSE = 0.002  # seconds between checks that killed processes have ended
CANNOT_START = 127


def main() -> int:
    """Run the program; returns this process's exit code."""
    control, memory, most, mark, command = *map(int, sys.argv[1:4]), sys.argv[4], sys.argv[5:]
    os.set_inheritable(control, False)  # the owner sees this process's end by the pipe

    def become():
        _become(command, memory, mark)

    if not system.gather_orphans():
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
    system.gather_orphans()
    system.get_signal_at_parents_end(signal.SIGCONT)
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
        system.get_signal_at_parents_end(signal.SIGKILL)
        for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        if not system.limit_memory(memory or None):
            os.write(2, b"this system keeps no limit of memory: there is none\n")
        os.environ["ARENA_MARK"] = mark
        os.execvp(command[0], command)
    except BaseException as error:
        os.write(2, f"{command[0]}: {error}\n".encode(errors="backslashreplace"))
    finally:
        os._exit(CANNOT_START)


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
    system.kill_group(child)  # none of them can fork any more
    while not _reaped(child)[1]:
        for pid in system.descendants():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(PAUSE)


def _has_more_than(most: int) -> bool:
    found, ahead = 0, [os.getpid()]
    while ahead and found <= most:
        if (below := system.children_of(ahead.pop())) is None:  # not every Linux has such lists
            return len(system.descendants()) > most
        found += len(below)
        ahead += below
    return found > most


if __name__ == "__main__":
    os._exit(main())
