"""A stored game, replayed by its rules: in the process of `apart.CHECKING`, since rules may be a user's code."""

from pathlib import Path
from typing import NamedTuple

from arena import games
from arena.config.config import games_played
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.shared.errors import UserError
from arena.lab import saving
from arena.lab.reading import Cells
from arena.lab.searcher import for_first, whose
from arena.play.game_calls import started
from arena.results.database import candidates
from arena.results.database.record import GameRecord, MoveRecord, in_words
from arena.results.database.store import Store
from arena.results.printable import printable
from arena.results.shown.column_forms import MISSING, column

CANDIDATES = [("move", "move", False), ("visits", "visits", True), ("share", "share", True)]
_last: list["ReplayedGame"] = []  # at most one


class Replayed(NamedTuple):
    """A game as plain values; lists have an entry for each ply."""

    game: str
    players: str
    result: str
    of: int  # players
    opening: int  # plies that were not the agents'
    position: str  # the word of the position that it began with, or ""
    moves: list[str]
    sides: list[int]  # 0, 1, or CHANCE
    values: list[float | None]
    decisions: list[str]  # in words
    candidates: list[Cells | None]
    suffixes: list[str]  # of files


class ReplayedGame(GameInProgress):
    """A stored game and the positions that it went through."""

    def __init__(self, folder: Path, id: str):
        self.at = folder, id
        with Store.open(folder) as store:
            self.stored, meta = store.record(id), store.meta
        self.spec = games_played(meta)[self.stored.condition]
        begun, record = started(self.spec, self.stored)
        self.opening = len(record.opening_moves.split())
        super().__init__(begun)
        for name in (*record.opening_moves.split(), *record.moves.split()):
            self.play(name)


def played(folder: Path, id: str) -> ReplayedGame:
    """The game, replayed unless it was the last one asked for."""
    if not (_last and _last[0].at == (folder, id)):
        _last[:] = [ReplayedGame(folder, id)]
    return _last[0]


def replayed(folder: Path, id: str) -> Replayed:
    """A stored game, checked by the rules; UserError if its plug-in is not trusted, or the rules are others now."""
    one = played(folder, id)
    record, thoughts = one.stored, {decision.ply: decision for decision in one.stored.decisions}
    found = [thoughts.get(ply) for ply in range(len(one.names))]
    players = record.first if record.second is None else f"{record.first} against {record.second}"
    return Replayed(
        str(one.spec),
        players,
        printable(in_words(record)),
        one.game.players,
        one.opening,
        one.game.position_word(),
        one.names,
        one.sides,
        [each and for_first(each.value, each.side) for each in found],
        [_decision(record, each) for each in found],
        [_candidates(each, one.game.players) for each in found],
        saving.suffixes(one.spec),
    )


def _decision(record: GameRecord, decision: MoveRecord | None) -> str:
    if decision is None:
        return "not an agent's decision"
    agent = record.second if decision.side else record.first
    counts = [
        f"{column(name, 'moves').heading or name} {column(name, 'moves').write(value)}"
        for name in ("depth", "playouts", "nodes", "seconds", "clock")
        if (value := getattr(decision, name)) is not None
    ]
    if decision.value is not None:
        heading = whose(1 if record.second is None else 2)
        counts.insert(0, f"{heading} {column('value', 'moves').write(for_first(decision.value, decision.side))}")
    return printable(f"{agent}: {', '.join([decision.move, *counts])}")


def _candidates(decision: MoveRecord | None, players: int) -> Cells | None:
    found, side = (candidates.read(decision.candidates), decision.side) if decision else ([], 0)
    rows = list[tuple[str, ...]]()
    for one in found:
        numbers = {"visits": one.visits, "share": one.share, "value": for_first(one.value, side)}
        texts = (MISSING if value is None else _written(name, value) for name, value in numbers.items())
        rows.append((one.move, *texts))
    return Cells([*CANDIDATES, ("value", whose(players), True)], rows, [], len(rows)) if rows else None


def _written(name: str, value: float) -> str:
    return column(name, "candidates").write(value)


def board(folder: Path, id: str, ply: int) -> str:
    """The position after so many plies, as SVG."""
    one = played(folder, id)
    if not 0 <= ply <= len(one.names):
        raise UserError(f"ply = {ply} is out of range: the game has 0 to {len(one.names)}")
    return str(games.svg(one.game, one.states[ply], one.words[: len(one.words) - len(one.names) + ply]))


def game_file(folder: Path, id: str, suffix: str) -> bytes:
    """The game in one of its formats."""
    one = played(folder, id)
    return saving.text_of(one.spec, one.stored, suffix)
