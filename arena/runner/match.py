"""One game between two agents, or of one agent where it is for one player, in the calling process."""

import logging
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from agents.core.agent import Agent, Budget, Decision
from arena.config.config import make_all
from arena.config.openings import moves_of
from arena.formats.schedule import Fixture, opening
from games.core.game import CHANCE, Game
from games.core.random import stream
from results.record import GameRecord, ImprovementRecord, MoveRecord, Reason

log = logging.getLogger("arena.runner.match")

LONGEST_DETAIL = 2000  # characters of a record's detail
_SMALLEST = {"playouts": 1, "nodes": 1, "depth": 1, "seconds": 0.001}


class GameError(RuntimeError):
    """A game whose own rules failed: no fault of an agent."""


@dataclass(frozen=True)
class Seat:
    """An agent as it takes part in a tournament."""

    name: str
    agent: Agent
    budget: Budget  # its own, or what it uses of the tournament's


@dataclass(frozen=True)
class Setting:
    """What all games of a tournament have in common.

    games: the one that all play, or the instances for one player, each of which every agent plays by itself
    """

    games: tuple[Game, ...]
    seats: tuple[Seat, ...]
    seed: int
    opening_plies: int
    openings: tuple[str, ...]  # lines of moves, in the place of random plies
    time_margin: float  # seconds by which a move may exceed its agent's budget of seconds

    @classmethod
    def make(cls, resolved: dict) -> "Setting":
        """The setting of a resolved configuration (`Config.resolved()`); imports its plugins."""
        games, agents = make_all(
            resolved["plugins"],
            resolved["instances"],
            [entry["agent"] for entry in resolved["agents"]],
            resolved["plugin_path"],
        )
        default = Budget(**resolved["budgets"][0])
        seats = tuple(
            Seat(entry["name"], agent, agent.budget(default)) for entry, agent in zip(resolved["agents"], agents)
        )
        return cls(
            tuple(games),
            seats,
            resolved["seed"],
            resolved.get("opening_plies", 0),
            tuple(resolved.get("openings", ())),
            resolved["time_margin"],
        )

    @property
    def game(self) -> Game:
        """The game that all play; the first instance, where games are for one player."""
        return self.games[0]

    @property
    def solo(self) -> bool:
        """Whether the games are for one player."""
        return self.game.players == 1

    def play(self, fixture: Fixture) -> GameRecord:
        """Play one game of the schedule; GameError if the rules fail."""
        game = self.games[fixture.instance]
        try:
            moves = [] if self.solo else self._opening(game, fixture.opening)
        except Exception as error:
            raise GameError(f"no opening: {type(error).__name__}: {error}") from error
        return play(game, self._seats_of(fixture), fixture, moves, self.time_margin)

    def void(self, fixture: Fixture, reason: str, detail: str, seconds: float = 0.0) -> GameRecord:
        """The record of a game that was not played to an end through no fault of an agent's move: no moves."""
        return GameRecord(
            **_identity(fixture, self._seats_of(fixture)),
            outcome=None,
            score=None,
            reason=reason,
            detail=detail,
            opening_moves="",
            moves="",
            plies=0,
            seconds=seconds,
        )

    def cores(self, fixture: Fixture) -> int:
        """How many cores the game keeps busy: its agents think in turn."""
        return max(seat.agent.cores for seat in self._seats_of(fixture))

    def _opening(self, game, number) -> list[int]:
        """The moves of an opening; where there are more games than lines, these begin again."""
        if self.openings:
            return moves_of(game, self.openings[number % len(self.openings)])
        return opening(game, self.seed, number, self.opening_plies)

    def _seats_of(self, fixture):
        return tuple(self.seats[i] for i in fixture.seats)


def play(game: Game, seats: tuple[Seat, ...], fixture: Fixture, opening: list[int], time_margin=1.0) -> GameRecord:
    """Play one game to its end, or until an agent forfeits it.

    game: its rules; seats: who moves first, and the opponent if there is one; opening: legal moves made before the agents begin;
    time_margin: seconds by which a move may exceed its agent's budget of seconds.

    An agent that raises an exception, answers with anything but a legal move, or exceeds its time forfeits: the other
    side, if there is one, wins, and score is None.  Rules that raise an exception, or go on for more than game.max_plies, are GameError.
    Each agent draws from a stream of its own, of (fixture.seed, side), so that with budgets other than seconds the
    game is a function of its arguments.
    """
    table = _Table(game, seats, fixture, opening, time_margin)
    start = time.perf_counter()
    try:
        table.play_out()
        outcome, score, reason, detail = game_result(game, table.state)
    except _Forfeit as forfeit:
        outcome = float(forfeit.side) if len(seats) == 2 else None
        score, reason, detail = None, forfeit.reason, forfeit.detail
    return GameRecord(
        **_identity(fixture, seats),
        outcome=outcome,
        score=score,
        reason=reason,
        detail=detail,
        opening_moves=" ".join(table.opening_names),
        moves=" ".join(table.names),
        plies=table.plies,
        seconds=time.perf_counter() - start,
        decisions=tuple(table.decisions),
        improvements=tuple(table.improvements),
    )


def storable(text: str) -> str:
    """The text with what UTF-8 cannot write spelled out, and no longer than a record should be."""
    return text.encode("utf-8", "backslashreplace").decode()[:LONGEST_DETAIL]


def warm(
    games: Iterable[Game],
    seats,
    before: Callable[[str], None] | None = None,
    after: Callable[[str, float, str], None] | None = None,
) -> None:
    """Compile (or load) all that the seats run: each plays all sides' first moves with the smallest of its budgets.

    `before(name)` and `after(name, seconds, failure)` are told of each seat.  An agent that raises is logged and passed
    over, with the exception as `failure`, which is "" else: its games will show it.  An agent that kills its process
    kills this one.
    """
    for seat in seats:
        if before:
            before(seat.name)
        start, failure = time.perf_counter(), ""
        try:
            for game in games:
                _play_first_moves(game, seat)
        except Exception as error:
            failure = storable(f"{type(error).__name__}: {error}")
            log.exception("%s failed while its kernels were being compiled", seat.name)
        if after:
            after(seat.name, time.perf_counter() - start, failure)


def _play_first_moves(game, seat, plies=3):
    """One player moves for all sides, so that what it does with a tree from its last move runs too."""
    # an agent that needs no budget, as its search ends by itself, gets one here
    budget = Budget(**{kind: _SMALLEST[kind] for kind in seat.budget.given() or seat.agent.budgets})
    player, state, rng = seat.agent.new_player(game, budget), game.initial(), stream(0, "warm")
    for _ in range(plies):
        if not game.is_over(state):
            move = int(player.choose(state.copy(), rng).move)
            state = game.after(state, move)
            player.played(move)


def _identity(fixture, seats):
    """The fields of a record that are known before play."""
    return {
        "id": fixture.id,
        "number": fixture.number,
        "condition": fixture.instance,
        "opening": fixture.opening,
        "seed": fixture.seed,
        "first": seats[0].name,
        "second": seats[1].name if len(seats) == 2 else None,
    }


def game_result(game, state):
    """Outcome, score, reason and detail of a game that its rules have ended."""
    score = float(_by_rules(game, "score", state))
    if not math.isfinite(score):
        raise GameError(f"score of {game} is {score}")
    outcome = None if game.players == 1 else 0.5 if score == 0 else float(score > 0)
    return outcome, score, Reason.PLAYED_OUT, ""


def _by_rules(game, method, *arguments):
    """The answer of the game's own code; GameError if it raises."""
    try:
        return getattr(game, method)(*arguments)
    except Exception as error:
        raise GameError(f"{method} of {game} raised {type(error).__name__}: {error}") from error


class _Forfeit(Exception):
    def __init__(self, side, reason, detail):
        self.side = side  # who forfeits: the first player's outcome is 0 if it is side 0, 1 if it is side 1
        self.reason = reason
        self.detail = detail
        super().__init__(detail)


class _Table:
    """The board between two players, or before one, while the game lasts."""

    def __init__(self, game, seats, fixture, opening, time_margin):
        self.game = game
        self.seats = seats
        self.fixture = fixture
        self.time_margin = time_margin
        self.state = game.initial()
        self.opening_names = [self._push(move) for move in opening]
        self.plies = len(opening)
        self.names = []  # of all moves after the opening, outcomes of chance among them
        self.decisions = []
        self.improvements = []

    def play_out(self):
        """Let the players move until the game is over; _Forfeit if one fails."""
        self.rngs = [stream(self.fixture.seed, side) for side in range(len(self.seats))]
        chance = stream(self.fixture.seed, "chance")
        self.players = [
            self._of_agent(side, lambda: seat.agent.player(self.game, seat.budget))
            for side, seat in enumerate(self.seats)
        ]
        while legal := _by_rules(self.game, "moves", self.state):
            if self.plies >= self.game.max_plies:
                raise GameError(f"{self.game} is not over after its max_plies = {self.game.max_plies}")
            side = int(_by_rules(self.game, "player", self.state))
            if side >= len(self.players):
                raise GameError(f"{self.game}: player {side} is to move, and it has {len(self.players)}")
            if side == CHANCE:
                self._make(int(_by_rules(self.game, "random_outcome", self.state, chance)))
            else:
                self._make(self._decide(side, legal))
        if not _by_rules(self.game, "is_over", self.state):
            raise GameError(f"{self.game} is not over, but has no legal move")

    def _decide(self, side, legal) -> int:
        """The move that the player to move decides on, and its record."""
        decision = self._of_agent(side, lambda: self._ask(side))
        move = self._of_agent(side, lambda: self._checked(side, decision, legal))
        name = _by_rules(self.game, "move_name", self.state, move)
        self._of_agent(side, lambda: self._note_improvements(decision))
        self.decisions.append(self._of_agent(side, lambda: MoveRecord.of(self.plies, side, name, decision)))
        self._check_time(side, decision.seconds)
        return move

    def _make(self, move):
        """Make a move on the board, and tell both players."""
        self.names.append(self._push(move))
        self.plies += 1
        for listener in range(len(self.players)):
            self._of_agent(listener, lambda: self.players[listener].played(move))

    def _ask(self, side) -> Decision:
        # a copy, because a player that writes into its position must not change ours
        start = time.perf_counter()
        decision = self.players[side].choose(self.state.copy(), self.rngs[side])
        if not isinstance(decision, Decision):
            raise TypeError(f"choose returned {decision!r}, which is no Decision")
        return replace(decision, seconds=time.perf_counter() - start)

    def _note_improvements(self, decision):
        """Keep the improvements that a decision came by, behind those of the decisions before."""
        playouts = sum(one.playouts or 0 for one in self.decisions)
        seconds = sum(one.seconds for one in self.decisions)
        for one in decision.improvements:
            if not self.improvements or one.score > self.improvements[-1].score:
                self.improvements.append(
                    ImprovementRecord(playouts + int(one.playouts), seconds + float(one.seconds), float(one.score))
                )

    def _push(self, move):
        """Make a move, and return its name."""
        name = _by_rules(self.game, "move_name", self.state, move)
        _by_rules(self.game, "play", self.state, move)
        return name

    def _of_agent(self, side, action):
        """What an agent's code returns; if it raises, SystemExit included, the agent forfeits."""
        try:
            return action()
        except _Forfeit:
            raise
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            name = self.seats[side].name
            log.exception("game %s: %s raised an exception at ply %d", self.fixture.id, name, self.plies)
            detail = storable(f"{name}: {type(error).__name__}: {error}")
            raise _Forfeit(side, Reason.EXCEPTION, detail) from error

    def _checked(self, side, decision, legal) -> int:
        """The move of a decision, if it is a legal one."""
        move = decision.move
        if isinstance(move, (int, np.integer)) and not isinstance(move, bool) and int(move) in legal:
            return int(move)
        names = " ".join(self.game.move_name(self.state, other) for other in legal)
        detail = f"{self.seats[side].name} answered the move {move!r} at ply {self.plies}; legal: {names}"
        log.error("game %s: %s", self.fixture.id, detail)
        raise _Forfeit(side, Reason.ILLEGAL_MOVE, detail)

    def _check_time(self, side, seconds):
        limit = self.seats[side].budget.seconds
        if limit is not None and seconds > limit + self.time_margin:
            detail = (
                f"{self.seats[side].name} took {seconds:.3f} s at ply {self.plies}; "
                f"allowed: {limit:g} s and a margin of {self.time_margin:g} s"
            )
            log.error("game %s: %s", self.fixture.id, detail)
            raise _Forfeit(side, Reason.TIME, detail)
