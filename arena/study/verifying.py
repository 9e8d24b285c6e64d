"""Checks stored games by the rules."""

from collections.abc import Callable, Mapping
from typing import Any

from arena.config.config import stored_games
from arena.games.core.game import Game, IllegalMove
from arena.play.game_calls import GameError, answered, by_rules, result_of, started
from arena.results.database.record import GameRecord, Reason


def replayer(config: Mapping[str, Any]) -> Callable[[GameRecord], str]:
    """A function: what is wrong with a game by a resolved configuration's rules, or ""."""
    games = stored_games(config)
    return lambda record: replayed(games[record.condition], record)


def replayed(game: Game, record: GameRecord) -> str:
    """What is wrong with its moves, plies and, if the rules ended it, outcome and score; "" if nothing."""
    try:
        game, record = started(game, record)
    except IllegalMove as error:
        return f"is not by the rules: {error}"
    names = [*record.opening_moves.split(), *record.moves.split()]
    if len(names) != record.plies:
        return f"has {len(names)} moves, but {record.plies} plies are stored"
    state = game.initial()
    try:
        for name in names:
            move = by_rules(game, "parse_move", state, name)
            by_rules(game, "play", state, move)
        if record.reason != Reason.PLAYED_OUT:
            return ""
        if not answered(bool, game, "is_over", state):
            return f"is not over by the rules after {record.plies} plies, but stored as played out"
        found = result_of(game, state)[:2]
    except GameError as error:
        if isinstance(error.__cause__, IllegalMove):
            return f"is not by the rules: {error.__cause__}"
        return f"cannot be replayed: {error}"
    if found != (record.outcome, record.score):
        return f"has outcome and score {found} by the rules, but {record.outcome, record.score} are stored"
    return ""
