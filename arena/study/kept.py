"""A study's folder: its plan, and a line of JSON for each finding, written at once."""

import fcntl
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from arena.config.config import ConfigError


def lock(file) -> None:
    """Lock the file against other writers until it is closed; ConfigError if another process holds the lock."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError([f"{file.name}: another process is at work on this study"]) from None


def rows(path: Path, types: dict[str, Any]) -> list[dict]:
    """The stored rows, each with keys of these types; without an incomplete last line, which may be being written."""
    if not path.exists():
        return []
    data = path.read_bytes()
    try:
        found = [json.loads(line) for line in data[: _whole(data)].splitlines()]
    except ValueError as error:
        raise ConfigError([f"{path}: is damaged: {error}"]) from None
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise ConfigError([f"{path}: is damaged: line {number} is not an object"])
        for key, kind in types.items():
            if key not in row or not isinstance(row[key], kind):
                raise ConfigError([f"{path}: is damaged: line {number} lacks {key}, or it is of the wrong type"])
    return found


def _whole(data: bytes) -> int:
    """The length of the complete lines."""
    return data.rfind(b"\n") + 1


def plan(path: Path, kind: type, what: str) -> Any:
    """The study, of class `kind`, that a file describes; ConfigError if it describes none."""
    try:
        values = json.loads(path.read_text())
        if not isinstance(values, dict):
            raise TypeError("it is not an object")
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return kind(**values | lists)
    except FileNotFoundError:
        raise ConfigError([f"{path}: there is no such file; the folder holds no study of {what}"]) from None
    except (ValueError, TypeError) as error:
        raise ConfigError([f"{path}: does not describe a study of {what}: {error}"]) from None


def begin(study: Any, path: Path, kind: type, what: str, resume: bool) -> Any:
    """The study to continue; a new one, or one that extends the stored one, is checked and written before it begins."""
    stored = plan(path, kind, what) if study is None or (resume and path.exists()) else None
    if stored is not None and not _extends(study, stored):
        if study not in (None, stored):
            keys = [key for key in asdict(stored) if getattr(study, key) != getattr(stored, key)]
            raise ConfigError([f"the study in {path.parent} was begun with other values of {', '.join(keys)}"])
        try:
            stored.check()
        except ConfigError as error:
            raise ConfigError([f"{path}: {problem}" for problem in error.problems]) from None
        return stored
    if path.exists() and stored is None:
        raise ConfigError([f"{path.parent} holds a study already; to continue it: --resume"])
    study.check()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}")
    part.write_text(json.dumps(asdict(study), indent=1))
    part.replace(path)
    return study


def _extends(study, stored) -> bool:
    return study not in (None, stored) and hasattr(study, "extends") and study.extends(stored)


class Found(NamedTuple):
    """A file with a row of JSON per finding; `types`: of its values, by key; `keys`: those that identify a cell."""

    path: Path
    types: dict[str, Any]
    keys: tuple[str, ...]

    def complete(self, cells: Sequence[tuple], find: Callable, words: Callable, tell: Callable[[str], None]) -> None:
        """Append the row `find(*cell)` for each cell without one; before each, call `tell` with `words(*cell)`."""
        with open(self.path, "a") as file:
            lock(file)
            file.truncate(_whole(self.path.read_bytes()))  # a kill has left the rest: nobody else writes now
            known = {tuple(row[key] for key in self.keys) for row in rows(self.path, self.types)}
            for number, cell in enumerate(cells, 1):
                if cell not in known:
                    tell(f"{number:,} of {len(cells):,}: {words(*cell)}")
                    file.write(json.dumps(find(*cell)) + "\n")
                    file.flush()
                    os.fsync(file.fileno())


def table(path: Path, types: dict[str, Any]) -> pd.DataFrame:
    """The rows of a file as a table; ConfigError if there are none."""
    frame = pd.DataFrame(rows(path, types))
    if frame.empty:
        raise ConfigError([f"{path}: holds no search yet"])
    return frame
