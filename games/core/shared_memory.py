"""Says that the system has no memory for processes to share; Python's own errors may name nothing."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from arena.games.core.errors import UserError

# of a folder /dev/shm that is missing, read-only, closed to this user, or full; not of too many open files
LACKING = {errno.ENOENT, errno.ENOTDIR, errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.ENOSYS}


@contextmanager
def sharing() -> Iterator[None]:
    """A context to make shared memory or locks in; UserError if the system has none."""
    try:
        yield
    except OSError as error:
        if error.errno not in LACKING:
            raise
        raise UserError(
            f"this system gives no shared memory (/dev/shm): {error.strerror}; mount it, or start a container with a "
            "larger --shm-size"
        ) from error
