"""The files that compiled code is kept in: with checksums, since damaged machine code ends a process.

Numba's own files have none: a bit that a disk has flipped is a segmentation fault at every start, and one index lists
all signatures of a kernel, also those of classes that another program brings.  Here each signature of a kernel, and
each method of a game, has a file of its own, which begins with the checksum of what follows.
"""

import functools
import hashlib
import pickle
import uuid
import warnings
from pathlib import Path
from typing import Any

import numba
from numba.core.serialize import dumps

OTHER_VERSION = b"arena "  # how files begin that are not read, nor damaged
MARK = f"arena 4, numba {numba.__version__}\n".encode()
DIGEST_BYTES = 16
CODE, KEPT = ".nbc", ".nbm"  # how the names of files end: of kernels, and of a game's methods


@functools.cache
def warn_unkept() -> None:
    """Warn, once, that nothing can be kept."""
    warnings.warn(
        "compiled kernels cannot be kept, since no folder for them can be written: every process compiles its own; "
        "the environment variable NUMBA_CACHE_DIR can name a folder",
        stacklevel=4,
    )


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


class KeptFiles:
    """A folder with a file for each object that was made, which is named by all that it is made of.

    Without a folder, nothing is kept.
    """

    def __init__(self, folder: Path | None, ending: str = KEPT):
        self.folder, self.ending = folder, ending

    def load(self, key: str) -> Any:
        """What was saved, or None; a damaged file is as good as none, and a warning names it."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}{self.ending}"
        try:
            body = unsealed(path.read_bytes())
            return None if body is None else pickle.loads(body)
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever unpickling raises
            warnings.warn(f"the compiled code in {path} is damaged and is made anew: {error!r}", stacklevel=2)
            return None

    def save(self, key: str, kept: Any) -> None:
        """Keep it, in place of what there was, at once or not at all."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{key}{self.ending}"
        new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
        try:
            body = dumps(kept)
            new.write_bytes(MARK + checksum(body) + body)
            new.replace(path)
        except OSError as error:  # a full disk: the next process makes it again
            warnings.warn(f"compiled code cannot be kept in {self.folder}: {error}", stacklevel=2)
            new.unlink(missing_ok=True)
