"""A game as a problem: to win whatever the other player and chance do."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from arena.games.core.game import CHANCE, Game
from arena.games.core.interface.problem import Problem
from arena.games.core.shared.errors import UserError

WAIT = "wait"  # the action before the player's first turn, if chance begins
MOST = 10_000  # answers to an action


@dataclass(frozen=True)
class Answered:
    """A position in which the player is to move, or the game is over; two are equal if their words are."""

    words: bytes
    answers: str = field(default="", compare=False)  # moves of the others that led here

    def __str__(self):
        return self.answers


class Winning(Problem):
    """The problem of the player to move: more than `above` points, by default a win.

    Where chance is to move, it is that of the first player.  UserError, in a search, if there are too many answers.
    """

    def __init__(self, game: Game, state: np.ndarray, above: float = 0.0):
        self.game, self.start, self.above = game, state, above
        self.player = 0 if game.player(state) == CHANCE else int(game.player(state))

    def initial(self):
        return Answered(self.start.tobytes())

    def is_goal(self, state):
        position = self._position(state)
        return bool(self.game.is_over(position)) and self._points(position) > self.above

    def actions(self, state):
        position = self._position(state)
        if self.game.is_over(position):
            return []
        if self.game.player(position) != self.player:
            return [WAIT]
        return [self.game.move_name(position, move) for move in self.game.moves(position)]

    def outcomes(self, state, action):
        position = self._position(state)
        if self.game.player(position) == self.player:
            position = self.game.after(position, self.game.parse_move(position, action))
        found = list(itertools.islice(self._answered(position, ""), MOST + 1))
        if len(found) > MOST:
            raise UserError(f"{self.game}: the others have over {MOST:,} answers to {action}, too many to look at")
        return list(dict.fromkeys(found))

    def _answered(self, position, answers: str) -> Iterator[Answered]:
        if self.game.is_over(position) or self.game.player(position) == self.player:
            yield Answered(position.tobytes(), answers)
            return
        for move in self.game.moves(position):
            name = self.game.move_name(position, move)
            yield from self._answered(self.game.after(position, move), f"{answers} {name}".strip())

    def _points(self, position) -> float:
        return float(self.game.score(position)) * (1 if self.player == 0 else -1)

    def _position(self, state: Answered) -> np.ndarray:
        return np.frombuffer(state.words, self.game.dtype).copy()
