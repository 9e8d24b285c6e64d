"""A game between a person and an agent, with hints and undo; reads and prints nothing.

All randomness comes from (seed, ply): moves taken back and played again come out the same, including dice.  In a game
for one player the person plays alone, and the agent gives hints.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from arena.agents.core.agent import Agent, Unsuited
from arena.config.config import Seat
from arena.games.core.game import CHANCE, Game, IllegalMove
from arena.games.core.random import stream
from arena.play.game_calls import result_of
from arena.play.referee import Forfeit, Referee
from arena.results.database.record import GameRecord, MoveRecord, Reason

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
    side: int  # 0, 1 or CHANCE
    record: MoveRecord | None = None  # of a decision; None for chance and the opening
    expected: tuple[str, ...] = ()  # moves that the agent expects, this one first


class Duel:
    """The game so far: `made` holds its moves, `state` the position after them.

    agent: the opponent, with a budget of its own; side: the person's, 0 moves first; name: the person's, in the record;
    opening: legal moves made before.  Unsuited if the agent cannot play the game or has no budget; all methods raise
    Forfeit if its code fails.
    """

    def __init__(self, game: Game, agent: Agent, side: int, seed: int, name: str = PERSON, opening: Sequence[int] = ()):
        if reason := agent.refuses(game):
            raise Unsuited(reason)
        self.game, self.agent = game, agent
        self.seat = Seat(str(agent), agent, agent.budget())
        self.side, self.seed, self.name = side, seed, name
        self.opening = len(opening)
        self.ending: tuple | None = None  # (outcome, score, reason, detail) at the end
        self._referee: Referee | None = None
        self._began = time.perf_counter()
        self._set_up(_described_line(game, opening))

    @property
    def over(self) -> bool:
        """Whether it has ended: by the rules, resignation or the agent's failure."""
        return self.ending is not None

    def advance(self) -> Iterator[Made]:
        """Let chance and the agent move until it is the person's turn or the game is over.

        Forfeit if the agent fails, and the person has won.
        """
        while not self.over and (side := int(self.game.player(self.state))) != self.side:
            if side == CHANCE:
                move = int(self.game.random_outcome(self.state, self._stream("chance")))
                made = Made(move, self.game.move_name(self.state, move), side)
            else:
                made = self._judged(lambda: self._asked(self._referee, "agent"))
            self._make(made)
            yield made
        self._waiting = time.perf_counter()

    def move(self, move: int) -> None:
        """Make the person's move, which must be legal."""
        name, side = self.game.move_name(self.state, move), int(self.game.player(self.state))
        record = MoveRecord(len(self.made), side, name, seconds=time.perf_counter() - self._waiting)
        self._make(Made(move, name, side, record, (name,)))

    def hint(self) -> Made:
        """The agent's move in the person's place; Forfeit if it fails."""
        referee = self._new_referee()
        try:
            return self._asked(referee, "hint")
        finally:
            referee.close(None)

    def undo(self) -> int:
        """Take back the person's last move and all after it; returns their number, or 0."""
        own = [ply for ply, made in enumerate(self.made) if made.side == self.side and ply >= self.opening]
        if not own:
            return 0
        taken = len(self.made) - own[-1]
        self._set_up(self.made[: own[-1]])
        return taken

    def resign(self) -> None:
        """Resign for the person."""
        outcome = float(self.side) if self.game.players == 2 else None
        self.ending = (outcome, None, Reason.RESIGNED, f"{self.name} resigned")
        self.close()

    def close(self) -> None:
        """Tell the agent, once, that the game is closed, with the result if there is one."""
        if self._referee:
            referee, self._referee = self._referee, None
            referee.close(self.ending[self.game.players == 1] if self.ending else None)

    def record(self, number: int = 0) -> GameRecord:
        """The game so far, as number `number` of a collection."""
        outcome, score, reason, detail = self.ending or (None, None, Reason.UNFINISHED, "")
        names = [made.name for made in self.made]
        first, second = (self.name, str(self.agent))[:: 1 if self.side == 0 else -1]
        return GameRecord(
            id=f"play-{number + 1:04d}",
            number=number,
            condition=0,
            opening=number,
            seed=self.seed,
            first=first,
            second=second if self.game.players == 2 else None,
            outcome=outcome,
            score=score,
            reason=reason,
            detail=detail,
            opening_moves=" ".join(names[: self.opening]),
            moves=" ".join(names[self.opening :]),
            plies=len(names),
            seconds=time.perf_counter() - self._began,
            decisions=tuple(made.record for made in self.made if made.record),
        )

    def _set_up(self, moves):
        self.close()
        self.made, self.state = list(moves), self.game.initial()
        for made in moves:
            self.game.play(self.state, made.move)
        self.ending = result_of(self.game, self.state) if self.game.is_over(self.state) else None
        self._referee = self._judged(self._new_referee)
        self._waiting = time.perf_counter()

    def _new_referee(self) -> Referee:
        referee = Referee(self.game, self.seat)
        try:
            referee.start(self.state, [made.move for made in self.made])
        except Forfeit:
            referee.close(None)
            raise
        return referee

    def _stream(self, purpose):
        return stream(self.seed, purpose, len(self.made))

    def _make(self, made):
        self.game.play(self.state, made.move)
        self.made.append(made)
        if self.game.is_over(self.state):
            self.ending = result_of(self.game, self.state)
            self.close()
        else:
            self._judged(lambda: self._referee.played(made.move, len(self.made)))

    def _asked(self, referee, purpose) -> Made:
        ply, side = len(self.made), int(self.game.player(self.state))
        legal = self.game.moves(self.state)
        decision, record = referee.ask(self.state, legal, self._stream(purpose), ply, side)
        expected = referee.run(ply, lambda: self._names_of(decision.principal_variation))
        return Made(decision.move, record.move, side, record, expected)

    def _judged(self, action):
        try:
            return action()
        except Forfeit as forfeit:
            outcome = float(self.side == 0) if self.game.players == 2 else None
            self.ending = (outcome, None, forfeit.reason, forfeit.detail)
            self.close()
            raise

    def _names_of(self, moves) -> tuple[str, ...]:
        state, names = self.state, []
        for move in moves:
            try:
                after = self.game.after(state, int(move))
            except IllegalMove:
                break
            names.append(self.game.move_name(state, int(move)))
            state = after
        return tuple(names)


def _described_line(game, moves) -> list[Made]:
    state, line = game.initial(), []
    for move in moves:
        line.append(Made(move, game.move_name(state, move), int(game.player(state))))
        game.play(state, move)
    return line
