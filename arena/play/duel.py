"""A game between a person and an agent, with hints and undo; reads and prints nothing.

All randomness comes from (seed, ply): moves taken back and played again come out the same, including dice.  In a game
for one player the person plays alone, and the agent gives hints.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.agents.core.agent import Agent, Unsuited
from arena.config.config import Seat
from arena.games.core.game import CHANCE, Game
from arena.games.core.random import stream
from arena.play.recorded_game import RecordedGame
from arena.play.referee import Forfeit, Referee
from arena.results.database.record import GameRecord, MoveRecord

PERSON = "person"  # the name of one who gives none
USUAL = {"seconds": 1.0, "playouts": 1000, "nodes": 10_000, "depth": 4}  # of a move


def usual_budget(agent: Agent) -> dict[str, float]:
    """The budget of a move for an agent against a person; nothing if it has its own, or needs none."""
    if agent.own_budget().given() or not agent.budgets:
        return {}
    kind = "seconds" if "seconds" in agent.budgets else agent.budgets[0]
    return {kind: USUAL[kind]}


@dataclass(frozen=True)
class Made:
    """A move that was made, or that is proposed."""

    move: int
    name: str
    record: MoveRecord | None = None  # of a decision; None for chance
    expected: tuple[str, ...] = ()  # moves that the agent expects, this one first


class Duel(RecordedGame):
    """The game so far, between a person and an agent.

    agent: the opponent, with a budget of its own; person: the person's side, 0 moves first; name: the person's, in the
    record; opening: legal moves made before.  Unsuited if the agent cannot play the game or has no budget; all methods
    raise Forfeit if its code fails.
    """

    def __init__(
        self, game: Game, agent: Agent, person: int, seed: int, name: str = PERSON, opening: Sequence[int] = ()
    ):
        if reason := agent.refuses(game):
            raise Unsuited(reason)
        self.agent, self.person, self.name = agent, person, name
        self.seat = Seat(str(agent), agent, agent.budget())
        self._referee: Referee | None = None
        super().__init__(game, opening, len(opening), seed)
        self._begin()

    def advance(self) -> Iterator[Made]:
        """Let chance and the agent move until it is the person's turn or the game is over.

        Forfeit if the agent fails, and the person has won.
        """
        while not self.is_over and self.side != self.person:
            if self.side == CHANCE:
                self.throw()
                made = Made(self.moves[-1], self.names[-1])
            else:
                made = self._judged(lambda: self._asked(self._referee, "agent"))
                self.push(made.move, made.record)
            self._tell(made.move)
            yield made
        self._waiting = time.perf_counter()

    def move(self, move: int) -> None:
        """Make the person's move, which must be legal."""
        name = self.game.move_name(self.state, move)
        seconds = time.perf_counter() - self._waiting
        self.push(move, MoveRecord(len(self.moves), self.side, name, seconds=seconds))
        self._tell(move)

    def hint(self) -> Made:
        """The agent's move in the person's place; Forfeit if it fails."""
        referee = self._new_referee()
        try:
            return self._asked(referee, "hint")
        finally:
            referee.close(None)

    def undo(self) -> int:
        """Take back the person's last move and all after it; returns their number, or 0."""
        ply = self.last_of((self.person,), self.opening)
        if ply is None:
            return 0
        taken = len(self.moves) - ply
        self.close()
        self.back_to(ply)
        self._begin()
        return taken

    def give_up(self) -> None:
        """Resign for the person."""
        self.resign(self.person, self.name)
        self.close()

    def close(self) -> None:
        """Tell the agent, once, that the game is closed, with the result if there is one."""
        if self._referee:
            referee, self._referee = self._referee, None
            outcome, score, *_ = self.ending or (None, None, "", "")
            referee.close(score if self.game.players == 1 else outcome)

    def recorded(self, number: int = 0) -> GameRecord:
        """The game so far, as number `number` of a collection."""
        return self.record((self.name, str(self.agent))[:: 1 if self.person == 0 else -1], number)

    def _begin(self) -> None:
        self._referee = self._judged(self._new_referee)
        self._waiting = time.perf_counter()

    def _new_referee(self) -> Referee:
        referee = Referee(self.game, self.seat)
        try:
            referee.start(self.state, self.moves)
        except Forfeit:
            referee.close(None)
            raise
        return referee

    def _tell(self, move: int) -> None:
        if self.is_over:
            self.close()
        else:
            self._judged(lambda: self._referee.played(move, len(self.moves)))  # type: ignore[union-attr]

    def _asked(self, referee, purpose: str) -> Made:
        ply = len(self.moves)
        rng = stream(self.seed, purpose, ply)
        decision, record = referee.ask(self.state, self.game.moves(self.state), rng, ply, self.side)
        expected = referee.run(ply, lambda: self._names_of(decision.principal_variation))
        return Made(decision.move, record.move, record, expected)

    def _judged(self, action):
        try:
            return action()
        except Forfeit as forfeit:
            self.end(float(self.person == 0), forfeit.reason, forfeit.detail)
            self.close()
            raise

    def _names_of(self, moves: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.game.move_name(state, move) for state, move in self.ahead(moves))
