"""The tables of a store, and games as rows of them."""

import json
import os
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

from arena.results.database import tallies
from arena.results.database.columns import columns_of, declarations
from arena.results.database.digests import digest, is_sound, row_of
from arena.results.database.record import GameRecord, ImprovementRecord, MoveRecord
from arena.results.database.store_file import explained

SCHEMA_VERSION = 6
APPLICATION_ID = 0x4172656E  # "Aren"; tells this store from other programs' databases

GAME_COLUMNS, MOVE_COLUMNS, IMPROVEMENT_COLUMNS = map(columns_of, (GameRecord, MoveRecord, ImprovementRecord))
PARTS = {"moves": MOVE_COLUMNS, "improvements": IMPROVEMENT_COLUMNS}  # what belongs to a game
PARTS_OF_RECORD = {"moves": "decisions", "improvements": "improvements"}  # fields of a record
PART_KEYS = {"moves": "ply", "improvements": "playouts"}  # with the game's number, the keys of their rows
DIGESTS = tuple(f"{part}_digest" for part in PARTS)  # columns of a game: digests of its decisions and improvements
ROW = ("game", *GAME_COLUMNS, *DIGESTS, "digest")  # the last is of all before
_PLAYER = "REFERENCES agents (name)"
_rows_of = {"moves": row_of(MoveRecord), "improvements": row_of(ImprovementRecord)}
_game_row = row_of(GameRecord)
_SEED = GAME_COLUMNS.index("seed")

# `game` counts games from 1 as they ended; a seed is the signed integer of the same 64 bits
SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, digest INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (
    agent INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, spec TEXT NOT NULL, digest INTEGER NOT NULL
);
CREATE TABLE games (
    game INTEGER PRIMARY KEY,
    {declarations(GameRecord, {"id": "UNIQUE", "first": _PLAYER, "second": _PLAYER})},
    {", ".join(f"{name} INTEGER NOT NULL" for name in (*DIGESTS, "digest"))}
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
{tallies.SCHEMA}"""


def write_empty(path: Path, meta: dict, agents: Sequence[dict]) -> None:
    """An empty store, under another name until whole: a crash leaves no half of one."""
    part = path.with_suffix(".part")
    with explained(path, "make"):
        part.unlink(missing_ok=True)
        connection = sqlite3.connect(part)
        try:
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {SCHEMA}"
            )
            with connection:
                of_meta = [(key, json.dumps(value)) for key, value in meta.items()]
                of_agents = [(i, agent["name"], agent["spec"]) for i, agent in enumerate(agents)]
                for table, rows in (("meta", of_meta), ("agents", of_agents)):
                    for row in rows:
                        values = (*row, digest(row))
                        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)
            connection.close()
            os.replace(part, path)
        finally:
            connection.close()
            part.unlink(missing_ok=True)


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


_inserts = {"games": _insert("games", ROW)} | {part: _insert(part, ("game", *PARTS[part])) for part in PARTS}

_NONE = digest(())


def insert(connection: sqlite3.Connection, first: int, records: Iterable[GameRecord]) -> None:
    """Insert games, numbered from `first` on."""
    games: list[tuple] = []
    parts: dict[str, list[tuple]] = {part: [] for part in PARTS}
    for game, record in enumerate(records, first):
        values, digests = list(_game_row(record)), []
        values[_SEED] = _signed(record.seed)
        for part, field in PARTS_OF_RECORD.items():
            rows = tuple(map(_rows_of[part], getattr(record, field)))
            digests.append(digest(rows) if rows else _NONE)
            parts[part] += [(game, *each) for each in rows]
        row = (game, *values, *digests)
        games.append((*row, digest(row)))
    connection.executemany(_inserts["games"], games)
    for part in PARTS:
        connection.executemany(_inserts[part], parts[part])


def _signed(seed: int) -> int:
    """The seed's 64 bits as SQLite has them, whose integers are signed."""
    return seed - (1 << 64) if seed >> 63 else seed


def record_of(row: tuple, moves: tuple, improvements: tuple) -> GameRecord | None:
    """The game of a row of `ROW`, with the rows of its decisions and improvements; None if any of it is damaged."""
    if not is_sound(row) or (digest(moves), digest(improvements)) != tuple(row[-1 - len(PARTS) : -1]):
        return None
    given = dict(zip(GAME_COLUMNS, row[1:]))
    given["seed"] %= 1 << 64
    return GameRecord(
        **given,
        decisions=tuple(map(_decision, moves)),
        improvements=tuple(ImprovementRecord(*each) for each in improvements),
    )


def _decision(row: tuple) -> MoveRecord:
    """As its class would make it, in a fifth of the time: every field is a column."""
    made = object.__new__(MoveRecord)
    vars(made).update(zip(MOVE_COLUMNS, row))
    return made
