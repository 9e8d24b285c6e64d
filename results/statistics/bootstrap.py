"""The errors of ratings once more: the pool rated again and again from pairs drawn with replacement."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.results.statistics.draws import USUAL
from arena.results.statistics.ratings import AnchorError, counted, rate, result_codes, tells_nothing


def bootstrap(agents: Sequence[str], games: pd.DataFrame, samples: int, seed: int, **options) -> pd.DataFrame:
    """95 % intervals of the agents' Elo by the percentile bootstrap (Efron, Annals of Statistics 7, 1979).

    `games` has columns condition, opening, first, second, outcome; `options` are of `ratings.rate`.  Drawn are
    pairs: games of two agents in one condition that share an opening, as many for each two and condition as they
    played.  Returns a frame: agent, low, high, error (half of high - low), and samples, those in which every agent had
    a finite rating.  NaN if there is none.
    """
    ratings = resampled(agents, games, samples, seed, **options)
    frame = pd.DataFrame({"agent": list(agents)})
    low, high = np.percentile(ratings, [2.5, 97.5], axis=0) if len(ratings) else np.full((2, len(agents)), np.nan)
    return frame.assign(low=low, high=high, error=(high - low) / 2, samples=len(ratings))


def resampled(agents: Sequence[str], games: pd.DataFrame, samples: int, seed: int, **options) -> np.ndarray:
    """float64[samples, agents]: the Elo of each sample in which every agent had a finite rating; as of `bootstrap`."""
    if samples < 1:
        raise ValueError(f"samples = {samples} is out of range: at least 1")
    games = counted(games)
    meeting = _meetings(agents, games)
    pairs = games.groupby([meeting, "opening"], sort=True).ngroup().to_numpy()
    meeting_of = pd.Series(meeting).groupby(pairs).first().to_numpy()
    codes, n = result_codes(agents, games), len(agents)
    bounded = options.get("advantage", True) and not options.get("anchors")
    draws = options.get("draws", USUAL)
    rng = np.random.default_rng(seed)
    ratings = []
    for _ in range(samples):
        drawn = np.bincount(_resample(meeting_of, rng), minlength=len(meeting_of))
        counts = np.bincount(codes, weights=drawn[pairs], minlength=3 * n * n).reshape(n, n, 3)
        if bounded and tells_nothing(counts, draws):  # nobody's rating is finite, and a bound takes long
            continue
        try:
            rated = rate(agents, counts, **options)
        except AnchorError:  # an anchor has won all games that tie it to another
            continue
        if np.isfinite(rated.elo).all() and not any(rated.bound):
            ratings.append(rated.elo)
    return np.array(ratings).reshape(-1, n)


def _meetings(agents, games) -> np.ndarray:
    """int[games]: a number by condition and two agents, in order."""
    index = pd.Index(list(agents))
    seats = np.sort([index.get_indexer(games[side]) for side in ("first", "second")], axis=0)
    frame = pd.DataFrame({"condition": games["condition"].to_numpy(), "a": seats[0], "b": seats[1]})
    return frame.groupby(["condition", "a", "b"], sort=True).ngroup().to_numpy()


def _resample(meeting_of: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Indices of pairs, drawn with replacement within each meeting; meeting_of ascends."""
    starts = np.searchsorted(meeting_of, meeting_of, side="left")
    ends = np.searchsorted(meeting_of, meeting_of, side="right")
    return rng.integers(starts, ends)
