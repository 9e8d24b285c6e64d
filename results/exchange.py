"""Records of games as text, out and in: JSON lines, PGN, and CSV (in only; `arena table` writes it).

JSON lines hold everything, one game a line, and read back equal.  PGN (Edwards, "Portable Game Notation Specification
and Implementation Guide", 1994) is chess's format: White moves first; moves are in the notation of their own game.
What is read from PGN and CSV are players and results, and moves if they are there.

What is read may come from anybody: names that a terminal would obey, numbers that no store holds and comments that do
not end are refused, and every reader takes time in proportion to the text.
"""

import csv
import functools
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict

from pydantic import TypeAdapter, ValidationError

from results import candidates
from results.printable import JSON_ESCAPES, unguarded
from results.record import MOST, GameRecord, MoveRecord, Reason

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
REASONS = {value for name, value in vars(Reason).items() if name.isupper() and isinstance(value, str)}
TERMINATIONS = {  # the words of the standard
    Reason.PLAYED_OUT: "normal",
    Reason.RESIGNED: "normal",
    Reason.ILLEGAL_MOVE: "rules infraction",
    **dict.fromkeys((Reason.EXCEPTION, Reason.DIED, Reason.EXCLUDED), "abandoned"),
    Reason.TIME: "time forfeit",
    Reason.IMPORTED: "normal",
    **dict.fromkeys(Reason.ADJUDICATED, "adjudication"),
}
BUDGETS = re.compile(r"\b(playouts|nodes|depth|seconds)=([\d.e+-]+)")
LINE = 80  # characters of a line of PGN's moves
LONGEST_NAME = 200  # characters of a player's name, or of a game's id
MOST_PLAYERS = 2000  # since ratings and crosstables have a cell for each two


Judge = Callable[[Mapping[str, str], list[str]], list[str]]


class ExchangeError(ValueError):
    """Text that cannot be read as records; the message names the line, what is wrong, and what would be right."""


def to_jsonl(record: GameRecord) -> str:
    """One line of JSON, with every decision."""
    return json.dumps(asdict(record), ensure_ascii=False, allow_nan=False).translate(JSON_ESCAPES) + "\n"


def to_pgn(
    record: GameRecord,
    event: str,
    date: str | None = None,
    controls: tuple[str, str] | None = None,
    tags_of_game: Mapping[str, str] | None = None,
) -> str:
    """One game of PGN.

    A comment behind each decision has its value for the player who moved (-1 to 1), depth and time, as runners of
    chess engines write them, `{+0.125/8 0.35s}`, and what its clock shows, `{... 0.35s [%clk 0:00:09.65]}`; the one
    behind the last move of the opening says so.  `date` is YYYY-MM-DD, `controls` are both players' `time_control`, and
    `tags_of_game` what the game adds.
    """
    white, black = controls or ("?", "?")
    tags = {
        "Event": event,
        "Site": "?",
        "Date": (date or "????-??-??").replace("-", "."),
        "Round": _round(record),
        "White": record.first,
        "Black": record.second or "-",
        "Result": RESULTS[record.outcome],
        "TimeControl": white if white == black else "?",
        **({} if white == black else {"WhiteTimeControl": white, "BlackTimeControl": black}),
        "PlyCount": record.plies,
        "Termination": TERMINATIONS.get(record.reason, "unterminated"),
        "Reason": record.reason,
        "GameId": record.id,
        **(tags_of_game or {}),
    }
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
    comments = {one.ply: _comment(one) for one in record.decisions}
    first = _first_ply(tags)
    words, opening, commented = [], record.opening_moves.split(), True
    for ply, move in enumerate([*opening, *record.moves.split()]):
        number = f"{(first + ply) // 2 + 1}"
        words += [f"{number}."] if (first + ply) % 2 == 0 else [f"{number}..."] if commented else []
        comment = "{opening}" if ply == len(opening) - 1 else comments.get(ply, "")
        words += filter(None, [move, comment])
        commented = bool(comment)
    return "\n".join([*lines, "", *_wrapped([*words, RESULTS[record.outcome]]), "", ""])


def _first_ply(tags) -> int:
    """The number of a game's first ply, which in chess may be a move of Black's, or one late in the game."""
    fields = tags.get("FEN", "").split()
    return 2 * (int(fields[5]) - 1) + (fields[1] == "b") if len(fields) == 6 else 0


def _comment(decision: MoveRecord) -> str:
    """Value, depth and time of a decision, and what the clock shows after it."""
    value = "" if decision.value is None else f"{decision.value:+.3f}"
    depth = f"/{decision.depth}" if value and decision.depth is not None else ""
    clock = "" if decision.clock is None else f" [%clk {_clock(decision.clock)}]"
    return f"{{{value}{depth}{' ' if value else ''}{decision.seconds:.3g}s{clock}}}"


def _clock(seconds: float) -> str:
    """`0:00:09.65`; a clock in debt shows nothing left."""
    hundredths = max(0, math.floor(100 * seconds + 0.5))
    minutes, rest = divmod(hundredths, 6000)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest // 100:02d}.{rest % 100:02d}"


def time_control(spec: str, limits: Mapping[str, float | str]) -> str:
    """What an agent has: `10+0.1`, or for a move `0.1/move`; `-` if that is not time.

    `limits` are the budget of agents without one of their own.
    """
    own = dict(BUDGETS.findall(spec))
    if not own and "clock" in limits:
        return str(limits["clock"])
    seconds = own.get("seconds") if own else limits.get("seconds")
    return "-" if seconds is None else f"{float(seconds):g}/move"


def _round(record) -> str:
    """Opening and number, such as `3.7`: games of a pair differ in the last part alone.  Behind the first condition,
    with the condition in front, so that its openings are told from those of others."""
    condition = [record.condition + 1] if record.condition else []
    return ".".join(map(str, (*condition, record.opening + 1, record.number + 1)))


def from_jsonl(text: str) -> list[GameRecord]:
    """The games of lines that `to_jsonl` wrote; ExchangeError says which line is none."""
    lines: dict[str, int] = {}
    names: set[str | None] = set()
    records = []
    for number, line in _numbered_lines(text):
        if line.strip():
            record = _from_json(number, line)
            if (earlier := lines.setdefault(record.id, number)) != number:
                raise ExchangeError(f"line {number}: the game {record.id} is there already, in line {earlier}")
            names.update((record.first, record.second))
            _check_players(number, names)
            records.append(record)
    return records


def from_csv(text: str) -> list[GameRecord]:
    """The games of a table with a heading: columns first and second (or white and black) and outcome (or result).

    Outcomes are the first player's: 1, 0.5, 0, or 1-0, 1/2-1/2, 0-1; empty or * is a game without a result, which is
    left out.  A column opening, with a column condition if there is one, tells which games are pairs.  Further columns
    are ignored, but for opening_moves, moves.
    """
    rows = csv.reader(io.StringIO(text), strict=True)
    try:
        heading = [name.strip().lower() for name in next(rows, [])]
        columns = _columns(heading)
        games = []
        for row in rows:
            if row and len(row) != len(heading):
                raise ExchangeError(f"line {rows.line_num}: has {len(row)} cells, and the heading {len(heading)}")
            if row:
                games.append((rows.line_num, *("" if at is None else unguarded(row[at]).strip() for at in columns)))
    except csv.Error as error:
        raise ExchangeError(f"line {rows.line_num}: is not CSV: {error}") from None
    return _numbered(games)


def _columns(heading) -> list[int | None]:
    """Where the columns are that are read: first, second, outcome, condition, opening, opening_moves, moves."""
    columns: list[int | None] = []
    for known in (FIRST, SECOND, RESULT, ("condition",), ("opening",), ("opening_moves",), ("moves",)):
        name = next((name for name in known if name in heading), None)
        if name is not None and heading.count(name) > 1:
            raise ExchangeError(f"line 1: the heading holds {name} twice")
        columns.append(None if name is None else heading.index(name))
    if None in columns[:3]:
        found = ", ".join(filter(None, heading)) or "nothing"
        raise ExchangeError(f"line 1: the heading holds {found}; it must hold first, second and outcome")
    return columns


def from_pgn(text: str, judge: Judge | None = None) -> list[GameRecord]:
    """The games of a PGN file: players, result, moves.  Those without a result are left out.

    Games of the Rounds N.1 and N.2 are a pair, as chess's runners write them.  `judge` takes the tags and moves of each
    game, and returns the moves as they are to be stored; its ValueError says what is wrong with them.
    """
    games = []
    for line, tags, moves in _pgn_games(text):
        missing = [name for name in ("White", "Black", "Result") if name not in tags]
        if missing:
            raise ExchangeError(f"line {line}: this game has no tag {', '.join(missing)}")
        round_, _, part = tags.get("Round", "").rpartition(".")
        opening = round_ if part.isdigit() else ""
        if judge:
            try:
                moves = judge(tags, moves)
            except ValueError as error:
                raise ExchangeError(f"line {line}: {error}") from None
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
    for name, value in _values(record):
        if wrong := _value_fault(name, value):
            raise ExchangeError(f"line {number}: {name} = {_short(value)}: {wrong}")
    return record


def _values(record) -> Iterator[tuple[str, object]]:
    """The fields of a game and of its decisions and improvements, but for the seed."""
    for row in (record, *record.decisions, *record.improvements):
        yield from ((name, value) for name, value in vars(row).items() if name != "seed")
    for name in ("decisions", "improvements"):
        steps = [row.ply if name == "decisions" else row.playouts for row in getattr(record, name)]
        if len(set(steps)) < len(steps):
            yield name, None


def _value_fault(name, value) -> str | None:
    """What is wrong with the value of a field of a game, whose type is right."""
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
    """What is wrong with a name or with moves; `longest` is given for what must not be empty either."""
    if longest is not None and not 0 < len(text) <= longest:
        return f"has {len(text)} characters; it can have 1 to {longest}"
    return None if text.isprintable() else "has characters that cannot be printed"


def _short(value) -> str:
    """A value as Python writes it, cut where it is long."""
    text = repr(value[:60] if isinstance(value, str) else value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_players(line, names) -> None:
    if len(names) > MOST_PLAYERS:
        raise ExchangeError(f"line {line}: there are more than {MOST_PLAYERS} players up to here")


def _numbered_lines(text) -> Iterator[tuple[int, str]]:
    """Lines with their numbers.  They end in line feeds alone: `splitlines` would part a name at U+2028 as well."""
    return enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)


@functools.cache
def _reader() -> TypeAdapter:
    return TypeAdapter(GameRecord)


def _numbered(games) -> list[GameRecord]:
    """Records of (line, first, second, result, condition, opening, opening moves, moves), in the order of the file."""
    conditions: dict[str, int] = {}
    openings: dict[object, int] = {}
    records: list[GameRecord] = []
    names: set[str] = set()
    for line, first, second, result, condition, opening, opening_moves, moves in games:
        if not first or not second or first == second:
            what = f"{_short(first)} and {_short(second)}"
            raise ExchangeError(f"line {line}: the players {what} must be two, with a name each")
        for text, longest in ((first, LONGEST_NAME), (second, LONGEST_NAME), (opening_moves, None), (moves, None)):
            if fault := _text_fault(text, longest):
                raise ExchangeError(f"line {line}: {_short(text)} {fault}")
        if result not in OUTCOMES:
            known = ", ".join([*RESULTS.values(), "1", "0.5", "0"])
            raise ExchangeError(f"line {line}: the result {_short(result)} is not one of {known}")
        if OUTCOMES[result] is None:
            continue
        names.update((first, second))
        _check_players(line, names)
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


class _Movetext:
    """The moves of one game of PGN, read line by line, without numbers, comments, variations, marks and result."""

    def __init__(self) -> None:
        self.begun = False
        self.comment = 0  # the line in which the comment begins that has not ended, or 0
        self._variations: list[int] = []  # the lines in which those begin that have not ended
        self._words: list[str] = []

    def add(self, number: int, line: str) -> None:
        """Read a line; ExchangeError if it ends what has not begun."""
        self.begun = True
        for part in MARK.split(line):
            if self.comment:
                self.comment = 0 if part == "}" else self.comment
            elif part == "{":
                self.comment = number
            elif part == ";":
                return  # a comment to the end of the line
            elif part == "(":
                self._variations.append(number)
            elif part == ")" and self._variations:
                self._variations.pop()
            elif part in (")", "}"):
                raise ExchangeError(f"line {number}: {part} ends what has not begun")
            elif not self._variations:
                self._words += MOVE_NUMBER.sub(" ", part).split()

    def moves(self) -> list[str]:
        """The moves of the main line; ExchangeError if a comment or a variation has not ended."""
        if self.comment or self._variations:
            what = "comment" if self.comment else "variation"
            raise ExchangeError(f"line {self.comment or self._variations[0]}: the {what} that begins here does not end")
        return [word for word in self._words if word not in RESULTS.values() and not word.startswith("$")]


MARK = re.compile(r"([{};]|\((?!(?<=\S\()\d\))|(?<!\S\(\d)\))")  # no mark are those of a play: 13/10(2)
MOVE_NUMBER = re.compile(r"\b\d+\.+(?=\s|[^\d\s]|$)")


def _pgn_games(text) -> Iterator[tuple[int, dict, list[str]]]:
    """(line, tags, moves) of each game; tags after moves begin the next one."""
    begin, movetext = 1, _Movetext()
    tags: dict[str, str] = {}
    for number, line in _numbered_lines(text):
        if line.startswith("%"):
            continue
        if not movetext.comment and (found := TAG.fullmatch(line.strip())):
            if movetext.begun:
                yield begin, tags, movetext.moves()
                tags, movetext = {}, _Movetext()
            begin = begin if tags else number
            tags[found[1]] = re.sub(r"\\(.)", r"\1", found[2])
        elif line.strip():
            if not tags:
                raise ExchangeError(f'line {number}: is not PGN: a game begins with tags such as [White "name"]')
            movetext.add(number, line)
    if tags:
        yield begin, tags, movetext.moves()


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
