"""Records of backgammon as a match in the text that backgammon programs read, `.mat`, first Jellyfish's.

A file holds one match: the games of two players, each with a column of its own.
"""

import re
from collections.abc import Iterable, Iterator

from games.backgammon import Backgammon
from games.core.game import Game
from results.record import GameRecord

WIDTH = 36  # characters of the left column, at least; two blanks part it from the right one


def to_mat(game: Game, records: Iterable[GameRecord]) -> str:
    """A match of any number of games for points; ValueError for another game, and for more than two players."""
    if not isinstance(game, Backgammon):
        raise ValueError(f"{game} has no records as .mat; that is for {Backgammon.name}")
    records = list(records)
    players = sorted({name for record in records for name in (record.first, record.second) if name})
    if len(players) > 2:
        raise ValueError(f"a .mat file holds the games of two players, and these are of {len(players)}")
    lines, points = [" 0 point match", ""], dict.fromkeys(players, 0)
    for number, record in enumerate(records):
        lines += [f" Game {number + 1}", _row("", *(f"{_plain(name)} : {points[name]}" for name in players))]
        lines += _lines(record, players, points)
        lines.append("")
    return "\n".join([*lines, ""])


def _lines(record: GameRecord, players: list[str], points: dict[str, int]) -> Iterator[str]:
    """The rows of a game, which also add its points to those of the winner."""
    words = [*record.opening_moves.split(), *record.moves.split()]
    turns = [_turn(*words[i : i + 2]) for i in range(0, len(words), 2)]
    if record.first != players[0]:
        turns.insert(0, "")
    for i in range(0, len(turns), 2):
        yield _row(f"{i // 2 + 1:>3}) ", *turns[i : i + 2])
    if record.outcome in (0, 1):
        winner = record.first if record.outcome == 1 else record.second or ""
        won = int(abs(record.score or 1))  # one where a player resigned or forfeited: no more was on the board
        points[winner] += won
        text = f"Wins {won} point{'s' if won > 1 else ''}"
        yield _row("", text) if winner == players[0] else _row("", "", text)


def _turn(roll: str, play: str = "") -> str:
    """A roll and a play; of a game that broke off, perhaps a roll alone."""
    return f"{roll}: {'Cannot Move' if play == 'pass' else play.replace(',', ' ')}"


def _row(number: str, left: str = "", right: str = "") -> str:
    return f"{number:5}{left:<{WIDTH}}  {right}".rstrip()


def _plain(name: str) -> str:
    """A name without what would end it: colons, and blanks at its ends."""
    return re.sub(r"[^\x21-\x39\x3b-\x7e]+", "_", name)
