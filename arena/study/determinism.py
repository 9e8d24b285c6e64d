"""Whether a tournament is a function of its configuration: it is played in several settings, and compared.

Each setting is a run in a process of its own.  A difference is traced to the agent whose decision differs first.
Seconds and clocks may differ.
"""

import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

from arena.games.core.shared.cache import PLACE
from arena.games.core.shared.errors import UserError
from arena.games.core.shared.system import start_method
from arena.results.database.record import GameRecord, MoveRecord
from arena.runner.events import Events

COMMAND = "import sys; from arena.study.determinism import play; play(*sys.argv[1:])"
TOLD = 2000  # characters of a failed run's words


@dataclass(frozen=True)
class Setting:
    """Start method, workers or cluster, whether it is interrupted, and the environment."""

    name: str
    method: str = "forkserver"
    workers: int = 2
    cluster: str = ""
    interrupted: bool = False
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """The first game that an agent plays otherwise than in the first setting; `agent` may be ""."""

    agent: str
    game: str
    text: str


def settings(empty: Path) -> list[Setting]:
    """The settings that are possible here, the one that others are compared with first; `empty`: a folder for code."""
    methods = multiprocessing.get_all_start_methods()
    usual = start_method()
    every = [
        Setting("1 worker", usual, 1, environment={"PYTHONHASHSEED": "0"}),
        Setting("2 workers", usual),
        Setting("5 workers, another hash seed", usual, 5, environment={"PYTHONHASHSEED": "12345"}),
        *(Setting(f"by {method}", method) for method in methods if method != usual),
        Setting("interrupted and resumed", usual, interrupted=True),
        Setting("nothing compiled is kept", usual, environment={PLACE: str(empty / "cache")}),
        Setting("for another processor", usual, environment={"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}),
    ]
    if importlib.util.find_spec("distributed"):
        every.append(Setting("on a cluster", usual, cluster="local:2"))
    return every


def compare(config: Path, before: Callable[[str], None], after: Callable[[dict, list[Difference]], None]) -> bool:
    """Play a configuration in every setting; whether all games are the same.

    `before` gets the name of each setting, `after` its row (setting, games, different, seconds) and the first
    difference of each agent.  UserError if a run fails.
    """
    first: dict[str, GameRecord] | None = None
    same = True
    with tempfile.TemporaryDirectory(prefix="arena-deterministic-") as folder:
        for number, setting in enumerate(settings(Path(folder))):
            before(setting.name)
            start = time.monotonic()
            games = _played(config, Path(folder, str(number)), setting)
            first = first or games
            found = [each for id in first for each in [difference(first[id], games.get(id))] if each]
            row = {"setting": setting.name, "games": len(games), "different": len(found)}
            after(row | {"seconds": time.monotonic() - start}, _first_of_each(found))
            same = same and not found
    return same


def _first_of_each(found: list[Difference]) -> list[Difference]:
    return list({each.agent: each for each in reversed(found)}.values())[::-1]


def _played(config: Path, out: Path, setting: Setting) -> dict[str, GameRecord]:
    from arena.results.database.store import Store

    how = setting.method, str(setting.workers), setting.cluster, "interrupted" if setting.interrupted else ""
    command = [sys.executable, "-c", COMMAND, str(config), str(out), *how]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | setting.environment
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise UserError(f"the run {setting.name} has failed: {done.stderr.strip()[-TOLD:]}")
    with Store.open(out) as store:
        return {record.id: record for record in store.records()}


def difference(one: GameRecord, other: GameRecord | None) -> Difference | None:
    """How a game differs from another of the same id; None if only in time."""
    if other is None:
        return Difference("", one.id, "is missing")
    for was, now in _decisions(one, other):
        if was != now and (decision := was or now):
            agent = one.second if decision.side else one.first
            return Difference(agent or "", one.id, f"ply {decision.ply}: {_told(was, now)}")
    for name in ("opening_moves", "moves", "outcome", "score", "reason"):
        was, now = getattr(one, name), getattr(other, name)
        if was != now:
            return Difference("", one.id, f"{name} {now!r}, and not {was!r}")
    found = [[(each.playouts, each.score) for each in record.improvements] for record in (one, other)]
    return Difference(one.first, one.id, "its best scores differ") if found[0] != found[1] else None


def _decisions(one, other) -> Iterator[tuple[MoveRecord | None, MoveRecord | None]]:
    timeless = [[replace(each, seconds=0.0, clock=None) for each in record.decisions] for record in (one, other)]
    return zip_longest(*timeless)


def _told(was, now) -> str:
    if was is None or now is None:
        return "no decision" if now is None else "a decision, and not none"
    names = [name for name in vars(was) if getattr(was, name) != getattr(now, name)]
    name = "move" if "move" in names else names[0]
    return f"{name} {getattr(now, name)}, and not {getattr(was, name)}"


class _Interrupting(Events):
    """Interrupts a run once, when half of its games are stored."""

    def __init__(self):
        self.total = self.stored = 0

    def started(self, total, done):
        self.total = total

    def finished(self, record):
        self.stored += 1
        if self.stored == max(1, self.total // 2):
            signal.raise_signal(signal.SIGINT)


def play(config: str, out: str, method: str, workers: str, cluster: str, interrupted: str) -> None:
    """Play one setting; the main function of its process."""
    import arena
    from arena.workers.starting import use_fork_server

    if method == "forkserver":
        use_fork_server()
    else:
        multiprocessing.set_start_method(method)
    place: dict = {"cluster": cluster} if cluster else {"workers": int(workers)}
    if interrupted:
        with suppress(arena.Interrupted):
            arena.run(config, out, events=_Interrupting(), **place)
    arena.run(config, out, resume=bool(interrupted), events=Events(), **place)
