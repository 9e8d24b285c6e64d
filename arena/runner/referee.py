"""The referee: asks an agent for its moves, times it, and judges what it answers."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from agents.core.agent import Decision, IllegalAnswer, OutOfTime, Resigned
from arena.config.config import Seat
from arena.runner.rules import by_rules
from games.core.game import Game
from results.record import MoveRecord, Reason

log = logging.getLogger("arena.referee")

LONGEST_DETAIL = 2000  # characters of a record's detail
FAULTS = (Exception, SystemExit)  # what an agent's code may raise that is its own fault
REASONS = {OutOfTime: Reason.TIME, IllegalAnswer: Reason.ILLEGAL_MOVE, Resigned: Reason.RESIGNED}  # or an exception

T = TypeVar("T")


class Forfeit(Exception):
    """An agent has lost its game by a fault of its own."""

    def __init__(self, reason: str, detail: str):
        self.reason = reason  # one of results.record.Reason
        self.detail = detail
        super().__init__(detail)


class Referee:
    """Watches over one agent in one game; every method raises Forfeit where the agent is at fault.

    seat: the agent with its name and budget; game_id: for the log; faults: the exceptions that count as the agent's.
    """

    def __init__(self, game: Game, seat: Seat, game_id: str = "", faults: tuple[type[BaseException], ...] = FAULTS):
        self.game, self.seat, self.game_id, self.faults = game, seat, game_id, faults
        self.player = self.run(0, lambda: seat.agent.player(game, seat.budget))

    def start(self, state: np.ndarray, moves: Sequence[int]) -> None:
        """Tell the agent how the game came to the position in which play begins."""
        self.run(len(moves), lambda: self.player.start(self.game, state.copy(), list(moves)))

    def close(self, result: float | None) -> None:
        """Tell the agent how the game ended; what it raises then is logged, and changes nothing."""
        try:
            self.player.close(result)
        except self.faults:
            log.exception("game %s: %s raised an exception after the game", self.game_id, self.seat.name)

    def ask(
        self, state: np.ndarray, legal: Sequence[int], rng: np.ndarray, ply: int, side: int
    ) -> tuple[Decision, MoveRecord]:
        """The agent's decision in a position, with its wall time and as it is to be stored; its move is legal."""
        decision = self.run(ply, lambda: self._timed(state, rng))
        move = self.run(ply, lambda: self._checked(decision, legal, state, ply))
        decision = replace(decision, move=move)
        name = by_rules(self.game, "move_name", state, move)
        return decision, self.run(ply, lambda: MoveRecord.of(ply, side, name, decision))

    def check_time(self, seconds: float, margin: float, ply: int) -> None:
        """Whether a move took no longer than the agent's budget of seconds, if it has one, and the margin."""
        limit = self.seat.budget.seconds
        if limit is not None and seconds > limit + margin:
            allowed = f"{limit:g} s and a margin of {margin:g} s"
            raise self._forfeit(Reason.TIME, f"took {seconds:.3f} s at ply {ply}; allowed: {allowed}")

    def played(self, move: int, ply: int) -> None:
        """Tell the agent that a move has been made."""
        self.run(ply, lambda: self.player.played(move))

    def run(self, ply: int, action: Callable[[], T]) -> T:
        """What an agent's code returns; what it raises is its forfeit."""
        try:
            return action()
        except Forfeit:
            raise
        except tuple(REASONS) as error:
            reason = next(reason for kind, reason in REASONS.items() if isinstance(error, kind))
            raise self._forfeit(reason, storable(f"at ply {ply} {error}")) from error
        except self.faults as error:
            log.exception("game %s: %s raised an exception at ply %d", self.game_id, self.seat.name, ply)
            detail = storable(f"{self.seat.name}: {type(error).__name__}: {error}")
            raise Forfeit(Reason.EXCEPTION, detail) from error

    def _timed(self, state, rng) -> Decision:
        start = time.perf_counter()
        # a copy, because a player that writes into its position must not change ours
        decision = self.player.choose(state.copy(), rng)
        if not isinstance(decision, Decision):
            raise TypeError(f"choose returned {decision!r}, which is no Decision")
        return replace(decision, seconds=time.perf_counter() - start)

    def _checked(self, decision, legal, state, ply) -> int:
        """The move of a decision, if it is a legal one."""
        move = decision.move
        if isinstance(move, int | np.integer) and not isinstance(move, bool) and int(move) in legal:
            return int(move)
        names = " ".join(self.game.move_name(state, other) for other in legal)
        raise self._forfeit(Reason.ILLEGAL_MOVE, f"answered the move {move!r} at ply {ply}; legal: {names}")

    def _forfeit(self, reason, text) -> Forfeit:
        detail = f"{self.seat.name} {text}"
        log.error("game %s: %s", self.game_id, detail)
        return Forfeit(reason, detail)


def storable(text: str) -> str:
    """The text with what UTF-8 cannot write spelled out, and no longer than a record should be."""
    return text.encode("utf-8", "backslashreplace").decode()[:LONGEST_DETAIL]
