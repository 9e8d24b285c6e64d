"""Hands out and stores a run's games, between the engine that plays them and the display."""

import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from math import isfinite
from pathlib import Path

from arena.config.config import Config
from arena.config.sizes import in_bytes
from arena.formats.fixture import Fixture
from arena.formats.schedule import Schedule
from arena.results.database.record import GameRecord, Reason
from arena.results.database.store import Store
from arena.runner.events import Events
from arena.runner.notice import MOST_GAMES, STOP_NOW, Game, Notice
from arena.workers.engine import Engine
from arena.workers.worker import InPlay

ENOUGH = 8  # games of an agent, each ended by its exception, that end a run


class Desk:
    """Hands out games not stored, stores results, reports events."""

    def __init__(self, store: Store, config: Config, folder: Path, events: Events):
        self.store, self.events, self.stored = store, events, store.ids()
        self.schedule_values = config.values
        self.schedule = Schedule.after(config.values, store.results())
        self.room = Room(folder, config.values["disk"])
        self.notice, self.before, self.begun = Notice(folder), len(self.stored), time.time()
        self.engine: Engine | None = None
        self.failing = ""  # what an agent does wrong in every game
        self._names = [name for name, _ in config.agents]
        self.renamed: dict[str, str] = store.meta.get("renamed", {})  # agents whose code is another one by now
        self._games, self._raised = Counter[str](), Counter[tuple[str, str]]()  # of this process, by agent
        self._tell("preparing", [])
        events.planned(self.schedule)

    def due_agents(self) -> set[str]:
        """The agents that have games to play; of a format that goes by results, all."""
        schedule = Schedule(self.schedule_values)
        if schedule.formats[0].adaptive:
            return set(self._names) if self.left() else set()
        left = (fixture for fixture in iter(schedule.next, None) if fixture.id not in self.stored)
        return {self._names[seat] for fixture in left for seat in fixture.seats}

    def left(self) -> int:
        """The number of games wanted and not stored."""
        return len(self.schedule) - len(self.stored)

    def next(self) -> Fixture | None:
        """The next game that is not stored yet."""
        if not self.left():  # rather than pass over all that are
            return None
        while fixture := self.schedule.next():
            if fixture.id not in self.stored:
                return fixture
        return None

    def add(self, records: list[GameRecord]) -> None:
        """Store finished games."""
        new = self.renamed.get
        self.store.add_all(
            replace(one, first=new(one.first, one.first), second=one.second and new(one.second, one.second))
            if self.renamed
            else one
            for one in records
        )
        for record in records:
            self.stored.add(record.id)
            way = record.opening_moves, record.moves, record.reason
            self.schedule.took(record.condition, record.first, record.second, record.opening, record.outcome, *way)
            self.events.finished(record)
            self._look_for_failure(record)

    def _look_for_failure(self, record: GameRecord) -> None:
        """Stop the run if an agent has raised the same kind of exception in each of its first games."""
        for name in filter(None, (record.first, record.second)):
            self._games[name] += 1
            found, _, error = record.detail.partition(": ")
            if record.reason != Reason.EXCEPTION or found != name:
                continue
            kind, _, what = error.partition(": ")
            self._raised[name, kind] += 1
            if self._raised[name, kind] == self._games[name] == ENOUGH and self.engine is not None and self.left():
                self.failing = f"{name} raised {kind} in each of its first {ENOUGH} games, the last time: {what}"
                self.engine.request_stop()

    @property
    def fault(self) -> str:
        """Why the run was stopped, if no user did so."""
        return self.failing or self.room.fault

    def look(self) -> None:
        """Check the disk and report the games in play; called regularly."""
        self.store.check_place()
        if self.room.exceeded() and self.engine is not None:
            self.engine.request_stop()
        if self.engine is not None:
            games = self.engine.in_play()
            self.events.playing(games)
            self._tell("stopping" if self.engine.stopped else "playing", games)
            if (wish := self.notice.wish()) == STOP_NOW or (wish and not self.engine.stopped):
                self.engine.request_stop(now=wish == STOP_NOW)

    def begin(self) -> None:
        """Play begins: report it, and count the pace from here."""
        self.begun = time.time()
        self.events.started(len(self.schedule), len(self.stored))

    def _tell(self, state: str, games: list[InPlay]) -> None:
        far = {"stored": len(self.stored), "total": len(self.schedule), "before": self.before, "begun": self.begun}
        self.notice.tell(state=state, **far, games=[self._in_words(one) for one in games[:MOST_GAMES]])

    def _in_words(self, one: InPlay) -> Game:
        first, *others = (self._names[seat] for seat in one.fixture.seats)
        best = one.best if isfinite(one.best) else None
        return Game(one.fixture.id, first, others[0] if others else None, one.plies, round(one.seconds, 1), best)

    def note_machine(self, machine: dict) -> None:
        """Once for machines that differ in name only."""
        kind = {key: value for key, value in machine.items() if key not in ("host", "programs", "files")}
        known = self.store.meta.get("cluster", [])
        if kind not in known:
            self.store.set_meta("cluster", [*known, kind])


class Room:
    """The limit of the disk space of a run's files."""

    def __init__(self, folder: Path, limit: str | None):
        self.folder, self.limit, self.bytes = folder, limit, in_bytes(limit)
        self.fault = ""  # set once they exceed it

    def exceeded(self) -> bool:
        """Whether the files exceed the limit for the first time."""
        if self.bytes is None or self.fault:
            return False
        taken = 0
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                taken += path.stat().st_size
        if taken > self.bytes:
            self.fault = f"the files in {self.folder} take {taken / 2**20:.1f} MB, and disk = {self.limit!r}"
        return bool(self.fault)
