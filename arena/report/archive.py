"""Archives of a run or a study that a paper can cite, and that anyone can check: RO-Crates in a zip.

An RO-Crate (https://w3id.org/ro/crate) is a folder whose `ro-crate-metadata.json` says what its files are.  Ours holds
the stored games and plans, every table as CSV, the report with its figures, the configuration and the machine as JSON,
and a CITATION.cff.  The metadata give the size and the SHA-256 of each file, which tell a damaged file; whoever alters
one can rewrite them.  By replaying the games and computing the tables anew, a reader learns whether these belong
together; of the rest, only the SHA-256 of the zip, published elsewhere, says that it is as it was.
"""

import hashlib
import json
import os
import shutil
import sqlite3
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from io import StringIO
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pandas as pd

from arena import results
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.files import check_plain
from arena.report.page import write_report
from arena.report.pieces import pieces_of
from arena.results.database.store import FILE_NAME, LOCK_NAME, busy
from arena.results.database.store_file import explained
from arena.results.printable import one_line
from arena.results.shown.export import render
from arena.runner.study_kinds import has_parts, runs_in

METADATA, CITATION, ABOUT, TABLES = "ro-crate-metadata.json", "CITATION.cff", "about.json", "tables"
PASSING = (LOCK_NAME, "playing.json", "log.txt")  # in a run's folder; of the time when it was played
IN_STORE = ("games", "moves", "improvements")  # tables that are the stored games themselves
MOST_BYTES = 16 << 30  # unpacked
CHUNK = 1 << 20
EPOCH = (1980, 1, 1, 0, 0, 0)  # of all members, so that archives differ only where their files do
CLOSE = 1e-6  # relative difference of numbers that processors may round differently


class Work(NamedTuple):
    """What a citation says."""

    title: str
    authors: tuple[str, ...]
    license: str
    date: str  # ISO 8601


# -- Writing -------------------------------------------------------------------------------------------------------


def write_archive(folder: Path, file: Path, work: Work, scratch: Path, tell: Callable[[str], None]) -> list[str]:
    """Write the archive of the run or study in `folder`; returns the names of its files.

    scratch: an empty folder for its content, as large as the run.  UserError, and StoreError of a run, if it cannot.
    """
    crate, place = _crate(work), scratch / "crate"
    _copy(folder, place)
    for home, name, frame in tables_of(place, tell):
        path = place / home / TABLES / f"{name}.csv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(_csv(frame))
    tell("drawing the report")
    write_report(place)
    (place / ABOUT).write_text(json.dumps(_about(place), indent=1))
    (place / CITATION).write_text(_citation(work))
    names = [path.relative_to(place).as_posix() for path in sorted(place.rglob("*")) if path.is_file()]
    (place / METADATA).write_text(json.dumps(_metadata(crate, place, names), indent=1, ensure_ascii=False))
    tell("packing")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in (METADATA, *names):
            member = zipfile.ZipInfo(name, EPOCH)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, (stat.S_IFREG | 0o644) << 16
            with (place / name).open("rb") as source, packed.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, CHUNK)
    return names


def tables_of(folder: Path, tell: Callable[[str], None]) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yields (place in the folder, kind, table) of a run or a study, and of the runs in it."""
    for home in dict.fromkeys([folder, *runs_in(folder)]):
        own = pieces_of(home)
        for kind in own.tables():
            if kind not in IN_STORE:
                name = home.relative_to(folder).as_posix()
                tell(f"computing the table {kind}" + (f" of {name}" if name != "." else ""))
                yield name, kind, own.table(kind, "csv").frame


def _csv(frame: pd.DataFrame) -> str:
    return str(render(frame, "csv"))


def _copy(folder: Path, place: Path) -> None:
    """The files of a run or study, stores as they are at one moment; what an archive makes anew is left out."""
    runs = runs_in(folder)
    if not runs:
        raise UserError(f"{folder} holds no run: give the folder of a tournament or of a study of schemes")
    if folder not in runs and not has_parts(folder):
        raise UserError(f"{folder} is no run, but holds some: give one of them, such as {runs[0]}")
    if playing := [run for run in runs if busy(run)]:
        raise UserError(f"{playing[0]} is being played: archive it when it has ended")
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_symlink() or not path.is_file() or name.name.startswith(".") or name.name in PASSING:
            continue
        if path.suffix in (".sqlite-wal", ".sqlite-shm") or TABLES in name.parts or name.name in (METADATA, CITATION):
            continue
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        if path.name == FILE_NAME:
            _copy_store(path, place / name)
        else:
            shutil.copyfile(path, place / name)


def _copy_store(path: Path, copy: Path) -> None:
    """A store in one file, whatever a killed run has left beside it."""
    source, target = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True), sqlite3.connect(copy)
    with explained(path, "read"), closing(source), closing(target):
        source.backup(target)
        target.execute("PRAGMA journal_mode = DELETE")


def _about(place: Path) -> dict[str, Any]:
    """By run: the resolved configuration, machines and versions, as the run's store has them."""
    return {run.relative_to(place).as_posix(): results.load(run).meta for run in runs_in(place)}


def made_by(place: Path) -> dict[str, str]:
    """The package's version that played an archive's first run, and the digest of its games' and agents' sources."""
    machine = results.load(runs_in(place)[0]).meta.get("machine", {})
    return {key: str(machine.get(key, "unknown")) for key in ("project", "source_digest")}


def _citation(work: Work) -> str:
    """Citation File Format 1.2.0 (https://citation-file-format.github.io); JSON's texts are YAML's."""
    quoted = partial(json.dumps, ensure_ascii=False)
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these games or tables, please cite this archive.",
        "type: dataset",
    ]
    lines += [f"title: {quoted(work.title)}", "authors:", *(f"  - name: {quoted(name)}" for name in work.authors)]
    return "\n".join([*lines, f"license: {work.license}", f"date-released: {work.date}", ""])


def _crate(work: Work) -> Any:
    """An RO-Crate without files."""
    try:
        from rocrate.model.person import Person  # type: ignore[import-untyped]
        from rocrate.rocrate import ROCrate  # type: ignore[import-untyped]
    except ImportError:
        raise UserError('archives need the package rocrate: pip install "search-arena[archive]"') from None
    crate = ROCrate()
    crate.name = work.title
    crate.description = "Stored games of search agents, with the tables and figures that follow from them."
    crate.datePublished = datetime.fromisoformat(work.date).replace(tzinfo=UTC)
    crate.license = f"https://spdx.org/licenses/{work.license}"
    crate.creator = [crate.add(Person(crate, f"#author-{i}", {"name": name})) for i, name in enumerate(work.authors, 1)]
    return crate


def _metadata(crate: Any, place: Path, names: list[str]) -> dict[str, Any]:
    """The RO-Crate's description of the files."""
    software = made_by(place)
    tool = {"@type": "SoftwareApplication", "name": "search-arena", "version": software["project"]}
    made = crate.add_jsonld({"@id": "#search-arena", **tool, "sha256": software["source_digest"]})
    files = []
    for name in names:
        facts = {"contentSize": str((place / name).stat().st_size), "sha256": digest_of(place / name)}
        files.append(crate.add_file(place / name, name, properties=facts | {"encodingFormat": _format(name)}))
    action = {"@id": "#played", "@type": "CreateAction", "name": "The games and what follows from them"}
    crate.add_jsonld(action | {"instrument": {"@id": made.id}, "result": [{"@id": file.id} for file in files]})
    return crate.metadata.generate()


def _format(name: str) -> str:
    kinds = {".csv": "text/csv", ".html": "text/html", ".svg": "image/svg+xml", ".png": "image/png"}
    kinds |= {".json": "application/json", ".sqlite": "application/vnd.sqlite3", ".cff": "application/yaml"}
    return kinds.get(PurePosixPath(name).suffix, "application/octet-stream")


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- Reading -------------------------------------------------------------------------------------------------------


def unpack(file: Path, place: Path) -> list[str]:
    """Unpack an archive into an empty folder; returns its files' names.

    UserError if it is none, or if a file is missing, added, or not of the size and digest that the metadata say.
    """
    try:
        check_plain(file)
        with zipfile.ZipFile(file) as packed:
            names = _unpacked(file, packed, place)
    except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, ValueError, struct.error, zlib.error) as error:
        raise UserError(f"{file} is a damaged archive, or none: {one_line(str(error))}") from None
    if not runs_in(place):
        raise UserError(f"{file}: holds no run, so there is nothing to check: a run is a file {FILE_NAME}")
    return names


def _unpacked(file: Path, packed: zipfile.ZipFile, place: Path) -> list[str]:
    members = packed.infolist()
    names = [member.filename for member in members]
    if METADATA not in names:
        raise UserError(f"{file} is no archive of a study: it has no {METADATA}")
    if len(set(names)) < len(names):
        raise UserError(f"{file}: has a file twice")
    described = _described(file, _bounded(file, packed, packed.getinfo(METADATA), 64 << 20))
    if sum(size for size, _ in described.values()) > MOST_BYTES:
        raise UserError(f"{file}: has more than {MOST_BYTES >> 30} GB of files")
    for name in names:
        if name != METADATA and name not in described:
            raise UserError(f"{file}: {name} was added: {METADATA} does not name it")
    for name, (size, digest) in described.items():
        if name not in names:
            raise UserError(f"{file}: {name} is missing")
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(name) as source, path.open("xb") as target:
            left = size + 1
            while left > 0 and (data := source.read(min(CHUNK, left))):
                target.write(data)
                left -= len(data)
        if left != 1 or digest_of(path) != digest:
            raise UserError(f"{file}: {name} was altered: it is not of the size and SHA-256 that {METADATA} says")
    return list(described)


def _bounded(file: Path, packed: zipfile.ZipFile, member: zipfile.ZipInfo, most: int) -> bytes:
    with packed.open(member) as source:
        data = source.read(most + 1)
    if len(data) > most:
        raise UserError(f"{file}: {member.filename} has more than {most >> 20} MB")
    return data


def _described(file: Path, data: bytes) -> dict[str, tuple[int, str]]:
    """The files that the metadata describe: name -> (size, SHA-256)."""
    try:
        found = {}
        for entity in json.loads(data)["@graph"]:
            if entity.get("@type") == "File":
                found[entity["@id"]] = int(entity["contentSize"]), str(entity["sha256"])
        if strange := [name for name in found if not isinstance(name, str)]:
            raise ValueError(f"the name {strange[0]!r} is not text")
        if any(size < 0 for size, _ in found.values()):  # which would make room for a file of any size
            raise ValueError("a file of negative size")
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise UserError(f"{file}: {METADATA} describes no archive of ours: {one_line(repr(error))}") from None
    for name in found:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name or name in ("", ".", METADATA):
            raise UserError(f"{file}: {METADATA} names a file {name!r} outside the archive")
    return found


def tables_among(names: list[str]) -> list[str]:
    """Those of an archive's files that are tables."""
    return [name for name in names if PurePosixPath(name).parent.name == TABLES]


def different_tables(place: Path, tables: list[str], tell: Callable[[str], None]) -> list[str]:
    """What differs between an unpacked archive's tables and those that this code computes of its games, in words."""
    stored, differ = set(tables), []
    for home, kind, frame in tables_of(place, tell):
        name = (PurePosixPath(home) / TABLES / f"{kind}.csv").as_posix()
        if name not in stored:
            differ.append(f"{name} is not in the archive, and this code computes it")
            continue
        stored.remove(name)
        if why := _difference((place / name).read_text(errors="replace"), _csv(frame)):
            differ.append(f"{name} differs: {why}")
    return differ + [f"{name} is in the archive, and this code does not compute it" for name in sorted(stored)]


def _difference(stored: str, computed: str) -> str:
    """Where two tables in CSV differ by more than rounding; "" if they do not."""
    if stored == computed:
        return ""
    try:
        one, other = (pd.read_csv(StringIO(text)) for text in (stored, computed))
        pd.testing.assert_frame_equal(one, other, rtol=CLOSE, atol=CLOSE, check_dtype=False)
    except ValueError as error:
        return f"it is no table: {error}"
    except AssertionError as error:
        return " ".join(str(error).split())[:200]
    return ""


def same_name(folder: Path) -> str:
    """The default title: the folder's own name."""
    return os.path.basename(folder.resolve())
