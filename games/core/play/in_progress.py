"""A game in progress: its moves from the beginning, and the positions they have led through.

One class for all that plays move by move: programs that are asked and that ask, persons, and stored games.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property

import numpy as np

from arena.games.core.game import Game

NOBODY = -2  # in place of the side to move, once the game is over


class GameInProgress:
    """The moves so far, by number in `moves`, by name in `names`, with the side of each, 0, 1 or CHANCE, in `sides`.

    states: the positions before and after them, one more than there are moves, which nobody changes
    """

    def __init__(self, game: Game, moves: Iterable[int] = ()):
        self.game = game
        self.moves, self.names, self.sides = list[int](), list[str](), list[int]()
        self.states: list[np.ndarray] = [game.initial()]
        for move in moves:
            self.push(int(move))

    @property
    def state(self) -> np.ndarray:
        """The position after all moves."""
        return self.states[-1]

    @property
    def words(self) -> list[str]:
        """What `games.read_line` reads as this game: the position that it begins with, if it is set up, and moves."""
        position = self.game.position_word()
        return [position] * bool(position) + self.names

    @cached_property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return bool(self.game.is_over(self.state))

    @cached_property
    def side(self) -> int:
        """Who is to move: 0, 1 or CHANCE; NOBODY once the game is over."""
        return NOBODY if self.is_over else int(self.game.player(self.state))

    @cached_property
    def legal(self) -> dict[str, int]:
        """The legal moves by name."""
        return {self.game.move_name(self.state, move): move for move in map(int, self.game.moves(self.state))}

    def push(self, move: int) -> None:
        """Make a legal move."""
        name, side, after = self.game.move_name(self.state, move), int(self.game.player(self.state)), self.state.copy()
        self.game.play(after, move)
        self.moves.append(move)
        self.names.append(name)
        self.sides.append(side)
        self.states.append(after)
        self.changed()

    def play(self, name: str) -> None:
        """Make the move of that name; IllegalMove if there is none."""
        self.push(self.game.parse_move(self.state, name))

    def back_to(self, ply: int) -> None:
        """Take back all moves but the first `ply`."""
        del self.moves[ply:], self.names[ply:], self.sides[ply:], self.states[ply + 1 :]
        self.changed()

    def changed(self) -> None:
        """Forget what is known of the last position: it is another one."""
        for name in ("is_over", "side", "legal"):
            vars(self).pop(name, None)

    def ahead(self, moves: Iterable[int]) -> Iterator[tuple[np.ndarray, int]]:
        """(position, move) along a line of moves from here on, up to the first that is illegal."""
        state = self.state.copy()
        for move in map(int, moves):
            if self.game.is_over(state) or move not in self.game.moves(state):
                return
            yield state, move
            self.game.play(state, move)

    def last_of(self, sides: Iterable[int], least: int = 0) -> int | None:
        """The ply of the last move of these sides, from the ply `least` on; None if there is none."""
        own = [ply for ply in range(least, len(self.sides)) if self.sides[ply] in sides]
        return own[-1] if own else None
