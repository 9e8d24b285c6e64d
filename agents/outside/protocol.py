"""What is said to an outside program, whatever its protocol: the interface, and the game so far."""

import importlib
import time
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.agent import Budget
from agents.outside.process import Bounds, EngineError, Process, Silent
from games.core.game import Game

PROTOCOLS = {"json": "jsonlines.JsonLines", "gtp": "gtp.Gtp", "uci": "uci.Uci"}  # where each is, in this package


class Identity(NamedTuple):
    """What a program says of itself."""

    name: str
    version: str = ""


class Answer(NamedTuple):
    """A move by its name, and what the program tells of it."""

    move: str
    value: float | None = None  # expected result for the player to move, as of a Decision
    playouts: int | None = None
    nodes: int | None = None
    depth: int | None = None
    line: tuple[str, ...] = ()  # the best play as it sees it, the move first


class Position:
    """A game from its beginning: every move, the opening's and chance's too."""

    def __init__(self, game: Game, moves: Sequence[int] = ()):
        self.game, self.state = game, game.initial()
        self._legal: dict[str, int] | None = None
        self.moves: list[int] = []
        self.names: list[str] = []
        self.sides: list[int] = []  # who made each move: 0, 1 or CHANCE
        for move in moves:
            self.push(move)

    @property
    def side(self) -> int:
        """The player to move."""
        return int(self.game.player(self.state))

    def push(self, move: int) -> None:
        """Make a legal move."""
        self.names.append(self.game.move_name(self.state, move))
        self.moves.append(move)
        self.sides.append(self.side)
        self.game.play(self.state, move)
        self._legal = None

    @property
    def legal(self) -> dict[str, int]:
        """The legal moves by their names."""
        if self._legal is None:
            self._legal = {self.game.move_name(self.state, move): move for move in self.game.moves(self.state)}
        return self._legal

    def is_at(self, state: np.ndarray) -> bool:
        """Whether this is the position."""
        return np.array_equal(self.state, state)


class Protocol:
    """A conversation with one program.  `until` is when an answer is late, of time.monotonic: Silent.

    Every method but `refuses` raises EngineError where the program does what it must not.
    """

    kinds: ClassVar[tuple[str, ...]]  # the budgets that the protocol has words for
    needs_budget: ClassVar[bool] = False  # whether a program must be told one
    least_seconds: ClassVar[float] = 0.0  # that the protocol can tell
    farewell: ClassVar[str] = ""  # what asks it to end, before the end of its input

    def __init__(self, process: Process, options: dict[str, str]):
        self.process, self.options = process, options

    @classmethod
    def refuses(cls, game: Game) -> str | None:
        """Why there are no words for a game; None if there are."""
        return None

    def hello(self, until: float) -> Identity:
        """Greet the program and set its options."""
        raise NotImplementedError

    def new_game(self, position: Position, budget: Budget, until: float) -> None:
        """A game begins, or goes on, in a position."""

    def tell(self, position: Position, until: float) -> None:
        """A move was made, of either side or of chance: the last one of `position`."""

    def choose(self, position: Position, budget: Budget, seed: int, until: float) -> Answer:
        """Ask for the move in a position; a program may draw its random numbers from the seed."""
        raise NotImplementedError

    def game_over(self, position: Position, result: float | None, until: float) -> None:
        """The game has ended, with the first player's result as `Player.close` has it."""


def protocol_named(name: str) -> type[Protocol]:
    """The class of a protocol of PROTOCOLS."""
    module, _, cls = PROTOCOLS[name].partition(".")
    return getattr(importlib.import_module(f"agents.outside.{module}"), cls)


def options_of(text: str) -> dict[str, str]:
    """`"Skill Level=0; Hash=16"` -> {"Skill Level": "0", "Hash": "16"}; an option without a value is pressed."""
    parts = [part.partition("=") for part in text.split(";") if part.strip()]
    if bad := [name for name, _, _ in parts if not name.strip()]:
        raise ValueError(f"options = {text!r} is not of the form name=value; name=value, at {bad[0]!r}")
    return {name.strip(): value.strip() for name, _, value in parts}


class Conversation:
    """A program that is running, with its protocol; it is ended where anything goes wrong.

    EngineError of every method ends with the last lines that the program wrote.
    """

    def __init__(self, command: str, protocol: str, options: str, bounds: Bounds, log: str, patience: float):
        self.process = Process(command, bounds, log)
        self._protocol = protocol_named(protocol)(self.process, options_of(options))
        self.least_seconds = self._protocol.least_seconds
        self.identity: Identity = self.ask("hello", time.monotonic() + patience)

    def ask(self, method: str, *arguments):
        """What a method of the protocol returns."""
        if self.process.closed:
            raise EngineError("has been ended")
        try:
            return getattr(self._protocol, method)(*arguments)
        except EngineError as error:
            self.process.close()
            error.said = self.process.last_lines()
            if isinstance(error, Silent):
                error.what = f"has not answered {method!r} in time"
                error.mend = "flush what it writes: a line that waits in a buffer never arrives"
            raise
        except BaseException:
            self.process.close()
            raise

    def close(self) -> None:
        """Ask the program to end, and end it."""
        self.process.close(self._protocol.farewell)
