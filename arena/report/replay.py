"""The games that the report replays, with every board drawn."""

import json
import time
from dataclasses import dataclass, field

import numpy as np

from arena.config.config import games_played
from arena.games.core.game import IllegalMove
from arena.play.game_calls import started
from arena.results.database import candidates
from arena.results.database.record import Reason
from arena.results.database.rows import MOVE_COLUMNS
from arena.results.database.store import Store, StoreError
from arena.results.shown.tournament import Tournament

MOST_GAMES = 60
MOST_CHARACTERS = 6_000_000  # of all boards: the page stays small
MOST_SECONDS = 6.0  # for drawing: some rules are slow in plain Python
DIGITS = {"value": 3, "clock": 2, "seconds": 5}  # of a decision; others are whole, or nearly


@dataclass
class Shapes:
    """SVG elements, stored once: those that stay from board to board are numbers."""

    listed: list[str] = field(default_factory=list)
    characters: int = 0  # of all
    _number: dict[str, int] = field(default_factory=dict)

    def number(self, element: str) -> int:
        if element not in self._number:
            self._number[element] = len(self.listed)
            self.listed.append(element)
            self.characters += len(element)
        return self._number[element]

    def frame(self, drawing) -> list:
        """Width, height and elements of a `games.core.boards.drawing.Drawing`."""
        return [drawing.width, drawing.height, *map(self.number, (drawing.ground, *drawing.parts))]


def sample(tournament: Tournament, most: int = MOST_GAMES) -> dict:
    """Up to `most` games as plain values for the page's script: {"shapes": elements, "games": in order}.

    For two players: in the order of the schedule; if there are more, all forfeited games and a fixed random sample.
    For one player: the best run of each agent in each condition, the best first.  Games whose boards are too large, or
    take too long to draw, are dropped.
    """
    shapes, shown = Shapes(), []
    known = "config" in tournament.meta or tournament.meta.get("imported", {}).get("games")
    if not known or tournament.games.empty:
        return {"shapes": [], "games": []}
    rules = games_played(tournament.meta)
    labels = {one.number: one.label if len(tournament.conditions) > 1 else "" for one in tournament.conditions}
    chosen = (_best if tournament.single_player else _chosen)(tournament.games, most)
    characters, deadline = 0, time.perf_counter() + MOST_SECONDS
    with Store.open(tournament.folder) as store:
        for place, id in chosen:
            record = store.record(id)
            entry = _game(rules[record.condition], record, shapes) | {"condition": labels[record.condition]}
            characters += len(json.dumps(entry))
            if characters + shapes.characters > MOST_CHARACTERS:
                break
            shown.append((place, entry))
            if time.perf_counter() > deadline:
                break
    return {"shapes": shapes.listed, "games": [entry for _, entry in sorted(shown, key=lambda item: item[0])]}


def _chosen(games, most) -> list[tuple[int, str]]:
    rng = np.random.default_rng(0)
    order = rng.permutation(len(games))
    forfeits = games["reason"].isin(Reason.FORFEITS).to_numpy()
    order = order[np.argsort(~forfeits[order], kind="stable")][:most]
    return [(int(games["number"].iloc[i]), games["id"].iloc[i]) for i in order]


def _best(games, most) -> list[tuple[tuple, str]]:
    """((condition, rank), id), the best first."""
    best = games.dropna(subset="score").sort_values("score", ascending=False, kind="stable")
    best = best.drop_duplicates(["condition", "first"])
    ranks = best.groupby("condition").cumcount()
    ranked = [(int(rank), int(row.condition), row.id) for rank, row in zip(ranks, best.itertuples())]
    return [((condition, rank), id) for rank, condition, id in sorted(ranked)[:most]]


def _game(game, record, shapes: Shapes) -> dict:
    thoughts = {decision.ply: decision for decision in record.decisions}
    try:
        game, record = started(game, record)
        names = [*record.opening_moves.split(), *record.moves.split()]
        boards = _boards(game, names, shapes)
    except IllegalMove as error:
        raise StoreError(f"game {record.id} was not played by the rules as they are now: {error}") from None
    return {
        "id": record.id,
        "game": str(game),
        "first": record.first,
        "second": record.second,
        "outcome": record.outcome,
        "score": record.score,
        "reason": record.reason,
        "detail": "" if record.reason == Reason.IMPORTED else record.detail,  # the tags that a file had
        "opening": len(record.opening_moves.split()),
        "moves": names,
        "boards": boards,
        "thoughts": [_thought(thoughts.get(ply)) for ply in range(len(names))],
    }


def _boards(game, names, shapes: Shapes) -> list[list]:
    state = game.initial()
    boards = [shapes.frame(game.drawing(state, []))]
    for ply, name in enumerate(names, 1):
        game.play(state, game.parse_move(state, name))  # checks the move, too
        boards.append(shapes.frame(game.drawing(state, names[:ply])))
    return boards


def _thought(decision) -> dict | None:
    """Side, numbers, and candidates: lists of move, visits, share, value."""
    if decision is None:
        return None
    numbers = {name: getattr(decision, name) for name in MOVE_COLUMNS if name not in ("ply", "move", "candidates")}
    values = {name: round(value, DIGITS.get(name, 0) or None) for name, value in numbers.items() if value is not None}
    if found := candidates.read(decision.candidates):
        values["candidates"] = [[one.move, one.visits, round(one.share, 4), one.value] for one in found]
    return values
