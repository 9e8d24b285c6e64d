"""Files prepared for a game before it is played: a line of JSON that says what the file is, then the data.

The first line names the format, the game, and a checksum of the data, so that a file for another game, or one that has
been cut short, is refused.
"""

import hashlib
import json
import os
from pathlib import Path

from games.core.errors import UserError

VERSION = 1
LONGEST_HEADER = 10_000  # bytes


class PreparedFileError(UserError, ValueError):
    """A file that cannot be used; the message says which, why, and what would be right."""


def pack(kind: str, game, about: dict, data: bytes) -> bytes:
    """What to write to the file.  kind: what it is, in words; about: further entries of the first line."""
    checksum = hashlib.sha256(data).hexdigest()
    header = {"format": f"search-arena {kind}", "version": VERSION, "game": str(game), **about, "sha256": checksum}
    return json.dumps(header).encode() + b"\n" + data


def unpack(kind: str, game, path: str | os.PathLike) -> tuple[dict, bytes]:
    """(the first line, the data) of a file of that kind for that game; PreparedFileError if it is anything else."""
    shown = f"{kind} {str(path)!r}"
    try:
        with open(path, "rb") as file:
            line, data = file.readline(LONGEST_HEADER), file.read()
    except OSError as error:
        raise PreparedFileError(f"{shown} cannot be read: {error.strerror}") from error
    try:
        header = json.loads(line)
        kept = [header[name] for name in ("format", "version", "game", "sha256")]
    except (ValueError, KeyError, TypeError):
        raise PreparedFileError(f"{shown} is not a file of that kind: its first line does not say what it is") from None
    if kept[0] != f"search-arena {kind}":
        raise PreparedFileError(f"{shown} holds something else: {str(kept[0]).removeprefix('search-arena ')}")
    if kept[1] != VERSION:
        raise PreparedFileError(f"{shown} has version {kept[1]}; this program reads version {VERSION}")
    if kept[2] != str(game):
        raise PreparedFileError(f"{shown} is for {kept[2]}, not for {game}")
    if hashlib.sha256(data).hexdigest() != kept[3]:
        raise PreparedFileError(f"{shown} is damaged: its checksum is wrong; make it again")
    return header, data


def stamp(path: str | os.PathLike) -> tuple[Path, int, int]:
    """A cache key: path, time of the last change in ns, size in bytes."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise PreparedFileError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    return Path(path), found.st_mtime_ns, found.st_size
