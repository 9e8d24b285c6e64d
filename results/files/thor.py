"""The Thor database of Othello (Quin and Nicolet, "Format de la base Thor", 1999): a file .wtb a year, names beside it.

After a header of 16 bytes come games of 68: tournament, players, Black's discs, and 60 squares as 10 * row + column,
without passes.  Empty squares at the end count for the winner.  WTHOR.JOU and WTHOR.TRN hold the names.
"""

import struct
from collections.abc import Callable

from arena.results.database.record import GameRecord
from arena.results.files.exchange import ExchangeError, ImportedGame, leave_out, numbered
from arena.results.files.extras import kept
from arena.results.files.outcomes import RESULTS
from arena.results.files.pgn_reader import Judge

HEADER, GAME = struct.Struct("<4BIHHBBBx"), struct.Struct("<HHHBB60s")
NAMES = {".jou": 20, ".trn": 26}  # bytes of a name in files of players and of tournaments
SOLITAIRE = 1


def from_thor(
    data: bytes,
    judge: Judge,
    left_out: list[str] | None = None,
    notes: list[str] | None = None,
    conditions: dict[str, int] | None = None,
    beside: Callable[[str], bytes | None] = lambda suffix: None,
) -> list[GameRecord]:
    """The games of a file; its records are as of `numbered`.

    beside: returns the file of names with that suffix, if there is one; without it, players are numbers
    """
    if len(data) < HEADER.size:
        raise ExchangeError("is no file of Thor: it is shorter than a header")
    *_, count, _, year, size, kind, _ = HEADER.unpack_from(data)
    if size not in (0, 8) or kind == SOLITAIRE:
        held = "problems for one" if kind == SOLITAIRE else f"games on {size}x{size}"
        raise ExchangeError(f"holds {held}, and not games of othello")
    if len(data) != HEADER.size + count * GAME.size:
        raise ExchangeError(f"is no file of Thor, or damaged: {len(data):,} bytes do not hold {count:,} games")
    players, tournaments = (_names(beside(suffix), length) for suffix, length in NAMES.items())
    games = list[ImportedGame]()
    for number in range(count):
        tournament, *ids, discs, _, moves = GAME.unpack_from(data, HEADER.size + number * GAME.size)
        stated = 0.5 if discs == 32 else float(discs > 32)
        try:
            words = [_square(code) for code in moves.rstrip(b"\0")]
            spec, _, names, outcome, note = judge({}, words, stated, RESULTS[stated])
        except ValueError as error:
            leave_out(f"game {number + 1}: {error}", left_out)
            continue
        if note and notes is not None:
            notes.append(f"game {number + 1}: {note}")
        first, second = (players[one] if one < len(players) else f"player {one}" for one in ids)
        tags = {"Event": tournaments[tournament] if tournament < len(tournaments) else "", "Date": f"{year}.??.??"}
        row = f"game {number + 1}", first, second, outcome, spec, "", "", " ".join(names)
        games.append(ImportedGame(*row, kept(tags, {}), 2.0 * discs - 64.0 if outcome == stated else None))
    return numbered(games, left_out, conditions)


def _square(code: int) -> str:
    row, column = divmod(code, 10)
    if not (1 <= row <= 8 and 1 <= column <= 8):
        raise ValueError(f"{code} is no square")
    return f"{'abcdefgh'[column - 1]}{row}"


def _names(data: bytes | None, length: int) -> list[str]:
    """The names of a file of players or tournaments, which end at the first 0."""
    body = (data or b"")[HEADER.size :]
    cells = (body[begin : begin + length] for begin in range(0, len(body), length))
    return [cell.partition(b"\0")[0].decode("cp1252", errors="replace").strip() for cell in cells]
