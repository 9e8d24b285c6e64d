"""The games that the report shows move by move, with every board as the game's own text."""

import time

import numpy as np

from arena.config.config import game_of
from games.core.game import IllegalMove
from results.record import Reason
from results.store import Store, StoreError

MOST_GAMES = 60
MOST_CHARACTERS = 4_000_000  # of all boards together, so that the page stays small
MOST_SECONDS = 6.0  # to draw them: the rules of some games are slow in plain Python


def sample(tournament, games: int = MOST_GAMES) -> list[dict]:
    """Up to `games` games, in the order of the schedule, as plain values for the page's script.

    If there are more, it is every game that was forfeited, as far as they fit, and a random sample of the others
    (always the same one).  Fewer are there if they are too large, or take too long to draw.
    """
    config = tournament.meta.get("config")
    if config is None or tournament.games.empty:
        return []
    shown, characters, deadline = [], 0, time.perf_counter() + MOST_SECONDS
    with Store.open(tournament.folder) as store:
        for number, id in _chosen(tournament.games, games):
            record = store.record(id)
            entry = _game(game_of(config, record.condition), record)
            characters += sum(map(len, entry["boards"]))
            if characters > MOST_CHARACTERS:
                break
            shown.append((number, entry))
            if time.perf_counter() > deadline:
                break
    return [entry for _, entry in sorted(shown, key=lambda item: item[0])]


def _chosen(games, most) -> list[tuple[int, str]]:
    """(number, id) of the games to show, the most important first."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(games))
    forfeits = games["reason"].isin(Reason.FORFEITS).to_numpy()
    order = order[np.argsort(~forfeits[order], kind="stable")][:most]
    return [(int(games["number"].iloc[i]), games["id"].iloc[i]) for i in order]


def _game(game, record) -> dict:
    names = [*record.opening_moves.split(), *record.moves.split()]
    thoughts = {decision.ply: decision for decision in record.decisions}
    try:
        boards = _boards(game, names)
    except IllegalMove as error:
        raise StoreError(f"game {record.id} was not played by the rules as they are now: {error}") from None
    return {
        "id": record.id,
        "first": record.first,
        "second": record.second,
        "outcome": record.outcome,
        "reason": record.reason,
        "detail": record.detail,
        "opening": len(record.opening_moves.split()),
        "moves": names,
        "boards": boards,
        "thoughts": [_thought(thoughts.get(ply)) for ply in range(len(names))],
    }


def _boards(game, names) -> list[str]:
    state = game.initial()
    boards = [game.render(state)]
    for name in names:
        game.play(state, game.parse_move(state, name))  # which has looked whether it is legal
        boards.append(game.render(state))
    return boards


def _thought(decision):
    if decision is None:
        return None
    value = None if decision.value is None else round(decision.value, 3)
    return [decision.side, value, decision.playouts, decision.nodes, decision.depth, round(decision.seconds, 5)]
