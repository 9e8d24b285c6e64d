"""Games as PGN, out; results/files/pgn_reader.py reads it.

PGN (Edwards, "Portable Game Notation Specification and Implementation Guide", 1994) is chess's: White moves first;
moves are in the notation of their game.
"""

import math
import re
from collections.abc import Mapping

from arena.results.database.record import GameRecord, MoveRecord, Reason
from arena.results.files.extras import comments_of, is_position, quoted, round_of, tags_of
from arena.results.files.outcomes import RESULTS

TERMINATIONS = {
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


def to_pgn(
    record: GameRecord,
    event: str,
    date: str | None = None,
    controls: tuple[str, str] | None = None,
    tags_of_game: Mapping[str, str] | None = None,
) -> str:
    """One game of PGN.

    A comment behind each decision has its value for the player who moved (-1 to 1), depth and time, and what the clock
    shows, `{+0.125/8 0.35s [%clk 0:00:09.65]}`; one marks the last move of the opening.  `date` is YYYY-MM-DD,
    `controls` both players' `time_control`, `tags_of_game` what the game adds.
    """
    white, black = controls or ("?", "?")
    position, opening = _begun(record.opening_moves.split())
    imported = record.reason == Reason.IMPORTED
    read = tags_of(record.detail) if imported else {}
    comments = comments_of(record.detail) if imported else {one.ply: _comment(one) for one in record.decisions}
    tags = {
        "Event": event,
        "Site": "?",
        "Date": (date or "????-??-??").replace("-", "."),
        "Round": round_of(record),
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
        **position,
        **read,
    }
    lines = [f'[{name} "{quoted(value)}"]' for name, value in tags.items()]
    words = [*_words(opening, record.moves.split(), comments, _first_ply(tags)), RESULTS[record.outcome]]
    return "\n".join([*lines, "", *_wrapped(words), "", ""])


def _begun(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The tags of the position that an opening begins from, if any, and its moves."""
    if not words or not is_position(words[0]):
        return {}, words
    fen = words[0].replace("_", " ")
    variant = {} if set(fen.split()[2]) <= set("KQkq-") else {"Variant": "Chess960"}
    return {**variant, "SetUp": "1", "FEN": fen}, words[1:]


def _words(opening: list[str], moves: list[str], comments: Mapping[int, str], first: int) -> list[str]:
    before = comments.get(-1, "")
    words, commented = [f"{{{before}}}"] if before else [], True
    for ply, move in enumerate([*opening, *moves]):
        number = f"{(first + ply) // 2 + 1}"
        words += [f"{number}."] if (first + ply) % 2 == 0 else [f"{number}..."] if commented else []
        comment = comments.get(ply, "opening" if ply == len(opening) - 1 else "")
        words += [move, f"{{{comment}}}"] if comment else [move]
        commented = bool(comment)
    return words


def _first_ply(tags) -> int:
    fields = tags.get("FEN", "").split()
    if len(fields) != 6 or not fields[5].isdecimal():
        return 0
    return 2 * (max(1, int(fields[5])) - 1) + (fields[1] == "b")


def _comment(decision: MoveRecord) -> str:
    value = "" if decision.value is None else f"{decision.value:+.3f}"
    depth = f"/{decision.depth}" if value and decision.depth is not None else ""
    clock = "" if decision.clock is None else f" [%clk {_clock(decision.clock)}]"
    return f"{value}{depth}{' ' if value else ''}{decision.seconds:.3g}s{clock}"


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


def _wrapped(words) -> list[str]:
    lines = [""]
    for word in words:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > LINE:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines
