"""The referee: asks an agent for moves, times it, and judges its answers."""

import functools
import logging
import sysconfig
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from arena.agents.core.agent import Decision, IllegalAnswer, OutOfTime, Player, Resigned, changed
from arena.config.config import Seat
from arena.games.core.game import Game
from arena.games.core.shared.errors import listed
from arena.play.game_calls import GameError, answered
from arena.play.probe import fault_in_kernels, game_fault
from arena.play.watch import Watch
from arena.results.database import candidates
from arena.results.database.record import MoveRecord, Reason, numbers_of

log = logging.getLogger("arena.referee")

LONGEST_DETAIL = 2000  # characters of a record's detail
FAULTS = (Exception, SystemExit)  # exceptions that are an agent's own fault
REASONS = {OutOfTime: Reason.TIME, IllegalAnswer: Reason.ILLEGAL_MOVE, Resigned: Reason.RESIGNED}  # or an exception
GRACE = 5.0  # seconds beyond its limit, until an agent's process is killed

MOST_VALUE = 1 + 1e-6  # of a decision, with what rounding may add
NO_CANDIDATES = candidates.Best(0, [], [], [])

T = TypeVar("T")


class HostFault(Exception):
    """What an agent in a process of its own has done; suspect: it may come from the rules, which its kernels hold."""

    def __init__(self, reason: str, text: str, suspect: bool = False):
        self.reason, self.text, self.suspect = reason, text, suspect
        super().__init__(text)


class HostEnded(HostFault):
    """Its process has ended, or was ended; again: perhaps from outside, so the game is to be played again."""

    def __init__(self, reason: str, text: str, again: bool = False):
        super().__init__(reason, text, suspect=True)
        self.again = again


class Judged(NamedTuple):
    """In place of a decision's statistics: its candidates, which its own process has found, or what that has raised."""

    best: candidates.Best | None
    fault: BaseException | None


class Limits(NamedTuple):
    """How long moves and games may take, in seconds."""

    time_margin: float = 1.0  # by which a move may exceed its seconds, or the clock be overdrawn
    move_seconds: float = 600.0  # for all that has no time budget


class Turn(NamedTuple):
    """An agent's number, the watch that notes when its code runs, and the limits."""

    watch: Watch
    agent: int = 0
    limits: Limits = Limits()


class Forfeit(Exception):
    """An agent has lost its game through its own fault."""

    def __init__(self, reason: str, detail: str):
        self.reason = reason  # one of results.database.record.Reason
        self.detail = detail
        super().__init__(detail)


class Referee:
    """Watches over one agent in one game; every method raises Forfeit if the agent is at fault.

    seat: with name and budget; game_id: for the log; faults: exceptions that are the agent's; turn: watch and limits
    """

    def __init__(
        self,
        game: Game,
        seat: Seat,
        game_id: str = "",
        faults: tuple[type[BaseException], ...] = FAULTS,
        turn: Turn | None = None,
    ):
        self.game, self.seat, self.game_id, self.faults = game, seat, game_id, faults
        self.watch, self.agent, limits = turn or Turn(Watch())
        self.limits, self._limit, self.clock = limits, limits.move_seconds, seat.budget.clock
        self._compiled = 0.0  # seconds of compiling in its last decision
        self._judgement: BaseException | None = None  # raised within `run`, but not by the agent
        self._state: np.ndarray | None = None  # the last position it was asked in
        self.player, self.listens = self.run(0, self._new_player)

    def start(self, state: np.ndarray, moves: Sequence[int]) -> None:
        """Tell the agent the position in which play begins, and the moves before."""
        self.run(len(moves), lambda: self.player.start(self.game, state.copy(), list(moves)))

    def close(self, result: float | None) -> None:
        """Tell the agent the result; its exceptions are only logged."""
        self.watch.enter(self.agent, self._limit)
        try:
            self.player.close(result)
        except self.faults:
            log.exception("game %s: %s raised an exception after the game", self.game_id, self.seat.name)
        finally:
            self.watch.leave()

    def ask(
        self, state: np.ndarray, legal: Sequence[int], rng: np.ndarray, ply: int, side: int
    ) -> tuple[Decision, MoveRecord]:
        """The agent's decision, with wall time, and its record; the move is legal."""
        self._state = state
        return self.run(ply, lambda: self._asked(legal, rng, ply, side), self._choice_limit())

    def check_time(self, seconds: float, ply: int) -> None:
        """Forfeit for more than the agent's seconds, or clock, and the margin; compiling has a limit of its own."""
        limit, margin = self.seat.budget.seconds, self.limits.time_margin
        if self._is_overdrawn():
            ran_out = f"its clock ran out, and a margin of {margin:g} s with it"
            raise self._forfeit(Reason.TIME, f"took {seconds:.3f} s at ply {ply}; {ran_out}")
        if self.clock is None and limit is not None and seconds - self._compiled > limit + margin:
            allowed = f"{limit:g} s and a margin of {margin:g} s"
            raise self._forfeit(Reason.TIME, f"took {seconds:.3f} s at ply {ply}; allowed: {allowed}")

    def played(self, move: int, ply: int) -> None:
        """Tell the agent of a move; useless unless it `listens`."""
        self.run(ply, lambda: self.player.played(move))

    def run(self, ply: int, action: Callable[[], T], limit: float | None = None) -> T:
        """Runs an agent's code; exceptions are its forfeit, or GameError if they come from the game."""
        watch = self.watch
        watch.enter(self.agent, limit or self._limit)
        try:
            return action()
        except self.faults as error:
            if error is self._judgement:
                raise  # ours, not invented by the agent
            if isinstance(error, HostFault):
                raise self._of_host(error, ply) from error
            if reason := next((reason for kind, reason in REASONS.items() if isinstance(error, kind)), None):
                raise self._forfeit(reason, f"at ply {ply} {text_of(error)}") from error
            log.exception("game %s: %s raised an exception at ply %d", self.game_id, self.seat.name, ply)
            forfeit = Forfeit(Reason.EXCEPTION, storable(f"{self.seat.name}: {in_words(error)}"))
            watch.leave()
            trusted = type(self.seat.agent).__module__.startswith("arena.agents.")
            if fault := game_fault(self.game, self._state, error, trusted):
                raise GameError(f"{self.game}: {storable(fault)}") from error
            raise forfeit from error
        finally:
            watch.leave()

    def _of_host(self, fault: HostFault, ply: int) -> Exception:
        """What to raise for it."""
        if not isinstance(fault, HostEnded):
            found = fault_in_kernels(self.game, self._state) if fault.suspect else None
            detail = f"{self.seat.name}: {fault.text}"
        elif fault.again and self.watch.forgives:
            return fault
        else:
            found = self.seat.agent.fault_of_rules(self.game, self._state)  # type: ignore[attr-defined]
            detail = f"{self.seat.name} at ply {ply}: {fault.text}"
        if found:
            return GameError(f"{self.game}: {storable(found)}")
        log.error("game %s: %s", self.game_id, detail)
        return Forfeit(fault.reason, storable(detail))

    def _new_player(self) -> tuple[Player, bool]:
        player = self.seat.agent.player(self.game, self.seat.budget)
        if self.game.players == 1:
            player.note_best = self.watch.note_best  # type: ignore[method-assign]
        return player, getattr(player.played, "__func__", None) is not Player.played

    def _asked(self, legal, rng, ply, side) -> tuple[Decision, MoveRecord]:
        state, watch = self._state, self.watch
        answer, seconds = self._timed(state, rng)
        left = self._charged(seconds)
        watch.enter(self.agent, self._limit)
        decision, best = self._judged(answer, seconds, legal, state, ply)
        numbers = self._numbers(decision)
        watch.leave()
        name, *names = self._names(state, [decision.move, *best.moves])
        text = candidates.written(best, names)
        return decision, MoveRecord(ply=ply, side=side, move=name, clock=left, candidates=text, **numbers)

    def _choice_limit(self) -> float:
        seconds = self.seat.budget.seconds if self.clock is None else max(0.0, self.clock.left)
        return self.limits.move_seconds if seconds is None else seconds + self.limits.time_margin + GRACE

    def _charged(self, seconds) -> float | None:
        """The clock after a move, with the increment unless that came too late."""
        if self.clock is None:
            return None
        self.clock = self.clock._replace(left=self.clock.left - (seconds - self._compiled))
        if not self._is_overdrawn():
            self.clock = self.clock._replace(left=self.clock.left + self.clock.increment)
        return self.clock.left

    def _is_overdrawn(self) -> bool:
        """Whether the clock is overdrawn by more than the margin, which is for the whole game."""
        return self.clock is not None and self.clock.left < -self.limits.time_margin

    def _timed(self, state, rng) -> tuple[Decision, float]:
        start = time.perf_counter()
        if self.clock is not None:
            self.player.allot(self.seat.budget.on(self.clock))
        # a copy, so that the player cannot change our position
        decision = self.player.choose(state.copy(), rng)
        if not isinstance(decision, Decision):
            raise TypeError(f"choose returned {decision!r}, which is no Decision")
        self._compiled = self.watch.compiled()
        return decision, time.perf_counter() - start

    def _judged(self, answer, seconds, legal, state, ply) -> tuple[Decision, candidates.Best]:
        decision = changed(answer, move=self._checked(answer, legal, state, ply), seconds=seconds)
        if decision.statistics is None:
            return decision, NO_CANDIDATES
        if isinstance(decision.statistics, Judged):
            best, fault = decision.statistics
            if fault is not None:
                raise fault
            if best is None:
                return decision, NO_CANDIDATES
        else:
            best = candidates.best(decision.statistics, decision.move)
        for move in best.moves:
            if type(move) is not int or move not in legal:
                raise ValueError(f"its statistics have the move {move!r}, which is not legal")
        return decision, best

    def _numbers(self, decision) -> dict[str, Any]:
        numbers = numbers_of(decision)
        if self.game.players == 2 and abs(value := numbers.get("value", 0.0)) > MOST_VALUE:
            raise ValueError(f"a decision's value is {value}; it can be -1, a loss of the mover, to 1, a win")
        return numbers

    def _names(self, state, moves) -> list[str]:
        """GameError if the rules fail, or a name has a blank, which separates names."""
        try:
            names = [answered(str, self.game, "move_name", state, move) for move in moves]
        except BaseException as error:
            self._judgement = error
            raise
        if " ".join(names).split() != names:
            self._judgement = GameError(
                f"{self.game}: one of the moves {names} has a name that is empty or has a blank"
            )
            raise self._judgement
        return names

    def _checked(self, decision, legal, state, ply) -> int:
        """Forfeit if the move is not legal."""
        move = decision.move
        if isinstance(move, int | np.integer) and not isinstance(move, bool) and int(move) in legal:
            return int(move)
        names = listed([self.game.move_name(state, other) for other in legal])
        raise self._forfeit(Reason.ILLEGAL_MOVE, f"answered the move {move!r} at ply {ply}; legal: {names}")

    def _forfeit(self, reason, text) -> Forfeit:
        detail = f"{self.seat.name} {text}"
        log.error("game %s: %s", self.game_id, detail)
        self._judgement = forfeit = Forfeit(reason, detail)
        return forfeit


def in_words(error: BaseException) -> str:
    """The type and text of an exception, and the line of a user's code that it comes from."""
    if isinstance(error, HostFault):  # in words already
        return storable(error.text)
    return storable(f"{type(error).__name__}: {text_of(error)}{_place(error)}")


def _place(error: BaseException) -> str:
    """` (greedy.py, line 12)`: the last place in code that is neither ours nor a library's, or ""."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        if _is_users(file := frame.f_code.co_filename):
            return f" ({Path(file).name}, line {line})"
    return ""


@functools.cache
def _is_users(file: str) -> bool:
    ours = Path(__file__).resolve().parents[2]
    others = [ours / name for name in ("arena", "games", "agents", "results")]
    others += [Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib", "purelib", "platlib")]
    path = Path(file).resolve()
    return path.is_file() and not any(path.is_relative_to(folder) for folder in others)


def text_of(error: BaseException) -> str:
    """The text of an exception, if it has one."""
    try:
        return storable(str(error))
    except BaseException as fault:
        return f"(its text cannot be had: {type(fault).__name__})"


def storable(text: str) -> str:
    """The text in valid UTF-8, short enough for a record."""
    return text.encode("utf-8", "backslashreplace").decode()[:LONGEST_DETAIL]
