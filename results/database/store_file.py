"""The file of a store: opens, locks and identifies it, and explains failures."""

import os
import shlex
import sqlite3
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import check_plain

LOCK_NAME = "lock"
SIDE = ("-wal", "-shm", "-journal")  # what SQLite's files beside a store end in
PATIENCE = 0.2  # seconds for others, who look by `busy` whether it is taken


class StoreError(UserError):
    """A store that cannot be made, read or written; names the file, the reason, and what is still safe."""


class StoreDamaged(StoreError):
    """A store does not hold what was written to it."""

    def __init__(self, path: Path, what: str, mendable: bool = True):
        self.what, folder = what, shlex.quote(str(path.parent))
        advice = f"`arena check {folder}` lists all damage"
        if mendable:
            advice += f", and `arena run --out {folder} --resume` plays damaged games again"
        super().__init__(f"{path} is damaged: {what}; {advice}")


class StoreLost(StoreError):
    """The file was deleted or replaced while games were added to it."""


class StoreExists(StoreError):
    """There is a tournament in the folder already."""


class StoreBusy(StoreError):
    """Another process is writing to the store."""


def check_files(path: Path, write: bool) -> None:
    """StoreError if a store's file, one of SQLite's beside it, or its lock is no plain file; to `write`, also if a link
    is one: it leads elsewhere.
    """
    try:
        for place in (path, *(path.with_name(path.name + suffix) for suffix in SIDE), path.with_name(LOCK_NAME)):
            check_plain(place, links=not write)
    except OSError as error:
        raise StoreError(f"{error.filename} {error.strerror}") from None


def taken(path: Path) -> FileLock:
    """The lock, taken; the kernel frees it when the process ends, however it ends."""
    folder, lock = path.parent, FileLock(path, timeout=PATIENCE, thread_local=False)
    try:
        lock.acquire(poll_interval=PATIENCE / 10)
    except Timeout:
        raise StoreBusy(f"another process is writing to the tournament in {folder}; wait for it or stop it") from None
    except OSError as error:
        raise StoreError(f"cannot write in {folder}: {error.strerror}") from error
    return lock


def open_to_write(path: Path) -> sqlite3.Connection:
    """A connection to a file that is there."""
    return sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True)


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that changes nothing.

    SQLite reads a WAL file only with its companion files; without them in a read-only folder nobody can be writing, and
    the file is opened as one that does not change.
    """
    uri = path.absolute().as_uri() + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
        return connection
    except sqlite3.OperationalError:
        connection.close()
        pending = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or (pending.exists() and pending.stat().st_size):
            raise
        return sqlite3.connect(uri + "&immutable=1", uri=True)


def place(path: Path) -> tuple[int, int] | None:
    """The identity of a file, which differs from that of another of its name; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def free_name(path: Path) -> Path:
    """The path, or the first of `name-2.sqlite`, `name-3.sqlite`, ... that does not exist."""
    number, free = 1, path
    while os.path.lexists(free):
        number += 1
        free = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return free


@contextmanager
def explained(path: Path, action: str):
    """Errors of SQLite and the system become StoreError, which says what is safe."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake in the calling program, such as use of a closed store
    except sqlite3.IntegrityError as error:
        reason = str(error)
        if "games.id" in reason:
            reason = "a game of that id is stored already"
        elif "FOREIGN KEY" in reason:
            reason = "its players are not among the agents of this tournament"
        raise StoreError(f"cannot {action} {path}: {reason}") from error
    except (sqlite3.OperationalError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        kept = "; the games stored before are kept" if action.startswith("add") else ""
        raise StoreError(f"cannot {action} {path}: {reason}{kept}") from error
    except (sqlite3.Error, MemoryError) as error:  # a damaged size may ask for too much
        raise StoreError(f"{path} is damaged or not a SQLite file: {error}") from error
    except (OverflowError, UnicodeError) as error:
        raise StoreError(f"cannot {action} {path}: {error}") from error
