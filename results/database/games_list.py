"""Which games a reader wants of a run, and a page of them: found by the store, so that the others are never read."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

from arena.results.database.digests import is_sound
from arena.results.database.record import Reason
from arena.results.database.rows import GAME_COLUMNS, ROW
from arena.results.database.store import Store, StoreError

ORDERS = {  # how a page can be sorted: an expression of SQL
    "ended": "game",
    "scheduled": "number",
    "plies": "plies",
    "seconds": "seconds",
    "score": "score",
}
RESULTS = ("won", "drawn", "lost", "void")
SHOWN = ("id", "number", "condition", "first", "second", "outcome", "score", "reason", "detail", "plies", "opening",
         "seconds")  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What games must be like; what is empty asks for nothing.

    agent: who plays, and `against`: the other one; result: of `agent`, or of the first player where none is given;
    reason: how it ended, and `blame`: who lost by a failure of its own; least and most: plies; opening: its number, or
    moves that it begins with; condition: the number of its game and budget
    """

    agent: str = ""
    against: str = ""
    result: str = ""
    reason: str = ""
    blame: str = ""
    least: int | None = None
    most: int | None = None
    opening: str = ""
    condition: int | None = None

    def where(self) -> tuple[str, list]:
        """A condition of SQL, and its parameters; ValueError names a result that there is not."""
        parts = list(self._parts())
        return " AND ".join(text for text, _ in parts) or "true", [value for _, values in parts for value in values]

    def _parts(self) -> Iterator[tuple[str, list]]:
        if self.agent and self.against:
            pair = [self.agent, self.against]
            yield "(first = ? AND second = ? OR second = ? AND first = ?)", pair + pair
        elif one := self.agent or self.against:
            yield "(first = ? OR second = ?)", [one, one]
        if self.result:
            yield self._of_result()
        if self.reason:
            yield "reason = ?", [self.reason]
        if self.blame:
            failed = ", ".join("?" * len(Reason.FORFEITS))
            lost = "(outcome = 0 AND first = ? OR outcome = 1 AND second = ? OR second IS NULL AND first = ?)"
            yield f"reason IN ({failed}) AND {lost}", [*Reason.FORFEITS, *[self.blame] * 3]
        for sign, plies in ((">=", self.least), ("<=", self.most)):
            if plies is not None:
                yield f"plies {sign} ?", [plies]
        if self.opening.isdigit():
            yield "opening = ?", [int(self.opening)]
        elif self.opening:
            words = " ".join(self.opening.split())
            yield "substr(opening_moves || ' ', 1, ?) = ?", [len(words) + 1, f"{words} "]
        if self.condition is not None:
            yield "condition = ?", [self.condition]

    def _of_result(self) -> tuple[str, list]:
        if self.result not in RESULTS:
            raise ValueError(f"result {self.result!r} is not one of {', '.join(RESULTS)}")
        if self.result in ("drawn", "void"):
            return {"drawn": "outcome = 0.5", "void": "outcome IS NULL AND second IS NOT NULL"}[self.result], []
        points = 1.0 if self.result == "won" else 0.0
        if not self.agent:
            return "outcome = ?", [points]
        return "(first = ? AND outcome = ? OR second = ? AND outcome = ?)", [self.agent, points, self.agent, 1 - points]


class Page(NamedTuple):
    """Some games as the list shows them: the fields SHOWN; None in place of one that is not as it was stored."""

    rows: list[dict | None]
    ids: list[str]
    found: int  # games that are wanted, in all


def page(store: Store, wanted: Wanted, begin: int, size: int, order: str = "ended", down: bool = False) -> Page:
    """`size` of the wanted games from the `begin`-th on; ValueError names an order that there is not."""
    if order not in ORDERS:
        raise ValueError(f"order {order!r} is not one of {', '.join(ORDERS)}")
    where, values = wanted.where()
    by = f"{ORDERS[order]} {'DESC' if down else 'ASC'}, game"
    with store.unchanged():
        if wanted == Wanted():
            ((found,),) = store.select("SELECT COALESCE(MAX(game), 0) FROM games")  # they are numbered without gaps
        else:
            ((found,),) = store.select(f"SELECT COUNT(*) FROM games WHERE {where}", values)
        query = f"SELECT game FROM games WHERE {where} ORDER BY {by} LIMIT ? OFFSET ?"
        numbers = [number for (number,) in store.select(query, [*values, size, begin])]
        marks = ", ".join("?" * len(numbers))
        rows = store.select(f"SELECT {', '.join(ROW)} FROM games WHERE game IN ({marks})", numbers)
    by_number = {row[0]: row for row in rows}
    chosen = [by_number[number] for number in numbers]
    return Page([_shown(row) for row in chosen], [str(row[1]) for row in chosen], found)


def _shown(row: tuple) -> dict | None:
    if not is_sound(row):
        return None
    about = dict(zip(GAME_COLUMNS, row[1:]))
    return {name: about[name] for name in SHOWN}


def from_texts(given: dict[str, str]) -> Wanted:
    """What an address or a form asks for; StoreError names a number that is none."""
    values: dict = {}
    for field in fields(Wanted):
        text = given.get(field.name, "").strip()
        if field.name in ("least", "most", "condition") and text:
            if not text.isdigit():
                raise StoreError(f"{field.name} = {text}: is no whole number")
            values[field.name] = int(text)
        elif text:
            values[field.name] = text
    return Wanted(**values)
