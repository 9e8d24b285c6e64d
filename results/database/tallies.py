"""Tallies: sums over the stored games of each condition, players, outcome and reason, kept up to date game by game.

Standings, ratings and notes are made from them: no game need be read.  A tally also counts repetitions (see
`repeats`): games whose opening these players had met before, and those that went another way than the first.
"""

from collections.abc import Callable, Iterator
from operator import add
from sqlite3 import Connection
from typing import Any

import arena.results.database.record
from arena.results.database.digests import digest

KEYS = {"condition": "INTEGER NOT NULL", "first": "TEXT NOT NULL", "second": "TEXT", "outcome": "REAL"}
KEYS |= {"reason": "TEXT NOT NULL"}
SUMS = (
    "games",
    "plies",
    "openings",  # sum of the games' numbers of openings: reveals altered numbers
    "decisions",
    "again",  # whose setting has been seen before
    "otherwise",  # of these, that went another way
)
COLUMNS = (*KEYS, *SUMS)

SCHEMA = f"""
CREATE TABLE tallies (
    tally INTEGER PRIMARY KEY,
    {", ".join(f"{name} {kind}" for name, kind in KEYS.items())},
    {", ".join(f"{name} INTEGER NOT NULL" for name in SUMS)},
    digest INTEGER NOT NULL
);
CREATE TABLE settings (setting INTEGER PRIMARY KEY, way INTEGER NOT NULL, digest INTEGER NOT NULL);
"""

FirstWay = Callable[[int, int], int | None]  # of a setting and a way: the first way of that setting; None if this is it
Key = tuple[int, str, str | None, float | None, str]
_WRITE = f"INSERT OR REPLACE INTO tallies VALUES ({', '.join('?' * (len(COLUMNS) + 2))})"


class Tallies:
    """The tallies of a store that is written to: `rows` maps each key to its number and sums."""

    def __init__(self, rows: dict[Key, tuple[int, tuple[int, ...]]]):
        self.rows = rows
        self.games = sum(sums[0] for _, sums in rows.values())  # counted

    def changed(self, first_way: "FirstWay") -> "Change":
        """A change that is to be made in one transaction."""
        return Change(self, first_way)


class Change:
    """`write` before the transaction ends, `keep` after it has."""

    def __init__(self, tallies: Tallies, first_way: "FirstWay"):
        self.tallies, self.first_way = tallies, first_way
        self.rows: dict[Key, tuple[int, tuple[int, ...]]] = {}
        self._next = len(tallies.rows)  # the number of the next key
        self._added = 0  # games

    def add(self, record: "arena.results.database.record.GameRecord", decisions: int) -> None:
        """Count a game of so many decisions; remember how it went, as the first of its setting."""
        key = (record.condition, record.first, record.second, record.outcome, record.reason)
        number, sums = self.rows.get(key) or self.tallies.rows.get(key) or self._new()
        again, otherwise = self._repetition(record)
        more = (1, record.plies, record.opening, decisions, again, otherwise)
        self.rows[key] = (number, tuple(map(add, sums, more)))
        self._added += 1

    def write(self, connection: Connection) -> None:
        """Store the tallies that have changed."""
        connection.executemany(_WRITE, map(_row, self.rows.items()))

    def keep(self) -> None:
        """Make them the tallies of the store."""
        self.tallies.rows |= self.rows
        self.tallies.games += self._added

    def _repetition(self, record: Any) -> tuple[bool, bool]:
        if record.outcome is None or record.second is None or not record.moves:
            return False, False
        setting = digest((record.condition, record.first, record.second, record.opening_moves))
        way = digest((record.moves, record.outcome + 0.0))
        first = self.first_way(setting, way)
        return first is not None, first not in (None, way)

    def _new(self):
        self._next += 1
        return self._next - 1, (0,) * len(SUMS)


def _row(item) -> tuple:
    key, (number, sums) = item
    condition, first, second, outcome, reason = key
    row = (number, condition, first, second, outcome if outcome is None else outcome + 0.0, reason, *sums)
    return (*row, digest(row))


def first_way_in(connection: Connection) -> FirstWay:
    """`FirstWay` of a store; DamagedSetting if a row is not as it was written."""

    def first_way(setting, way):
        row = (setting, way, setting ^ way)
        if connection.execute("INSERT OR IGNORE INTO settings VALUES (?, ?, ?)", row).rowcount:
            return None
        ((first, check),) = connection.execute("SELECT way, digest FROM settings WHERE setting = ?", row[:1])
        if check != setting ^ first:
            raise DamagedSetting
        return first

    return first_way


class DamagedSetting(Exception):
    """A row of the table settings is not as it was written."""


def read(rows: list[tuple]) -> Iterator[tuple[Key, tuple[int, tuple[int, ...]]]]:
    """The tallies of verified rows, for `Tallies`."""
    for number, *values in rows:
        yield tuple(values[: len(KEYS)]), (number, tuple(values[len(KEYS) :]))  # type: ignore[misc]
