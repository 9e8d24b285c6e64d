"""The rules of a game, on one page: what every game defines, and what must hold.

A game is a frozen dataclass of its parameters, derived from `Game` (games/core/game.py).  It holds no position: a
position is a one-dimensional array `state: dtype[state_size]`, a move an integer 0 <= move < move_limit.  Methods that
take a state run in plain Python and, unchanged, compiled in kernels; `start`, and those for people, run in plain Python
only.  Fields and properties are constants in kernels, so masks and tables belong in properties; an `__init__` or
`__post_init__` may only check.  Data known only when a game is played, such as the distances of an instance, belong in
its `arrays`, which kernels read.  A class with a method that makes arrays needs `may_allocate = True`, which makes all
its methods a little slower.  Globals are constants, too: what they are when a method is first compiled in a process.

What a game may define besides stands beside this file: for speed, speed.py; for strength, strength.py; for people,
people.py.

What must hold, for every state s that play can reach (`games.check` tests it):

    legal_moves(s, moves) writes n distinct moves, n > 0 unless is_over(s), whatever len(moves) >= max_moves may be
    play(s, m) changes s alone, and depends on s and m alone
    player(s) is the player to move: 0 (the first player), 1, or CHANCE, whose moves are outcomes of chance:
        chance(s, moves, probabilities) lists them as legal_moves does, with probabilities that sum to 1, and
        random_outcome(s, rng) draws one
    score(s), once s is over, is above 0 if the first player has won, 0 for a draw, below 0 for a loss; its size is up
        to the game (discs, say), and it is never 0 unless has_draws; in a game for one player it is any number, to be
        maximised
    key(s) == key(t) if and only if s and t are the same position (as far as 64 bits can tell)
    move_code(s, m) differs for the legal moves of s, and between the players
    parse_move(s, move_name(s, m)) == m
    a game is over after at most max_plies moves, and no state has more than max_moves legal ones
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arena.games.core.jit import Compilable
from arena.games.core.jit.game_tables import FLAGS, NUMBERS
from arena.games.core.shared.errors import UserError, listed

CHANCE = -1  # the player of a state in which chance moves


class BrokenRules(UserError, ValueError):
    """A game's own rules break the interface; the message names the method and its fault."""


class IllegalMove(UserError, ValueError):
    """A move that the rules do not allow, or text that names no legal move; the message lists what is legal."""


@dataclass(frozen=True)
class Rules(Compilable):
    """What a game must define, what it may define if it has chance, and what follows in plain Python."""

    has_table: ClassVar[bool] = True
    asked_by_kernels: ClassVar[tuple[str, ...]] = ("dtype", *NUMBERS, *FLAGS)
    only_in_python: ClassVar[tuple[str, ...]] = ("start", "move_name", "render", "initial", "moves", "after")
    name: ClassVar[str]  # the name by which the game is registered and written
    players: ClassVar[int] = 2  # 1: a puzzle whose score is to be maximised
    dtype: ClassVar[type[np.generic]] = np.uint64  # of a state
    state_size: ClassVar[int]  # words in a state
    move_limit: ClassVar[int]  # every move is below it
    max_moves: ClassVar[int]  # no state has more legal moves
    max_plies: ClassVar[int]  # no game is longer
    has_draws: ClassVar[bool] = True  # whether it can end in a draw
    has_chance: ClassVar[bool] = False  # whether there are states with player CHANCE

    def start(self, state: np.ndarray) -> None:
        """Write the initial position into `state`."""
        raise NotImplementedError

    def player(self, state: np.ndarray) -> int:
        """The player to move: 0, 1 or CHANCE."""
        raise NotImplementedError

    def legal_moves(self, state: np.ndarray, moves: np.ndarray) -> int:
        """Write the legal moves into `moves: int32[max_moves]` and return their number."""
        raise NotImplementedError

    def play(self, state: np.ndarray, move: int) -> None:
        """Make a legal move, in place."""
        raise NotImplementedError

    def is_over(self, state: np.ndarray) -> bool:
        """True if the game has ended."""
        raise NotImplementedError

    def score(self, state: np.ndarray) -> float:
        """The first player's result (float) of a game that is over: its sign tells the winner."""
        raise NotImplementedError

    def move_name(self, state: np.ndarray, move: int) -> str:
        """The move in the game's traditional notation, without blanks."""
        raise NotImplementedError

    def render(self, state: np.ndarray) -> str:
        """The board with its coordinates, as lines of text."""
        raise NotImplementedError

    # -- Only with chance --------------------------------------------------------------------------------------

    def chance(self, state: np.ndarray, moves: np.ndarray, probabilities: np.ndarray) -> int:
        """If the player is CHANCE: write outcomes and their probabilities (float64[max_moves]); return their number."""
        return 0

    def random_outcome(self, state: np.ndarray, rng: np.ndarray) -> int:
        """If the player is CHANCE: an outcome, drawn by its probability."""
        return 0

    # -- Derived, in plain Python ------------------------------------------------------------------------------

    def initial(self) -> np.ndarray:
        """A fresh array with the initial position."""
        state = np.zeros(self.state_size, self.dtype)
        self.start(state)
        return state

    def moves(self, state: np.ndarray) -> list[int]:
        """The legal moves, none when the game is over; BrokenRules if their number is out of range."""
        if self.is_over(state):
            return []
        moves = np.empty(self.max_moves, np.int32)
        try:
            found = self.legal_moves(state, moves)
        except IndexError as error:
            raise BrokenRules(f"legal_moves of {self} writes beyond max_moves = {self.max_moves}: {error}") from error
        try:
            count = int(found)
        except (TypeError, ValueError):
            raise BrokenRules(f"legal_moves of {self} returns {found!r}; it returns how many moves it wrote") from None
        if not 0 <= count <= self.max_moves:
            raise BrokenRules(f"legal_moves of {self} returns {count}; it can be 0 to max_moves = {self.max_moves}")
        return moves[:count].tolist()

    def after(self, state: np.ndarray, move: int) -> np.ndarray:
        """A fresh array with the position after a legal move; IllegalMove if it is not legal."""
        legal = self.moves(state)
        if move not in legal:
            names = listed([self.move_name(state, other) for other in legal])
            raise IllegalMove(f"{move!r} is not a legal move of {self} here; legal: {names}")
        state = state.copy()
        self.play(state, move)
        return state
