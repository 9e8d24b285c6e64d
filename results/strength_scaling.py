"""How a parallel search compares with the serial one: Elo against workers, and the strength speed-up.

A parallel search with `workers` workers meets the serial search with `factor` times the playouts that each worker
makes: factor 1 is equal time, factor = workers the same playouts in all, which shows what parallelism costs (search
overhead).  The **strength speed-up** (Chaslot, Winands & van den Herik, "Parallel Monte-Carlo tree search", 2008) is
the factor at which the two are even.  It is found by matches at factors that enclose it, and by a logistic curve
through the scores of all of a point's matches,

    expected score of the parallel search = 1 / (1 + exp(slope (log2 factor - log2 speed-up)))

fitted by quasi-likelihood, with errors from the pairs of games (sandwich estimate) by the delta method.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from arena.results.elo import PENTANOMIAL, Z, pentanomial
from arena.results.export import MISSING, elo_with_error, interval
from arena.results.tables import PAIR_SCORES

PAIR_VALUES = np.array(PENTANOMIAL)
CONTINUITY = 0.5  # of a pair, added to each side of a match, so that a perfect score has a finite logit


@dataclass(frozen=True)
class SpeedUp:
    """A strength speed-up; NaN if it is unknown.

    `bound` is ">" or "<" where the matches do not enclose it: then `value` is the last factor that was tried.
    """

    value: float
    low: float  # of the 95 % interval
    high: float
    bound: str = ""


def next_factor(matches: Mapping[float, np.ndarray], least: float, most: float) -> float | None:
    """The factor at which a point's next match is to be played; None when they enclose the speed-up closely.

    `matches` are counts int[5] of pairs (LL to WW, for the parallel search) by factor.  Factors are powers of two
    between two that are known to be under and over the speed-up, until these differ by 2 at most; where all are under
    it or all over it, the next power beyond, but none outside `least` and `most`.
    """
    won = [factor for factor, counts in matches.items() if _score(counts) >= 0.5]
    lost = [factor for factor in matches if factor not in won]
    if not lost:
        beyond = 2.0 ** (math.floor(math.log2(max(won))) + 1)
        return beyond if beyond <= most else None
    if not won:
        beyond = 2.0 ** (math.ceil(math.log2(min(lost))) - 1)
        return beyond if beyond >= least else None
    low = max(won)
    above = [factor for factor in lost if factor > low]
    if not above:  # chance has put a lost match below a won one: the curve sorts that out, if something lies above
        beyond = 2.0 ** (math.floor(math.log2(low)) + 1)
        return beyond if beyond <= most else None
    gap = math.log2(min(above)) - math.log2(low)
    if gap <= 1:
        return None
    middle = 2.0 ** round(math.log2(low) + gap / 2)
    return middle if low < middle < min(above) else None


def speed_up(matches: Mapping[float, np.ndarray]) -> SpeedUp:
    """The strength speed-up by the matches of a point; `matches` as in `next_factor`."""
    factors = sorted(matches)
    scores = np.array([_score(matches[factor]) for factor in factors])
    if not len(factors):
        return SpeedUp(math.nan, math.nan, math.nan)
    if (scores >= 0.5).all() or (scores < 0.5).all():
        beyond = (scores >= 0.5).all()
        return SpeedUp(factors[-1] if beyond else factors[0], math.nan, math.nan, ">" if beyond else "<")
    slope, even, covariance = _curve(np.log2(factors), [np.asarray(matches[factor], float) for factor in factors])
    if slope <= 0:  # the scores rise with the serial search's playouts: too few games to say anything
        return SpeedUp(math.nan, math.nan, math.nan)
    gradient = np.array([1.0, -even]) / slope  # of even = intercept / slope
    error = Z * math.sqrt(gradient @ covariance @ gradient)
    return SpeedUp(2.0**even, 2.0 ** (even - error), 2.0 ** (even + error))


def _score(counts) -> float:
    return float(PAIR_VALUES @ counts / np.sum(counts))


def _curve(logs, counts) -> tuple[float, float, np.ndarray]:
    """Slope, log2 of the factor that scores even, and the covariance of (intercept, slope): the logit of a pair's
    expected score is intercept - slope * log."""
    padded = [row + CONTINUITY * np.array([1.0, 0, 0, 0, 1.0]) for row in counts]
    pairs = np.array([row.sum() for row in padded])
    means = np.array([PAIR_VALUES @ row for row in padded]) / pairs
    variances = np.array([row @ (PAIR_VALUES - mean) ** 2 for row, mean in zip(padded, means)]) / pairs
    design = np.column_stack([np.ones_like(logs), -logs])

    def loss(parameters):
        logits = design @ parameters
        return float(pairs @ (np.logaddexp(0, logits) - means * logits))

    def slope_of_loss(parameters):
        return design.T @ (pairs * (expit(design @ parameters) - means))

    fitted = minimize(loss, np.array([0.0, 1.0]), jac=slope_of_loss, method="BFGS").x
    expected = expit(design @ fitted)
    bread = np.linalg.inv(design.T @ (design * (pairs * expected * (1 - expected))[:, None]))
    meat = design.T @ (design * (pairs * variances)[:, None])
    return fitted[1], fitted[0] / fitted[1], bread @ meat @ bread


def counts_by_pair(pairs: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """int[5] for each two agents in both orders: the pairs of games by the first one's score, LL to WW.

    `pairs` is the table of that name, of `results.tables`.
    """
    found = {}
    for row in pairs.itertuples():
        counts = np.array([getattr(row, name) for name in PAIR_SCORES])
        found[row.a, row.b], found[row.b, row.a] = counts, counts[::-1]
    return found


def table(points: list[dict]) -> pd.DataFrame:
    """One row a scheme and number of workers.

    `points` hold scheme, workers, matches (counts by factor) and time (virtual time a move over the serial search's;
    NaN if not known).  Columns: scheme, workers, time, games; score, elo, error, bound at equal time; those with
    `total_` for the same playouts in all; speed_up, low, high, speed_up_bound.
    """
    rows = []
    for point in points:
        matches = point["matches"]
        row = {"scheme": point["scheme"], "workers": point["workers"], "time": point["time"]}
        row["games"] = 2 * int(sum(np.sum(counts) for counts in matches.values()))
        for prefix, factor in (("", 1.0), ("total_", float(point["workers"]))):
            estimate = pentanomial([int(n) for n in matches.get(factor, np.zeros(5))])
            for name in ("score", "elo", "error"):
                value = getattr(estimate, name)
                row[prefix + name] = math.nan if value is None else value
            row[prefix + "bound"] = estimate.bound
        found = speed_up(matches)
        rows.append(
            row | {"speed_up": found.value, "low": found.low, "high": found.high, "speed_up_bound": found.bound}
        )
    frame = pd.DataFrame(rows)
    frame.attrs["kind"] = "scaling"
    return frame


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of `table` for people: columns of strings, errors beside their values."""
    columns = frame[["scheme", "workers"]].copy()
    columns["time"] = [_rounded(value, 1) for value in frame["time"]]
    for heading, prefix in (("Elo at equal time", ""), ("Elo at equal playouts", "total_")):
        rated = frame[[prefix + name for name in ("elo", "error", "bound")]]
        columns[heading] = elo_with_error(*(_or_none(rated[name]) for name in rated))
    columns["strength speed-up"] = [
        f"{mark} {value:g}" if mark else _rounded(value, 2)
        for value, mark in zip(frame["speed_up"], frame["speed_up_bound"])
    ]
    columns["95 %"] = [interval(_rounded(low, 2), _rounded(high, 2)) for low, high in zip(frame["low"], frame["high"])]
    columns.attrs["kind"] = "scaling"
    return columns


def _or_none(column) -> list:
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column]


def _rounded(value, digits) -> str:
    return MISSING if math.isnan(value) else f"{value:.{digits}f}"


def figure(frame: pd.DataFrame, throughput: pd.DataFrame | None = None, title: str = ""):
    """A matplotlib figure: Elo at equal time, Elo at the same playouts in all, and strength speed-up, against workers.

    `frame` is a table of `table`; a line is a scheme, its band the 95 % interval, a triangle a one-sided bound.  With
    `throughput` (columns scheme, threads, speed_up) a fourth panel has the speed-up of threads in playouts a second.
    """
    from matplotlib.figure import Figure

    panels = 3 if throughput is None or throughput.empty else 4
    drawn = Figure(figsize=(4.6 * panels, 4.4), layout="constrained")
    axes = drawn.subplots(1, panels)
    for colour, (scheme, rows) in enumerate(frame.groupby("scheme", sort=False)):
        style = {"color": f"C{colour}", "label": scheme}
        for ax, prefix in ((axes[0], ""), (axes[1], "total_")):
            elo, error = rows[prefix + "elo"], rows[prefix + "error"]
            _line(ax, rows["workers"], elo, elo - error, elo + error, rows[prefix + "bound"], style)
        _line(axes[2], rows["workers"], rows["speed_up"], rows["low"], rows["high"], rows["speed_up_bound"], style)
    workers = sorted(frame["workers"].unique())
    axes[2].plot(workers, workers, color="grey", linestyle=":", label="workers")
    axes[2].set_yscale("log", base=2)
    labels = (
        ("at equal time", "Elo over the serial search"),
        ("with the same playouts in all", "Elo over the serial search"),
        ("strength speed-up", "serial playouts for the same strength, times"),
    )
    for ax, (heading, what) in zip(axes, labels):
        ax.set(title=heading, xlabel="workers", ylabel=what)
        count_axis(ax, workers)
    for ax in axes[:2]:
        ax.axhline(0, color="grey", linewidth=0.8)
    if panels == 4:
        _draw_throughput(axes[3], throughput)
    drawn.legend(*axes[2].get_legend_handles_labels(), loc="outside lower center", ncols=7, frameon=False)
    drawn.suptitle(title)
    return drawn


def plot_speed_up(ax, frame: pd.DataFrame):
    """The strength speed-up of each scheme against its workers, with 95 % bands; triangles are one-sided bounds."""
    from arena.results import plots

    schemes = frame["scheme"].unique().tolist()
    for number, (scheme, label) in enumerate(zip(schemes, plots.labels(schemes))):
        rows = frame[frame["scheme"] == scheme]
        style = plots.look(number) | {"label": label}
        _line(ax, rows["workers"], rows["speed_up"], rows["low"], rows["high"], rows["speed_up_bound"], style)
    workers = sorted(frame["workers"].unique())
    ax.plot(workers, workers, color="grey", linestyle=":", marker="", label="as many as workers")
    ax.set_yscale("log", base=2)
    ax.set(xlabel="workers", ylabel="strength speed-up")
    count_axis(ax, workers)
    ax.legend(fontsize="small", frameon=False)
    return ax


def _line(ax, workers, value, low, high, bound, style) -> None:
    """A line with its band; bounds are triangles."""
    workers, known = workers.to_numpy(), (bound == "").to_numpy()
    ax.plot(workers, value, **{"marker": "."} | style)
    ax.fill_between(workers, low, high, where=known, color=style["color"], alpha=0.15, linewidth=0)
    for mark, shape in ((">", "^"), ("<", "v")):
        beyond = (bound == mark).to_numpy()
        ax.plot(workers[beyond], value.to_numpy()[beyond], marker=shape, linestyle="none", color=style["color"])


def _draw_throughput(ax, throughput) -> None:
    threads = sorted(throughput["threads"].unique())
    for colour, (scheme, rows) in enumerate(throughput.groupby("scheme", sort=False)):
        ax.plot(rows["threads"], rows["speed_up"], marker=".", color=f"C{colour}", label=scheme)
    ax.plot(threads, threads, color="grey", linestyle=":")
    ax.set(title="playouts a second on threads", xlabel="threads", ylabel="times those of one thread")
    count_axis(ax, threads)


def count_axis(ax, counts) -> None:
    """A logarithmic axis with the counts that there are."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(count) for count in counts], minor=False)
    ax.grid(alpha=0.3)
