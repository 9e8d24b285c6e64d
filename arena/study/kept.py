"""What a study keeps in its folder: its plan, and a line of JSON for whatever is found, as soon as it is."""

import fcntl
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from arena.config.config import ConfigError


def lock(file) -> None:
    """Keep others from writing to the file until it is closed; ConfigError if another process does."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError([f"{file.name}: another process is at work on this study"]) from None


def rows(path: Path, types: dict[str, Any]) -> list[dict]:
    """The rows that are stored, each with keys of these types; what a kill has left of a last line is cut off."""
    if not path.exists():
        return []
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        with open(path, "r+b") as file:
            file.truncate(len(whole))
    try:
        found = [json.loads(line) for line in whole.splitlines()]
    except ValueError as error:
        raise ConfigError([f"{path}: is damaged: {error}"]) from None
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise ConfigError([f"{path}: is damaged: line {number} is not an object"])
        for key, kind in types.items():
            if key not in row or not isinstance(row[key], kind):
                raise ConfigError([f"{path}: is damaged: line {number} lacks {key}, or it is of the wrong type"])
    return found


def plan(path: Path, kind: type, what: str) -> Any:
    """The study, of a dataclass, that a file holds; ConfigError if it holds none."""
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
    """The study to go on with; a new one is checked, and written before the first search."""
    if study is None or (resume and path.exists()):
        stored = plan(path, kind, what)
        if study not in (None, stored):
            keys = [key for key in asdict(stored) if getattr(study, key) != getattr(stored, key)]
            raise ConfigError([f"the study in {path.parent} was begun with other values of {', '.join(keys)}"])
        try:
            stored.check()
        except ConfigError as error:
            raise ConfigError([f"{path}: {problem}" for problem in error.problems]) from None
        return stored
    if path.exists():
        raise ConfigError([f"{path.parent} holds a study already; to continue it: --resume"])
    study.check()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}")
    part.write_text(json.dumps(asdict(study), indent=1))
    part.replace(path)
    return study


def append(file, row: dict) -> None:
    """Store one more row, for good."""
    file.write(json.dumps(row) + "\n")
    file.flush()
    os.fsync(file.fileno())
