"""Results from tables of other programs and people: CSV with a heading, a game or the games of two players a row."""

import csv
import io
import re
from collections.abc import Iterator, Mapping

from arena.results.database.record import GameRecord
from arena.results.files.exchange import ExchangeError, ImportedGame, leave_out, numbered, row_fault
from arena.results.files.outcomes import DASHES, outcome_of, short
from arena.results.files.pgn_reader import Judge, moves_in
from arena.results.printable import unguarded

GIVEN = ("condition", "opening", "opening_moves", "moves")  # taken as they are
NAMES = {  # of the columns, by what they hold
    "first": ("first", "white", "player1", "player_1", "player_a", "name1", "engine1", "agent1", "team1", "home", "a"),
    "second": (
        "second",
        "black",
        "player2",
        "player_2",
        "player_b",
        "name2",
        "engine2",
        "agent2",
        "team2",
        "away",
        "b",
    ),
    "outcome": ("outcome", "result", "winner"),
    "score1": ("score1", "score_1", "score_a", "white_score", "first_score"),
    "score2": ("score2", "score_2", "score_b", "black_score", "second_score"),
    "wins": ("wins", "win", "w"),
    "draws": ("draws", "draw", "d"),
    "losses": ("losses", "loss", "l"),
    **{name: (name,) for name in GIVEN},
}
ENDINGS = ("", "_name", "_player", "_username", "_id")  # of a column of players
WINNERS = {
    "1": 1.0,
    "2": 0.0,
    "0": None,
}  # by number, where a column says who won; 0 may be a draw, or the first player
RESULTS = (("outcome",), ("score1", "score2"), ("wins", "draws", "losses"))  # the first that is there counts
MOST_GAMES = 1_000_000  # of a file with counts


def from_csv(
    text: str,
    left_out: list[str] | None = None,
    conditions: dict[str, int] | None = None,
    columns: Mapping[str, str] | None = None,
    notes: list[str] | None = None,
    judge: Judge | None = None,
) -> list[GameRecord]:
    """The games of a table: the columns by NAMES, or by `columns`, from what they hold to their names.

    Cells are separated by commas, semicolons or tabs.  A result is the first player's (`outcome_of`), or who won by
    name; or two scores, of which the higher one wins; or the first one's wins, draws and losses, of games in which the
    two are taken to begin in turn.  Columns opening, and condition if there is one, tell which games are pairs.

    left_out: gets a line for each game that is left out, which is an ExchangeError without such a list
    conditions: as of `numbered`
    notes: gets a line that names the columns, if they are not first, second and outcome
    judge: as of `from_pgn`, for tables with moves
    """
    separator, body = _separator(text)
    rows = csv.reader(io.StringIO(body), strict=True, delimiter=separator)
    games = list[ImportedGame]()
    try:
        heading = [name.strip() for name in next(rows, [])]
        found = _columns(heading, columns or {})
        if notes is not None and any(name != column.lower() for name, column in found.items()):
            notes.append("columns: " + ", ".join(f"{name} = {column}" for name, column in found.items()))
        by_winner = found.get("outcome", "").lower().startswith("winner")
        places = {name: heading.index(column) for name, column in found.items()}
        for row in rows:
            place = f"line {rows.line_num + (body is not text)}"
            try:
                if row and len(row) != len(heading):
                    raise ValueError(f"has {len(row)} cells, and the heading {len(heading)}")
                cells = {name: unguarded(row[at]).strip() for name, at in places.items()} if row else {}
                if by_winner and row:
                    cells["winner"] = ""
                games += list(_games(place, cells, judge)) if row else ()  # the games of a row are stored all or none
            except ValueError as error:
                leave_out(f"{place}: {error}", left_out)
            if len(games) > MOST_GAMES:
                raise ExchangeError(f"{place}: there are more than {MOST_GAMES:,} games up to here")
    except csv.Error as error:
        raise ExchangeError(f"line {rows.line_num}: is not CSV: {error}") from None
    return numbered(games, left_out, conditions)


def _separator(text: str) -> tuple[str, str]:
    """What separates cells, and the table without a line `sep=;` that says so to spreadsheets."""
    first, _, rest = text.partition("\n")
    if told := re.fullmatch(r"sep=(.)\s*", first):
        return told[1], rest
    return next((mark for mark in ";\t" if mark in first), ","), text


def _columns(heading: list[str], wanted: Mapping[str, str]) -> dict[str, str]:
    """The heading's columns by what they hold; ExchangeError if a player or the result is not there."""
    if strange := [name for name in wanted if name not in NAMES]:
        raise ExchangeError(f"there is no column {strange[0]!r} to name; there are {', '.join(NAMES)}")
    if missing := [column for column in wanted.values() if column not in heading]:
        raise ExchangeError(f"line 1: the heading holds no {missing[0]!r}, but {', '.join(heading)}")
    plain = [re.sub(r"[\s-]+", "_", name.lower()) for name in heading]
    found = dict[str, str]()
    for name, known in NAMES.items():
        endings = ENDINGS if name in ("first", "second") else ("",)
        match = next((one + end for end in endings for one in known if one + end in plain), None)
        if name in wanted:
            found[name] = wanted[name]
        elif match is not None:
            if plain.count(match) > 1:
                raise ExchangeError(f"line 1: the heading holds {match} twice")
            found[name] = heading[plain.index(match)]
    result = next((names for names in RESULTS if all(name in found for name in names)), None)
    if "first" not in found or "second" not in found or result is None:
        held = ", ".join(filter(None, heading)) or "nothing"
        text = f"the heading holds {held}; it must hold first, second and outcome, or be told by --columns first=..."
        raise ExchangeError(f"line 1: {text}")
    others = {name for names in RESULTS for name in names if names != result}
    return {name: column for name, column in found.items() if name not in others}


def _games(place: str, cells: dict[str, str], judge: Judge | None) -> Iterator[ImportedGame]:
    first, second, said = cells["first"], cells["second"], cells.get("outcome", "")
    condition, opening, opening_moves, moves = (cells.get(name, "") for name in GIVEN)
    moves = " ".join(moves_in(moves))
    game = ImportedGame(place, first, second, None, condition, opening, opening_moves, moves)
    if "wins" in cells:
        if fault := row_fault(game):
            raise ValueError(fault)
        for outcome, name in ((1.0, "wins"), (0.5, "draws"), (0.0, "losses")):
            for number in range(_count(name, cells[name])):
                exchanged = game._replace(first=second, second=first, outcome=1.0 - outcome)
                yield exchanged if number % 2 else game._replace(outcome=outcome)
        return
    if "score1" in cells:
        score = _number(cells["score1"]) - _number(cells["score2"])
        game = game._replace(outcome=0.5 if score == 0 else float(score > 0), score=score)
    else:
        game = game._replace(outcome=_outcome(said, first, second, "winner" in cells))
    if judge is not None:
        line = f"{game.opening_moves} {game.moves}".split()
        spec, _, names, by_rules, _ = judge({}, line, game.outcome, said)
        game = game._replace(condition=spec, opening_moves="", moves=" ".join(names), outcome=by_rules)
    yield game


def _count(name: str, text: str) -> int:
    """The games of a cell; a blank or a dash are none."""
    if text.translate(DASHES) in ("", "-"):
        return 0
    if not text.isdecimal():
        raise ValueError(f"{name} = {short(text)} is no number of games")
    if len(text) > len(str(MOST_GAMES)) or int(text) > MOST_GAMES:
        raise ValueError(f"{name} = {short(text)} is out of range: it can be 0 to {MOST_GAMES:,}")
    return int(text)


def _outcome(said: str, first: str, second: str, who: bool) -> float | None:
    """The outcome of a cell; `who`: it says who won."""
    if said and said in (first, second):
        return float(said == first)
    if who and said in WINNERS:
        if WINNERS[said] is None:
            raise ValueError("the winner is 0: that may be a draw, or a player")
        return WINNERS[said]
    return outcome_of(said)


def _number(text: str) -> float:
    if not re.fullmatch(r"-?\d+(?:[.,]\d+)?", text):
        raise ValueError(f"the score {short(text)} is no number")
    return float(text.replace(",", "."))
