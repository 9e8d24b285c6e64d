"""Tables of runs in which an agent plays by itself for a score; pure functions of data frames.

Larger is better.  Failed runs are counted as such and nowhere else.  Intervals are 95 %, by the percentile bootstrap
over runs (Efron, Annals of Statistics 7, 1979), within each instance where several are summed.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

RESAMPLES = 4_999
ALL = "all instances"
COLUMNS = (
    "instance", "rank", "agent", "runs", "failed", "mean", "low", "high", "best", "median", "deviation", "seconds",
)  # fmt: skip


def scores(
    agents: Sequence[str], instances: Sequence[str], runs: pd.DataFrame, seed: int = 0, intervals: bool = True
) -> pd.DataFrame:
    """One row for each instance and agent, the best mean of an instance first; then for all instances together.

    `runs` has columns instance (its number), first (the agent), score (NaN where a run failed), seconds.  Columns:
    COLUMNS, where low and high are the mean's interval, deviation is the sample standard deviation, and seconds are the
    mean of a run.  For all instances together, mean, low, high and best are sums, missing for an agent without a run on
    each; median and deviation are missing.  Without `intervals`, which is quicker, low and high are missing.
    """
    rng = np.random.default_rng(seed) if intervals else None
    by_place = dict(iter(runs.groupby(["instance", "first"], sort=False)))
    empty = runs.iloc[:0]
    rows = []
    for number, instance in enumerate(instances):
        groups = [by_place.get((number, agent), empty) for agent in agents]
        rows += _ranked([_row(instance, agent, [group], rng) for agent, group in zip(agents, groups)])
    if len(instances) > 1:
        groups = [[by_place.get((number, agent), empty) for number in range(len(instances))] for agent in agents]
        rows += _ranked([_row(ALL, agent, of_agent, rng) for agent, of_agent in zip(agents, groups)])
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return frame.astype({"rank": "Int64"} | dict.fromkeys(COLUMNS[5:], float))


def _ranked(rows: list[dict]) -> list[dict]:
    rows = sorted(rows, key=lambda row: (math.isnan(row["mean"]), -row["mean"]))
    for row in rows:
        better = sum(other["mean"] > row["mean"] for other in rows)
        row["rank"] = None if math.isnan(row["mean"]) else better + 1
    return rows


def _row(instance, agent, groups, rng) -> dict:
    samples = [group["score"].dropna().to_numpy(float) for group in groups]
    whole, single = all(len(sample) for sample in samples), len(samples) == 1
    low, high = interval(samples, rng) if whole and rng else (math.nan, math.nan)
    counted = sum(map(len, samples))
    seconds = pd.concat([group["seconds"] for group in groups])
    return {
        "instance": instance,
        "agent": agent,
        "runs": counted,
        "failed": sum(map(len, groups)) - counted,
        "mean": sum(sample.mean() for sample in samples) if whole else math.nan,
        "low": low,
        "high": high,
        "best": sum(sample.max() for sample in samples) if whole else math.nan,
        "median": float(np.median(samples[0])) if whole and single else math.nan,
        "deviation": float(samples[0].std(ddof=1)) if single and counted > 1 else math.nan,
        "seconds": float(seconds.mean()) if len(seconds) else math.nan,
    }


def interval(samples: Sequence[np.ndarray], rng: np.random.Generator) -> tuple[float, float]:
    """The 95 % interval of the sum of the means; NaN where a sample is a single value."""
    if min(map(len, samples)) < 2:
        return math.nan, math.nan
    means = sum(sample.mean() for sample in samples)
    if all(np.ptp(sample) == 0 for sample in samples):
        return means, means

    from scipy.stats import bootstrap  # loads for half a second

    def sum_of_means(*drawn, axis):
        return sum(sample.mean(axis=axis) for sample in drawn)

    found = bootstrap(
        samples, sum_of_means, n_resamples=RESAMPLES, batch=500, vectorized=True, method="percentile", random_state=rng
    )
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def best_so_far(improvements: pd.DataFrame, against: str, ends: pd.Series | None = None) -> pd.DataFrame:
    """How the best score of a run grows: for each instance and agent, the mean over runs at every improvement of one.

    `improvements` has columns id (the run's), instance, agent, score, and the one that `against` names, playouts or
    seconds, ascending within a run.  `ends` has, by id, how much of `against` a run spent: with it, a curve goes on to
    the end of the longest run.  Columns: instance, agent, `against`, mean, low and high (the quartiles of the runs).
    Rows begin where every run has a score.
    """
    if against not in ("playouts", "seconds"):
        raise ValueError(f"against = {against!r} is not one of playouts, seconds")
    if ends is not None:
        improvements = _to_their_ends(improvements, against, ends)
    rows = []
    for (instance, agent), group in improvements.groupby(["instance", "agent"], sort=False):
        curves = (
            group.pivot_table(index=against, columns="id", values="score", aggfunc="max").sort_index().ffill().dropna()
        )
        low, high = np.percentile(curves.to_numpy(), [25, 75], axis=1) if len(curves) else ((), ())
        means = {"mean": curves.mean(axis=1).to_numpy(), "low": low, "high": high}
        rows.append(pd.DataFrame({"instance": instance, "agent": agent, against: curves.index, **means}))
    columns = ["instance", "agent", against, "mean", "low", "high"]
    return pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=columns)


def _to_their_ends(improvements, against, ends) -> pd.DataFrame:
    last = improvements.groupby("id", sort=False).tail(1)
    over = last["id"].map(ends).astype(float)
    there = last.assign(**{against: over})[(over > last[against]).to_numpy()]
    return pd.concat([improvements.astype({against: float}), there], ignore_index=True)


def normalised(improvements: pd.DataFrame) -> pd.DataFrame:
    """The improvements of all instances as of one: on each, 0 is the lowest first score of a run, 1 the best score
    found.  Instances on which all runs found the same from the first on are left out.
    """
    by_instance = improvements.groupby("instance", sort=False)
    low = (
        by_instance["instance"]
        .transform("first")
        .map(improvements.groupby("id", sort=False).first().groupby("instance")["score"].min())
    )
    high = by_instance["score"].transform("max")
    frame = improvements.assign(instance=ALL, score=(improvements["score"] - low) / (high - low).where(high > low))
    return frame.dropna(subset="score")
