"""The messages between the supervisor and its workers: data in frames, never pickles.

A frame is the length of its body, four bytes, and a message below in MessagePack, which msgspec decodes into its type
or refuses.  A worker's agents may write anything to any descriptor, so the supervisor's end never blocks, never trusts
a length and never calls what it reads.
"""

import math
import socket
import struct
import threading
from collections.abc import Collection, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any, TypeVar

import msgspec

from arena.agents.core.effort import Effort
from arena.config.config import Config
from arena.formats.fixture import Fixture
from arena.play.match import identity, seats_of
from arena.results.database import candidates
from arena.results.database.record import MOST, GameRecord, Reason

LONGEST = 64 << 20  # bytes of a message
PIECE = 1 << 18  # bytes read at a time
READ_AT_ONCE = 1 << 20  # bytes, lest a worker keeps the supervisor from the others

_LENGTH = struct.Struct(">I")
_numbers = attrgetter("ply", "value", "clock", *(field.name for field in fields(Effort)))  # of a decision


SLOW_SECONDS = 5.0  # of a first decision; then a worker prints where its code is


class Ready(msgspec.Struct, tag=True, frozen=True):
    """The worker can play."""


class Failed(msgspec.Struct, tag=True, frozen=True):
    """The worker cannot play, for this reason."""

    text: str


class Played(msgspec.Struct, tag=True, frozen=True):
    """Games are over, in the order sent; `over`: the worker begins no more of them."""

    records: list[GameRecord]
    over: bool


class Warmed(msgspec.Struct, tag=True, frozen=True):
    """An agent's kernels are compiled, unless `failure` says otherwise."""

    agent: int
    seconds: float
    failure: str
    harm: tuple[str, str] | None  # how the agent's own process ended: a reason, and in words
    compiled: bool  # whether the process has compiled anything so far


class Probed(msgspec.Struct, tag=True, frozen=True):
    """`fault`: what is wrong with the rules, or ""."""

    fault: str


class Hosting(msgspec.Struct, tag=True, frozen=True):
    """The number of a process that an agent plays in, which has begun; negative: has ended."""

    process: int


class Harmed(msgspec.Struct, tag=True, frozen=True):
    """An agent has ended or hung its process before play."""

    agent: int


class Logged(msgspec.Struct, tag=True, frozen=True):
    """A record of the worker's log."""

    level: int
    name: str
    text: str


Message = Ready | Failed | Played | Warmed | Probed | Hosting | Harmed | Logged


class Serve(msgspec.Struct, tag=True, frozen=True):
    """Tells the worker to be one for this configuration from now on.

    resolved: as `Config.resolved`; sources: what `sources_of` it is where the run began, without values
    """

    resolved: dict[str, Any]
    sources: str


class Play(msgspec.Struct, tag=True, frozen=True):
    """Tells the worker to play in this order, none but the first after `seconds`."""

    fixtures: list[Fixture]
    seconds: float


class Probe(msgspec.Struct, tag=True, frozen=True):
    """Tells the worker to run a game's kernels without an agent."""

    condition: int


class Warm(msgspec.Struct, tag=True, frozen=True):
    """Tells the warmer to compile this agent's kernels."""

    agent: int


class Leave(msgspec.Struct, tag=True, frozen=True):
    """Tells the worker to exit."""


Order = Serve | Play | Probe | Warm | Leave

_encoder = msgspec.msgpack.Encoder()
messages = msgspec.msgpack.Decoder(Message)
orders = msgspec.msgpack.Decoder(Order)
T = TypeVar("T")


class Junk(ValueError):
    """Something that is no message; `before`: the messages that it follows."""

    def __init__(self, text: str, before: Sequence[Message] = ()):
        super().__init__(text)
        self.before = before


def frame_of(message: msgspec.Struct) -> bytes:
    """The bytes of a message; TypeError, ValueError or OverflowError if no decoder would accept it."""
    body = _encoder.encode(message)
    if len(body) > LONGEST:
        raise ValueError(f"a message of {len(body)} bytes is longer than {LONGEST}")
    return _LENGTH.pack(len(body)) + body


class WorkersEnd:
    """The worker's end, for any thread; `decoder` reads what arrives."""

    def __init__(self, end: socket.socket, decoder: msgspec.msgpack.Decoder = orders):
        self._end, self._decoder, self._lock, self._data = end, decoder, threading.Lock(), bytearray()

    def send(self, message: msgspec.Struct) -> None:
        """OSError if the supervisor is gone."""
        frame = frame_of(message)
        with self._lock:
            self._end.sendall(frame)

    def receive(self):
        """The next order; EOFError if the supervisor is gone."""
        return self._decoder.decode(self._exactly(_LENGTH.unpack(self._exactly(_LENGTH.size))[0]))

    def _exactly(self, size):
        while len(self._data) < size:
            piece = self._end.recv(PIECE)
            if not piece:
                raise EOFError
            self._data += piece
        found = bytes(self._data[:size])
        del self._data[:size]
        return found


class SupervisorsEnd:
    """The supervisor's end, which never blocks; `decoder` reads what arrives."""

    def __init__(self, end: socket.socket, decoder: msgspec.msgpack.Decoder = messages):
        end.setblocking(False)
        self._end, self._decoder, self._data = end, decoder, bytearray()

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._end.fileno()

    def close(self) -> None:
        """Drop unread messages."""
        self._end.close()

    @property
    def half(self) -> bool:
        """Whether a message has arrived in part."""
        return bool(self._data)

    def send(self, order: Order) -> None:
        """OSError if the worker is gone, or has not read earlier orders."""
        frame = frame_of(order)
        if self._end.send(frame) < len(frame):
            raise OSError("the worker does not read what it is sent")

    def receive(self, limit: int = READ_AT_ONCE) -> tuple[list[Message], bool]:
        """Complete messages, and whether more may come; Junk if anything else arrived."""
        read, open_ = 0, True
        while read < limit:
            try:
                piece = self._end.recv(PIECE)
            except BlockingIOError:
                break
            except OSError:
                piece = b""
            if not piece:
                open_ = False
                break
            self._data += piece
            read += len(piece)
            if len(piece) < PIECE:
                break
        return self._whole(), open_

    def _whole(self):
        messages, at = [], 0
        while len(self._data) - at >= _LENGTH.size:
            size = _LENGTH.unpack_from(self._data, at)[0]
            if size > LONGEST:
                raise Junk(f"a message that claims {size} bytes; the longest has {LONGEST}", messages)
            begin = at + _LENGTH.size
            if len(self._data) - begin < size:
                break
            try:
                messages.append(self._decoder.decode(memoryview(self._data)[begin : begin + size]))
            except (msgspec.DecodeError, ValueError, RecursionError) as error:
                raise Junk(f"{size} bytes that are no message: {error}", messages) from None
            at = begin + size
        del self._data[:at]
        return messages


def fault_of(
    config: Config, fixture: Fixture, record: GameRecord, voids: Collection[str] = (Reason.RULES,)
) -> str | None:
    """Why a record cannot belong to this game; None if it can.  `voids`: the void games that its sender may know of."""
    for key, right in identity(fixture, [seat.name for seat in seats_of(config, fixture)]).items():
        if getattr(record, key) != right:
            return f"its {key} is {getattr(record, key)!r:.80} and not {right!r}"
    if record.reason not in (Reason.PLAYED_OUT, *voids, Reason.RESIGNED, *Reason.ADJUDICATED, *Reason.FORFEITS):
        return f"its reason is {record.reason!r:.80}"
    decided = config.players == 2 and record.reason not in voids
    if record.outcome not in ((0.0, 0.5, 1.0) if decided else (None,)):
        return f"its outcome is {record.outcome!r}"
    if (record.score is None) == (record.reason == Reason.PLAYED_OUT) or not math.isfinite(record.score or 0.0):
        return f"its score is {record.score!r}"
    if not (_fits(record.plies) and _fits(record.seconds)):
        return f"it has {record.plies} plies in {record.seconds} seconds"
    for one in record.improvements:
        if not (_fits(one.playouts) and _fits(one.seconds) and _fits(one.score)):
            return f"it has {one!r:.200}"
    for decision in record.decisions:
        readable = decision.candidates is None or candidates.is_written(decision.candidates)
        finite = all(number is None or abs(number) < MOST for number in _numbers(decision))  # nan is not
        if decision.side not in (0, 1) or not readable or not finite:
            return f"it has {decision!r:.200}"
    return None


def _fits(number):
    return abs(number) < MOST
