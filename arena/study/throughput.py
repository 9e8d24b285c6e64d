"""The speed of parallel searches on real threads."""

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import replace

import pandas as pd

from arena import agents, games
from arena.games.core.random import stream
from arena.study.scaling import ScalingStudy
from arena.workers.machine import cores

ROUNDS = 5  # measurements of each search, in turns
PLAYOUTS = 10_000  # of each worker for a decision: a few milliseconds, in which other programs may leave all cores free
HAD = 0.95  # share of its threads' processor time that a decision needs to count
COLUMNS = ["scheme", "threads", "playouts_per_second", "undisturbed", "speed_up", "over_serial"]


def throughput(study: ScalingStudy, seconds: float, tell: Callable[[str], None] = lambda text: None) -> pd.DataFrame:
    """Playouts a second of each scheme on real threads, from the initial position.

    The numbers of threads are 1, the number of cores, and the study's numbers of workers in between.  Columns: scheme,
    threads, playouts_per_second, undisturbed, speed_up over one thread, over_serial (over the serial search).  Each
    search is measured for `seconds` in each of ROUNDS turns.  Only decisions count in which every thread had a core to
    itself; `undisturbed` is their share, and the rate their median, or NaN if there was none.
    """
    game, counts = games.make(study.game), sorted({1, cores(), *(n for n in study.workers if n <= cores())})
    searches = {("serial", 1): replace(agents.make(study.serial), playouts=PLAYOUTS)}
    searches |= {
        (spec, n): replace(agents.make(spec), workers=n, playouts=PLAYOUTS) for spec in study.schemes for n in counts
    }
    measured: dict = {key: [] for key in searches}
    for turn in range(ROUNDS):
        for key, agent in searches.items():
            threads = "1 thread" if key[1] == 1 else f"{key[1]} threads"
            tell(f"{key[0]} on {threads}, {turn + 1} of {ROUNDS}")
            measured[key] += _decisions(game, agent, key[1], seconds)
    rates = {key: undisturbed_rate(found) for key, found in measured.items()}
    serial, _ = rates.pop(("serial", 1))
    rows = [
        (spec, n, rate, share, rate / rates[spec, 1][0], rate / serial) for (spec, n), (rate, share) in rates.items()
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def undisturbed_rate(decisions: list[tuple[float, float]]) -> tuple[float, float]:
    """(the median rate of the undisturbed decisions, their share of all); see `throughput`."""
    rates = [rate for rate, had in decisions if had >= HAD]
    return statistics.median(rates) if rates else math.nan, len(rates) / len(decisions)


def _decisions(game, agent, threads: int, seconds: float) -> list[tuple[float, float]]:
    """(playouts a second, processor time as a share of its threads' most) for each of some decisions.

    They take `seconds` together; one before them loads the kernels.
    """
    player, rng = agent.player(game), stream(1, "throughput")
    found: list[tuple[float, float]] = []
    player.choose(game.initial(), rng)
    end = time.perf_counter() + seconds
    while not found or time.perf_counter() < end:
        began, worked = time.perf_counter(), time.process_time()
        playouts = player.choose(game.initial(), rng).playouts
        spent = time.perf_counter() - began
        found.append((playouts / spent, (time.process_time() - worked) / (threads * spent)))
    return found
