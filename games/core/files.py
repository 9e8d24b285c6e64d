"""Files that people name: read whole, but never more of them than was said."""

import os
import stat

from games.core.errors import UserError

TEXT_BYTES = 16 << 20  # of configurations and lists of openings, which people write


class FileTooLarge(UserError, ValueError):
    """A file of more bytes than are read; the message says how many that is."""


def read_bounded(path: str | os.PathLike, most: int) -> bytes:
    """The bytes of a file, a pipe or a device; FileTooLarge if there are more than `most`, OSError as of `open`."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        data = b"" if stat.S_ISREG(found.st_mode) and found.st_size > most else file.read(most + 1)
    if len(data) > most or found.st_size > most:
        raise FileTooLarge(f"{path}: has more than {most >> 20} MiB, which is the most that is read")
    return data
