"""What the tests of the arena share."""

import sys
from contextlib import nullcontext
from functools import partial

import pytest

from arena.agents.core.agent import registry as agent_registry
from arena.config import loading
from arena.formats.schedule import Schedule
from arena.games.core.game import registry as game_registry
from arena.workers.crew import Crew
from arena.workers.logs import RunLog
from arena.workers.supervisor import Supervisor
from tests.arena.fixtures import every_fixture

PLUGIN = "tests.arena.oddities"


@pytest.fixture(autouse=True)
def registries():
    """What the plugin registers, for a test or for a fixture of its module, is forgotten, so that no other meets it."""
    before = [(registry, registry.classes()) for registry in (game_registry, agent_registry)]
    yield
    for registry, classes in before:
        registry._classes.clear()
        registry._classes.update({name: cls for name, cls in classes.items() if cls.__module__ != PLUGIN})
    sys.modules.pop(PLUGIN, None)


@pytest.fixture
def undrawn(monkeypatch):
    """Figures of reports are empty, but for those whose names a test adds to this set: to draw takes longest."""
    from arena.report import figures

    drawn, saved = set[str](), figures._saved

    def save(name, *rest):
        return saved(name, *rest) if name in drawn else figures.Drawn(name, name, "", '<svg viewBox="0 0 1 1"/>', b"")

    monkeypatch.setattr(figures, "_saved", save)
    return drawn


def values(*agents, game="test_nim", games=2, **more):
    """The keys of a configuration with these agents (spec, or (name, spec))."""
    entries = [{"agent": a} if isinstance(a, str) else {"name": a[0], "agent": a[1]} for a in agents]
    return {"game": game, "games": games, "plugins": [PLUGIN], "agents": entries, **more}


class Bench:
    """A supervisor over a configuration, its records by id, and its log."""

    def __init__(self, keys, folder, workers=2, on_result=None, crew=None):
        checked = loading.from_values(keys)
        self.fixtures = every_fixture(Schedule(checked.values))
        self.records = []
        self.log_path = folder / "log.txt"
        self.run_log = RunLog(self.log_path)
        self.on_result = on_result or (lambda record: None)
        following = partial(next, iter(self.fixtures), None)
        self.crew = crew or Crew()
        self.kept = crew is not None  # by another, who ends it
        self.supervisor = Supervisor(checked, following, self._take, self.run_log, crew=self.crew, workers=workers)

    def _take(self, records):
        for record in records:
            self.records.append(record)
            self.on_result(record)

    def run(self):
        with self.run_log, nullcontext() if self.kept else self.crew:
            self.supervisor.run()
        return {record.id: record for record in self.records}

    def log(self):
        return self.log_path.read_text()


@pytest.fixture
def bench(tmp_path):
    """bench(keys, workers=2, on_result=None) -> Bench"""
    return lambda keys, **more: Bench(keys, tmp_path, **more)


def essence(record):
    """A record without what the clock wrote."""
    decisions = tuple((d.ply, d.side, d.move, d.value, d.playouts, d.nodes, d.depth) for d in record.decisions)
    improvements = tuple((one.playouts, one.score) for one in record.improvements)
    timed = ("seconds", "decisions", "improvements")
    return {key: value for key, value in vars(record).items() if key not in timed}, decisions, improvements
