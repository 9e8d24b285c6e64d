"""Files that users name: read whole, up to a given size."""

import errno
import os
import stat

TEXT_BYTES = 16 << 20  # for configurations, openings and instances, which people write


def read_bounded(path: str | os.PathLike, most: int = TEXT_BYTES) -> bytes:
    """A file, a pipe or a device; OSError if it cannot be read, or holds more than `most` bytes."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        too_large = stat.S_ISREG(found.st_mode) and found.st_size > most
        data = b"" if too_large else file.read(most + 1)
    if too_large or len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB, the most that is read", str(path))
    return data
