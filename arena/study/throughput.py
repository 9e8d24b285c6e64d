"""The speed of parallel searches on real threads."""

import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pandas as pd

from arena import agents, games
from arena.config.config import ConfigError
from arena.games.core.random import stream
from arena.games.core.shared.files import read_plain
from arena.games.core.shared.system import cores
from arena.study.schemes import SchemesStudy

FILE = "throughput.csv"
ROUNDS = 5  # measurements of each search, in turns
AGAIN = 2  # rounds are repeated so often for searches always disturbed
PLAYOUTS = 10_000  # of each worker: a few milliseconds, in which other programs may leave all cores free
HAD = 0.95  # share of its threads' processor time that counts
COLUMNS = ["game", "scheme", "threads", "playouts_per_second", "undisturbed", "speed_up", "over_serial"]

Decisions = list[tuple[float, float]]  # playouts a second, processor time as a share of its threads' most


def stored(folder) -> pd.DataFrame | None:
    """The table that has been measured for a study; None if there is none."""
    try:
        found = pd.read_csv(BytesIO(read_plain(Path(folder) / FILE)))
        if list(found.columns) != COLUMNS:
            raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
        return found
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise ConfigError([f"{Path(folder) / FILE}: is damaged: {error}"]) from None


def missing(study: SchemesStudy, known: pd.DataFrame | None = None) -> dict[str, list[str]]:
    """By game the schemes of which a number of threads that the cores allow is not known."""
    had = set() if known is None else set(known[["game", "scheme", "threads"]].itertuples(index=False, name=None))
    every = [(point.scheme, n) for point in study.points() for n in (1, point.workers) if n <= cores()]
    found = {
        game: list(dict.fromkeys(scheme for scheme, n in every if (game, scheme, n) not in had))
        for game in study.instances
    }
    return {game: schemes for game, schemes in found.items() if schemes}


def throughput(
    study: SchemesStudy,
    seconds: float,
    tell: Callable[[str], None] = lambda text: None,
    known: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Playouts a second of each scheme on real threads, from the initial position of each game.

    Threads are 1, the number of cores, and the study's numbers of workers in between.  Columns: game, scheme, threads,
    playouts_per_second, undisturbed, speed_up over one thread, over_serial (over its serial search).  Each search is
    measured for `seconds` in each of ROUNDS turns.  Only decisions count in which every thread had a core to itself;
    `undisturbed` is their share, and the rate their median; where it is 0, even after AGAIN more measurements, the rate
    is the median of all, and too low.  Rows that are `known` stay; only schemes that are `missing` are measured.
    """
    rows = [
        row
        for game, schemes in missing(study, known).items()
        for row in _of_game(replace(study, instances=(game,)), schemes, seconds, tell)
    ]
    frame = pd.concat([known, pd.DataFrame(rows, columns=COLUMNS)])
    frame = frame.drop_duplicates(["game", "scheme", "threads"])  # the first, which are known
    return frame.sort_values(COLUMNS[:3], key=_place, ignore_index=True)


def _place(column: pd.Series):
    """Names as they come, numbers by size."""
    return column if column.name == "threads" else pd.factorize(column)[0]


def _of_game(study: SchemesStudy, schemes: list[str], seconds: float, tell) -> list[tuple]:
    counts = sorted({1, cores(), *(point.workers for point in study.points() if point.workers <= cores())})
    serials = {spec: study.own_serial(spec) for spec in schemes}
    searches = {(str(serial), 0): replace(serial, playouts=PLAYOUTS) for serial in serials.values()}
    searches |= {
        (spec, n): replace(agents.make(spec), workers=n, playouts=PLAYOUTS) for spec in schemes for n in counts
    }
    measured: dict[tuple[str, int], Decisions] = {key: [] for key in searches}
    for attempt in range(1 + AGAIN):
        disturbed = [key for key, found in measured.items() if not any(had >= HAD for _, had in found)]
        for turn in range(ROUNDS if disturbed else 0):
            for key in disturbed:
                threads = f"{key[1]} threads" if key[1] > 1 else "1 thread"
                tell(f"{key[0]} on {threads}, {study.game}, {attempt * ROUNDS + turn + 1}")
                measured[key] += _decisions(games.make(study.game), searches[key], max(key[1], 1), seconds)
    rates = {key: undisturbed_rate(found) for key, found in measured.items()}
    return [
        (study.game, spec, n, *rates[spec, n], *_over(rates, (spec, n), (spec, 1), (str(serials[spec]), 0)))
        for spec in schemes
        for n in counts
    ]


def _over(rates, key, *others) -> list[float]:
    return [rates[key][0] / rates[other][0] for other in others]


def undisturbed_rate(decisions: Decisions) -> tuple[float, float]:
    """(median rate of the undisturbed decisions, or of all if there are none; their share)."""
    rates = [rate for rate, had in decisions if had >= HAD]
    return statistics.median(rates or [rate for rate, _ in decisions]), len(rates) / len(decisions)


def _decisions(game, agent, threads: int, seconds: float) -> Decisions:
    """Decide for `seconds` together; one decision before them loads the kernels."""
    player, rng = agent.player(game), stream(1, "throughput")
    found: Decisions = []
    player.choose(game.initial(), rng)
    end = time.perf_counter() + seconds
    while not found or time.perf_counter() < end:
        began, worked = time.perf_counter(), time.process_time()
        playouts = player.choose(game.initial(), rng).playouts
        spent = time.perf_counter() - began
        found.append((playouts / spent, (time.process_time() - worked) / (threads * spent)))
    return found
