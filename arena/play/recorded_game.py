"""A game in progress with the decisions behind its moves and how it has ended: what a record is made of."""

import time
from collections.abc import Iterable, Sequence

from arena.games.core.game import Game
from arena.games.core.play.in_progress import GameInProgress
from arena.games.core.random import stream
from arena.play.game_calls import result_of
from arena.results.database.record import GameRecord, MoveRecord, Reason

SIDES = "the first player", "the second player"


class RecordedGame(GameInProgress):
    """`decisions` has an entry for each move, None for chance and for what nobody decided here.

    opening: how many of the moves so far are not the players'; seed: of chance
    ending: (outcome, score, reason, detail) once it is over, by the rules or since `end` was called
    """

    def __init__(self, game: Game, moves: Iterable[int] = (), opening: int = 0, seed: int = 0):
        self.opening, self.seed = opening, seed
        self.decisions = list[MoveRecord | None]()
        self.ending: tuple[float | None, float | None, str, str] | None = None
        self._began = time.perf_counter()
        super().__init__(game, moves)
        self.changed()

    def push(self, move: int, decision: MoveRecord | None = None) -> None:
        """Make a legal move, which was decided so."""
        super().push(move)
        self.decisions.append(decision)

    def throw(self) -> None:
        """Let chance move: by seed and ply, so that a game that was taken back comes out the same."""
        self.push(int(self.game.random_outcome(self.state, stream(self.seed, "chance", len(self.moves)))))

    def back_to(self, ply: int) -> None:
        del self.decisions[ply:]
        super().back_to(ply)

    def changed(self) -> None:
        super().changed()
        self.ending = result_of(self.game, self.state) if self.game.is_over(self.state) else None

    @property
    def is_over(self) -> bool:  # type: ignore[override]
        """Whether it has ended, by the rules, since a side has given up, or by an agent's fault."""
        return self.ending is not None

    def end(self, outcome: float | None, reason: str, detail: str) -> None:
        """End the game otherwise than by its rules."""
        self.changed()
        self.ending = outcome if self.game.players == 2 else None, None, reason, detail

    def resign(self, side: int, name: str = "") -> None:
        """End the game: the side, of that name, has given up."""
        self.end(float(side), Reason.RESIGNED, f"{name or SIDES[side]} resigned")

    def record(self, players: Sequence[str], number: int = 0) -> GameRecord:
        """The game so far, as number `number` of a collection; `players` are the names of first and second."""
        outcome, score, reason, detail = self.ending or (None, None, Reason.UNFINISHED, "")
        before = len(self.words) - len(self.names) + self.opening  # with the position that it begins with
        return GameRecord(
            id=f"play-{number + 1:04d}",
            number=number,
            condition=0,
            opening=number,
            seed=self.seed,
            first=players[0],
            second=players[1] if self.game.players == 2 else None,
            outcome=outcome,
            score=score,
            reason=reason,
            detail=detail,
            opening_moves=" ".join(self.words[:before]),
            moves=" ".join(self.words[before:]),
            plies=len(self.names),
            seconds=time.perf_counter() - self._began,
            decisions=tuple(one for one in self.decisions if one),
        )
