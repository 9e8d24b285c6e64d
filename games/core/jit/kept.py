"""Compiled code in files: with checksums, since damaged machine code ends a process.

A file for each signature of a kernel and each method of a game, named by all that it is made of, begins with the
checksum of its name and the rest, so that none is taken for another; Numba's own files have none.
"""

import hashlib
import pickle
import re
import sys
import warnings
from typing import Any

import numba
from numba.core.serialize import dumps

from arena.games.core.shared import cache

MARK = f"arena 5, numba {numba.__version__}, {sys.implementation.cache_tag}\n".encode()
OTHER_VERSION = b"arena "  # begins files that are neither read nor damaged
DIGEST_BYTES = 16


def checksum(file: str, data: bytes) -> bytes:
    """Of a file's name and data: fast; does not keep out who can write to the folder."""
    return hashlib.blake2b(file.encode() + b"\n" + data, digest_size=DIGEST_BYTES).digest()


def unsealed(file: str, data: bytes) -> bytes | None:
    """What follows the checksum; None for another version's file, ValueError for a damaged one or another name's."""
    digest, body = data[len(MARK) :][:DIGEST_BYTES], data[len(MARK) + DIGEST_BYTES :]
    if not data.startswith(MARK) and data.startswith(OTHER_VERSION):
        return None
    if not data.startswith(MARK) or checksum(file, body) != digest:
        raise ValueError("it is not as it was written")
    return body


def load(name: str) -> Any:
    """What was saved, or None, with a warning for a damaged file.  Code whose name is "" is not kept."""
    path = cache.find(_file(name)) if name else None
    if path is None:
        return None
    try:
        body = unsealed(path.name, path.read_bytes())
        return None if body is None else pickle.loads(body)
    except (FileNotFoundError, ImportError):  # just removed; or of a missing module
        return None
    except Exception as error:  # unpickling may raise anything
        warnings.warn(f"the compiled code in {path} is damaged and is made anew: {error!r}", stacklevel=2)
        return None


def save(name: str, code: Any) -> None:
    """Keep it, unless its name is "".  A warning says where that cannot be, such as on a full disk."""
    if not name:
        return
    file, body = _file(name), dumps(code)
    try:
        cache.write(file, MARK + checksum(file, body) + body)
    except OSError as error:
        warnings.warn(f"compiled code cannot be kept in {cache.folder()}: {error}", stacklevel=2)


def _file(name):
    return re.sub(r"[^\w.]", "-", name)
