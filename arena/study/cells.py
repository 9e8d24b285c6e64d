"""Studies: the plan in a study's folder, and a line of JSON for each finding, written at once."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast, get_type_hints

import msgspec
import pandas as pd

from arena.config.complaints import complaint
from arena.config.config import ConfigError
from arena.config.keys import MAX_COUNT
from arena.games.core.shared.files import TEXT_BYTES, open_to_append, read_plain, write_whole
from arena.games.core.shared.registry import SpecError
from arena.games.core.shared.system import lock


@contextmanager
def growing(path: Path, types: dict[str, Any]) -> Iterator[tuple[list[dict], Callable[[dict], None]]]:
    """The rows of a file that only this process adds to, and what adds one; ConfigError if another one is at work."""
    with open_to_append(path) as file:
        try:
            lock(file.fileno())
        except BlockingIOError:
            raise ConfigError([f"{path}: another process is at work on this study"]) from None
        file.truncate(_whole(read_plain(path)))  # left by a kill: nobody else writes now

        def add(row: dict) -> None:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

        yield rows(path, types), add


def rows(path: Path, types: dict[str, Any]) -> list[dict]:
    """The stored rows, each with keys of these types; without an incomplete last line, which may be being written."""
    try:
        data = read_plain(path)
        found = [json.loads(line) for line in data[: _whole(data)].splitlines()]
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError) as error:
        raise ConfigError([f"{path}: is damaged: {error}"]) from None
    for number, row in enumerate(found, 1):
        if not isinstance(row, dict):
            raise ConfigError([f"{path}: is damaged: line {number} is not an object"])
        for key, kind in types.items():
            if key not in row or not isinstance(row[key], kind):
                raise ConfigError([f"{path}: is damaged: line {number} lacks {key}, or it is of the wrong type"])
    return found


def _whole(data: bytes) -> int:
    return data.rfind(b"\n") + 1


Count = Annotated[int, msgspec.Meta(ge=1)]
CHECKED = 1000  # positions looked for before a study begins
Positions = Annotated[int, msgspec.Meta(ge=1, le=10**6)]
Games = Annotated[int, msgspec.Meta(ge=2, le=MAX_COUNT, multiple_of=2)]
Seed = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class Plan:
    """Base of the plans of studies: dataclasses stored as JSON in a study's folder, whose types say what values can be.

    FILE: the file's name; WHAT: the things studied, GROWS: how a study may be extended, in messages; ALSO: words that a
    person may write for a key
    """

    FILE: ClassVar[str]
    WHAT: ClassVar[str]
    GROWS: ClassVar[str] = "go on with the same"
    ALSO: ClassVar[Mapping[str, str]] = {}

    def faults(self) -> list[str]:
        """What is wrong though every value is of its type."""
        return []

    def check(self) -> None:
        """ConfigError with everything that is wrong."""
        try:
            type(self).from_values(asdict(cast(Any, self)), self.WHAT)
            faults = self.faults()
        except SpecError as error:
            faults = [str(error)]
        except RecursionError:
            faults = ["is nested too deeply"]
        if faults:
            raise ConfigError([f"{self.WHAT}: {fault}" for fault in faults])

    @classmethod
    def from_values(cls, values: Mapping[str, Any], source: str) -> Self:
        """The plan of plain values, such as a file's; ConfigError names those that are missing, strange or wrong."""
        types, found = get_type_hints(cls, include_extras=True), dict[str, Any]()
        known = {one.name: one.default is MISSING and one.default_factory is MISSING for one in fields(cast(Any, cls))}
        also = {key: "".join(f"{word} or " for word, of in cls.ALSO.items() if of == key) for key in known}
        wrong = [f"{also[key]}{key}: is missing" for key, needed in known.items() if needed and key not in values]
        for key, value in values.items():
            if key not in known:
                wrong.append(f"{key}: is no key of a study of {cls.WHAT}; there are {', '.join([*cls.ALSO, *known])}")
                continue
            try:
                found[key] = msgspec.convert(value, types[key])
            except msgspec.ValidationError as error:
                wrong.append(complaint((key,), value, str(error)))
        if wrong:
            raise ConfigError([f"{source}: {text}" for text in wrong])
        return cls(**found)

    def extends(self, other: Self) -> bool:
        """Whether the other plan's study may go on with this one."""
        return False

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The plan of the study in a folder; ConfigError if there is none."""
        path = folder / cls.FILE
        try:
            values = json.loads(read_plain(path, TEXT_BYTES))
            if not isinstance(values, dict):
                raise ValueError("it is not an object")
        except FileNotFoundError:
            raise ConfigError([f"{path}: there is no such file; the folder holds no study of {cls.WHAT}"]) from None
        except (ValueError, RecursionError) as error:
            raise ConfigError([f"{path}: does not describe a study of {cls.WHAT}: {error}"]) from None
        return cls.from_values(values, str(path))

    @classmethod
    def begin(cls, study: Self | None, folder: Path, resume: bool) -> Self:
        """The study to continue; a new one, or one that extends the stored one, is checked and written first."""
        path = folder / cls.FILE
        stored = cls.read(folder) if study is None or (resume and path.exists()) else None
        if study is None or (stored is not None and (study == stored or not study.extends(stored))):
            return _continued(study, stored, path)
        if path.exists() and stored is None:
            raise ConfigError([f"{folder} holds a study already; to continue it: --resume"])
        study.check()
        write_whole(path, json.dumps(asdict(cast(Any, study)), indent=1).encode(), folder)
        return study


def _continued(study, stored, path: Path) -> Any:
    """ConfigError if another plan is wanted, or if the stored one is wrong by now."""
    if study not in (None, stored):
        keys = [key for key in asdict(stored) if getattr(study, key) != getattr(stored, key)]
        begun = f"the study in {path.parent} was begun with other values of {', '.join(keys)}"
        raise ConfigError([f"{begun}; {study.GROWS}, or play this in another folder"])
    try:
        stored.check()
    except ConfigError as error:
        raise ConfigError([f"{path}: {problem}" for problem in error.problems]) from None
    return stored


class Cells(Plan):
    """Base of the plans of studies that search cell after cell, and store a row of JSON for each at once.

    FOUND: the rows' file; TYPES: of their values, by key; KEYS: those that tell cells apart
    """

    FOUND: ClassVar[str]
    TYPES: ClassVar[dict[str, Any]]
    KEYS: ClassVar[tuple[str, ...]]

    def cells(self) -> Iterator[tuple]:
        """The values of KEYS of every cell, in order."""
        raise NotImplementedError

    def words(self, *cell) -> str:
        """A cell, for people."""
        raise NotImplementedError

    def find(self, *cell) -> dict[str, Any]:
        """Search a cell: its row."""
        raise NotImplementedError

    @classmethod
    def run(cls, study: Self | None, out, resume: bool = False, tell: Callable[[str], None] = lambda text: None):
        """Find what the study lacks; returns the rows as `load` does.

        With `resume` and without a study, continue the stored one.  `tell` is called with a line before each search.
        ConfigError if the folder holds another study, or none.
        """
        study, path = cls.begin(study, Path(out), resume), Path(out) / cls.FOUND
        cells = list(study.cells())
        with growing(path, cls.TYPES) as (stored, add):
            known = {tuple(row[key] for key in cls.KEYS) for row in stored}
            for number, cell in enumerate(cells, 1):
                if cell not in known:
                    tell(f"{number:,} of {len(cells):,}: {study.words(*cell)}")
                    add(study.find(*cell))
        return cls.load(out)

    @classmethod
    def load(cls, folder) -> pd.DataFrame:
        """The rows of a stored study; ConfigError if there are none, or if searches found different values."""
        frame = table(Path(folder) / cls.FOUND, cls.TYPES)
        of = [key for key in ("game", "position") if key in cls.KEYS]
        values = frame[frame["value"].notna()].groupby(of)["value"].nunique()
        for place in values[values > 1].index:
            *game, number = place if isinstance(place, tuple) else (place,)
            where = ", ".join([*game, f"position {number + 1}"])
            raise ConfigError([f"{folder}: searches found different values of {where}"])
        return frame


def table(path: Path, types: dict[str, Any]) -> pd.DataFrame:
    """The rows of a file as a table; ConfigError if there are none."""
    frame = pd.DataFrame(rows(path, types))
    if frame.empty:
        raise ConfigError([f"{path}: holds no search yet"])
    return frame
