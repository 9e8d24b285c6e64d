"""A tournament as it was stored at one moment: its games and moves as data frames, and the tables made from them."""

import os
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from results import repeats, tables
from results.bootstrap import bootstrap
from results.ratings import Ratings, count_results, rate
from results.store import GAME_COLUMNS, Store

GAME_TABLE = (
    "id", "number", "pairing", "opening", "first", "second", "outcome", "score", "reason", "detail", "plies",
    "opening_moves", "moves", "seed", "seconds",
)
MOVE_TABLE = (
    "id", "ply", "agent", "side", "move", "value", "playouts", "playouts_each", "virtual_time", "nodes", "depth", "seconds",
)
FLOATS = ("outcome", "score", "seconds", "value", "virtual_time")
COUNTS_OR_NONE = ("playouts", "playouts_each", "nodes", "depth")

_AGENT = "CASE moves.side WHEN 0 THEN games.first ELSE games.second END"


class Tournament:
    """What a folder held when it was loaded.  Games added later are not in it; load again to see them."""

    def __init__(self, folder: Path, meta: dict, agents: list[dict], games: pd.DataFrame, last_game: int):
        self.folder = folder
        self.meta = meta                # resolved configuration, version, machine: what the runner stored
        self.agents = agents            # {"name", "spec"}, in the order of the configuration
        self.games = games              # one row a game, in the order of the schedule
        self._last_game = last_game     # games are numbered as they end, so this number delimits the snapshot

    @classmethod
    def load(cls, folder: str | os.PathLike) -> "Tournament":
        """The tournament in `folder`; StoreError if it cannot be read."""
        with Store.open(folder) as store:
            rows = store.select(f"SELECT game, {', '.join(GAME_COLUMNS)} FROM games ORDER BY number")
            frame = _frame(rows, ("game", *GAME_COLUMNS))
            frame["seed"] = frame["seed"].to_numpy(np.int64).view(np.uint64)
            last = int(frame["game"].max()) if len(frame) else 0
            return cls(Path(folder), store.meta, store.agents, frame[list(GAME_TABLE)], last)

    @property
    def names(self) -> list[str]:
        """The agents' names, in the order of the configuration."""
        return [agent["name"] for agent in self.agents]

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of the agents, in the order of the configuration."""
        return self.rate()

    def rate(self, **options) -> Ratings:
        """Ratings with the options `draws`, `advantage`, `anchors` of `results.ratings.rate`."""
        distinct = count_results(self.names, self.games[~self.repeats])
        return rate(self.names, self._counts, distinct, **options)

    def bootstrap(self, samples: int = 200, seed: int = 0, **options) -> pd.DataFrame:
        """A second opinion on the errors of `rate(**options)`, from games that differ; see `results.bootstrap`."""
        return bootstrap(self.names, self.games[~self.repeats], samples, seed, **options)

    @cached_property
    def repeats(self) -> pd.Series:
        """bool, along `games`: which repeat an earlier one; see `results.repeats`."""
        return repeats.repeated(self.games)

    @cached_property
    def _counts(self) -> np.ndarray:
        return count_results(self.names, self.games)

    def moves(self) -> pd.DataFrame:
        """One row a decision, in the order of the schedule; read from the store at each call."""
        query = (
            f"SELECT games.id, moves.ply, {_AGENT}, moves.side, moves.move, moves.value, moves.playouts, "
            "moves.playouts_each, moves.virtual_time, moves.nodes, moves.depth, moves.seconds FROM moves JOIN games USING (game) WHERE game <= ? "
            "ORDER BY games.number, moves.ply"
        )
        return _frame(self._select(query), MOVE_TABLE)

    def standings(self) -> pd.DataFrame:
        """See `results.tables.standings`."""
        return tables.standings(self.names, self.games, self.ratings)

    def crosstable(self, values: str = "score") -> pd.DataFrame:
        """Rows and columns in the order of the standings; see `results.tables.crosstable`."""
        order = self.standings()["agent"].tolist()
        where = [self.names.index(name) for name in order]
        return tables.crosstable(order, self._counts[np.ix_(where, where)], values)

    def pairs(self) -> pd.DataFrame:
        """See `results.tables.pairs`."""
        return tables.pairs(self.names, self.games, self.repeats)

    def differences(self) -> pd.DataFrame:
        """See `results.tables.differences`."""
        return tables.differences(self.ratings)

    def win_rates(self) -> pd.DataFrame:
        """See `results.tables.win_rates`; reads the moves from the store."""
        query = (
            f"SELECT {_AGENT}, COUNT(*), SUM(moves.seconds), SUM(moves.playouts), SUM(moves.nodes), "
            "COUNT(moves.playouts), COUNT(moves.nodes) FROM moves JOIN games USING (game) WHERE game <= ? GROUP BY 1"
        )
        names = ("agent", "decisions", "seconds", "playouts", "nodes", "playouts_given", "nodes_given")
        return tables.win_rates(self.names, self.games, pd.DataFrame(self._select(query), columns=names))

    def notes(self) -> list[str]:
        """What a reader of the tables must know, in sentences."""
        return self.notes_of(self.ratings)

    def notes_of(self, ratings: Ratings) -> list[str]:
        """The same, with the notes of ratings by other options."""
        return tables.notes(self.games) + repeats.notes(self.games, self.repeats) + ratings.notes

    def table(self, kind: str) -> pd.DataFrame:
        """The table of that kind, ready for `results.export.render`; ValueError names the kinds."""
        if kind not in tables.KINDS:
            raise ValueError(f"no table {kind!r}; there are {', '.join(tables.KINDS)}")
        frame = self.games.copy() if kind == "games" else getattr(self, kind)()
        frame.attrs["kind"] = kind
        return frame

    def _select(self, query: str) -> list[tuple]:
        with Store.open(self.folder) as store:
            return store.select(query, (self._last_game,))


def _frame(rows: list[tuple], columns) -> pd.DataFrame:
    """Rows of SQLite as a frame with the same types whatever they hold, be it nothing."""
    frame = pd.DataFrame.from_records(rows, columns=list(columns))
    types = {name: float for name in FLOATS if name in frame}
    types |= {name: "Int64" for name in COUNTS_OR_NONE if name in frame}
    return frame.astype(types)
