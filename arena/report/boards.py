"""The games that the report shows move by move, with every board as the game's own text."""

import time

import numpy as np

from arena.config.config import import_plugins, make_games
from games.core.game import IllegalMove
from results.record import Reason
from results.store import MOVE_COLUMNS, Store, StoreError
from results.tournament import Tournament

MOST_GAMES = 60
MOST_CHARACTERS = 4_000_000  # of all boards together, so that the page stays small
MOST_SECONDS = 6.0  # to draw them: the rules of some games are slow in plain Python


def sample(tournament: Tournament, most: int = MOST_GAMES) -> list[dict]:
    """Up to `most` games, in the order of the schedule, as plain values for the page's script.

    If there are more, forfeited games come first, and the rest is a random sample, always the same one.  There are
    fewer if their boards are too large, or take too long to draw.
    """
    config = tournament.meta.get("config")
    if config is None or tournament.games.empty:
        return []
    import_plugins(config)
    rules = [
        game for game in make_games(config["instances"]) for _ in config["budgets"]
    ]  # by the number of the condition
    labels = {one.number: one.label if len(tournament.conditions) > 1 else "" for one in tournament.conditions}
    shown, characters, deadline = [], 0, time.perf_counter() + MOST_SECONDS
    with Store.open(tournament.folder) as store:
        for number, id in _chosen(tournament.games, most):
            record = store.record(id)
            entry = _game(rules[record.condition], record) | {"condition": labels[record.condition]}
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
        game.play(state, game.parse_move(state, name))  # which checks that it is legal
        boards.append(game.render(state))
    return boards


def _thought(decision) -> dict | None:
    """The side that decided, and everything that it counted."""
    if decision is None:
        return None
    numbers = {name: getattr(decision, name) for name in MOVE_COLUMNS if name not in ("ply", "move")}
    digits = {"value": 3, "seconds": 5}
    return {name: round(value, digits.get(name, 0) or None) for name, value in numbers.items() if value is not None}
