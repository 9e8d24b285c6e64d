"""The tables of a tournament, from its games; pure functions of data frames.

A row is a game, or, with a column games, stands for that many; its plies are then a sum.  Scores are 0 to 1; for Elo,
its 95 % error and its bound see `statistics.ratings`.  Void games are counted as such and nowhere else.
"""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.results.database.record import Reason
from arena.results.statistics.elo import PENTANOMIAL, pentanomial, trinomial
from arena.results.statistics.ratings import Ratings, counted, number

PAIR_SCORES = ("LL", "LD", "WL_DD", "WD", "WW")  # a pair's two results; WL_DD is one win each, or two draws
ESTIMATED = ("elo", "error", "bound", "los", "nelo", "nelo_error", "draw_ratio", "pairs_ratio")  # of `statistics.elo`


def standings(agents: Sequence[str], games: pd.DataFrame, ratings: Ratings) -> pd.DataFrame:
    """One row per agent, the best first.

    `ratings` are in the order of `agents`; `games` has columns first, second, outcome, reason.  Columns: rank, agent,
    elo, error, games, wins, draws, losses, void, forfeits (games lost so), score, bound, los (the likelihood of being
    stronger than the next agent); Elo comes early, so that pandas does not leave it out where it is printed.
    """
    frame = pd.DataFrame({"agent": list(agents), "elo": ratings.elo, "error": ratings.error})
    frame = frame.assign(**_results_by_agent(agents, games))
    frame["score"] = _score(frame["wins"], frame["draws"], frame["games"])
    frame["bound"] = list(ratings.bound)
    order = _order(frame)
    frame = frame.iloc[order].reset_index(drop=True)
    los = [ratings.superiority[a, b] for a, b in itertools.pairwise(order)]
    frame["los"] = np.array([*los, math.nan][: len(frame)], float)
    frame.insert(0, "rank", np.arange(1, len(frame) + 1))
    return frame


def _order(frame: pd.DataFrame) -> np.ndarray:
    """Lower bounds, estimates, agents not placed, upper bounds; estimates by Elo, others by score; then by name.

    Bounds say how far results reach, which is no order: who won one of a few games more may have the higher bound.
    """
    place = frame["bound"].map({">": 0, "": 1, "<": 3}).where(frame["elo"].notna(), 2)
    elo, score = -frame["elo"].fillna(0).round(6), -frame["score"].fillna(0)
    estimated = place == 1
    keys = pd.DataFrame(
        {
            "place": place,
            "first": elo.where(estimated, score),
            "second": score.where(estimated, elo),
            "number": np.arange(len(frame)),
        }
    )
    return keys.sort_values(list(keys), kind="stable").index.to_numpy()


def _results_by_agent(agents, games) -> dict[str, np.ndarray]:
    """Counts int[agents]: games with a result, wins, draws, losses, void, forfeits."""
    index = pd.Index(list(agents))
    first, second = index.get_indexer(games["first"]), index.get_indexer(games["second"])
    outcome = games["outcome"].to_numpy(float)
    void, forfeit = (games["reason"].isin(reasons).to_numpy() for reasons in (Reason.VOIDS, Reason.FORFEITS))

    paired, weights = second >= 0, number(games)  # a game for one player has no second

    def count(as_first, as_second):
        as_second = as_second & paired
        by_first = np.bincount(first[as_first], weights[as_first], len(agents))
        return (by_first + np.bincount(second[as_second], weights[as_second], len(agents))).astype(int)

    return {
        "games": count(~void, ~void),
        "wins": count(outcome == 1, outcome == 0),
        "draws": count(outcome == 0.5, outcome == 0.5),
        "losses": count(outcome == 0, outcome == 1),
        "void": count(void, void),
        "forfeits": count(forfeit & (outcome == 0), forfeit & (outcome == 1)),
    }


def _score(wins, draws, games):
    """The share of the points; NaN without games, or where games have no winner (one player)."""
    return ((wins + draws / 2) / games.where(games > 0)).astype(float)


def crosstable(agents: Sequence[str], counts: np.ndarray, values: str = "score") -> pd.DataFrame:
    """Each agent (row) against each other one (column), in the order of `agents`.

    `counts[agents, agents, 3]` as in `statistics.ratings`.  `values`: "score", the row's share of the points, or
    "games", their number; missing if they have not met.
    """
    if values not in ("score", "games"):
        raise ValueError(f"values = {values!r} is not one of score, games")
    wins = counts[:, :, 0] + counts[:, :, 2].T
    draws = counts[:, :, 1] + counts[:, :, 1].T
    games = (wins + wins.T + draws).astype(float)
    games[games == 0] = math.nan
    cells = games if values == "games" else (wins + draws / 2) / games
    frame = pd.DataFrame(cells, columns=list(agents), index=pd.Index(list(agents), name="agent"))
    return frame.astype("Int64") if values == "games" else frame


def differences(ratings: Ratings) -> pd.DataFrame:
    """One row for each ordered pair of agents: Elo of `agent` minus Elo of `against`, by the whole pool's ratings.

    The error is the difference's own, not that of the two ratings.  NaN where only the sign is known.
    """
    names, known = np.array(ratings.agents, dtype=object), ~np.isnan(ratings.difference_error)
    rows, columns = np.nonzero(~np.eye(len(names), dtype=bool))
    elo = np.where(known, ratings.elo[:, None] - ratings.elo[None, :], math.nan)
    return pd.DataFrame(
        {
            "agent": names[rows],
            "against": names[columns],
            "elo": elo[rows, columns],
            "error": ratings.difference_error[rows, columns],
            "bound": "",
            "los": ratings.superiority[rows, columns],
        }
    )


def pairs(agents: Sequence[str], games: pd.DataFrame, repeats: pd.Series | None = None) -> pd.DataFrame:
    """One row for each two agents `a` and `b` that were paired; results and Elo are `a`'s.

    `games` has columns condition, opening, first, second, outcome, reason.  LL to WW count the complete pairs (two
    games of one condition and opening, sides swapped) by a's results.  Elo and its error come from them, or from games
    if there are none; errors leave out games that, by `repeats: bool[games]`, repeat an earlier one.
    """
    index = pd.Index(list(agents))
    flat = by_pair(agents, games, repeats)
    whole = complete_pairs(flat)
    of_two, none = dict(iter(whole.groupby(["a", "b"]))), whole.iloc[:0]
    rows = []
    for (a, b), group in flat.groupby(["a", "b"], sort=True):
        points = group["points"]
        wins, draws, losses = (int((points == value).sum()) for value in (1, 0.5, 0))
        own = of_two.get((a, b), none)
        scores = pair_counts(own["points"])
        if len(own):
            estimate = pentanomial(scores.tolist(), max(1, int((~own["repeats"]).sum())))
        else:
            estimate = trinomial(wins, draws, losses, int((~group["repeats"] & points.notna()).sum()) or None)
        rows.append(
            [
                index[a],
                index[b],
                wins + draws + losses,
                wins,
                draws,
                losses,
                int(group["void"].sum()),
                trinomial(wins, draws, losses).score,
                *scores.tolist(),
                *(getattr(estimate, name) for name in ESTIMATED),
            ]
        )
    results = ("games", "wins", "draws", "losses", "void", "score")
    frame = pd.DataFrame(rows, columns=["a", "b", *results, *PAIR_SCORES, *ESTIMATED])
    return frame.astype({name: float for name in ("score", *ESTIMATED) if name != "bound"})


def by_pair(agents: Sequence[str], games: pd.DataFrame, repeats: pd.Series | None = None) -> pd.DataFrame:
    """One row per game of two agents: their indices a < b, condition, opening, side (1 if b moved first), points of a
    (NaN if void), void, repeats.
    """
    repeats = pd.Series(False, games.index) if repeats is None else repeats
    games, repeats = games[games["second"].notna()], repeats[games["second"].notna()]
    index = pd.Index(list(agents))
    first, second = index.get_indexer(games["first"]), index.get_indexer(games["second"])
    outcome = games["outcome"].to_numpy(float)
    return pd.DataFrame(
        {
            "a": np.minimum(first, second),
            "b": np.maximum(first, second),
            "condition": games["condition"].to_numpy(),
            "opening": games["opening"].to_numpy(),
            "side": (first > second).astype(int),
            "points": np.where(first < second, outcome, 1 - outcome),
            "void": games["reason"].isin(Reason.VOIDS).to_numpy(),
            "repeats": repeats.to_numpy(),
        }
    )


def complete_pairs(flat: pd.DataFrame) -> pd.DataFrame:
    """One row per complete pair of `by_pair`: condition, a, b, opening, points of a (0 to 2), repeats (both games)."""
    of_opening = flat[flat["points"].notna()].groupby(["condition", "a", "b", "opening"])
    summary = of_opening.agg(
        games=("points", "size"), sides=("side", "sum"), points=("points", "sum"), repeats=("repeats", "all")
    )
    return summary[(summary["games"] == 2) & (summary["sides"] == 1)].reset_index()


def meetings(agents: Sequence[str], games: pd.DataFrame, repeats: pd.Series | None = None) -> pd.DataFrame:
    """One row for each two agents by their complete pairs that repeat no other: a, b (numbers), pairs, mean (of a's
    points in a game), spread (variance of a pair's mean).
    """
    whole = complete_pairs(by_pair(agents, games, repeats))
    points = whole[~whole["repeats"]].assign(points=lambda frame: frame["points"] / 2).groupby(["a", "b"])["points"]
    return points.agg(pairs="size", mean="mean", spread="var").reset_index()


def pair_counts(points: pd.Series) -> np.ndarray:
    """int[5]: pairs with 0, 1/2, 1, 3/2, 2 points."""
    return np.bincount((2 * points).astype(int), minlength=len(PENTANOMIAL))


def win_rates(agents: Sequence[str], games: pd.DataFrame, effort: pd.DataFrame) -> pd.DataFrame:
    """One row per agent: games and score as first and as second player, and what it spent, void games included.

    `effort` has the column agent and, for at least seconds, playouts and nodes, the sum, and as `..._given` the
    decisions that count it.
    """
    index, frame = pd.Index(list(agents)), pd.DataFrame({"agent": list(agents)})
    played = counted(games)
    weights = number(played)
    for column, points in (("first", played["outcome"]), ("second", 1 - played["outcome"])):
        agent = index.get_indexer(played[column])
        n = np.bincount(agent, weights, len(agents))
        frame[f"games_{column}"] = n.astype(int)
        frame[f"score_{column}"] = _ratio(np.bincount(agent, weights * points.to_numpy(float), len(agents)), n)
    effort = effort.set_index("agent").reindex(list(agents)).astype(float)
    for name in ("seconds", "playouts", "nodes"):
        given = effort[f"{name}_given"]
        frame[f"{name}_per_move"] = (effort[name] / given.where(given > 0)).to_numpy()
    plies = played_by = np.zeros(len(agents))
    for column in ("first", "second"):
        agent = index.get_indexer(games[column])
        there = agent >= 0
        plies = plies + np.bincount(agent[there], games["plies"].to_numpy(float)[there], len(agents))
        played_by = played_by + np.bincount(agent[there], number(games)[there], len(agents))
    return frame.assign(plies_per_game=_ratio(plies, played_by))


def _ratio(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return np.divide(sums, counts, out=np.full(len(sums), math.nan), where=counts > 0)


def notes(games: pd.DataFrame) -> list[str]:
    """Sentences on games that were not played to the end."""
    lines = []
    alone = len(games) > 0 and games["second"].isna().all()
    lost = "broken off by a fault of the agent" if alone else "lost by forfeit"
    kinds = (Reason.VOIDS, "void: they count for nobody"), (Reason.FORFEITS, lost), (Reason.ADJUDICATED, "adjudicated")
    for reasons, what in kinds:
        ended_so = games["reason"].isin(reasons).to_numpy()
        found = pd.Series(number(games)[ended_so]).groupby(games["reason"].to_numpy()[ended_so]).sum()
        if len(found):
            each = ", ".join(f"{count} {reason}" for reason, count in found.items())
            verb = "was" if found.sum() == 1 else "were"
            lines.append(f"{found.sum()} of {number(games).sum()} games {verb} {what} ({each}).")
    return lines


def notes_on_versions(versions: list[dict]) -> list[str]:
    """A sentence for each change of the code that played: `digest`, the `games` stored before, and `agents` that have
    other names from there on.
    """
    return [
        f"Two versions of the code played: from stored game {now['games'] + 1} on other sources of games or agents "
        f"(digest {now['digest']}, before {was['digest']})."
        + "".join(f" From there on {name} is {other}." for name, other in now.get("agents", {}).items())
        for was, now in itertools.pairwise(versions)
    ]
