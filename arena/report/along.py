"""How a run came to its figures, in the order in which its games ended: ratings, and sequential tests."""

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from arena.formats.schedule import Schedule
from arena.formats.sequential import SequentialTest, SprtTable
from arena.results.database import repeats
from arena.results.database.store import Store
from arena.results.shown import plots
from arena.results.shown.tournament import Tournament
from arena.results.statistics.ratings import Ratings, count_results, rate

POINTS = 40  # at most, of a curve
RESULT = ("first", "second", "outcome")
CHUNK = 10_000  # games read at once
HELD = "the mean of those that are rated all along is held"


def kinds(run: Tournament) -> dict[str, Callable[[Figure, Tournament], None]]:
    """What can be drawn of a run, by kind of figure."""
    tested = run.meta.get("config", {}).get("format") == SequentialTest.name
    drawn: dict[str, Callable[[Figure, Tournament], None]] = {"progress": draw_ratings}
    if tested:
        drawn["llr"] = draw_tests
    return {} if run.single_player else drawn


def steps(games: int) -> list[int]:
    """At most POINTS numbers of games, the last all: multiples of 1, 2 or 5 times a power of ten."""
    sizes = (size * 10**power for power in itertools.count() for size in (1, 2, 5))
    step = next(size for size in sizes if games < size * POINTS)
    return sorted({*range(step, games + 1, step), games} - {0})


def ratings(run: Tournament) -> pd.DataFrame:
    """Columns games, agent, elo, error: the ratings after each of `steps`, the agents in the final order; NaN of those
    that are not rated then.

    They are centred on the agents rated at the most steps, all along as a rule, so that nobody who comes later moves
    the others; the last ones are those of the standings.  Errors count games that repeat an earlier one once.
    """
    rated = list(_rated(run, ends := steps(len(run))))
    columns = ["games", "agent", "elo", "error"]
    if not rated:
        return pd.DataFrame(columns=columns)
    lasting = np.isfinite([one.error for one in rated]).sum(axis=0) * np.isfinite(rated[-1].difference_error)
    core = lasting == lasting.max(axis=1, keepdims=True)
    level, rows = _over(rated[-1], core)[0] - rated[-1].elo, list[pd.DataFrame]()
    for end, one in zip(ends, rated):
        elo, error = _over(one, core)
        frame = pd.DataFrame({"agent": run.names, "elo": elo - level, "error": error})
        rows.append(frame.set_index("agent").loc[run.order].reset_index().assign(games=end))
    return pd.concat(rows, ignore_index=True)[columns]


def _rated(run: Tournament, ends: list[int]) -> Iterator[Ratings]:
    """The ratings after each of so many games, each centred on who is rated then."""
    size = len(run.names), len(run.names), 3
    counts, again = np.zeros(size, int), np.zeros(size, int)
    parts = dict(list(_results(run, ends).groupby("part")))
    for number in range(len(ends)):
        if (part := parts.get(number)) is not None:
            counts += count_results(run.names, part)
            again += count_results(run.names, part[part["repeats"]])
        yield rate(run.names, counts, counts - again)


def _over(rated: Ratings, core: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elo and 95 % errors of each agent over the mean of its core, bool[agents, agents], as far as that is rated."""
    known = np.isfinite(rated.difference_error)
    near = core & known & np.isfinite(rated.error)
    mean = near / np.where(near.any(axis=1), near.sum(axis=1), math.nan)[:, None]
    apart = np.eye(len(core)) - mean
    squares = np.where(known, rated.difference_error, 0.0) ** 2
    error = np.sqrt(np.maximum(-((apart @ squares) * apart).sum(axis=1) / 2, 0)) + 0 * rated.error
    return rated.elo + 0 * error - mean @ np.where(np.isfinite(rated.error), rated.elo, 0.0), error


def _results(run: Tournament, ends: list[int]) -> pd.DataFrame:
    """Counts of games by the part between two ends that they belong to, players, outcome, and `repeats`."""
    again = int(run.tallies["again"].sum()) > 0  # else moves need not be read
    names = ["game", *dict.fromkeys([*RESULT, *(repeats.COLUMNS if again else ())])]
    frames = [pd.DataFrame(columns=names)]
    with Store.open(run.folder) as store:
        rows = store.each(f"SELECT {', '.join(names)} FROM games WHERE game <= {len(run)} ORDER BY game")
        while chunk := list(itertools.islice(rows, CHUNK)):
            frame = pd.DataFrame(chunk, columns=names).astype({"outcome": float})
            frames.append(frame if again else _counted(frame.assign(repeats=False), ends))
    if not again or len(frames) == 1:
        return pd.concat(frames[1:]) if frames[1:] else _counted(frames[0].assign(repeats=False), ends)
    games = pd.concat(frames[1:], ignore_index=True)
    return _counted(games.assign(repeats=repeats.repeated(games)), ends)


def _counted(games: pd.DataFrame, ends: list[int]) -> pd.DataFrame:
    part = np.searchsorted(ends, games["game"].to_numpy(int))
    keys = ["part", *RESULT, "repeats"]
    return games.assign(part=part).groupby(keys, sort=False).size().rename("games").reset_index()


def tests(run: Tournament) -> dict[str, list[tuple[int, float]]]:
    """By candidate (and condition, where there are several): (pairs counted, log-likelihood ratio) after each pair."""
    schedule = Schedule(run.meta["config"])
    curves: dict[str, list[tuple[int, float]]] = {}
    with Store.open(run.folder) as store:
        for result in store.results():
            schedule.took(*result)
            for label, test in _tests(schedule):
                curve = curves.setdefault(label, [(0, 0.0)])
                if (pairs := sum(test.counts)) != curve[-1][0]:
                    curve.append((pairs, test.state.llr))
    return curves


def _tests(schedule: Schedule) -> Iterator[tuple]:
    for number, format in enumerate(schedule.formats):
        assert isinstance(format, SequentialTest)
        for pair, test in format.tests.items():
            several = f", {schedule.labels[number]}" if len(schedule.formats) > 1 else ""
            yield f"{format.candidate(pair)}{several}", test


# -- Drawn ---------------------------------------------------------------------------------------------------------


def draw_ratings(figure: Figure, run: Tournament) -> None:
    """Elo of the best agents with its 95 % interval, against the games that had ended."""
    ax, frame = figure.subplots(), ratings(run)
    names = run.order[: plots.LINES]
    for number, (name, label) in enumerate(zip(names, plots.labels(names))):
        own = frame[(frame["agent"] == name) & frame["error"].notna()]
        games, elo, error = (own[column].to_numpy(float) for column in ("games", "elo", "error"))
        look = plots.look(number)
        ax.plot(games, elo, label=label, markersize=3, linewidth=1, markevery=plots.MARKED, **look)
        ax.fill_between(games, elo - error, elo + error, color=look["color"], alpha=0.15, linewidth=0)
    _finish(ax, f"games that have ended\n({HELD})", "Elo, with its 95 % interval")


def draw_tests(figure: Figure, run: Tournament) -> None:
    """The log-likelihood ratio of each test between its bounds."""
    ax, curves = figure.subplots(), tests(run)
    for number, (label, curve) in enumerate(list(curves.items())[: plots.LINES]):
        pairs, ratio = zip(*curve)
        ax.plot(pairs, ratio, label=plots.short(label), linewidth=1, **plots.look(number) | {"marker": ""})
    test = SprtTable(**run.meta["config"]["sprt"]).test()
    for bound, name in zip(test.bounds, ("H0", "H1")):
        ax.axhline(bound, color=plots.OTHERS, linestyle="--", linewidth=1)
        ax.annotate(name, (0, bound), xytext=(2, 2), textcoords="offset points", fontsize="small")
    _finish(ax, "pairs of games", "log-likelihood ratio")


def _finish(ax: Axes, x: str, y: str) -> None:
    ax.set(xlabel=x, ylabel=y)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid()
    if ax.get_legend_handles_labels()[1]:
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, frameon=False, fontsize="small")
