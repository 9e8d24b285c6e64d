"""The user's cache folder: compiled code and indices, which are made again when they are needed.

The system's, or ARENA_CACHE_DIR.  Folders in ARENA_CACHE_PATH, separated as in PATH, are read as well: a shared
installation may bring kernels.  Whoever writes there can run code here, so folders that others can write to are not
used.  Beyond ARENA_CACHE_MEGABYTES, by default 500, what was used least lately is removed.  A file of any kind holds
its own name, or what that is made of, which is checked when it is read: a copy may have mixed them up.  Nothing of
Numba is imported here.
"""

import functools
import itertools
import multiprocessing
import os
import stat
import sys
import time
from contextlib import suppress
from pathlib import Path

import platformdirs

from arena.games.core.shared.files import write_whole

PLACE, PLACES, MEGABYTES = "ARENA_CACHE_DIR", "ARENA_CACHE_PATH", "ARENA_CACHE_MEGABYTES"
MOST = 500  # megabytes
ENDINGS = CODE, METHOD, INDEX = ".nbc", ".nbm", ".json"  # of kernels, methods of games, indices
DAY = 86_400.0  # seconds after which a use is noted
SOMETIMES = 32  # files written between counts of all
_written = itertools.count()  # in this process


def folder() -> Path | None:
    """Where files are kept; None, with a line that says so, where that cannot be."""
    return _own(os.environ.get(PLACE, ""))


@functools.cache
def _own(named: str) -> Path | None:
    place = Path(named or platformdirs.user_cache_path("search-arena", appauthor=False))
    try:
        if not place.is_absolute():
            place = place.absolute()
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
        fault = _fault(place) or ("" if os.access(place, os.W_OK | os.X_OK) else "it cannot be written")
    except OSError as error:
        fault = error.strerror or str(error)
    if not fault:
        return place
    if multiprocessing.parent_process() is None:
        print(
            f"arena: compiled code is not kept in {place}: {fault}. Every process compiles what it needs, which "
            f"takes 10 to 30 seconds; {PLACE} can name another folder",
            file=sys.stderr,
        )
    return None


def _fault(place: Path) -> str:
    """Why a folder is not to be trusted; "" if it is."""
    if not hasattr(os, "geteuid"):
        return ""
    found = place.stat()
    if found.st_uid not in (os.geteuid(), 0):
        return "it belongs to another user"
    return "others can write to it" if stat.S_IMODE(found.st_mode) & 0o022 else ""


def places() -> list[Path]:
    """All folders that are read, the user's own first."""
    own = folder()
    return [*([own] if own else []), *_shared(os.environ.get(PLACES, ""))]


@functools.cache
def _shared(named: str) -> tuple[Path, ...]:
    found = [Path(each) for each in named.split(os.pathsep) if each]
    return tuple(place for place in found if place.is_dir() and not _fault(place))


def find(name: str) -> Path | None:
    """The file of a name, noted as used."""
    for place in places():
        path = place / name
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > DAY:
                with suppress(OSError):
                    os.utime(path)
            return path
    return None


def write(name: str, data: bytes) -> None:
    """Replace a file at once or not at all; OSError where that cannot be."""
    own = folder()
    if own is None:
        return
    own.mkdir(parents=True, exist_ok=True, mode=0o700)  # perhaps removed
    write_whole(own / name, data)
    if next(_written) % SOMETIMES == 0:
        trim(own)


def files(place: Path) -> list[Path]:
    """The files that are kept in a folder."""
    return sorted(path for path in place.glob("*") if path.suffix in ENDINGS) if place.is_dir() else []


def trim(place: Path) -> None:
    """Remove unfinished files, and if there is too much, the least lately used until a tenth is free."""
    now, found = time.time(), []
    for path in [*files(place), *place.glob(".*.new")]:
        with suppress(OSError):
            about = path.stat()
            found.append((about.st_mtime, about.st_size, path))
    left = sum(size for _, size, _ in found)
    least = 0.9 * most_bytes() if left > most_bytes() else left
    for used, size, path in sorted(found):
        if left > least or (path.suffix == ".new" and now - used > DAY):
            path.unlink(missing_ok=True)
            left -= size


def most_bytes() -> float:
    """The most bytes that are kept, infinity for no limit; the default if the variable is no such number."""
    try:
        most = float(os.environ.get(MEGABYTES, MOST))
    except ValueError:
        most = MOST
    return 1e6 * (most if most >= 0 else MOST)
