"""The files that compiled code is kept in: with checksums, since damaged machine code ends a process.

A kernel has an index, which maps signatures to files of machine code.  Numba checks neither: a bit that a disk has
flipped is a segmentation fault at every start.  Here the index begins with the checksum of what follows, and a file of
machine code is named by its checksum.  So, too, two processes that compile at once never write different code to a
file of one name.

The code of a game's methods is kept in a file for each.

Signatures name classes, such as the tuples of a method that a plugin brings.  Each is packed by itself, so that what
another program has compiled stays where its modules are not to be found.
"""

import functools
import glob
import hashlib
import os
import pickle
import uuid
import warnings
from pathlib import Path
from typing import Any

import numba
from numba import config
from numba.core.caching import IndexDataCacheFile
from numba.core.serialize import dumps

OTHER_VERSION, NUMBAS_OWN = b"arena ", b"\x80"  # how indices begin that are not read, nor damaged
MARK = f"arena 2, numba {numba.__version__}\n".encode()
DIGEST_BYTES = 16
KEPT = ".nbm"  # how the names of files with a game's methods end


@functools.cache
def warn_unkept() -> None:
    """Warn, once, that nothing can be kept."""
    warnings.warn(
        "compiled kernels cannot be kept, since no folder for them can be written: every process compiles its own; "
        "the environment variable NUMBA_CACHE_DIR can name a folder",
        stacklevel=4,
    )


class DamagedCache(Exception):
    """A file of the cache that is not as it was written."""


def checksum(data: bytes) -> bytes:
    """The checksum of a file's content; fast, and not meant to keep out who can write to the folder anyway."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).digest()


def sealed(body: bytes) -> bytes:
    """The content of a file: how it is to be read, the checksum of what follows, and that."""
    return MARK + checksum(body) + body


def unsealed(data: bytes, name: str) -> bytes | None:
    """What was sealed, or None if another version wrote it; DamagedCache if it is not as it was written."""
    if not data.startswith(MARK):
        if data.startswith((OTHER_VERSION, NUMBAS_OWN)):
            return None
        raise DamagedCache(f"{name} is not as it was written")
    body = data[len(MARK) + DIGEST_BYTES :]
    if checksum(body) != data[len(MARK) : len(MARK) + DIGEST_BYTES]:
        raise DamagedCache(f"{name} is not as it was written")
    return body


class KeptFiles:
    """A folder with a file for each key, of objects that were made from sources with some digest, their stamp.

    Without a folder, nothing is kept.
    """

    def __init__(self, folder: Path | None):
        self.folder = folder

    def load(self, key: str, stamp: str) -> Any:
        """What was saved, or None; a damaged file is as good as none, and a warning names it."""
        if self.folder is None:
            return None
        path = self.folder / f"{key}{KEPT}"
        try:
            body = unsealed(path.read_bytes(), path.name)
            found, kept = pickle.loads(body) if body is not None else ("", None)
        except FileNotFoundError:
            return None
        except Exception as error:  # whatever unpickling raises: a class may be gone
            warnings.warn(f"the compiled code in {path} is damaged and is made anew: {error!r}", stacklevel=2)
            return None
        return kept if found == stamp else None

    def save(self, key: str, stamp: str, kept: Any) -> None:
        """Keep it, in place of what there was, at once or not at all."""
        if self.folder is None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{key}{KEPT}"
        new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:16]}")
        try:
            new.write_bytes(sealed(dumps((stamp, kept))))
            new.replace(path)
        except OSError as error:  # a full disk: the next process makes it again
            warnings.warn(f"compiled code cannot be kept in {self.folder}: {error}", stacklevel=2)
            new.unlink(missing_ok=True)


class CheckedFiles(IndexDataCacheFile):
    """The index and the machine code of one kernel.

    Kernels that check bounds (NUMBA_BOUNDSCHECK) are other code of the same signature, and have files of their own.
    """

    def __init__(self, cache_path, filename_base, source_stamp):
        self._base = f"{filename_base}.checked" if config.BOUNDSCHECK else filename_base
        super().__init__(cache_path, self._base, source_stamp)

    def flush(self):
        """Forget every signature, and remove the machine code."""
        super().flush()
        for path in Path(self._cache_path).glob(f"{glob.escape(self._base)}.*.nbc"):
            if path.name.count(".") == self._base.count(".") + 2:  # not of the kernel that checks bounds
                path.unlink(missing_ok=True)

    def save(self, key, data):
        """Keep the machine code of a signature; code that no index of these sources names is removed."""
        try:
            stamp, overloads = self._read_index()
        except DamagedCache:
            stamp, overloads = None, {}
        if stamp != self._source_stamp:
            self.flush()
            overloads = {}
        data = self._dump(data)
        name = f"{self._base}.{checksum(data).hex()}.nbc"
        with self._open_for_write(self._data_path(name)) as file:
            file.write(data)
        former = overloads.get(key, name)
        self._save_index(overloads | {key: name})
        if former != name:
            Path(self._data_path(former)).unlink(missing_ok=True)

    def _load_index(self):
        stamp, overloads = self._read_index()
        return overloads if stamp == self._source_stamp else {}

    def _read_index(self):
        """(stamp of the sources, file of each signature); DamagedCache if the index is not as it was written."""
        try:
            data = Path(self._index_path).read_bytes()
        except FileNotFoundError:
            return None, {}
        body = unsealed(data, self._index_name)
        if body is None:
            return None, {}
        stamp, packed = pickle.loads(body)
        return stamp, {_unpacked(key): name for key, name in packed.items()}

    def _save_index(self, overloads):
        packed = {key if isinstance(key, bytes) else self._dump(key): name for key, name in overloads.items()}
        body = self._dump((self._source_stamp, packed))
        with self._open_for_write(self._index_path) as file:
            file.write(sealed(body))

    def _load_data(self, name):
        data = Path(self._data_path(name)).read_bytes()
        if checksum(data).hex() != name.split(os.extsep)[-2]:
            raise DamagedCache(f"{name} is not as it was written")
        return pickle.loads(data)


def _unpacked(packed: bytes):
    """The key of a signature, or what it was packed to, where a class that it names is not to be found."""
    try:
        return pickle.loads(packed)
    except (ImportError, AttributeError):
        return packed
