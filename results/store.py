"""The store: every game of a tournament in one SQLite file, `tournament.sqlite`, written by one process at a time.

The file is in WAL mode, so that it can be read while games are added, and each game is one transaction: a process
that is killed loses none of the games it has added.  `PRAGMA user_version` is the version of the schema.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path

from filelock import FileLock, Timeout

from games.core.errors import UserError
from results.columns import columns_of, declarations
from results.record import GameRecord, ImprovementRecord, MoveRecord

FILE_NAME = "tournament.sqlite"
LOCK_NAME = "lock"
SCHEMA_VERSION = 4
APPLICATION_ID = 0x4172656E  # "Aren"; tells this store from the databases of other programs

GAME_COLUMNS, MOVE_COLUMNS, IMPROVEMENT_COLUMNS = map(columns_of, (GameRecord, MoveRecord, ImprovementRecord))
_OF_IMPROVEMENTS = tuple(f"improvements.{name}" for name in IMPROVEMENT_COLUMNS)  # games have seconds and a score too
_PLAYER = "REFERENCES agents (name)"

# `game` counts games in the order in which they ended; a seed is stored as the signed integer of the same 64 bits
SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (agent INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL);
CREATE TABLE games (
    game INTEGER PRIMARY KEY,
    {declarations(GameRecord, {"id": "UNIQUE", "first": _PLAYER, "second": _PLAYER})}
);
CREATE TABLE moves (
    game INTEGER NOT NULL REFERENCES games (game),
    {declarations(MoveRecord)},
    PRIMARY KEY (game, ply)
) WITHOUT ROWID;
CREATE TABLE improvements (
    game INTEGER NOT NULL REFERENCES games (game),
    {declarations(ImprovementRecord)},
    PRIMARY KEY (game, playouts)
) WITHOUT ROWID;
"""


class StoreError(UserError):
    """A store that cannot be made, read or written; the message names the file, the reason, and what is still safe."""


class StoreExists(StoreError):
    """There is a tournament in the folder already."""


class StoreBusy(StoreError):
    """Another process is writing to the store."""


class Store:
    """A tournament's file.  Made by `create` or `open`; a context manager, closed at its end."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: FileLock | None):
        self.path = path
        self._connection = connection
        self._lock = lock

    @classmethod
    def create(cls, folder: str | os.PathLike, meta: dict, agents: Sequence[dict]) -> "Store":
        """A new store in `folder`, which is made if need be, open for writing.

        `meta` is any JSON; `agents` are `{"name": ..., "spec": ...}` in the order of the configuration.
        StoreExists if there is a store; StoreBusy if another process is making one; StoreError if it cannot be made.
        """
        path = Path(folder) / FILE_NAME
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot make the folder {path.parent}: {error.strerror}") from error
        lock = _lock(path.parent)
        try:
            if path.exists():
                raise StoreExists(f"{path.parent} holds a tournament already: {path}")
            _write_empty(path, meta, agents)
            return cls(path, _connect(path, write=True), lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def open(cls, folder: str | os.PathLike, write: bool = False) -> "Store":
        """The store in `folder`; to read, while another process may be writing, or to write.

        StoreError if there is none, if it is damaged or of another version; StoreBusy if another process writes.
        """
        path = Path(folder) / FILE_NAME
        if not path.is_file():
            raise StoreError(f"no tournament in {path.parent}: there is no file {path}")
        if not write:
            return cls(path, _connect(path, write=False), None)
        lock = _lock(path.parent)
        try:
            return cls(path, _connect(path, write=True), lock)
        except BaseException:
            lock.release()
            raise

    def close(self) -> None:
        """Close the file and let others write; closing twice does nothing."""
        try:
            with _explained(self.path, "close"):
                self._connection.close()
        finally:
            if self._lock is not None:
                self._lock.release()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def meta(self) -> dict:
        """What `create` and `set_meta` were given."""
        try:
            return {key: json.loads(value) for key, value in self.select("SELECT key, value FROM meta ORDER BY key")}
        except json.JSONDecodeError as error:
            raise StoreError(f"{self.path} is damaged: its table meta holds what is not JSON") from error

    @property
    def config(self) -> dict:
        """The configuration that the games were played by; StoreError if they were imported, and there is none."""
        try:
            return self.meta["config"]
        except KeyError:
            text = f"the results in {self.path.parent} were imported: their game and configuration are not known"
            raise StoreError(text) from None

    def set_meta(self, key: str, value) -> None:
        """Replace, or add, one entry of `meta` (any JSON)."""
        with _explained(self.path, f"write {key} to"), self._connection as connection:
            connection.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, json.dumps(value)))

    @property
    def agents(self) -> list[dict]:
        """The agents, each with `name` and `spec`, in the order of the configuration."""
        return [dict(zip(("name", "spec"), row)) for row in self.select("SELECT name, spec FROM agents ORDER BY agent")]

    def ids(self) -> set[str]:
        """The ids of all games stored."""
        return {row[0] for row in self.select("SELECT id FROM games")}

    def results(self) -> list[tuple[int, str, str | None, int, float | None]]:
        """(condition, first, second, opening, outcome) of all games stored, in the order in which they ended."""
        return self.select("SELECT condition, first, second, opening, outcome FROM games ORDER BY game")

    def add(self, record: GameRecord) -> None:
        """Store one game, whole or not at all; StoreError if its id is there already or it cannot be written."""
        with _explained(self.path, f"add game {record.id!r} to"), self._connection as connection:
            _add(connection, record)

    def add_all(self, records: Iterable[GameRecord]) -> None:
        """Store many games, all of them or none; errors as of `add`."""
        with _explained(self.path, "add games to"), self._connection as connection:
            for record in records:
                _add(connection, record)

    def record(self, id: str) -> GameRecord:
        """The game of that id; StoreError, which names some ids, if there is none."""
        rows = self.select(f"SELECT game, {', '.join(GAME_COLUMNS)} FROM games WHERE id = ?", (id,))
        if not rows:
            some = [row[0] for row in self.select("SELECT id FROM games ORDER BY number LIMIT 4")]
            known = f"ids there look like {', '.join(some)}" if some else "no game is stored yet"
            raise StoreError(f"no game {id!r} in {self.path}: {known}")
        game, *values = rows[0]
        given = dict(zip(GAME_COLUMNS, values))
        given["seed"] %= 1 << 64
        moves = self.select(f"SELECT {', '.join(MOVE_COLUMNS)} FROM moves WHERE game = ? ORDER BY ply", (game,))
        return GameRecord(
            **given,
            decisions=tuple(MoveRecord(**dict(zip(MOVE_COLUMNS, row))) for row in moves),
            improvements=tuple(ImprovementRecord(*row) for row in self.improvements("WHERE game = ?", (game,))),
        )

    def improvements(self, where: str, parameters: Sequence, columns: Sequence[str] = ()) -> list[tuple]:
        """Playouts, seconds and score of improvements, behind these columns of their games."""
        return self.select(
            f"SELECT {', '.join((*columns, *_OF_IMPROVEMENTS))} FROM improvements JOIN games USING (game) {where} "
            "ORDER BY number, improvements.playouts",
            parameters,
        )

    def records(self) -> Iterator[GameRecord]:
        """All games, in the order of the schedule."""
        for (id,) in self.select("SELECT id FROM games ORDER BY number"):
            yield self.record(id)

    def select(self, query: str, parameters: Sequence = ()) -> list[tuple]:
        """The rows that a SELECT gives; StoreError if the file is damaged."""
        with _explained(self.path, "read"):
            return self._connection.execute(query, parameters).fetchall()


def _add(connection, record) -> None:
    values = [_signed(record.seed) if name == "seed" else getattr(record, name) for name in GAME_COLUMNS]
    game = connection.execute(_insert("games", GAME_COLUMNS), values).lastrowid
    for table, columns, rows in (
        ("moves", MOVE_COLUMNS, record.decisions),
        ("improvements", IMPROVEMENT_COLUMNS, record.improvements),
    ):
        values_of = attrgetter(*columns)
        connection.executemany(_insert(table, ("game", *columns)), [(game, *values_of(row)) for row in rows])


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def busy(folder: str | os.PathLike) -> bool:
    """Whether a process is writing to the store in `folder` now."""
    import fcntl  # which not every system has, and nothing else here needs

    try:
        with open(Path(folder) / LOCK_NAME) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)  # given back at once, when the file is closed
            return False
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False


def _signed(seed: int) -> int:
    """SQLite's integers are signed; the same 64 bits as one of them."""
    return seed - (1 << 64) if seed >> 63 else seed


def _lock(folder: Path) -> FileLock:
    """The folder's lock, taken; the kernel frees it when the process ends, however it ends."""
    lock = FileLock(folder / LOCK_NAME, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout:
        raise StoreBusy(f"another process is writing to the tournament in {folder}; wait for it or stop it") from None
    except OSError as error:
        raise StoreError(f"cannot write in {folder}: {error.strerror}") from error
    return lock


def _write_empty(path: Path, meta: dict, agents: Sequence[dict]) -> None:
    """A store without games, under another name until it is whole: a crash leaves no half of one."""
    part = path.with_suffix(".part")
    with _explained(path, "make"):
        part.unlink(missing_ok=True)
        connection = sqlite3.connect(part)
        try:
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {SCHEMA}"
            )
            with connection:
                connection.executemany(
                    _insert("meta", ("key", "value")), [(key, json.dumps(value)) for key, value in meta.items()]
                )
                connection.executemany(
                    _insert("agents", ("agent", "name", "spec")),
                    [(i, agent["name"], agent["spec"]) for i, agent in enumerate(agents)],
                )
            connection.close()
            os.replace(part, path)
        finally:
            connection.close()
            part.unlink(missing_ok=True)


def _connect(path: Path, write: bool) -> sqlite3.Connection:
    """A connection to a store of this version, or StoreError."""
    with _explained(path, "open"):
        connection = _open_to_write(path) if write else _open_to_read(path)
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


def _open_to_write(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True)


def _open_to_read(path: Path) -> sqlite3.Connection:
    """SQLite reads a WAL file only with its companion files at hand; where they are missing and the folder is
    read-only nobody can be writing, and the file is opened as one that does not change.
    """
    uri = path.absolute().as_uri() + "?mode=ro"
    connection = sqlite3.connect(uri, uri=True)
    try:
        connection.execute("SELECT 1 FROM sqlite_master")
        return connection
    except sqlite3.OperationalError:
        connection.close()
        pending = path.with_name(path.name + "-wal")
        if os.access(path.parent, os.W_OK) or (pending.exists() and pending.stat().st_size):
            raise
        return sqlite3.connect(uri + "&immutable=1", uri=True)


def _check_version(path: Path, connection: sqlite3.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise StoreError(f"{path} is a SQLite database, but not a tournament's")
    if version != SCHEMA_VERSION:
        raise StoreError(f"{path} is of schema version {version}; this program reads version {SCHEMA_VERSION}")


@contextmanager
def _explained(path: Path, action: str):
    """SQLite's and the system's errors as StoreError, in words that say what is safe."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a mistake in the calling program, such as the use of a closed store
    except sqlite3.IntegrityError as error:
        reason = str(error)
        if "games.id" in reason:
            reason = "a game of that id is stored already"
        elif "FOREIGN KEY" in reason:
            reason = "its players are not among the agents of this tournament"
        raise StoreError(f"cannot {action} {path}: {reason}") from error
    except (sqlite3.OperationalError, OSError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        kept = "; the games stored before are kept" if action.startswith("add") else ""
        raise StoreError(f"cannot {action} {path}: {reason}{kept}") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path} is damaged or not a SQLite file: {error}") from error
