"""Messages between a station, its tasks and the parent: data in frames of `arena.workers.messages`."""

import msgspec

from arena.formats.fixture import Fixture
from arena.results.database.record import GameRecord


class Begin(msgspec.Struct, tag=True, frozen=True):
    """Tells the station, first, the resolved values in JSON, and the number of cores."""

    values: str
    cores: int


class Prepare(msgspec.Struct, tag=True, frozen=True):
    """Tells the station, second, to compile, and then be ready for games."""


class Games(msgspec.Struct, tag=True, frozen=True):
    """Tells the station to play these games."""

    fixtures: list[Fixture]


class Halt(msgspec.Struct, tag=True, frozen=True):
    """Tells the station to begin no more games."""


Order = Begin | Prepare | Games | Halt


class Described(msgspec.Struct, tag=True, frozen=True):
    """The games and agents are made; `machine` is of `describing.describe_station`."""

    machine: dict


class Refusal(msgspec.Struct, tag=True, frozen=True):
    """The station cannot play, for this reason."""

    text: str


class Loaded(msgspec.Struct, tag=True, frozen=True):
    """An agent's kernels are compiled, unless `failure` says otherwise."""

    agent: str
    seconds: float
    failure: str


class Prepared(msgspec.Struct, tag=True, frozen=True):
    """The station can play."""


class Over(msgspec.Struct, tag=True, frozen=True):
    """A game is over."""

    record: GameRecord


class Trouble(msgspec.Struct, tag=True, frozen=True):
    """A sentence on what agents and games have done."""

    text: str


class Harm(msgspec.Struct, tag=True, frozen=True):
    """How often agents and games have ended or hung a process since the last such message."""

    spoilt: dict[int, int]
    broken: dict[int, int]


class Alive(msgspec.Struct, tag=True, frozen=True):
    """The station is at work; sent from time to time while it can play."""


class LogLine(msgspec.Struct, tag=True, frozen=True):
    """A line of the log of one of the station's processes."""

    process: str
    name: str
    level: int
    text: str


Message = Described | Refusal | Loaded | Prepared | Over | Trouble | Harm | Alive | LogLine


class StationAnswer(msgspec.Struct, frozen=True):
    """A task's result: all messages of the station since the last answer, without games of other tasks.

    lost: how the station ended if it has, else ""; halted: whether games were left out on request
    """

    messages: list[Message]
    lost: str = ""
    halted: bool = False


orders = msgspec.msgpack.Decoder(Order)
messages = msgspec.msgpack.Decoder(Message)
_answers = msgspec.msgpack.Decoder(StationAnswer)
_batches = msgspec.msgpack.Decoder(list[Fixture])
_encoder = msgspec.msgpack.Encoder()


def packed(value) -> bytes:
    """The bytes of a list of fixtures or a StationAnswer, which Dask carries unchanged."""
    return _encoder.encode(value)


def batch_of(data: bytes) -> list[Fixture]:
    """The fixtures of a batch."""
    return _batches.decode(data)


def answer_of(data: bytes) -> StationAnswer:
    """The answer in a task's result; msgspec.DecodeError if it is none."""
    return _answers.decode(data)
