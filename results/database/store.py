"""Every game of a tournament in one SQLite file, `tournament.sqlite`, written by one process at a time.

In WAL mode, it can be read meanwhile.  Games added together are one transaction: a killed process loses none of them.
`PRAGMA user_version` is the schema's.  Every row has, or is covered by, a digest: those of metadata, agents and tallies
are verified at every look, those of a game when it is read.  Games are numbered without gaps as they end, so the
tallies show if one has vanished.
"""

import difflib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any

from filelock import FileLock

from arena.games.core.shared.system import is_locked
from arena.results.database import tallies
from arena.results.database.digests import digest, is_sound
from arena.results.database.record import GameRecord
from arena.results.database.rows import (
    APPLICATION_ID,
    PART_KEYS,
    PARTS,
    ROW,
    SCHEMA_VERSION,
    insert,
    record_of,
    write_empty,
)
from arena.results.database.store_file import LOCK_NAME as LOCK_NAME
from arena.results.database.store_file import StoreBusy as StoreBusy  # which `taken` raises
from arena.results.database.store_file import (
    StoreDamaged,
    StoreError,
    StoreExists,
    StoreLost,
    check_files,
    explained,
    free_name,
    open_to_read,
    open_to_write,
    place,
    taken,
)
from arena.results.database.tallies import Tallies

FILE_NAME = "tournament.sqlite"
GAME_FILES = (".pgn", ".csv", ".jsonl", ".sgf")  # endings of what is imported, not opened

RESCUED_NAME, DAMAGED_NAME = "rescued.sqlite", "damaged.sqlite"
LOOK = 1.0  # seconds between looks whether the file is there
SHOWN = 5  # runs in a message
BATCH = 10_000  # rows read at once
GAMES_VERIFIED = 100_000  # up to this many games are all verified at loading or resuming
MOVES_VERIFIED = 1_000_000  # up to this many decisions all are, before a sum of them or a resume


class Store:
    """A tournament's file, made by `create` or `open`; a context manager that closes it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: FileLock | None):
        self.path = path
        self._connection = connection
        self._lock = lock
        self._place, self._looked = place(path), time.monotonic()
        self._tallies: Tallies | None = None  # read with the first game added

    @classmethod
    def create(cls, folder: str | os.PathLike, meta: dict, agents: Sequence[dict]) -> "Store":
        """A new store in `folder`, made if need be, open for writing.

        `meta` is any JSON; `agents` are `{"name": ..., "spec": ...}` as configured.  StoreExists if there is a store;
        StoreBusy if another process makes one; StoreError if it cannot be made.
        """
        path = Path(folder) / FILE_NAME
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder {path.parent}: {error.strerror}") from error
        check_files(path, write=True)
        lock = taken(path.parent / LOCK_NAME)
        try:
            if path.exists():
                raise StoreExists(f"{path.parent} holds a tournament already: {path}")
            write_empty(path, meta, agents)
            return cls(path, _connect(path, write=True), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: str | os.PathLike, write: bool = False) -> "Store":
        """The store in `folder`, to write, or to read, even while another process is writing.

        StoreError if there is none, or it is damaged or of another version; StoreBusy if another process writes, too.
        """
        path = Path(folder) / FILE_NAME
        check_files(path, write)
        if not path.is_file():
            within = sorted(str(each.parent) for each in path.parent.glob(f"*/{FILE_NAME}"))
            more = f"; it holds the runs {', '.join(within[:SHOWN])}{', ...' * (len(within) > SHOWN)}" if within else ""
            if path.parent.is_file() or path.parent.suffix in GAME_FILES:
                more = f"; a run is a folder, which arena import {path.parent} makes of a file of games"
            if not path.parent.exists():
                raise StoreError(f"no tournament in {path.parent}: {_no_folder(path.parent)}{more}")
            raise StoreError(f"no tournament in {path.parent}: there is no file {path}{more}")
        if not write:
            return cls(path, _connect(path, write=False), None)
        lock = taken(path.parent / LOCK_NAME)
        try:
            return cls(path, _connect(path, write=True), lock)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Close the file and let others write; again, it does nothing."""
        try:
            with explained(self.path, "close"):
                self._leave_one_file()
                self._connection.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def _leave_one_file(self):
        """End WAL mode, or readers would leave its companions behind; not while others are reading."""
        if self._lock is not None and place(self.path) == self._place:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA busy_timeout = 0")
                self._connection.execute("PRAGMA journal_mode = DELETE")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def meta(self) -> dict:
        """What `create` and `set_meta` stored."""
        rows = self._verified("meta", ("key", "value"), "key")
        try:
            return {key: json.loads(value) for key, value in rows}
        except (ValueError, RecursionError) as error:
            raise StoreDamaged(self.path, "its table meta holds what is not JSON", mendable=False) from error

    @property
    def config(self) -> dict:
        """The games' configuration; StoreError if they were imported without one."""
        try:
            return self.meta["config"]
        except KeyError:
            text = f"the results in {self.path.parent} were imported: their game and configuration are not known"
            raise StoreError(text) from None

    def set_meta(self, key: str, value: Any) -> None:
        """Replace, or add, one entry of `meta` (any JSON)."""
        with explained(self.path, f"write {key} to"), self._connection as connection:
            row = (key, json.dumps(value))
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, digest(row)))

    def set_config(self, config: dict, meta: Mapping[str, Any], agents: Iterable[dict] = ()) -> None:
        """Replace the configuration, by one that may have more agents; at once with them, and entries of `meta`.

        agents: others, as of the configuration, that games are stored of
        """
        known = {agent["name"] for agent in self.agents}
        named = [*config["agents"], *agents]
        more = [(entry["name"], entry["agent"]) for entry in named if entry["name"] not in known]
        with explained(self.path, "write config to"), self._connection as connection:
            rows = [(len(known) + i, *agent) for i, agent in enumerate(more)]
            connection.executemany("INSERT INTO agents VALUES (?, ?, ?, ?)", [(*row, digest(row)) for row in rows])
            entries = [(key, json.dumps(value)) for key, value in {**meta, "config": config}.items()]
            values = [(*row, digest(row)) for row in entries]
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", values)

    @property
    def agents(self) -> list[dict]:
        """Each agent's `name` and `spec`, in the order of the configuration."""
        with self.unchanged():
            rows = self._verified("agents", ("agent", "name", "spec"))
            played = self.select("SELECT first FROM tallies UNION SELECT second FROM tallies WHERE second IS NOT NULL")
        if lost := {name for (name,) in played} - {name for _, name, _ in rows}:
            raise StoreDamaged(
                self.path, f"its table agents lacks {', '.join(map(repr, sorted(lost)))}", mendable=False
            )
        return [{"name": name, "spec": spec} for _, name, spec in rows]

    def tallies(self) -> dict:
        """Sums by condition, players, outcome, reason (`tallies`); StoreDamaged unless they count all games."""
        with self.unchanged():  # or a game added between the two would be taken for damage
            read = dict(tallies.read(self._verified("tallies", ("tally", *tallies.COLUMNS))))
            ((last,),) = self.select("SELECT MAX(game) FROM games")
        if (counted := sum(sums[0] for _, sums in read.values())) != (last or 0):
            raise StoreDamaged(self.path, f"{counted} games were added, and the last there is the {last or 0}th")
        return read

    def ids(self) -> set[str]:
        """The ids of all games stored."""
        return {id for (id,) in self.each("SELECT id FROM games NOT INDEXED")}  # the table, which has the digests

    def results(self) -> Iterator[tuple]:
        """condition, first, second, opening, outcome, opening_moves, moves, reason of all games, as they ended."""
        columns = "condition, first, second, opening, outcome, opening_moves, moves, reason"
        return self.each(f"SELECT {columns} FROM games ORDER BY game")

    def add(self, record: GameRecord) -> None:
        """Store one game, whole or not at all.

        StoreError if its id is there or it cannot be written; StoreLost, naming a file with all games, if the file is
        gone.
        """
        self._add([record], f"add game {record.id!r} to")

    def add_all(self, records: Iterable[GameRecord]) -> None:
        """Store all of these games or none; errors as for `add`."""
        self._add(records, "add games to")

    def _add(self, records, action) -> None:
        if self._tallies is None:
            self._tallies = Tallies(self.tallies())
        with explained(self.path, action):
            with self._connection as connection:
                change = self._tallies.changed(tallies.first_way_in(connection))
                last, records = self._tallies.games, iter(records)
                while together := list(islice(records, BATCH)):
                    insert(connection, last + 1, together)
                    last += len(together)
                    try:
                        for record in together:
                            change.add(record, len(record.decisions))
                    except tallies.DamagedSetting:
                        raise StoreDamaged(self.path, "its table settings") from None
                change.write(connection)
            change.keep()
        if time.monotonic() >= self._looked + LOOK:
            self.check_place()

    def check_place(self) -> None:
        """StoreLost, naming a new file of its games, if the file was deleted or replaced; `add` checks once a second at
        most.
        """
        self._looked = time.monotonic()
        if (now := place(self.path)) == self._place:
            return
        what = "replaced" if now else "deleted"
        copy = free_name(self.path.with_name(RESCUED_NAME))
        with explained(copy, "write what was stored to"):
            copy.parent.mkdir(parents=True, exist_ok=True)
            target = sqlite3.connect(copy)
            try:
                self._connection.backup(target)
            finally:
                target.close()
        if now is None:
            for suffix in ("-wal", "-shm"):  # lest they pass for another file's
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        raise StoreLost(
            f"{self.path} was {what} while games were played; all that were stored are in {copy}: "
            f"to go on, rename it to {self.path.name} and resume the run"
        )

    def made_anew(
        self,
        records: Iterable[GameRecord],
        kept: str = DAMAGED_NAME,
        meta: dict | None = None,
        agents: Sequence[dict] | None = None,
    ) -> Path:
        """Replace the file by one with these games, which may be read from it; return the old file's new place.

        kept: its name there; meta, agents: as of `create`, by default as they are
        """
        new, old = (free_name(self.path.with_name(name)) for name in ("mended.sqlite", kept))
        write_empty(new, self.meta if meta is None else meta, self.agents if agents is None else agents)
        try:
            with Store(new, _connect(new, write=True), None) as made:
                made.add_all(records)
            with explained(self.path, "replace"):
                self._connection.close()
                os.link(self.path, old)
                for suffix in ("-wal", "-shm"):  # for others: SQLite would take them for the new file's
                    if (companion := self.path.with_name(self.path.name + suffix)).exists():
                        companion.rename(old.with_name(old.name + suffix))
                os.replace(new, self.path)
        finally:
            new.unlink(missing_ok=True)
        self._connection, self._place, self._tallies = _connect(self.path, write=True), place(self.path), None
        return old

    def record(self, id: str) -> GameRecord:
        """The game with that id; StoreError, naming some ids, if there is none; StoreDamaged if it is damaged."""
        query = "SELECT game FROM games {} WHERE id = ?"  # a second time without the index, which may be damaged
        rows = self.select(query.format(""), (id,)) or self.select(query.format("NOT INDEXED"), (id,))
        if not rows:
            some = [str(row[0]) for row in self.select("SELECT id FROM games ORDER BY number LIMIT 4")]
            known = f"ids there look like {', '.join(some)}" if some else "no game is stored yet"
            raise StoreError(f"no game {id!r} in {self.path}: {known}")
        return self._numbered(rows[0][0], id)

    def _numbered(self, game: int, id: str) -> GameRecord:
        for _, record in self.records_between(game, game):
            if record is not None and record.id == id:
                return record
        raise StoreDamaged(self.path, f"game {id!r}, number {game}, is not as it was stored")

    def records_between(self, begin: int, end: int) -> Iterator[tuple[tuple, GameRecord | None]]:
        """(row of `ROW`, game or None if damaged) of the games numbered `begin` to `end`."""
        where = f"game BETWEEN {begin} AND {end}"
        rows = self.select(f"SELECT {', '.join(ROW)} FROM games WHERE {where} ORDER BY game")
        moves, improvements = (dict(self.parts(part, where)) for part in PARTS)
        for row in rows:
            yield row, record_of(row, moves.get(row[0], ()), improvements.get(row[0], ()))

    def parts(self, part: str, where: str = "true") -> Iterator[tuple[int, tuple[tuple, ...]]]:
        """(number of the game, rows) of the table `part`, not verified."""
        columns = f"game, {', '.join(PARTS[part])}"
        rows = self.each(f"SELECT {columns} FROM {part} WHERE {where} ORDER BY game, {PART_KEYS[part]}")
        for game, group in groupby(rows, key=itemgetter(0)):
            yield game, tuple(row[1:] for row in group)

    def verified_parts(self, part: str, last: int) -> Iterator[tuple[int, tuple[tuple, ...]]]:
        """`parts` up to game `last`; StoreDamaged unless as they were stored."""
        found = self.parts(part, f"game <= {last}")
        having = f"game <= {last} AND {part}_digest != {digest(())}"
        for number, id, expected in self.each(
            f"SELECT game, id, {part}_digest FROM games WHERE {having} ORDER BY game"
        ):
            game, rows = next(found, (None, ()))
            if game != number or digest(rows) != expected:
                raise StoreDamaged(self.path, f"the {part} of game {id!r} are not as they were stored")
            yield number, rows
        if stray := next(found, None):
            raise StoreDamaged(self.path, f"its table {part} has rows of game {stray[0]}, which has none")

    def rows(self, last: int) -> Iterator[tuple]:
        """`ROW` of the games up to `last`, as they ended; StoreDamaged unless sound."""
        count = 0
        for count, row in enumerate(
            self.each(f"SELECT {', '.join(ROW)} FROM games WHERE game <= {last} ORDER BY game"), 1
        ):
            if not is_sound(row) or row[0] != count:
                raise StoreDamaged(self.path, f"game {row[1]!r}, number {row[0]}, is not as it was stored")
            yield row
        if count != last:
            raise StoreDamaged(self.path, f"of {last} games it has {count}")

    def records(self) -> Iterator[GameRecord]:
        """All games, in the order of the schedule; StoreDamaged if one is damaged or missing."""
        last = sum(sums[0] for _, sums in self.tallies().values())
        games = self.select(f"SELECT game, id FROM games NOT INDEXED WHERE game <= {last} ORDER BY number")
        if len(games) != last:
            raise StoreDamaged(self.path, f"of {last} games it has {len(games)}")
        for game, id in games:
            yield self._numbered(game, id)

    def select(self, query: str, parameters: Sequence = ()) -> list[tuple]:
        """The rows of a SELECT; StoreError if the file is damaged."""
        with explained(self.path, "read"):
            return self._connection.execute(query, parameters).fetchall()

    def each(self, query: str) -> Iterator[tuple]:
        """Yields the rows of `select`, with one batch at a time in memory; StoreError likewise."""
        with explained(self.path, "read"):
            cursor = self._connection.execute(query)
        while True:
            with explained(self.path, "read"):
                rows = cursor.fetchmany(BATCH)
            if not rows:
                return
            yield from rows

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """A context in which all reads see the same moment, whatever others add; nested ones do nothing."""
        if self._connection.in_transaction:
            yield
            return
        with explained(self.path, "read"):
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with explained(self.path, "read"):
                self._connection.rollback()

    def _verified(self, table, columns, order="1") -> list[tuple]:
        """The rows of a small table, verified by digests, which are left out."""
        found = self.select(f"SELECT {', '.join(columns)}, digest FROM {table} NOT INDEXED ORDER BY {order}")
        if not all(map(is_sound, found)):
            raise StoreDamaged(self.path, f"its table {table} is not as it was stored", table == "tallies")
        return [row[:-1] for row in found]


def busy(folder: str | os.PathLike) -> bool:
    """Whether a process is writing to the store in `folder` now."""
    check_files(Path(folder) / FILE_NAME, write=False)
    try:
        return is_locked(Path(folder) / LOCK_NAME)
    except FileNotFoundError:
        return False


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    """StoreError unless it is a store of this version."""
    with explained(path, "open"):
        connection = open_to_write(path) if write else open_to_read(path)
        try:
            _check_version(path, connection)
            if write:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
    return connection


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite database, but not a tournament's")
    if version != SCHEMA_VERSION:
        raise StoreError(f"{path} is of schema version {version}; this program reads version {SCHEMA_VERSION}")


def _no_folder(path: Path) -> str:
    """Words on a folder that there is not: the runs beside it with names like its own."""
    beside = {each.parent.name: str(each.parent) for each in path.parent.glob(f"*/{FILE_NAME}")}
    close = [beside[name] for name in difflib.get_close_matches(path.name, beside)]
    return "there is no such folder" + (f" (did you mean {' or '.join(close)}?)" if close else "")
