"""Confines processes before they run agents' code, so that its faults harm nobody else."""

import io
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import connection as pipes
from multiprocessing import forkserver, resource_tracker

from arena.games.core.shared import system


def confine(output, inherited: Iterable[int], starts: bool = False) -> None:
    """Set up the process: files, signals, process group, end with the parent, and output.

    output: the writing end of a pipe for standard output and standard error; inherited: its parent's descriptors;
    starts: whether it starts processes by the fork server that it comes from, which then ends only with it
    """
    _let_go_of([*inherited, *_of_the_tracker()])
    _leave_signals_to_the_parent()
    system.lead_group()  # which agents' child processes join and end with
    _end_with_the_parent(starts)
    _print_to(output)
    # only the parent may look for modules in the current folder
    sys.path[:] = [folder for folder in sys.path if folder]


@contextmanager
def safe_path() -> Iterator[None]:
    """A context in which new interpreters do not look for modules in the current folder first."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


def inherited() -> list[int]:
    """Descriptors that a fork would inherit, such as the store's."""
    return _open_ones() if multiprocessing.get_start_method() == "fork" else []


def _open_ones():
    names = os.listdir("/dev/fd") if os.path.isdir("/dev/fd") else ()
    return [int(name) for name in names if int(name) > 2 and _is_open(int(name))]


def _is_open(descriptor):
    """Whether a descriptor is open: the one used for listing no longer is."""
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _of_the_tracker():
    """The pipe to Python's tracker of locks, which would obey what an agent writes there."""
    descriptor = resource_tracker._resource_tracker._fd
    return [] if descriptor is None else [descriptor]


def _let_go_of(descriptors):
    """Replace each by the null device: no object of this process finds its file closed."""
    if descriptors:
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in descriptors:
            os.dup2(null, descriptor)


def _leave_signals_to_the_parent():
    """Ignore Ctrl-C, which the parent interprets."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _end_with_the_parent(starts):
    """By the system where it can, and by a thread.

    The parent may be a fork server, which ends with the arena's process once no worker holds it up.
    """
    server = forkserver._forkserver
    if not starts and getattr(server, "_forkserver_alive_fd", None) is not None:
        os.close(server._forkserver_alive_fd)
        server._forkserver_alive_fd = None
    system.get_signal_at_parents_end(signal.SIGKILL)
    threading.Thread(target=_die_with_the_parent, daemon=True).start()


def _die_with_the_parent():
    parent = multiprocessing.parent_process()
    if parent is not None:
        pipes.wait([parent.sentinel])
    system.kill_group(0)
    os._exit(1)


def _print_to(output):
    for descriptor in (1, 2):
        os.dup2(output.fileno(), descriptor)
    output.close()
    file = io.FileIO(1, "w", closefd=False)
    sys.stdout = sys.stderr = io.TextIOWrapper(file, "utf-8", errors="backslashreplace", write_through=True)
