"""Calls of a game's own code, and the result of a finished game."""

import math
import signal
from dataclasses import replace

from arena.games.core.game import Game
from arena.results.database.record import GameRecord, Reason, exact


class GameError(RuntimeError):
    """A game whose own rules failed, by no agent's fault."""


def by_rules(game: Game, method: str, *arguments):
    """The answer of a method of the game; GameError if it raises, or would end the process."""
    try:
        return getattr(game, method)(*arguments)
    except KeyboardInterrupt as error:
        if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            raise  # a user's; a worker ignores it, so there it is the game's own
        raise GameError(f"{method} of {game} raised KeyboardInterrupt") from error
    except (Exception, SystemExit) as error:
        raise GameError(f"{method} of {game} raised {type(error).__name__}: {error}") from error


def answered(kind: type, game: Game, method: str, *arguments):
    """The answer as an int, a float, a bool or a str; GameError if it is none."""
    answer = by_rules(game, method, *arguments)
    if type(answer) is kind:  # as nearly all are
        return answer
    try:
        return exact(kind, answer)
    except (TypeError, ValueError, OverflowError):
        raise GameError(f"{method} of {game} answers {answer!r:.80}, which is no {kind.__name__}") from None


def result_of(game: Game, state) -> tuple[float | None, float, str, str]:
    """(outcome, score, reason, detail) of a game ended by its rules.

    GameError if they give no finite score, or a draw where the game has none.
    """
    score = answered(float, game, "score", state)
    if not math.isfinite(score):
        raise GameError(f"score of {game} is {score}")
    if score == 0 and game.players == 2 and not game.has_draws:
        raise GameError(f"score of {game} is 0, a draw, and its has_draws is False")
    outcome = None if game.players == 1 else 0.5 if score == 0 else float(score > 0)
    return outcome, score, Reason.PLAYED_OUT, ""


def started(game: Game, record: GameRecord) -> tuple[Game, GameRecord]:
    """The game from the position that a stored game began from, and the record with its moves alone."""
    begun, words = game.from_line(record.opening_moves)
    return begun, replace(record, opening_moves=" ".join(words))
