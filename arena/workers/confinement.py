"""What is done to processes before they run code of agents, so that nobody else pays for what that does."""

import ctypes
import io
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection as pipes
from multiprocessing import forkserver

PR_SET_PDEATHSIG = 1  # from linux/prctl.h


def confine(output, inherited: Iterable[int] = ()) -> None:
    """Set up the process: its files, its signals, its group, its end with the parent, and where it prints.

    output: the writing end of a pipe, which takes what is written to standard output and to standard error;
    inherited: descriptors of its parent's files.
    """
    _let_go_of(inherited)
    _leave_signals_to_the_parent()
    _found_group()
    _end_with_the_parent()
    _print_to(output)
    # the parent may have been told to look for modules where it was started; nobody told the worker
    sys.path[:] = [folder for folder in sys.path if folder]


@contextmanager
def safe_path() -> Iterator[None]:
    """An interpreter started in this context does not look for modules in the current directory first."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def limit_memory(size: int | None) -> None:
    """Let this process, and each that it forks, have no more than `size` bytes of addresses; None is no limit."""
    if size is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (size, size))


def inherited() -> list[int]:
    """The descriptors that a forked process would have from this one, such as that of the store."""
    if multiprocessing.get_start_method() != "fork" or not os.path.isdir("/dev/fd"):
        return []
    return [int(name) for name in os.listdir("/dev/fd") if int(name) > 2 and _is_open(int(name))]


def _is_open(descriptor):
    """Whether it still is: that of the listing is not."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _let_go_of(descriptors):
    """Put the null device in the place of each, which no object of this process then finds closed."""
    if descriptors:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in descriptors:
            os.dup2(null, descriptor)


def _leave_signals_to_the_parent():
    """Ctrl-C is the parent's to interpret."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _found_group():
    """Be the leader of a process group, which what agents start belongs to and ends with."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


def _end_with_the_parent():
    """On Linux the system kills this process when its parent ends, whatever it is doing; a thread does it elsewhere.

    The parent may be a fork server, which ends with the arena's process as soon as no worker holds it up.
    """
    server = forkserver._forkserver
    if getattr(server, "_forkserver_alive_fd", None) is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_die_with_the_parent, daemon=True).start()


def _die_with_the_parent():
    """Wait for the parent's death, then end this process and all of its group, whatever they are doing."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        pipes.wait([parent.sentinel])
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _print_to(output):
    """Send what is printed to `output`, by Python or by C code."""
    for descriptor in (1, 2):
        os.dup2(output.fileno(), descriptor)
    output.close()
    file = io.FileIO(1, "w", closefd=False)
    sys.stdout = sys.stderr = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", write_through=True)
