"""The figures of a tournament, from its tables: `tournament.plot.ratings()`."""

from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from arena.results.database.snapshot import EFFORT
from arena.results.shown import plots, scores


class Plotter:
    """Methods draw on `ax`, or on new axes, and return matplotlib's axes."""

    def __init__(self, tournament: Any):
        self.tournament = tournament

    def ratings(self, ax: Axes | None = None) -> Axes:
        """Elo with errors."""
        return plots.ratings(_axes(ax), self.tournament.standings())

    def crosstable(self, ax: Axes | None = None) -> Axes:
        """Scores against each other as a heat map."""
        return plots.crosstable(_axes(ax), self.tournament.crosstable())

    def cycles(self, ax: Axes | None = None) -> Axes:
        """Scores less what Elo expects, as a heat map: who beats whom against the ratings."""
        return plots.cycles(_axes(ax), self.tournament.residuals())

    def strength(self, of: str = "seconds", ax: Axes | None = None) -> Axes:
        """Elo against the seconds, playouts or nodes per move."""
        _check(of, ("seconds", "playouts", "nodes"))
        return plots.strength(_axes(ax), self._ordered(self.tournament.standings()), self.tournament.win_rates(), of)

    def lengths(self, ax: Axes | None = None) -> Axes:
        """The lengths of games, by winner."""
        return plots.lengths(_axes(ax), self.tournament.games)

    def sides(self, ax: Axes | None = None) -> Axes:
        """Scores by side, in the order of the standings."""
        return plots.sides(_axes(ax), self._ordered(self.tournament.win_rates()))

    def moves(self, of: str = "seconds", ax: Axes | None = None) -> Axes:
        """The mean along the game of a field of `Effort` such as seconds or depth."""
        _check(of, EFFORT)
        return plots.by_ply(_axes(ax), self.tournament.effort, of)

    def study(self, ax: Axes | None = None) -> Axes:
        """The cells of `study`, with intervals, a row per game; new axes are high enough."""
        frame = self.tournament.study()
        return plots.study(_axes(ax, 1.5 + 0.22 * (len(frame) + frame["instance"].nunique())), frame)

    def best_so_far(self, instance: str | None = None, against: str = "playouts", ax: Axes | None = None) -> Axes:
        """The best score against playouts or seconds, for one instance, by default the first.

        For `scores.ALL`, the mean over all, from 0 to 1; see `scores.normalised`.
        """
        instance = instance or self.tournament.instances[0]
        return plots.best_so_far(_axes(ax), self._curves(instance, against), instance)

    def _ordered(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame.set_index("agent").loc[self.tournament.order].reset_index()

    def _curves(self, instance: str, against: str) -> pd.DataFrame:
        frame = self.tournament.improvements()
        if "budget" in frame:
            frame["agent"] += ", " + frame["budget"]
        if instance == scores.ALL:
            frame = scores.normalised(frame)
        ends = self.tournament.moves().groupby("id")[against].sum() if len(frame) else None
        return scores.best_so_far(frame, against, ends)


def _axes(ax: Axes | None, height: float | None = None) -> Axes:
    """The axes, or new ones: of the usual size, or `height` inches high."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # looks for a screen

    return pyplot.subplots(figsize=height and (6.4, height), layout="constrained")[1]


def _check(of: str, quantities: Iterable[str]) -> None:
    if of not in quantities:
        raise ValueError(f"of = {of!r} is not one of {', '.join(quantities)}")
