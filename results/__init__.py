"""Results of games that have been played: the store, ratings, tables, export.

t = results.load("runs/first")
t.standings(); t.crosstable(); t.pairs(); t.win_rates(); t.games; t.moves()   # pandas
t.rate(draws="rao-kupper", anchors={"uct": 1500}); t.bootstrap(samples=200)   # ratings by other options
t.styled("crosstable"); t.plot.ratings(); t.plot.moves("depth")               # for notebooks
t.scores(); t.improvements(); t.plot.best_so_far()                            # of games for one player
results.render(t.table("standings"), "markdown")
results.Sprt(elo0=0, elo1=5).state([3, 7, 21, 9, 4])                          # of pairs LL, LD, WL or DD, WD, WW
"""

import importlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # for type checkers: what `__getattr__` finds
    from arena.results.database.record import GameRecord as GameRecord
    from arena.results.database.record import MoveRecord as MoveRecord
    from arena.results.database.record import Reason as Reason
    from arena.results.database.store import Store as Store
    from arena.results.database.store import StoreBusy as StoreBusy
    from arena.results.database.store import StoreError as StoreError
    from arena.results.database.store import StoreExists as StoreExists
    from arena.results.shown.export import render as render
    from arena.results.shown.tournament import Tournament as Tournament
    from arena.results.statistics.ratings import Ratings as Ratings
    from arena.results.statistics.ratings import rate as rate
    from arena.results.statistics.sprt import Sprt as Sprt

_HOMES = {
    "GameRecord": "arena.results.database.record",
    "MoveRecord": "arena.results.database.record",
    "Reason": "arena.results.database.record",
    "Store": "arena.results.database.store",
    "StoreError": "arena.results.database.store",
    "StoreBusy": "arena.results.database.store",
    "StoreExists": "arena.results.database.store",
    "Tournament": "arena.results.shown.tournament",
    "Ratings": "arena.results.statistics.ratings",
    "rate": "arena.results.statistics.ratings",
    "render": "arena.results.shown.export",
    "Sprt": "arena.results.statistics.sprt",
}

__all__ = [*_HOMES, "load"]


def load(folder: "str | os.PathLike[str]") -> "Tournament":
    """The tournament in `folder` as it is now; StoreError says why it cannot be read."""
    from arena.results.shown.tournament import Tournament

    return Tournament.load(folder)


if not TYPE_CHECKING:  # a type checker reports any other name

    def __getattr__(name):
        # pandas and SciPy are loaded only when needed: other commands are quick
        if name in _HOMES:
            return getattr(importlib.import_module(_HOMES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
