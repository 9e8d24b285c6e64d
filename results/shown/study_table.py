"""The table of a study, as papers print it (`export`): a row per game, a column per budget or agent, and a
score with its interval in each cell.  The data have one row per cell: columns instance, budget, agent, games, value,
low, high.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.results.database.conditions import Condition
from arena.results.shown.scores import ALL as SUM
from arena.results.shown.tables import by_pair, complete_pairs, pair_counts
from arena.results.statistics.elo import mean_interval, score_interval

COLUMNS = ("instance", "budget", "agent", "games", "value", "low", "high")
MEAN = "mean"  # of all games, in the place of an instance


def win_rates(
    agents: Sequence[str], conditions: Sequence[Condition], games: pd.DataFrame, repeats: pd.Series
) -> pd.DataFrame:
    """The score of each agent against all others, 0 to 1, in each condition; with two agents, only of the first.

    The interval is `statistics.elo.score_interval` of the complete pairs, or of the games if there is none; `repeats:
    bool[games]` count once in it.  The value is of all games with a result.  Last comes the mean over all instances at
    each budget, if there are several and each has been played.
    """
    flat = by_pair(agents, games, repeats)
    whole = complete_pairs(flat)
    shown = range(1 if len(agents) == 2 else len(agents))
    rows = []
    for one in conditions:
        own, pairs = (table[table["condition"] == one.number] for table in (flat, whole))
        rows += [
            [one.instance, one.budget, agents[agent], *_score(_of(own, agent, 1), _of(pairs, agent, 2))]
            for agent in shown
        ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    return _typed(pd.concat([frame, *_means(frame)], ignore_index=True))


def _of(rows, agent, most) -> pd.DataFrame:
    own = rows[(rows["a"] == agent) | (rows["b"] == agent)]
    return own.assign(points=own["points"].where(own["a"] == agent, most - own["points"]))


def _score(games, pairs) -> tuple[int, float, float, float]:
    games = games[games["points"].notna()]
    if not len(games):
        return 0, math.nan, math.nan, math.nan
    samples = pairs if len(pairs) else games
    if len(pairs):
        counts = pair_counts(pairs["points"])
    else:
        counts = np.bincount((2 * games["points"]).astype(int), minlength=3)
    value = float(games["points"].mean())
    low, high = score_interval(counts.tolist(), max(1, int((~samples["repeats"]).sum())))
    return len(games), value, min(low, value), max(high, value)  # games beside the pairs may lie outside


def _means(frame) -> list[pd.DataFrame]:
    rows = []
    for (budget, agent), group in frame.groupby(["budget", "agent"], sort=False):
        if len(group) > 1 and group["value"].notna().all():
            value, low, high = mean_interval(group["value"], group["low"], group["high"])
            rows.append([MEAN, budget, agent, group["games"].sum(), value, low, high])
    return [pd.DataFrame(rows, columns=list(COLUMNS))] if rows else []


def mean_scores(scores: pd.DataFrame, conditions: Sequence[Condition], agents: Sequence[str]) -> pd.DataFrame:
    """The mean score of each agent in each condition, from the table `scores`, with its bootstrap intervals.

    If all instances are of one game, such as boards of SameGame, the last row is the sum of their means.
    """
    frame = scores if "budget" in scores else scores.assign(budget=conditions[0].budget)
    if len({condition.spec.partition("(")[0] for condition in conditions}) > 1:
        frame = frame[frame["instance"] != SUM]
    frame = frame.rename(columns={"runs": "games", "mean": "value"})[list(COLUMNS)]
    places = [
        frame[name].map({value: place for place, value in enumerate(values)})
        for name, values in (
            ("instance", [*dict.fromkeys(condition.instance for condition in conditions), SUM]),
            ("budget", dict.fromkeys(condition.budget for condition in conditions)),
            ("agent", agents),
        )
    ]
    return _typed(frame.iloc[np.lexsort(places[::-1])].reset_index(drop=True))


def _typed(frame) -> pd.DataFrame:
    return frame.astype({"games": int, "value": float, "low": float, "high": float})


def caption(agents: Sequence[str], frame: pd.DataFrame, single_player: bool) -> str:
    """What the cells are, in a line above them."""
    counts = frame["games"][~frame["instance"].isin((MEAN, SUM))]
    each = f"{counts.min():,}" if counts.nunique() == 1 else f"{counts.min():,} to {counts.max():,}"
    if single_player:
        return f"Mean score with 95 % intervals; {each} runs a cell"
    who = f"{agents[0]} against {agents[1]}" if len(agents) == 2 else "each agent against all others"
    return f"Score of {who} in %, with 95 % intervals; {each} games a cell"
