"""Files that users name, and files in folders that anybody may have made, such as a run that was sent.

What lies in such a folder is looked at before it is opened: a pipe would never end, and a link leads elsewhere.  What
is written there lies there.
"""

import errno
import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

TEXT_BYTES = 16 << 20  # for configurations, openings and instances, which people write
TABLE_BYTES = 1 << 30  # for what this program writes
KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def read_bounded(path: str | os.PathLike, most: int = TEXT_BYTES) -> bytes:
    """A file, a pipe or a device; OSError if it cannot be read, or holds more than `most` bytes."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        too_large = stat.S_ISREG(found.st_mode) and found.st_size > most
        data = b"" if too_large else file.read(most + 1)
    if too_large or len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {most >> 20} MiB, the most that is read", str(path))
    return data


def check_plain(path: str | os.PathLike, links: bool = True) -> None:
    """OSError if what lies there is no plain file, or without `links` a link to one; nothing may lie there."""
    with suppress(FileNotFoundError):
        mode = os.stat(path, follow_symlinks=links).st_mode
        if not stat.S_ISREG(mode):
            kind = KINDS.get(stat.S_IFMT(mode), "something else")
            raise OSError(errno.EINVAL, f"is {kind} where a plain file should be", str(path))


def read_plain(path: str | os.PathLike, most: int = TABLE_BYTES) -> bytes:
    """A plain file of a folder; OSError for what is none, FileNotFoundError if there is none."""
    check_plain(path)
    return read_bounded(path, most)


def make_folder(path: str | os.PathLike, within: str | os.PathLike) -> None:
    """A folder in one that a user has named; OSError if a link would lead out of that."""
    Path(within).mkdir(parents=True, exist_ok=True)
    place = Path(within)
    for part in Path(path).relative_to(within).parts:
        place /= part
        place.mkdir(exist_ok=True)
        if place.is_symlink():
            raise OSError(errno.ELOOP, "is a symbolic link, and what is written stays in the folder", str(place))


def write_whole(
    path: str | os.PathLike, data: bytes | Iterable[bytes], within: str | os.PathLike | None = None, mode: int = 0o644
) -> None:
    """Replace a file in full or not at all, by a new one beside it.

    data: all of it, or parts, of which none is written if making one fails; within: the folder that a user has named,
    out of which no link may lead; mode: the permissions of a new file
    """
    path = Path(path)
    if within is not None:
        make_folder(path.parent, within)
        check_plain(path, links=False)
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".new")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with open(handle, "wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
        os.chmod(part, path.stat().st_mode & 0o777 if path.exists() else mode)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def open_to_append(path: str | os.PathLike, buffering: int = -1) -> BinaryIO:
    """A plain file of a folder that grows, made if there is none; OSError for what is none."""
    check_plain(path, links=False)
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    return open(os.open(path, flags, 0o644), "ab", buffering=buffering)  # type: ignore[return-value]  # raw ones, too
