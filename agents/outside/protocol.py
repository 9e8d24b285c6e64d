"""The interface of all protocols for outside programs."""

import importlib
import re
import time
from contextlib import suppress
from typing import ClassVar, NamedTuple

from arena.agents.core.agent import Budget
from arena.agents.outside.process import GRACE, Bounds, EngineError, Process, Silent, Surroundings
from arena.games.core.game import Game
from arena.games.core.play.in_progress import GameInProgress

PROTOCOLS = {"json": "jsonlines.JsonLines", "gtp": "gtp.Gtp", "uci": "uci.Uci", "xboard": "xboard.Xboard"}
MOST = (1 << 63) - 1  # of a number that is kept


class Identity(NamedTuple):
    """A program's own name and version."""

    name: str
    version: str = ""


class Answer(NamedTuple):
    """A move by its name, and the program's statistics."""

    move: str
    value: float | None = None  # as of a Decision
    playouts: int | None = None
    nodes: int | None = None
    depth: int | None = None
    line: tuple[str, ...] = ()  # the best play, beginning with the move


class Protocol:
    """A conversation with one program.  `until` is an answer's deadline, of time.monotonic: Silent.

    Every method but `refuses` raises EngineError if the program breaks a rule.
    """

    kinds: ClassVar[tuple[str, ...]]  # the budgets that it can express
    needs_budget: ClassVar[bool] = False  # whether a program must get one
    least_seconds: ClassVar[float] = 0.0  # the least that it can express
    farewell: ClassVar[str] = ""  # the request to end

    def __init__(self, process: Process, options: dict[str, str]):
        self.process, self.options = process, options

    @classmethod
    def refuses(cls, game: Game) -> str | None:
        """Why the protocol cannot express a game; None if it can."""
        return None

    def hello(self, until: float) -> Identity:
        """Greet the program and set its options."""
        raise NotImplementedError

    def new_game(self, position: GameInProgress, budget: Budget, until: float) -> None:
        """A game begins, or continues, in a position."""

    def tell(self, position: GameInProgress, until: float) -> None:
        """The last move of `position` was made, by a player or by chance."""

    def choose(self, position: GameInProgress, budget: Budget, seed: int, until: float) -> Answer:
        """Ask for a move; a program may draw its random numbers from the seed."""
        raise NotImplementedError

    def game_over(self, position: GameInProgress, result: float | None, until: float) -> None:
        """The game has ended; result: as in `Player.close`."""

    def _line(self, until: float) -> str:
        """The program's next line, with one blank between words."""
        return " ".join(self.process.line(until).decode(errors="backslashreplace").split())


def whole(told: object, least: int = 0) -> int | None:
    """A whole number that a program tells, as text or as a number; None if it is none from `least` to MOST.

    What a program tells of its search never costs it a game.
    """
    with suppress(ValueError):
        number = int(told) if isinstance(told, str) else told
        return number if type(number) is int and least <= number <= MOST else None
    return None


def protocol_named(name: str) -> type[Protocol]:
    """The class of a protocol in PROTOCOLS."""
    module, _, cls = PROTOCOLS[name].partition(".")
    return getattr(importlib.import_module(f"arena.agents.outside.{module}"), cls)


def options_of(text: str) -> dict[str, str]:
    """`"Skill Level=0; Hash=16"` -> {"Skill Level": "0", "Hash": "16"}; an option without a value is a button.

    In a value, `\\;` is a semicolon.
    """
    return pairs_of("options", text)


def pairs_of(key: str, text: str) -> dict[str, str]:
    """The names and values of a parameter of that form; ValueError says what is wrong."""
    parts = [part.replace("\\;", ";").partition("=") for part in re.split(r"(?<!\\);", text) if part.strip()]
    if bad := [name for name, _, _ in parts if not name.strip()]:
        raise ValueError(f"{key} = {text!r} is not of the form name=value; name=value, at {bad[0]!r}")
    return {name.strip(): value.strip() for name, _, value in parts}


class Conversation:
    """A running program with its protocol; any EngineError ends it, and has its last lines."""

    def __init__(
        self,
        command: str,
        protocol: str,
        options: str,
        bounds: Bounds,
        log: str,
        patience: float,
        surroundings: Surroundings,
    ):
        self.process = Process(command, bounds, log, surroundings)
        self._protocol = protocol_named(protocol)(self.process, options_of(options))
        self.least_seconds = self._protocol.least_seconds
        self.identity: Identity = self.ask("hello", time.monotonic() + patience)

    def ask(self, method: str, *arguments):
        """The result of one of the protocol's methods."""
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

    def close(self, grace: float = GRACE) -> None:
        self.process.close(self._protocol.farewell, grace)
