"""Files prepared for a game before it is played: a line of JSON that says what the file is, then the data.

The first line has the format, the game, and a checksum of the data: other games' files, or cut ones, are refused.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path

from arena.games.core.shared.errors import UserError
from arena.games.core.shared.registry import describes, spell

FILE = "file:"  # begins parameters that name a file with a learned network
VERSION = 1
LONGEST_HEADER = 1 << 20  # bytes, with the end of line
MOST_BYTES = 4 << 30  # of a file, which is held in memory


class PreparedFileError(UserError, ValueError):
    """An unusable file; the message says which, why, and what would be right."""


def pack(kind: str, game, about: dict, data: bytes) -> bytes:
    """The contents to write.  kind: in words; about: further entries of the first line.

    PreparedFileError if the first line is too long to be read.
    """
    checksum = hashlib.sha256(data).hexdigest()
    header = {"format": f"search-arena {kind}", "version": VERSION, "game": spell(game), **about, "sha256": checksum}
    line = json.dumps(header).encode() + b"\n"
    if len(line) > LONGEST_HEADER:
        raise PreparedFileError(
            f"the first line of a {kind} would have {len(line):,} bytes; the most that is read is {LONGEST_HEADER:,}"
        )
    return line + data


def unpack(kind: str, game, path: str | os.PathLike) -> tuple[dict, bytes]:
    """(the first line, the data) of a file of that kind and game; PreparedFileError for others."""
    shown = f"{kind} {str(path)!r}"
    try:
        if not os.path.isfile(path) and not os.path.isdir(path) and os.path.exists(path):
            raise PreparedFileError(f"{shown} is no regular file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                raise PreparedFileError(f"{shown} has {size:,} bytes; the most that is read is {MOST_BYTES:,}")
            header = _header(shown, game, kind, file.readline(LONGEST_HEADER))
            data = file.read(size)
    except OSError as error:
        raise PreparedFileError(f"{shown} cannot be read: {error.strerror}") from error
    except MemoryError:
        raise PreparedFileError(f"{shown} has {size:,} bytes, for which there is no memory") from None
    if hashlib.sha256(data).hexdigest() != header["sha256"]:
        raise PreparedFileError(f"{shown} is damaged: its checksum is wrong; make it again")
    return header, data


def _header(shown, game, kind, line) -> dict:
    try:
        header = json.loads(line)
        found = [header[name] for name in ("format", "version", "game", "sha256")]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PreparedFileError(f"{shown} is not a file of that kind: its first line does not say what it is") from None
    if found[0] != f"search-arena {kind}":
        other = str(found[0]).removeprefix("search-arena ")
        raise PreparedFileError(f"{shown} holds something else: {other[:80]}")
    if found[1] != VERSION:
        raise PreparedFileError(f"{shown} has version {found[1]!r:.20}; this program reads version {VERSION}")
    if not describes(str(found[2]), game):
        raise PreparedFileError(f"{shown} is for {str(found[2])[:200]}, not for {spell(game)}")
    return header


def named_files(made) -> list[str]:
    """Paths in an instance's parameters: file:PATH, lists with such, and its class's `file_fields`."""
    values = [getattr(made, field.name) for field in fields(made)]
    words = [word for value in values for word in (value if isinstance(value, tuple) else (value,))]
    learned = [word.removeprefix(FILE) for word in words if isinstance(word, str) and word.startswith(FILE)]
    return learned + [path for name in made.file_fields if (path := getattr(made, name))]


def checksums(paths: Iterable[str]) -> dict[str, str]:
    """Each file's checksum, by path; PreparedFileError if one cannot be read."""
    return {path: checksum(path) for path in sorted(set(paths))}


def checksum(path: str | os.PathLike) -> str:
    """SHA-256 of a prepared file's data, the same if made again, or of another whole file.  PreparedFileError if it
    cannot be read."""
    try:
        with open(path, "rb") as file:
            line = file.readline(LONGEST_HEADER)
            if found := _checksum_in(line):
                return found
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PreparedFileError(f"{str(path)!r} cannot be read: {error.strerror}") from error


def _checksum_in(line: bytes) -> str | None:
    """A prepared file's checksum; loading the file verifies it."""
    try:
        header = json.loads(line)
        found = header["sha256"] if header["format"].startswith("search-arena ") else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def changes(then: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """A line for each file whose checksum has changed."""
    return [
        f"the file {path!r} has changed: its checksum was {then[path][:12]}, and is {now[path][:12]}"
        for path in then
        if path in now and now[path] != then[path]
    ]


def wrong(kind: str, path: str | os.PathLike, what: str) -> PreparedFileError:
    """The error for a file with a right checksum that this program cannot have written; `what` shows it."""
    return PreparedFileError(f"{kind} {str(path)!r} cannot be right: {what}; make it again")


def stamp(path: str | os.PathLike) -> tuple[Path, int, int]:
    """A cache key: path, time of the last change in ns, bytes."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise PreparedFileError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    return Path(path), found.st_mtime_ns, found.st_size
