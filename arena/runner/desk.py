"""Where a run's games are handed out and stored, between what plays them and who watches."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from arena.config.config import Config
from arena.config.sizes import in_bytes
from arena.formats.fixture import Fixture
from arena.formats.schedule import Schedule
from arena.runner.events import Events
from arena.workers.worker import InPlay
from results.record import GameRecord
from results.store import Store


class Engine(Protocol):
    """Plays the games that it asks for, and hands on their records: the same ones whatever it plays them on.

    It calls the receivers that `arena.workers.supervisor.Supervisor` describes, in the thread of `run`.
    """

    @property
    def stopped(self) -> bool:
        """Whether a stop was requested."""

    def prepare(self, warming: Callable[[str], None], warmed: Callable[[str, float, str], None]) -> None:
        """Return once games can be played, or a stop is requested.

        Told before and after each agent whose kernels are compiled.
        """

    def in_play(self) -> list[InPlay]:
        """The games that are being played, as far as they are known."""

    def run(self) -> None:
        """Play all games, or those that a stop request allows; nothing that it started is left when it returns."""

    def request_stop(self, now: bool = False) -> None:
        """The first call starts no new games, the second, or `now`, gives up those that run; from any thread."""


class Desk:
    """Hands out the games of a run that are not stored, stores what comes in, and tells who watches."""

    def __init__(self, store: Store, config: Config, folder: Path, events: Events):
        self.store, self.events, self.stored = store, events, store.ids()
        self.schedule = Schedule.after(config.values, store.results())
        self.room = Room(folder, config.values["disk"])
        self.engine: Engine | None = None
        events.planned(self.schedule)

    def left(self) -> int:
        """How many of the games that have been asked for are not stored."""
        return len(self.schedule) - len(self.stored)

    def next(self) -> Fixture | None:
        """The next game that is not stored yet."""
        while fixture := self.schedule.next():
            if fixture.id not in self.stored:
                return fixture
        return None

    def add(self, records: list[GameRecord]) -> None:
        """Games are over."""
        self.store.add_all(records)
        for record in records:
            self.stored.add(record.id)
            self.schedule.told(record.condition, record.first, record.second, record.opening, record.outcome)
            self.events.finished(record)

    def look(self) -> None:
        """Called from time to time."""
        self.store.check_place()
        if self.room.exceeded() and self.engine is not None:
            self.engine.request_stop()
        if self.engine is not None:
            self.events.playing(self.engine.in_play())

    def note_machine(self, machine: dict) -> None:
        """Store what a machine of a cluster says of itself, each kind once: only its name tells two of a kind apart."""
        kind = {key: value for key, value in machine.items() if key not in ("host", "programs", "files")}
        known = self.store.meta.get("cluster", [])
        if kind not in known:
            self.store.set_meta("cluster", [*known, kind])


class Room:
    """How much of the disk the files of a run may take."""

    def __init__(self, folder: Path, limit: str | None):
        self.folder, self.limit, self.bytes = folder, limit, in_bytes(limit)
        self.fault = ""  # in words, once they take more

    def exceeded(self) -> bool:
        """Whether they take more, for the first time."""
        if self.bytes is None or self.fault:
            return False
        taken = 0
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                taken += path.stat().st_size
        if taken > self.bytes:
            self.fault = f"the files in {self.folder} take {taken / 2**20:.1f} MB, and disk = {self.limit!r}"
        return bool(self.fault)
