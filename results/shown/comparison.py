"""Two runs side by side: the changes of the agents in both.

Ratings are relative to the mean of the agents in both runs, as a pool has no other zero.  The runs are independent, so
the error of a change is the root of the sum of both squares.  With D_ij the error of the difference between i and j,
the error of agent a from the mean of k agents has the square, without covariances,

    sum_j D_aj^2 / k - sum_ij D_ij^2 / (2 k^2)
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import t as student

from arena.results.database.conditions import Condition
from arena.results.statistics.elo import CONFIDENCE
from arena.results.statistics.ratings import Ratings

SIGN = {1: "better", -1: "worse", 0: ""}  # in the second run


class NothingInCommon(ValueError):
    """Two runs that cannot be compared, and why."""


def compare(one, other) -> pd.DataFrame:
    """The agents of two tournaments (`results.Tournament`) in the conditions that both have; see `of_ratings` and
    `of_scores`.  NothingInCommon says what the runs do not share.
    """
    if one.single_player != other.single_player:
        raise NothingInCommon("the games of one run are for one player, and those of the other for two")
    shared = [name for name in one.names if name in other.names]
    least = 1 if one.single_player else 2
    if len(shared) < least:
        known = f"{', '.join(one.names)}, and {', '.join(other.names)}"
        raise NothingInCommon(f"the runs have {len(shared)} agents in common, and it takes {least}: they have {known}")
    places = _shared_conditions(one.conditions, other.conditions)
    if not places:
        raise NothingInCommon(f"the runs have no game in common: {_games(one)}, and {_games(other)}")
    one, other = (run.at(numbers) for run, numbers in zip((one, other), zip(*places)))
    if one.single_player:
        frame = of_scores(one.scores(), other.scores(), shared)
    else:
        frame = of_ratings(shared, [one.ratings, other.ratings], [_scores(run, shared) for run in (one, other)])
    frame.attrs = {"kind": "comparison"}
    return frame


def _games(run) -> str:
    return ", ".join(condition.label for condition in run.conditions)


def _shared_conditions(one: Sequence[Condition], other: Sequence[Condition]) -> list[tuple[int, int]]:
    """The numbers of equal conditions; of an imported run, whose condition is unknown, of the only ones."""
    if not (one[0].spec and other[0].spec):
        return list(zip((condition.number for condition in one), (condition.number for condition in other)))
    of = {(condition.spec, tuple(condition.limits.items())): condition.number for condition in other}
    keys = [(condition.number, (condition.spec, tuple(condition.limits.items()))) for condition in one]
    return [(number, of[key]) for number, key in keys if key in of]


def _scores(run, shared) -> pd.DataFrame:
    games = run.crosstable("games").reindex(index=shared, columns=shared).astype(float)
    points = (run.crosstable().reindex(index=shared, columns=shared) * games).sum(axis=1)
    total = games.sum(axis=1)
    return pd.DataFrame({"games": total.astype(int), "score": points / total.where(total > 0)})


def of_ratings(shared: Sequence[str], ratings: Sequence[Ratings], scores: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One row an agent in both runs, the one that has gained most first.

    Columns: agent; of each run games and score against the other shared agents, and elo and error from their mean;
    change of Elo and its 95 % error; verdict, "better", "worse" or empty where the interval holds 0.  NaN where a
    shared agent won or lost all games against the others, so that there is no mean.
    """
    frame = pd.DataFrame({"agent": list(shared)})
    for number, (rating, score) in enumerate(zip(ratings, scores), 1):
        elo, error = _from_mean(rating, shared)
        columns = {"games": score["games"].to_numpy(), "score": score["score"].to_numpy(), "elo": elo, "error": error}
        frame = frame.assign(**{f"{name}_{number}": values for name, values in columns.items()})
    frame["change"] = frame["elo_2"] - frame["elo_1"]
    frame["error"] = np.hypot(frame["error_1"], frame["error_2"])
    frame["verdict"] = _verdicts(frame["change"], frame["change"] - frame["error"], frame["change"] + frame["error"])
    return frame.sort_values("change", ascending=False, kind="stable", ignore_index=True)


def _from_mean(ratings: Ratings, shared) -> tuple[np.ndarray, np.ndarray]:
    where = [ratings.agents.index(name) for name in shared]
    elo, squares = ratings.elo[where], ratings.difference_error[np.ix_(where, where)] ** 2
    np.fill_diagonal(squares, 0)
    variance = squares.mean(axis=1) - squares.mean() / 2
    return np.where(np.isnan(variance), math.nan, elo - elo.mean()), np.sqrt(variance)


def of_scores(one: pd.DataFrame, other: pd.DataFrame, shared: Sequence[str]) -> pd.DataFrame:
    """One row an instance and an agent of games for one player, from two tables `scores`.

    Columns: instance, (budget,) agent; of each run runs and mean; change of the mean with its 95 % interval low to high
    (Welch, Biometrika 34, 1947), NaN where a run has fewer than two scores; verdict as in `of_ratings`.
    """
    keys = [name for name in ("instance", "budget", "agent") if name in one and name in other]
    kept = [*keys, "runs", "mean", "deviation"]
    both = one[one["agent"].isin(shared)][kept].merge(other[kept], on=keys, suffixes=("_1", "_2"))
    both = both[both["deviation_1"].notna() | both["runs_1"].eq(1)]  # no sums over all instances
    parts = [both[f"deviation_{number}"] ** 2 / both[f"runs_{number}"] for number in (1, 2)]
    freedom = (parts[0] + parts[1]) ** 2 / sum(
        part**2 / (both[f"runs_{number}"] - 1) for number, part in enumerate(parts, 1)
    )
    half = student.ppf((1 + CONFIDENCE) / 2, freedom) * np.sqrt(parts[0] + parts[1])
    half = half.where(parts[0] + parts[1] > 0, parts[0] + parts[1])  # of equal scores, or none
    change = both["mean_2"] - both["mean_1"]
    frame = both[[*keys, "runs_1", "mean_1", "runs_2", "mean_2"]].assign(
        change=change, low=change - half, high=change + half
    )
    frame["verdict"] = _verdicts(change, frame["low"], frame["high"])
    return frame.reset_index(drop=True)


def _verdicts(change, low, high) -> list[str]:
    signs = (low > 0).astype(int) - (high < 0).astype(int)
    return [SIGN[sign] for sign in signs]
