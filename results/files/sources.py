"""Where games come from: files, folders, archives with several members, standard input; packed or not."""

import bz2
import gzip
import io
import lzma
import re
import sys
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import read_bounded

MOST_BYTES = 256 << 20  # of a file; reading one takes about ten times as much memory
KINDS = (".csv", ".pgn", ".pdn", ".sgf", ".sgfs", ".hsgf", ".wtb", ".jsonl", ".txt")  # .txt is looked into
LOOKS = {".sgf": rb"\(\s*;\s*[A-Za-z]+\s*\[", ".pgn": rb"^\[\w+ +\"", ".jsonl": rb"\A\s*\{"}
PACKED: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open, ".zst": None}
ARCHIVES = (".zip", ".tar", ".tgz", ".7z")
FAULTS = (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError, ValueError)


class Source(NamedTuple):
    """A file, or a member of an archive."""

    name: str
    kind: str  # of KINDS
    read: Callable[[], bytes]  # UserError, and OSError, say why it cannot be
    beside: Callable[[str], bytes | None] = lambda suffix: None  # the file of that suffix in its folder


def sources(files: list[Path]) -> list[Source]:
    """The files, with those that folders and archives hold in order; UserError if one is of no kind that is read."""
    found = []
    for file in files:
        if file.is_dir():
            inside = [one for path in sorted(file.rglob("*")) if path.is_file() for one in _sources(path)]
            if not inside:
                raise UserError(f"{file} holds no file {', '.join(KINDS)}")
        elif not (inside := list(_sources(file))):
            raise UserError(f"{file} is not a file {', '.join(KINDS)}, packed or not")
        found += inside
    if twice := [name for name, times in Counter(source.name for source in found).items() if times > 1]:
        raise UserError(f"{twice[0]} is named twice")
    return found


def kind_of(source: Source, data: bytes) -> str:
    """The kind, that of text by how it looks; "" if that is of no games."""
    if source.kind not in ("", ".txt"):
        return {".sgfs": ".sgf", ".hsgf": ".sgf"}.get(source.kind, source.kind)
    return next((kind for kind, look in LOOKS.items() if re.search(look, data, re.MULTILINE)), "")


def _sources(file: Path) -> Iterator[Source]:
    if str(file) == "-":
        yield Source("standard input", "", lambda: bounded(sys.stdin.buffer, "standard input"))
    elif kind := _kind(file):
        yield Source(str(file), kind, lambda: unpacked(file, read_bounded(file, MOST_BYTES)), partial(_beside, file))
    elif file.suffix.lower() in ARCHIVES or file.name.lower().endswith((".tar.gz", ".tar.bz2", ".tar.xz")):
        members = list(_members(file))
        if not members:
            raise UserError(f"{file} holds no file {', '.join(KINDS)}")
        for name, read in members:
            place = f"{file}/{name}"
            yield Source(place, _kind(PurePath(name)), partial(_unpacked_member, PurePath(place), read))


def _beside(file: Path, suffix: str) -> bytes | None:
    found = [path for path in sorted(file.parent.iterdir()) if path.suffix.lower() == suffix]
    return read_bounded(found[0], MOST_BYTES) if found else None


def _kind(file: PurePath) -> str:
    """The suffix that says how a file is read; "" if none does."""
    suffix = (file.with_suffix("") if file.suffix.lower() in PACKED else file).suffix.lower()
    return suffix if suffix in KINDS else ""


def _members(file: Path) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The members of an archive that are read, in its order: packed ones need not be unpacked again for each."""
    if file.suffix.lower() == ".7z":
        raise UserError(f"{file}: Python unpacks no .7z; unpack it first, such as by 7z x")
    opened: dict[str, Callable]
    try:  # both are open as long as their members are wanted
        if file.suffix.lower() == ".zip":
            zipped = zipfile.ZipFile(file)
            inside = [one for one in zipped.infolist() if one.filename and not one.is_dir()]
            opened = {one.filename: partial(zipped.open, one) for one in inside}
        else:
            tarred = tarfile.open(file)  # noqa: SIM115
            opened = {one.name: partial(tarred.extractfile, one) for one in tarred if one.isfile()}
    except FAULTS as error:
        raise _fault(file, error) from None
    for name, open_member in opened.items():
        if _kind(PurePath(name)) and not PurePath(name).name.startswith("."):
            yield name, partial(_member, open_member, f"{file}/{name}")


def _member(open_member: Callable, place: str) -> bytes:
    try:
        with open_member() as member:
            return bounded(member, place)
    except FAULTS as error:
        raise _fault(place, error) from None


def _unpacked_member(place: PurePath, read: Callable[[], bytes]) -> bytes:
    return unpacked(place, read())


def unpacked(file: PurePath, data: bytes) -> bytes:
    """What a file packs; the data themselves if its suffix is of no packed file."""
    suffix = file.suffix.lower()
    if suffix not in PACKED:
        return data
    try:
        with (PACKED[suffix] or _zstd())(io.BytesIO(data)) as inside:
            return bounded(inside, str(file))
    except FAULTS as error:
        raise _fault(file, error) from None


def _fault(name: PurePath | str, error: Exception) -> UserError:
    """Of FAULTS, those that do not name another reason come from data that are not whole."""
    reason = isinstance(error, RuntimeError) or getattr(error, "errno", None)
    return UserError(f"{name} cannot be unpacked: {'' if reason else 'it is damaged, or not whole: '}{error}")


def _zstd() -> Callable:
    try:
        from compression import zstd  # type: ignore[import-not-found]  # Python 3.14
    except ImportError:
        try:
            import zstandard as zstd  # type: ignore[import-not-found]
        except ImportError:
            raise RuntimeError("this Python has no zstd: pip install zstandard, or unpack it by zstd -d") from None
    return zstd.open


def bounded(file, name: str) -> bytes:
    """The contents of an open file; UserError if there are too many."""
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise UserError(f"{name} has more than {MOST_BYTES:,} bytes")
    return data
