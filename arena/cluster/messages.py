"""What a station and the task that feeds it send each other, and what a task returns to the parent: data, no pickles.

The frames are those of `arena.workers.messages`.
"""

import msgspec

from arena.formats.fixture import Fixture
from results.record import GameRecord


class Begin(msgspec.Struct, tag=True, frozen=True):
    """To the station, first: the configuration's resolved values in JSON, and how many cores it has."""

    values: str
    cores: int


class Prepare(msgspec.Struct, tag=True, frozen=True):
    """To the station, second: compile what the agents run, then be ready for games."""


class Games(msgspec.Struct, tag=True, frozen=True):
    """To the station: games to be played."""

    fixtures: list[Fixture]


class Halt(msgspec.Struct, tag=True, frozen=True):
    """To the station: begin no more games."""


Order = Begin | Prepare | Games | Halt


class Described(msgspec.Struct, tag=True, frozen=True):
    """The station has made the games and agents; `machine` is what `arena.cluster.describing` says of it."""

    machine: dict


class Refusal(msgspec.Struct, tag=True, frozen=True):
    """It cannot play, and this is why."""

    text: str


class Loaded(msgspec.Struct, tag=True, frozen=True):
    """The kernels of an agent are compiled, unless `failure` says why not."""

    agent: str
    seconds: float
    failure: str


class Prepared(msgspec.Struct, tag=True, frozen=True):
    """It can play."""


class Over(msgspec.Struct, tag=True, frozen=True):
    """A game has its record."""

    record: GameRecord


class Trouble(msgspec.Struct, tag=True, frozen=True):
    """A sentence on what agents and games have done."""

    text: str


class Harm(msgspec.Struct, tag=True, frozen=True):
    """How often agents, and games of conditions, have ended or hung a process since this was last said."""

    spoilt: dict[int, int]
    broken: dict[int, int]


class Line(msgspec.Struct, tag=True, frozen=True):
    """A line of the log of one of its processes."""

    process: str
    name: str
    level: int
    text: str


Message = Described | Refusal | Loaded | Prepared | Over | Trouble | Harm | Line


class Answer(msgspec.Struct, frozen=True):
    """What a task returns: all that the station has said since the last answer, but for the games of other tasks.

    lost: what became of the station if it has ended, or ""; halted: whether games were left out on request.
    """

    messages: list[Message]
    lost: str = ""
    halted: bool = False


orders = msgspec.msgpack.Decoder(Order)
messages = msgspec.msgpack.Decoder(Message)
_answers = msgspec.msgpack.Decoder(Answer)
_batches = msgspec.msgpack.Decoder(list[Fixture])
_encoder = msgspec.msgpack.Encoder()


def packed(value) -> bytes:
    """A list of fixtures or an Answer as bytes, which Dask carries as they are."""
    return _encoder.encode(value)


def batch_of(data: bytes) -> list[Fixture]:
    """The fixtures of a batch."""
    return _batches.decode(data)


def answer_of(data: bytes) -> Answer:
    """The answer of a task; msgspec.DecodeError if it is none."""
    return _answers.decode(data)
