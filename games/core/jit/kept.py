"""Compiled code in files: with checksums, since damaged machine code ends a process.

Numba's own files have none: a bit that a disk has flipped is a segmentation fault at every start.  Here each signature
of a kernel, and each method of a game, has a file of its own, named by all that it is made of, which begins with the
checksum of what follows.
"""

import hashlib
import pickle
import re
import sys
import warnings
from typing import Any

import numba
from numba.core.serialize import dumps

from arena.games.core import cache

MARK = f"arena 4, numba {numba.__version__}, {sys.implementation.cache_tag}\n".encode()
OTHER_VERSION = b"arena "  # how files begin that are not read, nor damaged
DIGEST_BYTES = 16


def checksum(data: bytes) -> bytes:
    """The checksum of a file's content; fast, and not meant to keep out who can write to the folder anyway."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def unsealed(data: bytes) -> bytes | None:
    """What follows the checksum, or None if another version wrote it; ValueError if it is not as it was written."""
    digest, body = data[len(MARK) :][:DIGEST_BYTES], data[len(MARK) + DIGEST_BYTES :]
    if not data.startswith(MARK) and data.startswith(OTHER_VERSION):
        return None
    if not data.startswith(MARK) or checksum(body) != digest:
        raise ValueError("it is not as it was written")
    return body


def load(name: str) -> Any:
    """What was saved, or None; a damaged file is as good as none, and a warning names it."""
    path = cache.find(_file(name))
    if path is None:
        return None
    try:
        body = unsealed(path.read_bytes())
        return None if body is None else pickle.loads(body)
    except (FileNotFoundError, ImportError):  # removed just now; or of a module that is not there
        return None
    except Exception as error:  # whatever unpickling raises
        warnings.warn(f"the compiled code in {path} is damaged and is made anew: {error!r}", stacklevel=2)
        return None


def save(name: str, code: Any) -> None:
    """Keep it; a warning says where that cannot be, such as on a full disk."""
    body = dumps(code)
    try:
        cache.write(_file(name), MARK + checksum(body) + body)
    except OSError as error:
        warnings.warn(f"compiled code cannot be kept in {cache.folder()}: {error}", stacklevel=2)


def _file(name):
    return re.sub(r"[^\w.]", "-", name)
