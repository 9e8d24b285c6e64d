"""What the operating system gives, asked for here alone: ends of processes, limits, locks, cores, start methods.

Each question is put to the system itself, not to its name: Linux answers all; where one is not answered, the portable
way beside it is taken, and what cannot be done then is said in its docstring.  With ARENA_SYSTEM=portable in the
environment all systems answer as one with POSIX alone, without fork servers: so the portable ways are tested.

The guard of outside programs loads this file by its path, so it imports nothing of the project at its top.
"""

import ctypes
import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

VARIABLE = "ARENA_SYSTEM"
PORTABLE = os.environ.get(VARIABLE) == "portable"
PROC = "" if PORTABLE or not os.path.exists("/proc/self/stat") else "/proc"
DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36  # of Linux's prctl
# of a folder /dev/shm that is missing, read-only, closed to this user, or full; not of too many open files
NO_SHARING = {errno.ENOENT, errno.ENOTDIR, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.ENOSYS}


# -- Ends of processes -------------------------------------------------------------------------------------------------


def get_signal_at_parents_end(number: int) -> bool:
    """Let this process get a signal when its parent ends, even one that is stopped; whether the system does that.

    Elsewhere a thread may wait for the parent's end, which a stopped process does not see.
    """
    return _prctl(DEATH_SIGNAL, number)


def gather_orphans() -> bool:
    """Let all orphans below this process become its children; whether the system does that.

    Elsewhere a process that has left its group and lost its parent is not found again, and not ended.
    """
    return _prctl(CHILD_SUBREAPER, 1)


def gathers_orphans() -> bool:
    """Whether `gather_orphans` has any effect here."""
    return _linux() is not None


def _prctl(option: int, value: int) -> bool:
    call = _linux()
    return call is not None and call(option, value, 0, 0, 0) == 0


def _linux():
    """Linux's prctl; None elsewhere."""
    try:
        return None if PORTABLE else ctypes.CDLL(None).prctl
    except (AttributeError, OSError, TypeError):  # no such function, or no such library
        return None


def lead_group() -> None:
    """Let this process lead a group, which its children join."""
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


def kill_group(group: int) -> None:
    """Kill what is left of a group of processes; 0 is this process's own."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)


def is_stopped(pid: int) -> bool:
    """Whether a process is stopped, as by SIGSTOP; False where the system does not say."""
    if not PROC:
        return _told_by_ps("-o", "state=", "-p", str(pid))[1].strip()[:1] in ("T", "t")
    try:
        with open(f"{PROC}/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        return False


def children_of(pid: int) -> list[int] | None:
    """The children of a process; none of one that has ended; None where the system has no list of them."""
    found = list[int]()
    try:
        for thread in os.listdir(f"{PROC}/{pid}/task"):
            with open(f"{PROC}/{pid}/task/{thread}/children") as file:
                found += map(int, file.read().split())
    except (FileNotFoundError, NotADirectoryError):
        return [] if PROC and os.path.exists(f"{PROC}/self/task/{os.getpid()}/children") else None
    return found


def descendants() -> list[int]:
    """All processes below this one; none where the system does not say."""
    children = dict[int, list[int]]()
    for pid, parent in _parents():
        children.setdefault(parent, []).append(pid)
    found, ahead = list[int](), [os.getpid()]
    while ahead:
        below = children.get(ahead.pop(), [])
        found += below
        ahead += below
    return found


def with_mark(mark: str) -> Iterator[int]:
    """The processes with a text in the environment that they began with; none where the system does not say."""
    for pid in _processes():
        with suppress(OSError), open(f"{PROC}/{pid}/environ", "rb") as file:
            if mark.encode() in file.read():
                yield pid


def _parents() -> Iterator[tuple[int, int]]:
    """Every process with its parent."""
    if not PROC:
        asked, told = _told_by_ps("-A", "-o", "pid=,ppid=")
        rows = (tuple(map(int, line.split())) for line in told.splitlines())
        yield from ((pid, parent) for pid, parent in rows if pid != asked)
    for pid in _processes():
        with suppress(OSError, ValueError, IndexError), open(f"{PROC}/{pid}/stat", "rb") as file:
            yield pid, int(file.read().rpartition(b")")[2].split()[1])


def _told_by_ps(*words: str) -> tuple[int, str]:
    """The id of POSIX's `ps`, which takes some milliseconds, and what it says; nothing where there is none."""
    import subprocess

    try:
        with subprocess.Popen(["ps", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as ps:
            return ps.pid, ps.communicate()[0]
    except OSError:
        return 0, ""


def _processes() -> list[int]:
    return [int(name) for name in os.listdir(PROC) if name.isdigit()] if PROC else []


# -- Limits and machines -----------------------------------------------------------------------------------------------


def limit_memory(size: int | None) -> bool:
    """Limit the addresses of this process and its forks, in bytes; None is no limit. Whether the system keeps it."""
    if size is None:
        return True
    try:
        import resource
    except ImportError:
        return False
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        size = min(size, hard)  # whoever started this process has set less
    try:
        resource.setrlimit(resource.RLIMIT_AS, (size, size))
    except (ValueError, OSError):  # as on macOS, which keeps no such limit
        return False
    return True


def limits_memory() -> bool:
    """Whether the system keeps a limit such as `limit_memory` sets: one beyond all memory is set, and taken back."""
    try:
        import resource

        before = resource.getrlimit(resource.RLIMIT_AS)
        wide = 1 << 46 if before[1] == resource.RLIM_INFINITY else before[1]
        resource.setrlimit(resource.RLIMIT_AS, (wide, before[1]))
        resource.setrlimit(resource.RLIMIT_AS, before)
    except (ImportError, ValueError, OSError):
        return False
    return True


def cores() -> int:
    """The cores that this process may use; all, where the system does not say."""
    if not PORTABLE and hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor() -> str:
    """The processor's name."""
    with suppress(OSError), open(f"{PROC}/cpuinfo", errors="replace") as file:
        for line in file if PROC else ():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    import platform

    return platform.processor() or platform.machine()


def memory() -> int | None:
    """Bytes of main memory; None if the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


# -- Start methods, locks, shared memory -------------------------------------------------------------------------------


def start_method(threads: bool = True) -> str:
    """How to start processes: by a fork server, or from a process without threads by a fork; else anew."""
    import multiprocessing

    wanted = "forkserver" if threads else "fork"
    return wanted if not PORTABLE and wanted in multiprocessing.get_all_start_methods() else "spawn"


def lock(descriptor: int) -> None:
    """Lock an open file for this process alone, until it is closed; BlockingIOError if another one has it."""
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def is_locked(path: str | os.PathLike) -> bool:
    """Whether a process has locked a file; it may be one that this user cannot write.  FileNotFoundError."""
    import fcntl

    with open(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back as the file closes
        except BlockingIOError:
            return True
    return False


@contextmanager
def sharing() -> Iterator[None]:
    """A context to make shared memory or locks in; UserError if the system has none: Python's own may name nothing."""
    from arena.games.core.shared.errors import UserError

    try:
        yield
    except OSError as error:
        if error.errno not in NO_SHARING:
            raise
        raise UserError(
            f"this system gives no shared memory (/dev/shm): {error.strerror}; mount it, or start a container with a "
            "larger --shm-size"
        ) from error
