"""Records of games as text: JSON lines out and in, CSV in (`arena table` writes it).  PGN is in pgn.py.

JSON lines hold everything and read back equal; CSV and PGN give players, results, and moves if any.  The text may come
from anybody: names that a terminal would obey, numbers that no store holds and comments that do not end are refused,
and every reader takes time in proportion to the text.
"""

import functools
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from arena.results.database import candidates
from arena.results.database.record import MOST, GameRecord, Reason
from arena.results.files.extras import is_position, round_of
from arena.results.files.outcomes import RESULTS, short
from arena.results.printable import JSON_ESCAPES, one_line

REASONS = {value for name, value in vars(Reason).items() if name.isupper() and isinstance(value, str)}
LONGEST_NAME = 200  # characters of a player's name or a game's id
MOST_PLAYERS = 2000  # ratings and crosstables have a cell for each two


class ExchangeError(ValueError):
    """Text that cannot be read as records: the line, what is wrong, and what would be right."""

    def __init__(self, message: str):
        super().__init__(one_line(message))


@dataclass(frozen=True)
class JsonGame(GameRecord):
    """A line of JSON: a game, and what is played."""

    game: str = ""  # "" if unknown


def to_jsonl(record: GameRecord, game: str = "") -> str:
    """One line of JSON, with every decision; game: what is played, if known."""
    values = asdict(record) | ({"game": game} if game else {})
    return json.dumps(values, ensure_ascii=False, allow_nan=False).translate(JSON_ESCAPES) + "\n"


def from_jsonl(text: str, conditions: dict[str, int] | None = None) -> list[GameRecord]:
    """Lines by `to_jsonl`; ExchangeError says which one is none.

    conditions: by game, which lines may add to; None keeps those of the lines
    """
    lines: dict[str, int] = {}
    names: set[str | None] = set()
    records = []
    for number, line in numbered_lines(text):
        if line.strip():
            record = _from_json(number, line, conditions)
            if (earlier := lines.setdefault(record.id, number)) != number:
                raise ExchangeError(f"line {number}: the game {record.id} is there already, in line {earlier}")
            names.update((record.first, record.second))
            _check_players(f"line {number}", names)
            records.append(record)
    return records


def _from_json(number, line, conditions) -> GameRecord:
    try:
        values = dict(vars(_reader().validate_json(line, strict=True)))
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "it"
        raise ExchangeError(f"line {number}: is not a game: {place}: {fault['msg']}") from None
    game = values.pop("game")
    record = GameRecord(**values)
    if conditions is not None and (game or not record.condition):
        record = replace(record, condition=conditions.setdefault(game, len(conditions)))
    if record.outcome not in RESULTS or not 0 <= record.seed < 1 << 64 or record.first == record.second:
        what = f"outcome {record.outcome}, seed {record.seed}, players {record.first!r} and {record.second!r}"
        raise ExchangeError(f"line {number}: {what}: one of them cannot be")
    for name, value in _values(record):
        if wrong := _value_fault(name, value):
            raise ExchangeError(f"line {number}: {name} = {short(value)}: {wrong}")
    return record


def _values(record) -> Iterator[tuple[str, object]]:
    for row in (record, *record.decisions, *record.improvements):
        yield from ((name, value) for name, value in vars(row).items() if name != "seed")
    for name in ("decisions", "improvements"):
        steps = [row.ply if name == "decisions" else row.playouts for row in getattr(record, name)]
        if len(set(steps)) < len(steps):
            yield name, None


def _value_fault(name, value) -> str | None:
    if isinstance(value, int) and not 0 <= value < MOST:
        return "is no whole number from 0 to 2**63 - 1"
    if isinstance(value, float) and not math.isfinite(value):
        return "is no finite number"
    if name in ("decisions", "improvements") and value is None:
        return "two of them are of one ply, or of as many playouts"
    if name == "candidates" and value is not None:
        return _candidates_fault(value)
    if name == "side" and value not in (0, 1):
        return "is neither 0 nor 1"
    if name == "reason" and value not in REASONS:
        return f"is not one of {', '.join(sorted(REASONS))}"
    if isinstance(value, str) and name != "detail":
        return _text_fault(value, LONGEST_NAME if name in ("id", "first", "second") else None)
    return None


def _candidates_fault(text) -> str | None:
    try:
        candidates.read(text)
    except ValueError as error:
        return str(error)
    return _text_fault(text)


def _text_fault(text, longest=None) -> str | None:
    """What is wrong with a name or moves; `longest`: it must not be empty either."""
    if longest is not None and not 0 < len(text) <= longest:
        return f"has {len(text)} characters; it can have 1 to {longest}"
    return None if text.isprintable() else "has characters that cannot be printed"


def _check_players(place: str, names) -> None:
    if len(names) > MOST_PLAYERS:
        raise ExchangeError(f"{place}: there are more than {MOST_PLAYERS} players up to here")


def numbered_lines(text) -> Iterator[tuple[int, str]]:
    """Lines with their numbers.  They end in line feeds alone: `splitlines` would part a name at U+2028 as well."""
    begin = 0
    for number in range(1, text.count("\n") + 1):  # not by `split`: a large file has many lines
        end = text.index("\n", begin)
        yield number, text[begin:end].removesuffix("\r")
        begin = end + 1
    yield text.count("\n") + 1, text[begin:].removesuffix("\r")


@functools.cache
def _reader() -> TypeAdapter:
    return TypeAdapter(JsonGame)


class ImportedGame(NamedTuple):
    """A game of a file that can be stored, as far as its row alone tells."""

    place: str  # in the file
    first: str
    second: str
    outcome: float | None
    condition: str = ""  # the game, where the file tells
    opening: str = ""  # the same for the games of a pair; "" for a game that is none of a pair
    opening_moves: str = ""
    moves: str = ""
    detail: str = ""
    score: float | None = None


def numbered(
    games: Iterable[ImportedGame], left_out: list[str] | None = None, conditions: dict[str, int] | None = None
) -> list[GameRecord]:
    """Their records, in order.

    conditions: the numbers of the conditions so far, and of these games
    """
    conditions = {} if conditions is None else conditions
    openings: dict[object, int] = {}
    records: list[GameRecord] = []
    names: set[str] = set()
    for game in games:
        fault = row_fault(game)
        if fault or game.outcome is None:
            if fault or left_out is not None:  # no mistake: a game without a result
                leave_out(f"{game.place}: {fault or 'has no result'}", left_out)
            continue
        names.update((game.first, game.second))
        _check_players(game.place, names)
        number, words = len(records), f"{game.opening_moves} {game.moves}".split()
        pair = min(game.first, game.second), max(game.first, game.second), game.condition
        record = GameRecord(
            id=f"{number + 1:06d}",
            number=number,
            condition=conditions.setdefault(game.condition, len(conditions)),
            opening=openings.setdefault((pair, game.opening) if game.opening else number, len(openings)),
            seed=0,
            first=game.first,
            second=game.second,
            outcome=game.outcome,
            score=game.score,
            reason=Reason.IMPORTED,
            detail=game.detail,
            opening_moves=game.opening_moves,
            moves=game.moves,
            plies=len(words) - (words[:1] != [] and is_position(words[0])),
            seconds=0.0,
        )
        own = f'[Round "{round_of(record)}"]'  # of an export of ours: it says what the numbers do
        if own in record.detail:
            record = replace(record, detail=record.detail.replace(f"{own} ", "").replace(own, "").strip())
        records.append(record)
    return records


def row_fault(game: ImportedGame) -> str:
    """Why a row is no game: it has no players, or moves that cannot be printed; or ""."""
    first, second = game.first, game.second
    if not first or not second or first == second:
        return f"the players {short(first)} and {short(second)} must be two, with a name each"
    texts = ((first, LONGEST_NAME), (second, LONGEST_NAME), (game.opening_moves, None), (game.moves, None))
    for text, longest in texts:
        if fault := _text_fault(text, longest):
            return f"{short(text)} {fault}"
    return ""


def leave_out(text: str, left_out: list[str] | None) -> None:
    """Note a game that is left out; ExchangeError if none may be."""
    fault = ExchangeError(text)
    if left_out is None:
        raise fault
    left_out.append(str(fault))


def players(records: Iterable[GameRecord]) -> list[str]:
    """The names of all players, in the order in which they come."""
    return list(dict.fromkeys(name for record in records for name in (record.first, record.second) if name))


def joined(parts: list[list[GameRecord]]) -> list[GameRecord]:
    """The games of several files as one list; numbers, and those of openings, go on from file to file."""
    if len(parts) == 1:
        return parts[0]
    records: list[GameRecord] = []
    openings = 0
    for part in parts:
        for record in part:
            number = len(records)
            records.append(replace(record, id=f"{number + 1:06d}", number=number, opening=record.opening + openings))
        openings += 1 + max((record.opening for record in part), default=-1)
    return records
