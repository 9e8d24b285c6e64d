"""A tournament as it was stored at one moment: its games and moves as data frames, and the tables made from them."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from agents.core.effort import Effort
from results import repeats, scores, study, summary, tables, tallies
from results.bootstrap import bootstrap
from results.columns import frame_types
from results.conditions import Condition, conditions_of
from results.kinds import KINDS, SINGLE_PLAYER_KINDS
from results.ratings import Ratings, count_results, rate
from results.record import GameRecord, ImprovementRecord, MoveRecord
from results.shown import shown_as
from results.store import (
    GAMES_VERIFIED,
    IMPROVEMENT_COLUMNS,
    MOVE_COLUMNS,
    MOVES_VERIFIED,
    ROW,
    Store,
    StoreDamaged,
    StoreError,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas.io.formats.style import Styler

GAME_TABLE = (
    "id",
    "number",
    "condition",
    "opening",
    "first",
    "second",
    "outcome",
    "score",
    "reason",
    "detail",
    "plies",
    "opening_moves",
    "moves",
    "seed",
    "seconds",
)
SINGLE_PLAYER = "single_player"  # the format of runs in which every agent plays by itself
ALL = "all"  # conditions together
EFFORT = tuple(field.name for field in fields(Effort))

PAIRED = ("number", "condition", "opening", "first", "second", "outcome", "reason")  # what pairs are made of

_AGENT = "CASE moves.side WHEN 0 THEN games.first ELSE games.second END"


class Tournament:
    """What a folder held when it was loaded; load it again to see games added later."""

    def __init__(self, folder: Path, meta: dict, agents: list[dict], sums: pd.DataFrame):
        self.folder = folder
        self.meta = meta  # resolved configuration, version, machine: what the runner stored
        self.agents = agents  # {"name", "spec"}, in the order of the configuration
        self.tallies = sums  # the games counted by condition, players, outcome and reason; see `results.tallies`
        self.conditions = conditions_of(meta["config"]) if "config" in meta else _unnamed(sums["condition"])
        self._last_game = len(self)  # games are numbered as they end, so this number delimits the snapshot

    @classmethod
    def load(cls, folder: str | os.PathLike) -> "Tournament":
        """The tournament in `folder`; StoreError if it cannot be read, or damage is found.

        Up to GAMES_VERIFIED games are all verified here; in larger runs, games are verified when they are read.
        """
        with Store.open(folder) as store, store.unchanged():
            loaded = cls(Path(folder), store.meta, store.agents, _tallies(store.tallies()))
            if len(loaded) <= GAMES_VERIFIED:
                loaded.games = loaded._read_games(store)
        return loaded

    @classmethod
    def glimpse(cls, folder: str | os.PathLike) -> "Tournament":
        """The tournament in `folder` from its tallies alone; games are read, and verified, when they are asked for."""
        with Store.open(folder) as store, store.unchanged():
            return cls(Path(folder), store.meta, store.agents, _tallies(store.tallies()))

    def __len__(self) -> int:
        """How many games are stored."""
        return int(self.tallies["games"].sum())

    @cached_property
    def games(self) -> pd.DataFrame:
        """One row per game, in the order of the schedule; for a large run, read and verified when first used."""
        with Store.open(self.folder) as store:
            return self._read_games(store)

    def _read_games(self, store) -> pd.DataFrame:
        """The games of these conditions; StoreDamaged if one is not as it was stored."""
        columns = ("game", *GAME_TABLE)
        rows = map(itemgetter(*map(ROW.index, columns)), store.rows(self._last_game))
        frame = _frame(_shared(rows, columns), columns, GameRecord)
        frame = frame[frame["condition"].isin([one.number for one in self.conditions])]
        frame["seed"] = frame["seed"].to_numpy(np.int64).view(np.uint64)
        self._check_tallies(store, frame)
        return self._told_apart(frame.sort_values("number", ignore_index=True)[list(GAME_TABLE)])

    def _paired(self) -> pd.DataFrame:
        """The columns that tables of pairs need, which are quicker to read, and whether a game repeats another.

        The tallies verify them.
        """
        if "games" in vars(self) or len(self._repetitions):
            return self.games.assign(repeats=self.repeats)
        with Store.open(self.folder) as store:
            found = store.each(f"SELECT {', '.join(PAIRED)} FROM games WHERE {self._shown()}")
            frame = _frame(_shared(found, PAIRED), PAIRED, GameRecord)
            self._check_tallies(store, frame)
        return frame.sort_values("number", ignore_index=True).assign(repeats=False)

    def _check_tallies(self, store, games) -> None:
        """StoreDamaged unless the games add up to the tallies."""
        sums = ["games", "openings", *(["plies"] if "plies" in games else [])]
        games = games.rename(columns={"opening": "openings"}).assign(games=1)[[*tallies.KEYS, *sums]]
        counted, expected = (
            frame.groupby(list(tallies.KEYS), dropna=False)[sums].sum() for frame in (games, self.tallies)
        )
        if not counted.equals(expected):
            raise StoreDamaged(store.path, "its games do not add up to its tallies")

    @property
    def names(self) -> list[str]:
        """The agents' names, in the order of the configuration."""
        return [agent["name"] for agent in self.agents]

    @property
    def instances(self) -> list[str]:
        """The games that are played, each named as briefly as tells it from the others."""
        return list(dict.fromkeys(condition.instance for condition in self.conditions))

    @property
    def budgets(self) -> list[str]:
        """The budgets that the games are played at, such as `1000 playouts`; one empty text if there is none."""
        return list(dict.fromkeys(condition.budget for condition in self.conditions))

    @property
    def single_player(self) -> bool:
        """Whether the games are for one player, for a score."""
        if "config" in self.meta:
            return self.meta["config"]["format"] == SINGLE_PLAYER
        return len(self) > 0 and bool(self.tallies["second"].isna().all())

    def at(self, conditions: Iterable[int]) -> "Tournament":
        """The same tournament with only the games of these conditions, by number; every table covers only these."""
        wanted = set(conditions)
        if strange := sorted(wanted - {condition.number for condition in self.conditions}):
            last = self.conditions[-1].number
            raise ValueError(f"condition = {strange[0]} is out of range: the run has 0 to {last}")
        sums = self.tallies[self.tallies["condition"].isin(wanted)].reset_index(drop=True)
        part = Tournament(self.folder, self.meta, self.agents, sums)
        part.conditions = [condition for condition in self.conditions if condition.number in wanted]
        part._last_game = self._last_game
        if "games" in vars(self):
            part.games = self.games[self.games["condition"].isin(wanted)].reset_index(drop=True)
        return part

    def _told_apart(self, games) -> pd.DataFrame:
        """The games; if there are several conditions, with the instance, the budget, or both."""
        for name in ("budget", "instance"):
            labels = {condition.number: getattr(condition, name) for condition in self.conditions}
            if len(set(labels.values())) > 1 and name not in games:
                games.insert(games.columns.get_loc("condition") + 1, name, games["condition"].map(labels))
        return games

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of the agents, in the order of the configuration."""
        return self.rate()

    def rate(self, **options) -> Ratings:
        """Ratings with the options `draws`, `advantage`, `anchors` of `results.ratings.rate`.

        StoreError if the games are for one player.
        """
        if self.single_player:
            text = "are of games for one player, which nobody wins; `arena table` and `arena curve` tell of them"
            raise StoreError(f"the runs in {self.folder} {text}")
        repetitions = count_results(self.names, self._repetitions)
        return rate(self.names, self._counts, self._counts - repetitions, **options)

    def bootstrap(self, samples: int = 200, seed: int = 0, **options) -> pd.DataFrame:
        """A second opinion on the errors of `rate(**options)`, from games that differ; see `results.bootstrap`."""
        games = self._paired()
        return bootstrap(self.names, games[~games["repeats"]], samples, seed, **options)

    @cached_property
    def repeats(self) -> pd.Series:
        """bool, along `games`: which games repeat an earlier one; see `results.repeats`."""
        return repeats.repeated(self.games)

    @cached_property
    def _repetitions(self) -> pd.DataFrame:
        """The tallies of the games that repeat an earlier one, without empty ones."""
        return repeats.tallied(self.tallies)

    @cached_property
    def _counts(self) -> np.ndarray:
        return count_results(self.names, self.tallies)

    def moves(self) -> pd.DataFrame:
        """One row per decision, in the order of the schedule; read from the store at each call."""
        with Store.open(self.folder) as store:
            columns = "game, number, id, first, second"
            of = {game: rest for game, *rest in store.each(f"SELECT {columns} FROM games WHERE {self._shown()}")}
            parts = [(of[game], rows) for game, rows in store.verified_parts("moves", self._last_game) if game in of]
        parts.sort(key=itemgetter(0))
        side = MOVE_COLUMNS.index("side")
        rows = [(id, (first, second)[row[side]], *row) for (_, id, first, second), part in parts for row in part]
        frame = _frame(rows, ("id", "agent", *MOVE_COLUMNS), MoveRecord)
        return frame[["id", "ply", "agent", *(name for name in MOVE_COLUMNS if name != "ply")]]

    @shown_as("standings")
    def standings(self, condition: int | None = None) -> pd.DataFrame:
        """The standings over all games, or over one condition's, by number; see `results.tables.standings`."""
        if condition is not None:
            return self.at([condition]).standings()
        return tables.standings(self.names, self.tallies, self.ratings)

    @shown_as("ratings")
    def ratings_by_condition(self) -> pd.DataFrame:
        """The standings over all games, then those of each condition, told apart by columns instance and budget."""
        blocks = [(ALL, ALL, self.standings())]
        blocks += [(one.instance, one.budget, self.standings(one.number)) for one in self.conditions]
        frames = [frame.assign(instance=instance, budget=budget) for instance, budget, frame in blocks]
        columns = [name for name in ("instance", "budget") if len(getattr(self, f"{name}s")) > 1]
        return pd.concat(frames, ignore_index=True)[[*columns, *frames[0].columns[:-2]]]

    @shown_as("crosstable")
    def crosstable(self, values: str = "score") -> pd.DataFrame:
        """Each agent against each other, in the order of the standings; see `results.tables.crosstable`."""
        order = self.standings()["agent"].tolist()
        where = [self.names.index(name) for name in order]
        return tables.crosstable(order, self._counts[np.ix_(where, where)], values)

    @shown_as("pairs")
    def pairs(self) -> pd.DataFrame:
        """One row for each two agents that met; see `results.tables.pairs`."""
        games = self._paired()
        return tables.pairs(self.names, games, games["repeats"])

    @shown_as("differences")
    def differences(self) -> pd.DataFrame:
        """Elo differences, one row for each ordered pair of agents; see `results.tables.differences`."""
        return tables.differences(self.ratings)

    @shown_as("win_rates")
    def win_rates(self) -> pd.DataFrame:
        """One row per agent: scores by side, and effort; see `results.tables.win_rates`; reads moves from the store."""
        by_agent = self.effort.groupby("agent", sort=False).sum().reset_index()
        return tables.win_rates(self.names, self.tallies, by_agent)

    @cached_property
    def effort(self) -> pd.DataFrame:
        """What the agents spent: one row per agent and ply, the agents in the order of the standings.

        Columns agent, ply, decisions; for each field of `Effort`, its sum, under its name, and the number of decisions
        that count it, `..._given`.  Read from the store when first used, and verified before if there are at
        most MOVES_VERIFIED decisions.
        """
        sums = ", ".join(f"SUM(moves.{name}), COUNT(moves.{name})" for name in EFFORT)
        query = (
            f"SELECT {_AGENT}, moves.ply, COUNT(*), {sums} FROM moves JOIN games USING (game) "
            f"WHERE {self._shown()} GROUP BY 1, 2"
        )
        names = [column for name in EFFORT for column in (name, f"{name}_given")]
        with Store.open(self.folder) as store:
            if self.tallies["decisions"].sum() <= MOVES_VERIFIED:
                deque(store.verified_parts("moves", self._last_game), 0)
            frame = pd.DataFrame(store.select(query), columns=["agent", "ply", "decisions", *names])
        frame = frame.astype(dict.fromkeys(EFFORT, float))
        place = {name: place for place, name in enumerate(self.standings()["agent"])}
        order = frame.assign(place=frame["agent"].map(place)).sort_values(["place", "ply"]).index
        return frame.loc[order].reset_index(drop=True)

    def summary(self) -> list[str]:
        """Sentences on who won, who can be told apart, and the first player's advantage; see `results.summary`."""
        return summary.summary(self.standings(), self.tallies, self.ratings, len(self.instances))

    @shown_as("scores")
    def scores(self) -> pd.DataFrame:
        """Scores in games for one player, with one table per budget below the other; see `results.scores.scores`."""
        number = {name: place for place, name in enumerate(self.instances)}
        frames = []
        for budget in self.budgets:
            own = [condition for condition in self.conditions if condition.budget == budget]
            instance = {condition.number: number[condition.instance] for condition in own}
            runs = self.games.assign(instance=self.games["condition"].map(instance)).dropna(subset="instance")
            frames.append(scores.scores(self.names, self.instances, runs))
            if len(self.budgets) > 1:
                frames[-1].insert(1, "budget", budget)
        return pd.concat(frames, ignore_index=True)

    def improvements(self) -> pd.DataFrame:
        """One row for each time that an agent, playing by itself, improved its best score in a run."""
        with Store.open(self.folder) as store:
            columns = "game, number, id, condition, first"
            of = {game: rest for game, *rest in store.each(f"SELECT {columns} FROM games WHERE {self._shown()}")}
            parts = [(of[n], rows) for n, rows in store.verified_parts("improvements", self._last_game) if n in of]
        rows = [(*about[1:], *row) for about, part in sorted(parts, key=itemgetter(0)) for row in part]
        frame = _frame(rows, ("id", "condition", "agent", *IMPROVEMENT_COLUMNS), ImprovementRecord)
        of = {condition.number: condition for condition in self.conditions}
        frame.insert(1, "instance", [of[number].instance for number in frame["condition"]])
        if len(self.budgets) > 1:
            frame.insert(2, "budget", [of[number].budget for number in frame["condition"]])
        return frame.drop(columns="condition")

    def _ends(self, against: str) -> pd.Series:
        """By id, the playouts or seconds that the decisions of a game took in all."""
        moves = self.moves()
        return moves.groupby("id")[against].sum()

    def plot_best_so_far(
        self, instance: str | None = None, against: str = "playouts", ax: "Axes | None" = None
    ) -> "Axes":
        """Matplotlib axes with the best score against playouts or seconds, for one instance, by default the first.

        For `results.scores.ALL`, it is the mean over all, with scores from 0 to 1; see `results.scores.normalised`.
        """
        return plots().best_so_far(_axes(ax), *self._curves(instance or self.instances[0], against))

    def _curves(self, instance: str, against: str) -> tuple[pd.DataFrame, str]:
        """The curves of all instances, or of all together, and which are to be drawn."""
        frame = self.improvements()
        if "budget" in frame:
            frame["agent"] += ", " + frame["budget"]
        if instance == scores.ALL:
            frame = scores.normalised(frame)
        return scores.best_so_far(frame, against, self._ends(against) if len(frame) else None), instance

    @shown_as("study")
    def study(self) -> pd.DataFrame:
        """One row per game, budget and agent: its score, or its mean score, with a 95 % interval.

        Columns instance, budget, agent, games, value, low, high; see `results.study`.  `results.render` lays it out as
        papers print it: a row per game, a column per budget or agent.
        """
        if self.single_player:
            frame = study.mean_scores(self.scores(), self.conditions, self.names)
        else:
            games = self._paired()
            frame = study.win_rates(self.names, self.conditions, games, games["repeats"])
        frame.attrs = {"caption": study.caption(self.names, frame, self.single_player), "points": self.single_player}
        return frame

    def plot_study(self, ax: "Axes | None" = None) -> "Axes":
        """The cells of `study` with their intervals, a row per game; new axes are high enough for all of them."""
        frame = self.study()
        return plots().study(_axes(ax, 1.5 + 0.22 * (len(frame) + frame["instance"].nunique())), frame)

    def notes(self) -> list[str]:
        """What a reader of the tables must know, in sentences."""
        return tables.notes(self.tallies) if self.single_player else self.notes_of(self.ratings)

    def notes_on(self, frame: pd.DataFrame) -> list[str]:
        """The same, with a note on the intervals in this table if many stand side by side."""
        return [*self.notes(), *filter(None, [summary.side_by_side(summary.intervals_in(frame))])]

    def notes_of(self, ratings: Ratings) -> list[str]:
        """The same, for ratings by other options."""
        return tables.notes(self.tallies) + repeats.notes(self._repetitions) + ratings.notes

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tables there are, the main one first."""
        kinds = SINGLE_PLAYER_KINDS if self.single_player else KINDS
        if len(self.conditions) == 1:
            return kinds
        return ("scores", "study", *kinds[1:]) if self.single_player else ("study", "standings", "ratings", *kinds[1:])

    def table(self, kind: str | None = None) -> pd.DataFrame:
        """The table of that kind, or the main one, ready for `results.export.render`; ValueError names the kinds."""
        kind = kind or self.kinds[0]
        if kind not in self.kinds:
            raise ValueError(f"no table {kind!r}; there are {', '.join(self.kinds)}")
        name = {"ratings": "ratings_by_condition"}.get(kind, kind)
        frame = self.games.copy() if kind == "games" else getattr(self, name)()
        frame.attrs |= {"kind": kind}
        return frame

    def plot_ratings(self, ax: "Axes | None" = None) -> "Axes":
        """Elo with errors.  Every `plot_` method draws on `ax`, or on new axes, and returns matplotlib's axes."""
        return plots().ratings(_axes(ax), self.standings())

    def plot_crosstable(self, ax: "Axes | None" = None) -> "Axes":
        """Scores against each other as a heat map."""
        return plots().crosstable(_axes(ax), self.crosstable())

    def plot_strength(self, of: str = "seconds", ax: "Axes | None" = None) -> "Axes":
        """Elo against the seconds, playouts or nodes per move."""
        _known(of, ("seconds", "playouts", "nodes"))
        return plots().strength(_axes(ax), self.standings(), self.win_rates(), of)

    def plot_lengths(self, ax: "Axes | None" = None) -> "Axes":
        """The lengths of games, by winner."""
        return plots().lengths(_axes(ax), self.games)

    def plot_sides(self, ax: "Axes | None" = None) -> "Axes":
        """Scores as first and as second player, in the order of the standings."""
        frame = self.win_rates().set_index("agent").loc[self.standings()["agent"]].reset_index()
        return plots().sides(_axes(ax), frame)

    def plot_moves(self, of: str = "seconds", ax: "Axes | None" = None) -> "Axes":
        """The mean of one statistic of moves along the game, a field of `Effort` such as seconds or depth."""
        return plots().by_ply(_axes(ax), self.effort, _known(of, EFFORT))

    def styled(self, kind: str = "standings") -> "Styler":
        """The table of that kind as a pandas Styler, for notebooks: rounded for readers, scores as a heat map."""
        from results.notebook import styled

        return styled(self.table(kind))

    def __repr__(self) -> str:
        return f"Tournament({str(self.folder)!r}: {len(self.agents)} agents, {len(self)} games)"

    def __str__(self) -> str:
        """The main table as the terminal shows it, and what to know about it."""
        from results.export import render

        table = self.table()
        return "\n".join([str(render(table, "text")).rstrip("\n"), *self.notes_on(table)])

    def _repr_html_(self) -> str:
        """What a notebook shows: the standings and what to know about them."""
        from results.notebook import page

        return page(self)

    def _shown(self) -> str:
        """An SQL condition for the games that this tournament had when it was loaded."""
        numbers = ", ".join(str(condition.number) for condition in self.conditions)
        return f"game <= {self._last_game} AND games.condition IN ({numbers})"


def _unnamed(numbers: pd.Series) -> list[Condition]:
    """The conditions of imported games: only their numbers are known."""
    found = sorted(set(numbers.tolist())) or [0]
    return [Condition(number, f"game {number + 1}", "") for number in found]


def plots():
    """The module of figures, which loads matplotlib: only when a figure is asked for."""
    from results import plots as module

    return module


def _axes(ax, height: float | None = None):
    """The axes, or new ones: of the usual size, or `height` inches high."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=height and (6.4, height), layout="constrained")[1]


def _known(of: str, quantities) -> str:
    if of not in quantities:
        raise ValueError(f"of = {of!r} is not one of {', '.join(quantities)}")
    return of


def _tallies(rows: dict) -> pd.DataFrame:
    """The rows of `Store.tallies` as a frame, in the order of their keys, not that in which games ended."""
    found = [(*key, *sums) for key, (_, sums) in rows.items()]
    found.sort(key=lambda row: [(value is not None, value) for value in row[: len(tallies.KEYS)]])
    return pd.DataFrame.from_records(found, columns=list(tallies.COLUMNS)).astype(
        {"outcome": "float64"} | dict.fromkeys(("condition", *tallies.SUMS), "int64")
    )


def _shared(rows: Iterable[tuple], columns: Sequence[str]) -> Iterator[tuple]:
    """The same rows, with one object for each name and reason, however often it comes."""
    where = [columns.index(name) for name in ("first", "second", "reason")]
    known: dict = {}
    for row in rows:
        values = list(row)
        for i in where:
            values[i] = known.setdefault(values[i], values[i])
        yield tuple(values)


def _frame(rows: Iterable[tuple], columns: Iterable[str], record: type) -> pd.DataFrame:
    """Rows of SQLite as a frame with the types of the record's fields, even without rows or values."""
    frame = pd.DataFrame.from_records(list(rows), columns=list(columns))
    return frame.astype(frame_types(record, frame.columns))
