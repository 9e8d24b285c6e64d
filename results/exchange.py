"""Records of games as text, out and in: JSON lines, PGN, and CSV (in only; `arena table` writes it).

JSON lines hold everything, one game a line, and read back equal.  PGN (Edwards, "Portable Game Notation Specification
and Implementation Guide", 1994) is chess's format: White moves first; moves are in the notation of their own game.
What is read from PGN and CSV are players and results, and moves if they are there.
"""

import csv
import functools
import io
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from results.record import GameRecord, Reason

RESULTS = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1", None: "*"}
OUTCOMES = {text: outcome for outcome, text in RESULTS.items()} | {
    "1": 1.0,
    "1.0": 1.0,
    "0": 0.0,
    "0.0": 0.0,
    "0.5": 0.5,
    "1/2": 0.5,
    "": None,
}
FIRST, SECOND, RESULT = ("first", "white"), ("second", "black"), ("outcome", "result")
LINE = 80  # characters of a line of PGN's moves


class ExchangeError(ValueError):
    """Text that cannot be read as records; the message names the line, what is wrong, and what would be right."""


def to_jsonl(record: GameRecord) -> str:
    """One line of JSON, with every decision."""
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False) + "\n"


def to_pgn(record: GameRecord, event: str) -> str:
    """One game of PGN; a comment ends its opening."""
    tags = {
        "Event": event,
        "Site": "?",
        "Date": "????.??.??",
        "Round": _round(record),
        "White": record.first,
        "Black": record.second or "-",
        "Result": RESULTS[record.outcome],
        "Termination": record.reason,
        "GameId": record.id,
    }
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
    words, opening = [], record.opening_moves.split()
    for ply, move in enumerate([*opening, *record.moves.split()]):
        words += [f"{ply // 2 + 1}."] if ply % 2 == 0 else []
        words += [move, "{opening}"] if ply == len(opening) - 1 else [move]
    return "\n".join([*lines, "", *_wrapped([*words, RESULTS[record.outcome]]), "", ""])


def _round(record) -> str:
    """Opening and number, such as `3.7`: games of a pair differ in the last part alone.  Behind the first condition,
    with the condition in front, so that its openings are told from those of others."""
    condition = [record.condition + 1] if record.condition else []
    return ".".join(map(str, (*condition, record.opening + 1, record.number + 1)))


def from_jsonl(text: str) -> list[GameRecord]:
    """The games of lines that `to_jsonl` wrote; ExchangeError says which line is none."""
    return [_from_json(number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip()]


def from_csv(text: str) -> list[GameRecord]:
    """The games of a table with a heading: columns first and second (or white and black) and outcome (or result).

    Outcomes are the first player's: 1, 0.5, 0, or 1-0, 1/2-1/2, 0-1; empty or * is a game without a result, which is
    left out.  A column opening, with a column condition if there is one, tells which games are pairs.  Further columns
    are ignored, but for opening_moves, moves.
    """
    rows = csv.DictReader(io.StringIO(text))
    try:
        names = {name.strip().lower(): name for name in rows.fieldnames or []}
        columns = [next((names[name] for name in known if name in names), None) for known in (FIRST, SECOND, RESULT)]
        if None in columns:
            found = ", ".join(names) or "nothing"
            raise ExchangeError(f"line 1: the heading holds {found}; it must hold first, second and outcome")
        columns += [names.get(name) for name in ("condition", "opening", "opening_moves", "moves")]
        games = [(rows.line_num, *((row.get(name) or "").strip() for name in columns)) for row in rows]
    except csv.Error as error:
        raise ExchangeError(f"line {rows.line_num}: is not CSV: {error}") from None
    return _numbered(games)


def from_pgn(text: str) -> list[GameRecord]:
    """The games of a PGN file: players, result, moves.  Those without a result are left out.

    Games of the Rounds N.1 and N.2 are a pair, as chess's runners write them.
    """
    games = []
    for line, tags, moves in _pgn_games(text):
        missing = [name for name in ("White", "Black", "Result") if name not in tags]
        if missing:
            raise ExchangeError(f"line {line}: this game has no tag {', '.join(missing)}")
        round_, _, part = tags.get("Round", "").rpartition(".")
        opening = round_ if part.isdigit() else ""
        games.append((line, tags["White"], tags["Black"], tags["Result"], "", opening, "", " ".join(moves)))
    return _numbered(games)


def _from_json(number, line) -> GameRecord:
    try:
        record = _reader().validate_json(line, strict=True)
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(map(str, fault["loc"])) or "it"
        raise ExchangeError(f"line {number}: is not a game: {place}: {fault['msg']}") from None
    if record.outcome not in RESULTS or not 0 <= record.seed < 1 << 64 or record.first == record.second:
        what = f"outcome {record.outcome}, seed {record.seed}, players {record.first!r} and {record.second!r}"
        raise ExchangeError(f"line {number}: {what}: one of them cannot be")
    return record


@functools.cache
def _reader() -> TypeAdapter:
    return TypeAdapter(GameRecord)


def _numbered(games) -> list[GameRecord]:
    """Records of (line, first, second, result, condition, opening, opening moves, moves), in the order of the file."""
    conditions: dict[str, int] = {}
    openings: dict[object, int] = {}
    records: list[GameRecord] = []
    for line, first, second, result, condition, opening, opening_moves, moves in games:
        if not first or not second or first == second or not (first + second).isprintable():
            raise ExchangeError(f"line {line}: the players {first!r} and {second!r} must be two, with a name each")
        if result not in OUTCOMES:
            known = ", ".join([*RESULTS.values(), "1", "0.5", "0"])
            raise ExchangeError(f"line {line}: the result {result!r} is not one of {known}")
        if OUTCOMES[result] is None:
            continue
        number = len(records)
        pair = frozenset((first, second)), condition
        records.append(
            GameRecord(
                id=f"{number + 1:06d}",
                number=number,
                condition=conditions.setdefault(condition, len(conditions)),
                opening=openings.setdefault((pair, opening) if opening else number, len(openings)),
                seed=0,
                first=first,
                second=second,
                outcome=OUTCOMES[result],
                score=None,
                reason=Reason.IMPORTED,
                detail="",
                opening_moves=opening_moves,
                moves=moves,
                plies=len(f"{opening_moves} {moves}".split()),
                seconds=0.0,
            )
        )
    return records


def players(records: Iterable[GameRecord]) -> list[str]:
    """The names of all players, in the order in which they come."""
    return list(dict.fromkeys(name for record in records for name in (record.first, record.second) if name))


TAG = re.compile(r'\[\s*(\w+)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')


def _pgn_games(text) -> Iterator[tuple[int, dict, list[str]]]:
    """(line, tags, moves) of each game; tags after moves begin the next one."""
    begin = 1
    tags: dict[str, str] = {}
    body: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("%"):
            continue
        if found := TAG.fullmatch(line.strip()):
            if body:
                yield begin, tags, _moves("\n".join(body))
                tags, body = {}, []
            begin = begin if tags else number
            tags[found[1]] = re.sub(r"\\(.)", r"\1", found[2])
        elif line.strip():
            if not tags:
                raise ExchangeError(f'line {number}: is not PGN: a game begins with tags such as [White "name"]')
            body.append(line)
    if tags:
        yield begin, tags, _moves("\n".join(body))


def _moves(body) -> list[str]:
    """The moves of a game's text, without numbers, comments, variations, marks and result."""
    body = re.sub(r"\{[^}]*\}|;[^\n]*", " ", body)
    while (shorter := re.sub(r"\([^()]*\)", " ", body)) != body:
        body = shorter
    words = re.sub(r"\b\d+\.+(?=\s|[^\d\s])", " ", body).split()
    return [word for word in words if word not in RESULTS.values() and not word.startswith("$")]


def _quoted(text) -> str:
    return str(text).replace("\\", "\\\\").replace('"', '\\"')


def _wrapped(words) -> list[str]:
    """Words in lines of at most LINE characters."""
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
