"""Measures playouts and searches, in a process that compiles its kernels from scratch."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from arena import agents, games
from arena.games.core.random import stream
from arena.games.core.shared.cache import PLACE
from arena.workers.starting import having_children

CHUNKS = 5  # measurements behind a median speed
MOST = 200  # characters of a failure's message


class Subject(NamedTuple):
    """What is measured, as specs: random playouts of a game or, with an agent, its searches on it."""

    game: str
    agent: str | None = None


class Chunk(NamedTuple):
    """One measurement: playouts or nodes, plies of random playouts, seconds of the clock and of the processor."""

    units: int
    plies: int
    wall: float
    cpu: float


class Playouts:
    """Random playouts from the initial position."""

    unit = "playouts"

    def __init__(self, game):
        self.game = game

    def work(self, n: int) -> tuple[int, int]:
        """Play n playouts: (playouts, plies)."""
        return n, int(games.playouts(self.game, n, seed=1).plies)


class Searches:
    """Searches of the initial position by one player, with seeds 1, 2, ..."""

    def __init__(self, game, agent):
        self.game, self.agent, self.player = game, agent, agent.player(game)
        self.unit = "playouts" if "playouts" in agent.budgets else "nodes"

    def work(self, n: int) -> tuple[int, int]:
        """Search n times: (playouts or nodes, 0)."""
        return sum(self._search(seed + 1) for seed in range(n)), 0

    def _search(self, seed: int) -> int:
        # a player plays the sequence it has found before it searches again
        player = self.player if self.game.players == 2 else self.agent.player(self.game)
        return getattr(player.choose(self.game.initial(), stream(seed)), self.unit) or 0


def workload(subject: Subject) -> Playouts | Searches:
    """The work that is measured."""
    game = games.make(subject.game)
    return Searches(game, agents.make(subject.agent)) if subject.agent else Playouts(game)


def measured(subject: Subject, seconds: float) -> dict:
    """The row of a subject, measured here in chunks of about `seconds` / CHUNKS each."""
    load = workload(subject)
    start = time.perf_counter()
    load.work(1)
    compile_seconds = time.perf_counter() - start
    count = 1
    while (took := _chunk(load, count).wall) < seconds / CHUNKS / 2:
        count *= 2 if took > seconds / CHUNKS / 16 else 8
    return row(subject, load, compile_seconds, [_chunk(load, count) for _ in range(CHUNKS)])


def _chunk(load: Playouts | Searches, count: int) -> Chunk:
    start, cpu_start = time.perf_counter(), time.thread_time()
    units, plies = load.work(count)
    wall, cpu = time.perf_counter() - start, time.thread_time() - cpu_start
    return Chunk(units, plies, wall, max(cpu, 1e-9))


def row(subject: Subject, load: Playouts | Searches, compile_seconds: float, chunks: list[Chunk]) -> dict:
    """The speeds of a subject: the medians of its chunks'."""
    wall = statistics.median(chunk.units / chunk.wall for chunk in chunks)
    speeds = [chunk.units / chunk.cpu for chunk in chunks]
    cpu, rest = statistics.median(speeds), {"compile_seconds": compile_seconds, "chunks": speeds}
    if subject.agent:
        return subject._asdict() | {"unit": load.unit, "per_second": wall, "cpu_per_second": cpu} | rest
    plies = sum(chunk.plies for chunk in chunks) / sum(chunk.units for chunk in chunks)
    return {
        "game": subject.game,
        "playouts_per_second": wall,
        "ns_per_ply": 1e9 / (wall * plies),
        "cpu_playouts_per_second": cpu,
        "lanes": load.game.lanes,
    } | rest


def begin(number: int, kernels: str) -> Callable[[tuple[Subject, float]], Iterator[dict]]:
    """Begin a process of a pool, whose kernels are kept in a folder; returns what measures."""
    os.environ[PLACE] = kernels
    os.dup2(2, 1)  # what games and agents print must not mix with the tables
    return measure


def measure(request: tuple[Subject, float]) -> Iterator[dict]:
    """Yield the row of a subject, or why there is none."""
    subject, seconds = request
    try:
        with having_children():
            yield measured(subject, seconds)
    except Exception as error:  # a row of the table, too
        yield failed(subject, failure_in_words(error))


def failed(subject: Subject, why: str) -> dict:
    """The row of a subject that cannot be measured."""
    return subject._asdict() | {"failure": why}


def failure_in_words(error: Exception) -> str:
    """The type of an error and its message, in one short line."""
    lines = [line.strip() for line in str(error).splitlines()]
    message = " ".join(line for line in lines if line and not line.startswith("Failed in nopython mode"))
    return f"{type(error).__name__}: {message[:MOST]}{'...' if len(message) > MOST else ''}"
