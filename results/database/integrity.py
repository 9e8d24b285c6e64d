"""Checks a store by the digests of its rows, and rebuilds a damaged one without its damaged games."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from arena.results.database import tallies
from arena.results.database.record import GameRecord
from arena.results.database.store import GAMES_VERIFIED, MOVES_VERIFIED, Store, StoreDamaged, StoreError

BATCH = 1000  # games read at once; if that fails, one by one


@dataclass
class Damage:
    """Damaged games by id (`number N` if damaged too), and all other faults."""

    games: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def __bool__(self):
        return bool(self.games or self.faults)


def verify(store: Store) -> None:
    """StoreError unless whole; of a large store, only the tallies are verified."""
    _ = store.meta, store.agents  # verified when read
    sums = [dict(zip(tallies.SUMS, values)) for _, values in store.tallies().values()]
    games, decisions = (sum(each[name] for each in sums) for name in ("games", "decisions"))
    if games > GAMES_VERIFIED or decisions > MOVES_VERIFIED:
        return
    if faults := _structure(store, "quick_check"):
        raise StoreDamaged(store.path, faults[0])
    recount = _Recount()
    for _, record in records(store):
        if record is None:
            raise StoreDamaged(store.path, "a game is not as it was stored")
        recount.add(record, len(record.decisions))
    if not recount.agrees(store):
        raise StoreDamaged(store.path, "its games do not add up to its tallies")


class Look(NamedTuple):
    """What was found of a game."""

    name: str  # its id, or `number N`
    record: GameRecord | None  # None for a damaged one; its decisions may be missing
    decisions: int  # that it had
    wrong: str  # any other fault of a sound one, or ""

    @classmethod
    def at(cls, name: str, record: GameRecord | None, wrong: str = "") -> "Look":
        """A look at a whole record."""
        return cls(name, record, len(record.decisions) if record is not None else 0, wrong)


def examine(store: Store, looks: Iterable[Look] | None = None) -> Damage:
    """`looks`: at all games of the store, as they ended; by default only their digests are looked at."""
    damage = Damage(faults=_structure(store, "integrity_check"))
    for table in ("meta", "agents", "tallies"):
        try:
            getattr(store, table)() if table == "tallies" else getattr(store, table)
        except StoreDamaged as error:
            damage.faults.append(error.what)
        except StoreError as error:
            damage.faults.append(str(error))
    recount = _Recount()
    for look in looks or (Look.at(name, record) for name, record in records(store)):
        if look.record is None:
            damage.games[look.name] = "is not as it was stored"
            continue
        recount.add(look.record, look.decisions)
        if look.wrong:
            damage.games[look.name] = look.wrong
    if not damage and not recount.agrees(store):
        damage.faults.append("the games do not add up to its tallies")
    return damage


def records(store: Store) -> Iterator[tuple[str, GameRecord | None]]:
    """(id, game) as they ended; (id or `number N`, None) for a damaged one."""
    for begin, end in ranges(store):
        yield from batch(store, begin, end)


def ranges(store: Store) -> list[tuple[int, int]]:
    """The first and the last number of the games of each `batch`."""
    last = max(_known(store, "SELECT MAX(game) FROM games"), _known(store, "SELECT SUM(games) FROM tallies"))
    return [(begin, min(begin + BATCH - 1, last)) for begin in range(1, last + 1, BATCH)]


def _known(store, query) -> int:
    try:
        ((found,),) = store.select(query)
    except StoreError:
        return 0
    return found if isinstance(found, int) else 0


def batch(store: Store, begin: int, end: int) -> Iterator[tuple[str, GameRecord | None]]:
    """`records` from one number to another."""
    try:
        found = {row[0]: (row, record) for row, record in store.records_between(begin, end)}
    except StoreError:
        found = {}
        if begin < end:
            for game in range(begin, end + 1):
                yield from batch(store, game, game)
            return
    for game in range(begin, end + 1):
        row, record = found.get(game, ((), None))
        if record is not None:
            yield record.id, record
        else:
            yield row[1] if row and isinstance(row[1], str) else f"number {game}", None


def _structure(store, pragma) -> list[str]:
    try:
        return [line for (line,) in store.select(f"PRAGMA {pragma}(10)") if line != "ok"]
    except StoreError as error:
        return [str(error)]


class _Recount:
    def __init__(self):
        self._ways: dict[int, int] = {}
        self._change = tallies.Tallies({}).changed(self._first_way)

    def _first_way(self, setting: int, way: int) -> int | None:
        first = self._ways.get(setting)
        if first is None:
            self._ways[setting] = way
        return first

    def add(self, record: GameRecord, decisions: int) -> None:
        self._change.add(record, decisions)

    def agrees(self, store: Store) -> bool:
        counted, stored = (
            {key: sums for key, (_, sums) in rows.items()} for rows in (self._change.rows, store.tallies())
        )
        settings = sorted((setting, way, setting ^ way) for setting, way in self._ways.items())
        rows = store.each("SELECT setting, way, digest FROM settings ORDER BY setting")
        return counted == stored and all(one == other for one, other in zip_longest(settings, rows))


def mend(store: Store, known: Damage | None = None) -> str:
    """Rebuild a store, open for writing, without its damaged games; returns what was done, "" if it is whole.

    The old file is kept beside it.  `known`: its damage, if examined.  StoreError if configuration or agents are
    damaged, without which nothing can be played.
    """
    if known is None:
        try:
            verify(store)
            return ""
        except StoreError:
            pass
    lost: list[str] = []

    def sound():
        for name, record in records(store):
            if record is None:
                lost.append(name)
            else:
                yield record

    kept = store.made_anew(sound())
    named = ", ".join(lost[:10]) + (f" and {len(lost) - 10} more" if len(lost) > 10 else "")
    what = f"without {len(lost)} damaged games, which will be played again: {named}" if lost else "with all its games"
    return f"{store.path} was damaged; it has been rebuilt {what}. The file as it was: {kept}"
