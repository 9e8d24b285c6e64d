"""Plays one game of one or two agents in the calling process."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from arena.agents.core.agent import Decision
from arena.config.config import Config, Seat
from arena.config.openings import Opening, opening_of, random_opening
from arena.formats.fixture import Fixture
from arena.games.core.game import CHANCE, Game
from arena.games.core.random import stream
from arena.play.adjudication import Adjudication, Adjudicator, Ending
from arena.play.game_calls import GameError, answered, by_rules, result_of
from arena.play.referee import Forfeit, Limits, Referee, Turn
from arena.play.watch import Watch
from arena.results.database.record import MOST, GameRecord, ImprovementRecord, MoveRecord

REPEATED = 16  # of so many games, the moves of one are played once more


class Openings:
    """The openings of a run; keeps the last one for the second game of its pair."""

    def __init__(self, config: Config):
        self._config = config
        self._last: tuple[tuple[int, int], Opening] | None = None

    def of(self, fixture: Fixture) -> Opening:
        """The opening of a game; GameError if the rules fail."""
        place = fixture.condition, fixture.opening
        if self._last is None or self._last[0] != place:
            game = self._config.conditions[fixture.condition].game
            try:
                found = _opening(self._config, game, fixture.opening)
            except Exception as error:
                raise GameError(f"no opening: {type(error).__name__}: {error}") from error
            self._last = place, found
        return self._last[1]


def play_fixture(
    config: Config, fixture: Fixture, watch: Watch | None = None, openings: Openings | None = None
) -> GameRecord:
    """Play one game of a tournament; GameError if the rules fail.

    watch: notes whose code runs; openings: of the run, to save work for several games
    """
    game, opening, position = (openings or Openings(config)).of(fixture)
    limits = Limits(config.values["time_margin"], config.values["move_seconds"])
    adjudication = Adjudication(config.values["resign"], config.values["draw"])
    record = play(game, seats_of(config, fixture), fixture, opening, limits, watch, adjudication)
    return replace(record, opening_moves=f"{position} {record.opening_moves}".strip()) if position else record


def void_record(config: Config, fixture: Fixture, reason: str, detail: str, seconds: float = 0.0) -> GameRecord:
    """The record of a game without moves that failed through no fault of an agent."""
    return _without_moves(config, fixture, None, reason, detail, seconds)


def forfeit_record(
    config: Config, fixture: Fixture, agent: int, reason: str, detail: str, seconds: float = 0.0
) -> GameRecord:
    """The record of a game that an agent lost with its process, which took the moves with it."""
    outcome = float(fixture.seats.index(agent)) if len(fixture.seats) == 2 else None
    return _without_moves(config, fixture, outcome, reason, detail, seconds)


def _without_moves(config, fixture, outcome, reason, detail, seconds):
    return GameRecord(
        **identity(fixture, [seat.name for seat in seats_of(config, fixture)]),
        outcome=outcome,
        score=None,
        reason=reason,
        detail=detail,
        opening_moves="",
        moves="",
        plies=0,
        seconds=seconds,
    )


def cores_of(config: Config, fixture: Fixture) -> int:
    """The cores that a game keeps busy; agents think in turn."""
    return max(seat.agent.cores for seat in seats_of(config, fixture))


def seats_of(config: Config, fixture: Fixture) -> tuple[Seat, ...]:
    """The seats of a game, the first mover first."""
    seats = config.conditions[fixture.condition].seats
    return tuple(seats[i] for i in fixture.seats)


def _opening(config, game, number) -> Opening:
    """Where a game begins; if there are more games than lines, the lines repeat."""
    if config.players == 1:
        return Opening(game, [])
    if lines := config.values.get("openings"):
        return opening_of(game, lines[number % len(lines)])
    return Opening(game, random_opening(game, config.values["seed"], number, config.values["opening_plies"]))


def play(
    game: Game,
    seats: tuple[Seat, ...],
    fixture: Fixture,
    opening: Sequence[int],
    limits: Limits = Limits(),  # noqa: B008 - a NamedTuple of numbers
    watch: Watch | None = None,
    adjudication: Adjudication = Adjudication(),  # noqa: B008 - a NamedTuple of plain values
) -> GameRecord:
    """Play one game to its end, or until an agent forfeits it or it is adjudicated.

    seats: the first mover, and the opponent if any; opening: legal moves made before; limits: the agents' seconds;
    watch: notes whose code runs; adjudication: when values end a game

    An agent that raises an exception, answers with anything but a legal move, or exceeds its time forfeits: the other
    side, if any, wins, and score is None.  Rules that raise an exception, or exceed game.max_plies, are GameError.
    """
    match = Match(game, fixture, opening, Adjudicator(adjudication, tuple(seat.name for seat in seats)))
    start = time.perf_counter()
    outcome, score, reason, detail = match.result(seats, limits, watch or Watch())
    return GameRecord(
        **identity(fixture, [seat.name for seat in seats]),
        outcome=outcome,
        score=score,
        reason=reason,
        detail=detail,
        opening_moves=" ".join(match.opening_names),
        moves=" ".join(match.names),
        plies=match.plies,
        seconds=time.perf_counter() - start,
        decisions=tuple(match.decisions),
        improvements=tuple(match.improvements),
    )


def identity(fixture: Fixture, names: Sequence[str]) -> dict:
    """The fields of a record known before play; `names` are those of its seats."""
    return {
        "id": fixture.id,
        "number": fixture.number,
        "condition": fixture.condition,
        "opening": fixture.opening,
        "seed": fixture.seed,
        "first": names[0],
        "second": names[1] if len(names) == 2 else None,
    }


class Match:
    """The board and the players of a game in progress."""

    def __init__(self, game: Game, fixture: Fixture, opening: Sequence[int], adjudicator: Adjudicator):
        self.game = game
        self.fixture = fixture
        self.adjudicator = adjudicator
        self.state = by_rules(game, "initial")
        self.opening = opening
        self.moves: list[int] = []  # all, with the opening's
        self.opening_names = [self._push(move) for move in opening]
        self.plies = len(opening)
        self.names: list[str] = []  # of moves after the opening, including chance
        self.decisions: list[MoveRecord] = []
        self.improvements: list[ImprovementRecord] = []
        self.asked = 0  # whose code ran last
        self.referees: list[Referee] = []

    def result(
        self, seats: tuple[Seat, ...], limits: Limits, watch: Watch
    ) -> tuple[float | None, float | None, str, str]:
        """(outcome, score, reason, detail) after play; always closes the players."""
        outcome = score = None
        try:
            if ending := self.play_out(seats, limits, watch):
                outcome, reason, detail = ending
            else:
                outcome, score, reason, detail = result_of(self.game, self.state)
                if result_of(self.game, self.state)[1] != score:
                    raise GameError(f"score of {self.game} is random: it is another one the second time")
                if self.fixture.number % REPEATED == 0:
                    self._check_repeats()
        except Forfeit as forfeit:
            # the first player's: 0 if it forfeits, 1 if the second does
            outcome = float(self.asked) if len(seats) == 2 else None
            reason, detail = forfeit.reason, forfeit.detail
        finally:
            for referee in self.referees:
                referee.close(score if self.game.players == 1 else outcome)
        return outcome, score, reason, detail

    def play_out(self, seats: tuple[Seat, ...], limits: Limits, watch: Watch) -> Ending | None:
        """Play until the game is over; Forfeit if a player fails, whose side is `asked` then.

        Returns the end of an adjudicated game, None of others.
        """
        self.rngs = [stream(self.fixture.seed, side) for side in range(len(seats))]
        chance = stream(self.fixture.seed, "chance")
        for side, seat in enumerate(seats):
            self.asked = side
            turn = Turn(watch, self.fixture.seats[side], limits)
            # the worker ignores Ctrl-C, so a KeyboardInterrupt is the agent's own
            self.referees.append(Referee(self.game, seat, self.fixture.id, (BaseException,), turn))
            self.referees[side].start(self.state, self.opening)
        while legal := by_rules(self.game, "moves", self.state):
            watch.note_plies(self.plies)
            if len(set(legal)) != len(legal) or not 0 <= min(legal) <= max(legal) < self.game.move_limit:
                raise GameError(_of_moves(self.game, legal))
            if ending := self.adjudicator.ending(self.plies):
                return ending
            if self.plies >= self.game.max_plies:
                raise GameError(f"{self.game} is not over after its max_plies = {self.game.max_plies}")
            side = answered(int, self.game, "player", self.state)
            if side != CHANCE and not 0 <= side < len(seats):
                raise GameError(f"{self.game}: player {side} is to move, and it has {len(seats)}")
            if side == CHANCE:
                self._make(answered(int, self.game, "random_outcome", self.state, chance))
            else:
                self._make(self._decide(side, legal))
        if not answered(bool, self.game, "is_over", self.state):
            raise GameError(f"{self.game} is not over, but has no legal move")
        return None

    def _decide(self, side, legal) -> int:
        self.asked, referee = side, self.referees[side]
        if referee.clock is not None:
            referee.clock = referee.clock._replace(opponent=self._left(1 - side))
        decision, record = referee.ask(self.state, legal, self.rngs[side], self.plies, side)
        if type(decision) is not Decision or decision.improvements:
            referee.run(self.plies, lambda: self._note_improvements(decision))
        self.decisions.append(record)
        self.adjudicator.note(side, record.value)
        referee.check_time(decision.seconds, self.plies)
        return decision.move

    def _check_repeats(self):
        """GameError unless the same moves lead to the same end once more."""
        state = by_rules(self.game, "initial")
        for move in self.moves:
            if by_rules(self.game, "is_over", state):
                raise GameError(f"is_over of {self.game} is random: a game that went on is over the second time")
            by_rules(self.game, "play", state, move)
        if not np.array_equal(state, self.state, equal_nan=state.dtype.kind == "f"):
            raise GameError(f"play of {self.game}, or start, is random: the same moves lead to another position")

    def _left(self, side) -> float | None:
        clock = self.referees[side].clock if side < len(self.referees) else None
        return None if clock is None else clock.left

    def _make(self, move):
        self.names.append(self._push(move))
        self.plies += 1
        for side, referee in enumerate(self.referees):
            if referee.listens:
                self.asked = side
                referee.played(move, self.plies)

    def _note_improvements(self, decision):
        if not decision.improvements:
            return
        playouts = sum(one.playouts or 0 for one in self.decisions)
        seconds = sum(one.seconds for one in self.decisions)
        for one in decision.improvements:
            if not self.improvements or one.score > self.improvements[-1].score:
                found = ImprovementRecord(playouts + int(one.playouts), seconds + float(one.seconds), float(one.score))
                if not all(abs(number) < MOST for number in vars(found).values()):
                    raise ValueError(f"an improvement holds {found}, with a number that is not finite below 2**63")
                self.improvements.append(found)

    def _push(self, move) -> str:
        name = answered(str, self.game, "move_name", self.state, move)
        by_rules(self.game, "play", self.state, move)
        self.moves.append(move)
        return name


def _of_moves(game: Game, legal: list[int]) -> str:
    """What is wrong with a list of moves that are out of range, or not distinct."""
    if twice := [move for move in legal if legal.count(move) > 1]:
        return f"legal_moves of {game} lists the move {twice[0]} twice: {legal!r:.200}"
    outside = next(move for move in legal if not 0 <= move < game.move_limit)
    return f"legal_moves of {game} lists the move {outside}; moves are 0 to below its move_limit = {game.move_limit}"
