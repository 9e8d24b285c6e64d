"""The speed of parallel searches on real threads."""

import time
from dataclasses import replace

import pandas as pd

import agents
import games
from arena.runner.machine import cores
from arena.study.scaling import ScalingStudy
from games.core.random import stream

ROUNDS, PLAYOUTS = 3, 50_000  # measurements of each search; playouts of each worker for a decision


def throughput(study: ScalingStudy, seconds: float, tell=lambda text: None) -> pd.DataFrame:
    """Playouts a second of each scheme on real threads, from the initial position.

    The numbers of threads are 1, the number of cores, and the numbers of workers between.  Columns: scheme, threads,
    playouts_per_second (the best of ROUNDS measurements, taken in turns), speed_up over one thread, over_serial (over
    the serial search).  Each measurement takes `seconds`.
    """
    game, counts = games.make(study.game), sorted({1, cores(), *(n for n in study.workers if n <= cores())})
    searches = {("serial", 1): replace(agents.make(study.serial), playouts=PLAYOUTS)}
    searches |= {
        (spec, n): replace(agents.make(spec), workers=n, playouts=PLAYOUTS) for spec in study.schemes for n in counts
    }
    best = dict.fromkeys(searches, 0.0)
    for turn in range(ROUNDS):
        for key, agent in searches.items():
            tell(f"{key[0]} on {key[1]} threads, {turn + 1} of {ROUNDS}")
            best[key] = max(best[key], _rate(game, agent, seconds))
    serial = best.pop(("serial", 1))
    rows = [
        {
            "scheme": spec,
            "threads": n,
            "playouts_per_second": rate,
            "speed_up": rate / best[spec, 1],
            "over_serial": rate / serial,
        }
        for (spec, n), rate in best.items()
    ]
    return pd.DataFrame(rows, columns=["scheme", "threads", "playouts_per_second", "speed_up", "over_serial"])


def _rate(game, agent, seconds) -> float:
    """Playouts a second, over decisions that take `seconds` together; one decision before them loads the kernels."""
    player, rng, playouts = agent.player(game), stream(1, "throughput"), 0
    player.choose(game.initial(), rng)
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or playouts == 0:
        playouts += player.choose(game.initial(), rng).playouts
    return playouts / spent
