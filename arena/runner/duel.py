"""A game of a person against an agent, with hints and moves taken back; nothing is read or printed here.

Every random thing is drawn from (seed, ply): what is taken back and played again comes out the same, dice among it.
In a game for one player the person plays alone, and the agent gives hints.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.core.agent import Agent, Budget, Decision, Unsuited
from arena.runner.match import game_result, storable
from games.core.game import CHANCE, Game, IllegalMove
from games.core.random import stream
from results.record import GameRecord, MoveRecord, Reason


class AgentFailed(RuntimeError):
    """The agent raised an exception, or answered with a move that is not legal."""

    def __init__(self, reason: str, detail: str):
        self.reason = reason  # one of results.record.Reason
        super().__init__(detail)


@dataclass(frozen=True)
class Made:
    """A move that was made, or that is proposed."""

    move: int
    name: str
    side: int  # whose it is: 0, 1 or CHANCE
    record: MoveRecord | None = None  # of a decision, what was thought; None for chance and for the opening
    expected: tuple[str, ...] = ()  # the moves that the agent expects, this one first


class Duel:
    """The game so far: `made` holds its moves, `state` the position after them.

    game: its rules; agent: the opponent, with its budget; side: the person's, 0 moves first; name: the person's, in
    the record; opening: legal moves made before.  Unsuited if the agent cannot play the game; AgentFailed, of every
    method, if its code fails.
    """

    def __init__(
        self,
        game: Game,
        agent: Agent,
        budget: Budget,
        side: int,
        seed: int,
        name: str = "person",
        opening: Sequence[int] = (),
    ):
        self.game, self.agent, self.budget = game, agent, budget
        self.side, self.seed, self.name = side, seed, name
        self.opening = len(opening)
        self._began = time.perf_counter()
        self._set_up(_described_line(game, opening))

    @property
    def over(self) -> bool:
        """Whether the game has ended: by its rules, by resignation or by the agent's failure."""
        return self.ending is not None

    def advance(self) -> Iterator[Made]:
        """Let chance and the agent move until it is the person's turn or the game is over.

        AgentFailed if the agent cannot: that ends the game, and the person has won it.
        """
        while not self.over and (side := int(self.game.player(self.state))) != self.side:
            if side == CHANCE:
                move = int(self.game.random_outcome(self.state, self._stream("chance")))
                made = Made(move, self.game.move_name(self.state, move), side)
            else:
                made = self._of_agent(lambda: self._asked(self._player, "agent"))
            self._make(made)
            yield made
        self._waiting = time.perf_counter()

    def move(self, move: int) -> None:
        """Make the person's move, which must be legal."""
        self._make(self._described(Decision(move, seconds=time.perf_counter() - self._waiting)))

    def hint(self) -> Made:
        """What the agent would do in the person's place; AgentFailed if it cannot say."""
        return self._of_agent(lambda: self._asked(self._new_player(), "hint"), ends=False)

    def undo(self) -> int:
        """Take back the person's last move and all since; returns how many moves that were, 0 if there was none."""
        own = [ply for ply, made in enumerate(self.made) if made.side == self.side and ply >= self.opening]
        if not own:
            return 0
        taken = len(self.made) - own[-1]
        self._set_up(self.made[: own[-1]])
        return taken

    def resign(self) -> None:
        """The person gives up."""
        outcome = float(self.side) if self.game.players == 2 else None
        self.ending = (outcome, None, Reason.RESIGNED, f"{self.name} resigned")

    def record(self, number: int = 0) -> GameRecord:
        """The game as far as it was played, as number `number` of a collection."""
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
        """The position after these moves, and an agent that has seen none of them."""
        self.made, self.state = list(moves), self.game.initial()
        for made in moves:
            self.game.play(self.state, made.move)
        # (outcome, score, reason, detail), once the game is over
        self.ending = game_result(self.game, self.state) if self.game.is_over(self.state) else None
        self._player = self._of_agent(self._new_player)
        self._waiting = time.perf_counter()

    def _new_player(self):
        return self.agent.player(self.game, self.budget)

    def _stream(self, purpose):
        return stream(self.seed, purpose, len(self.made))

    def _make(self, made):
        self.game.play(self.state, made.move)
        self.made.append(made)
        if self.game.is_over(self.state):
            self.ending = game_result(self.game, self.state)
        else:
            self._of_agent(lambda: self._player.played(made.move))

    def _asked(self, player, purpose) -> Made:
        """The move that a player of the agent decides on, here."""
        decision = player.choose(self.state.copy(), self._stream(purpose))
        if int(decision.move) not in self.game.moves(self.state):
            text = f"{self.agent} answered the move {decision.move!r}, which is not legal"
            raise AgentFailed(Reason.ILLEGAL_MOVE, text)
        return self._described(decision)

    def _of_agent(self, action, ends=True):
        """What an agent's code returns; if it fails the person has won, unless that ends nothing."""
        try:
            return action()
        except Unsuited:
            raise
        except AgentFailed as error:
            failure = error
        except (Exception, SystemExit) as error:  # whatever an agent's code raises
            failure = AgentFailed(Reason.EXCEPTION, storable(f"{self.agent}: {type(error).__name__}: {error}"))
        if ends:
            outcome = float(self.side == 0) if self.game.players == 2 else None
            self.ending = (outcome, None, failure.reason, str(failure))
        raise failure

    def _described(self, decision) -> Made:
        move, side = int(decision.move), int(self.game.player(self.state))
        name = self.game.move_name(self.state, move)
        record = MoveRecord.of(len(self.made), side, name, decision)
        return Made(move, name, side, record, self._names_of(decision.principal_variation))

    def _names_of(self, moves) -> tuple[str, ...]:
        """The names of moves from here on, as far as they are legal."""
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
    """Legal moves from the initial position, with their names and whose they are."""
    state, line = game.initial(), []
    for move in moves:
        line.append(Made(move, game.move_name(state, move), int(game.player(state))))
        game.play(state, move)
    return line
