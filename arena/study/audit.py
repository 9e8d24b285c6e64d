"""Plays a share of a stored run's games again, on this machine, and compares.

It finds games that the agents did not play (`arena check` finds those against the rules): of a cluster's worker that
lies, or a store that was made up.
"""

import math
import random
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from arena.config.config import Config
from arena.config.trust import import_stored
from arena.formats.fixture import Fixture
from arena.results.database.record import GameRecord
from arena.runner.running import check_programs
from arena.study.determinism import Difference, difference
from arena.workers.logs import RunLog
from arena.workers.supervisor import Supervisor


def drawn(config: Config, records: Iterable[GameRecord], share: float, seed: int) -> list[GameRecord]:
    """A share of the games, one at least, of those that repeat themselves: in them, no agent thinks by the clock, is an
    outside program, or has threads that share what they find.
    """
    names = [
        {seat.name for seat in condition.seats if seat.budget.seconds is None and seat.agent.repeatable}
        for condition in config.conditions
    ]
    repeatable = [
        record for record in records if {record.first, record.second or record.first} <= names[record.condition]
    ]
    return random.Random(seed).sample(repeatable, math.ceil(share * len(repeatable)))


def restored(values: Mapping[str, Any]) -> Config:
    """The configuration of a stored run; TrustError, or ConfigError if a program is not on this machine."""
    import_stored(values)
    config = Config.restored(values)
    check_programs(config)
    return config


def played_again(
    config: Config, records: list[GameRecord], workers: int, tell: Callable[[int], None]
) -> list[Difference]:
    """The games that differ; `tell` is called with the number played."""
    fixtures = map(_fixture_of(config), records)
    again: dict[str, GameRecord] = {}

    def take(results):
        again.update((record.id, record) for record in results)
        tell(len(again))

    with tempfile.TemporaryDirectory(prefix="arena-audit-") as folder, RunLog(Path(folder, "log.txt")) as log:
        engine = Supervisor(config, lambda: next(fixtures, None), take, log, workers=workers)
        engine.prepare(lambda name: None, lambda name, seconds, failure: None)
        engine.run()
    return [found for record in records if (found := difference(record, again.get(record.id)))]


def _fixture_of(config) -> Callable[[GameRecord], Fixture]:
    numbers = {name: number for number, (name, _) in enumerate(config.agents)}

    def fixture(record):
        seats = tuple(numbers[name] for name in (record.first, record.second) if name is not None)
        return Fixture(record.id, record.number, record.condition, seats, record.opening, record.seed)

    return fixture
