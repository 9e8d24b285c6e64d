"""The messages between a worker and a host, which an agent of somebody else plays in: data in frames, never pickles."""

import msgspec

from arena.agents.core.clock import Clock
from arena.workers.messages import Logged

HEARD = "start", "played", "close"  # methods of a player that need not be called unless they are its own
READY = 0  # the number of the first answer, which nobody has asked for


class NewPlayer(msgspec.Struct, tag=True, frozen=True):
    """Make a player of the agent; warming: to compile its kernels, so a slow call prints where it is; gone: the players
    that are no longer needed."""

    number: int
    player: int
    game: str
    budget: dict[str, float | int | Clock]
    warming: bool
    gone: list[int]


class Start(msgspec.Struct, tag=True, frozen=True):
    """`Player.start`; state: the bytes of the position."""

    number: int
    player: int
    state: bytes
    moves: list[int]


class Choose(msgspec.Struct, tag=True, frozen=True):
    """`Player.choose`; random: the state of the generator; allotted: the budget, in a game with clocks."""

    number: int
    player: int
    state: bytes
    random: int
    allotted: dict[str, float | int | Clock] | None


class Took(msgspec.Struct, tag=True, frozen=True):
    """`Player.played`."""

    number: int
    player: int
    move: int


class Close(msgspec.Struct, tag=True, frozen=True):
    """`Player.close`."""

    number: int
    player: int
    result: float | None


class ProbeRules(msgspec.Struct, tag=True, frozen=True):
    """Run a game's kernels without the agent."""

    number: int
    game: str
    state: bytes


Order = NewPlayer | Start | Choose | Took | Close | ProbeRules


class Raised(msgspec.Struct, tag=True, frozen=True):
    """The agent raised an exception.

    kind: the name of its class if that is one of `referee.REASONS`, else ""; suspect: it may come from the game's rules
    """

    number: int
    kind: str
    text: str
    suspect: bool


class Did(msgspec.Struct, tag=True, frozen=True):
    """It is done; hears: a new player's own methods among `HEARD`; fault: of a game's kernels, or ""."""

    number: int
    hears: list[str] = []
    fault: str = ""


class Chosen(msgspec.Struct, tag=True, frozen=True):
    """The decision.

    move: None if it is no whole number, and `shown` is what it is; random: the generator after it; numbers: as
    `record.numbers_of`; candidates: `candidates.Best`; improvements: playouts, seconds, score; fault: what was raised
    by all but the move, which counts if the move is legal
    """

    number: int
    move: int | None
    shown: str
    random: int
    numbers: dict[str, float | int]
    candidates: tuple[int, list[int], list[int], list[float]] | None
    improvements: list[tuple[int, float, float]]
    fault: Raised | None


class Compiling(msgspec.Struct, tag=True, frozen=True):
    """A kernel begins to be compiled, or all are; nobody has asked for it."""

    begins: bool


class BestScore(msgspec.Struct, tag=True, frozen=True):
    """The best score that a search has found so far, in a game for one player; nobody has asked for it."""

    score: float


class Stale(msgspec.Struct, tag=True, frozen=True):
    """The code of the agent, or of its games, is not the worker's: a file has been edited meanwhile."""


HostAnswer = Raised | Did | Chosen | Compiling | BestScore | Stale | Logged

orders = msgspec.msgpack.Decoder(Order)
answers = msgspec.msgpack.Decoder(HostAnswer)
