"""What a run's folder held at one moment: games and moves as data frames, read from the store and verified."""

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from functools import cached_property
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from arena.agents.core.effort import Effort
from arena.results.database import repeats, tallies
from arena.results.database.columns import frame_types
from arena.results.database.conditions import Condition, conditions_of
from arena.results.database.record import GameRecord, ImprovementRecord, MoveRecord, Reason
from arena.results.database.repeats import Pair, pair_of
from arena.results.database.rows import IMPROVEMENT_COLUMNS, MOVE_COLUMNS, ROW
from arena.results.database.store import BATCH, GAMES_VERIFIED, MOVES_VERIFIED, Store, StoreDamaged

GAME_TABLE = (
    "id", "number", "condition", "opening", "first", "second", "outcome", "score", "reason", "detail", "plies",
    "opening_moves", "moves", "seed", "seconds",
)  # fmt: skip
READ = ("game", *GAME_TABLE)
SINGLE_PLAYER = "single_player"  # every agent plays by itself
EFFORT = tuple(field.name for field in fields(Effort))

PAIRED = ("number", "condition", "opening", "first", "second", "outcome", "reason")  # what pairs are made of

_AGENT = "CASE moves.side WHEN 0 THEN games.first ELSE games.second END"


class Snapshot:
    """A run as it was loaded; load again to see games added later."""

    def __init__(self, folder: Path, meta: dict, agents: list[dict], sums: pd.DataFrame):
        self.folder = folder
        self.meta = meta  # resolved configuration, version, machine
        self.agents = agents  # {"name", "spec"}, in the order of the configuration
        self.tallies = sums  # games counted by condition, players, outcome, reason; see `tallies`
        self.conditions = conditions_of(meta["config"]) if "config" in meta else _imported(meta, sums["condition"])
        self._last_game = len(self)  # games are numbered as they end: this delimits the snapshot

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Self:
        """The tournament in `folder`; StoreError if it cannot be read, or is damaged.

        Up to GAMES_VERIFIED games are verified here; in larger runs, when they are read.
        """
        with Store.open(folder) as store, store.unchanged():
            loaded = cls(Path(folder), store.meta, store.agents, _tallies(store.tallies()))
            if len(loaded) <= GAMES_VERIFIED:
                loaded.games = loaded._read_games(store)
        return loaded

    @classmethod
    def glimpse(cls, folder: str | os.PathLike) -> Self:
        """The tournament in `folder` from its tallies alone; games are read, and verified, when they are asked for."""
        with Store.open(folder) as store, store.unchanged():
            return cls(Path(folder), store.meta, store.agents, _tallies(store.tallies()))

    def __len__(self) -> int:
        return int(self.tallies["games"].sum())

    @cached_property
    def games(self) -> pd.DataFrame:
        """One row per game, as scheduled; in a large run, read and verified when first used."""
        with Store.open(self.folder) as store:
            return self._read_games(store)

    def _read_games(self, store: Store) -> pd.DataFrame:
        """The table of games; StoreDamaged if a game is not as it was stored."""
        frame = self._table_of(_frame(_shared(self._verified_rows(store), READ), READ, GameRecord))
        _check_tallies(store, frame, self.tallies)
        return self._named(frame.sort_values("number", ignore_index=True)[list(GAME_TABLE)])

    def games_in_parts(self) -> Iterator[pd.DataFrame]:
        """The rows of `games` in frames, at least one, of which one is in memory; all are verified before the first."""
        query = f"SELECT {', '.join(READ)} FROM games WHERE {self._shown()} ORDER BY number"
        with Store.open(self.folder) as store, store.unchanged():
            counted = _counted(self._verified_rows(store), {one.number for one in self.conditions})
            _check_tallies(store, counted, self.tallies)
            for frame in _frames(store.each(query), READ, GameRecord):
                yield self._named(self._table_of(frame)[list(GAME_TABLE)])

    def _verified_rows(self, store: Store) -> Iterator[tuple]:
        """The columns READ of the games, as they ended."""
        return map(itemgetter(*map(ROW.index, READ)), store.rows(self._last_game))

    def _table_of(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The games of the conditions shown, with seeds as they were given."""
        frame = frame[frame["condition"].isin([one.number for one in self.conditions])]
        frame["seed"] = frame["seed"].to_numpy(np.int64).view(np.uint64)
        return frame

    def paired(self) -> pd.DataFrame:
        """The games for tables of pairs, quick to read, with whether each repeats another; the tallies verify them."""
        if "games" in vars(self) or len(self.repetitions):
            return self.games.assign(repeats=self.repeats)
        return self._paired_alone

    @cached_property
    def _paired_alone(self) -> pd.DataFrame:
        """The columns of pairs, read without the others, of a run in which no game repeats another."""
        with Store.open(self.folder) as store:
            found = store.each(f"SELECT {', '.join(PAIRED)} FROM games WHERE {self._shown()}")
            frame = _frame(_shared(found, PAIRED), PAIRED, GameRecord)
            _check_tallies(store, frame, self.tallies)
        return frame.sort_values("number", ignore_index=True).assign(repeats=False)

    def first_id(self) -> str:
        """The id of the first game of the schedule, found without reading the others; IndexError if there is none."""
        with Store.open(self.folder) as store:
            return store.select(f"SELECT id FROM games WHERE {self._shown()} ORDER BY number LIMIT 1")[0][0]

    @property
    def names(self) -> list[str]:
        """The agents' names, in the order of the configuration; with pairings or matches, of those that meet others."""
        config = self.meta.get("config", {})
        pairings = config.get("pairings") or config.get("matches") or []
        met = {name for one, other, *_ in pairings for name in (one, other)} | {*self.meta.get("renamed", {}).values()}
        return [agent["name"] for agent in self.agents if not pairings or agent["name"] in met]

    @property
    def instances(self) -> list[str]:
        """The games that are played, with the parameters that are not at their defaults."""
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

    def at(self, conditions: Iterable[int]) -> Self:
        """The tournament with only the games of these conditions, by number; every table covers only these."""
        wanted = set(conditions)
        if strange := sorted(wanted - {condition.number for condition in self.conditions}):
            last = self.conditions[-1].number
            raise ValueError(f"condition = {strange[0]} is out of range: the run has 0 to {last}")
        sums = self.tallies[self.tallies["condition"].isin(wanted)].reset_index(drop=True)
        part = type(self)(self.folder, self.meta, self.agents, sums)
        part.conditions = [condition for condition in self.conditions if condition.number in wanted]
        part._last_game = self._last_game
        if "games" in vars(self):
            part.games = self.games[self.games["condition"].isin(wanted)].reset_index(drop=True)
        return part

    def _named(self, games: pd.DataFrame) -> pd.DataFrame:
        for name in ("budget", "instance"):
            labels = {condition.number: getattr(condition, name) for condition in self.conditions}
            if len(set(labels.values())) > 1 and name not in games:
                games.insert(games.columns.get_loc("condition") + 1, name, games["condition"].map(labels))
        return games

    @cached_property
    def repeats(self) -> pd.Series:
        """bool, along `games`: which repeat an earlier one; see `repeats`."""
        return repeats.repeated(self.games, self._met())

    @cached_property
    def repetitions(self) -> pd.DataFrame:
        """Games that repeat an earlier one: first, second, outcome and their number, `games`."""
        if "games" in vars(self):
            found = self.games.loc[self.repeats, ["first", "second", "outcome"]].itertuples(index=False, name=None)
        else:
            with Store.open(self.folder) as store:
                names = ", ".join(repeats.COLUMNS)
                rows = store.each(f"SELECT {names} FROM games WHERE {self._shown()} ORDER BY game")
                found = (row[1:] for row in repeats.repeating(rows, self._met()))
        rows_of = [(*key, number) for key, number in sorted(Counter(found).items())]
        return pd.DataFrame(rows_of, columns=["first", "second", "outcome", "games"]).astype({"outcome": float})

    def _met(self) -> dict[Pair, int]:
        """The games with a result of each two agents that met, without those of NO_SIGN."""
        met = Counter[Pair]()
        sums = self.tallies[self.tallies["outcome"].notna() & self.tallies["second"].notna()]
        for first, second, reason, games in zip(sums["first"], sums["second"], sums["reason"], sums["games"]):
            met[pair_of(first, second)] += 0 if reason in repeats.NO_SIGN else games
        return dict(met)

    def moves(self) -> pd.DataFrame:
        """One row per decision, as scheduled; read at each call."""
        side = MOVE_COLUMNS.index("side")
        parts = self._parts("moves", "id, first, second")
        rows = [(id, (first, second)[row[side]], *row) for (id, first, second), part in parts for row in part]
        frame = _frame(rows, ("id", "agent", *MOVE_COLUMNS), MoveRecord)
        return frame[["id", "ply", "agent", *(name for name in MOVE_COLUMNS if name != "ply")]]

    def improvements(self) -> pd.DataFrame:
        """A row each time an agent that plays by itself improved its best score in a run."""
        parts = self._parts("improvements", "id, condition, first")
        rows = [(*about, *row) for about, part in parts for row in part]
        frame = _frame(rows, ("id", "condition", "agent", *IMPROVEMENT_COLUMNS), ImprovementRecord)
        of = {condition.number: condition for condition in self.conditions}
        frame.insert(1, "instance", [of[number].instance for number in frame["condition"]])
        if len(self.budgets) > 1:
            frame.insert(2, "budget", [of[number].budget for number in frame["condition"]])
        return frame.drop(columns="condition")

    def _parts(self, table: str, columns: str) -> Iterator[tuple[list, tuple[tuple, ...]]]:
        """Yields (columns of the game, its rows of another table) of each game, in the order of the schedule."""
        with Store.open(self.folder) as store:
            games = store.each(f"SELECT game, number, {columns} FROM games WHERE {self._shown()}")
            of = {game: about for game, *about in games}
            parts = [(of[game], rows) for game, rows in store.verified_parts(table, self._last_game) if game in of]
        return ((about[1:], rows) for about, rows in sorted(parts, key=lambda part: part[0][0]))

    def spent(self) -> pd.DataFrame:
        """The columns of `Tournament.effort`, one row per agent and ply."""
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
        return frame.astype(dict.fromkeys(EFFORT, float))

    def unmoved(self) -> pd.DataFrame:
        """Forfeits without a move of the loser, whose program did not start or whose process died: one row per agent,
        with columns agent, games and detail, that of the first.
        """
        return self._lost(Reason.FORFEITS, moved=False)

    def raised(self) -> pd.DataFrame:
        """Games that an agent's exception ended after a move of it, as `unmoved` has those without."""
        return self._lost([Reason.EXCEPTION], moved=True)

    def _lost(self, reasons: Iterable[str], moved: bool) -> pd.DataFrame:
        columns = ["agent", "games", "detail"]
        if not self.tallies["reason"].isin(Reason.FORFEITS).any():
            return pd.DataFrame(columns=columns)
        listed = ", ".join(f"'{reason}'" for reason in reasons)
        side = "(second IS NOT NULL AND outcome = 1)"
        query = (
            f"SELECT CASE {side} WHEN 0 THEN first ELSE second END, COUNT(*), detail, MIN(game) FROM games "
            f"WHERE {self._shown()} AND reason IN ({listed}) AND {'' if moved else 'NOT '}"
            f"EXISTS (SELECT 1 FROM moves WHERE moves.game = games.game AND side = {side}) GROUP BY 1"
        )
        with Store.open(self.folder) as store:
            return pd.DataFrame([row[:3] for row in store.select(query)], columns=columns)

    def _shown(self) -> str:
        """An SQL condition for the games there were at loading."""
        numbers = ", ".join(str(condition.number) for condition in self.conditions)
        return f"game <= {self._last_game} AND games.condition IN ({numbers})"


def _check_tallies(store: Store, games: pd.DataFrame, expected: pd.DataFrame) -> None:
    """StoreDamaged unless the games add up to the tallies."""
    sums = ["games", "openings", *(["plies"] if "plies" in games else [])]
    if "games" not in games:
        games = games.rename(columns={"opening": "openings"}).assign(games=1)
    counted, tallied = (frame.groupby(list(tallies.KEYS), dropna=False)[sums].sum() for frame in (games, expected))
    if not counted.equals(tallied):
        raise StoreDamaged(store.path, "its games do not add up to its tallies")


def _counted(rows: Iterable[tuple], conditions: set[int]) -> pd.DataFrame:
    """Sums of the rows of READ in these conditions, by the keys of tallies."""
    key_of = itemgetter(*map(READ.index, tallies.KEYS))
    opening, plies = READ.index("opening"), READ.index("plies")
    found: dict[tuple, tuple[int, int, int]] = {}
    for row in rows:
        key = key_of(row)
        games, openings, moves = found.get(key, (0, 0, 0))
        found[key] = games + 1, openings + row[opening], moves + row[plies]
    columns = [*tallies.KEYS, "games", "openings", "plies"]
    sums = [(*key, *values) for key, values in found.items() if key[0] in conditions]
    return pd.DataFrame(sums, columns=columns).astype({"outcome": float})


def _imported(meta: dict, numbers: pd.Series) -> list[Condition]:
    """The conditions of imported games: their games, where the files told them."""
    names = dict(enumerate(meta.get("imported", {}).get("games", ())))
    found = sorted(set(numbers.tolist())) or [0]
    return [Condition(number, names.get(number, f"game {number + 1}"), "") for number in found]


def _tallies(rows: dict) -> pd.DataFrame:
    """`Store.tallies` as a frame, in the order of keys, not of the games' ends."""
    found = [(*key, *sums) for key, (_, sums) in rows.items()]
    found.sort(key=lambda row: [(value is not None, value) for value in row[: len(tallies.KEYS)]])
    return pd.DataFrame.from_records(found, columns=list(tallies.COLUMNS)).astype(
        {"outcome": "float64"} | dict.fromkeys(("condition", *tallies.SUMS), "int64")
    )


def _shared(rows: Iterable[tuple], columns: Sequence[str]) -> Iterator[tuple]:
    """Yields the rows with one object for each name and reason."""
    where = [columns.index(name) for name in ("first", "second", "reason")]
    known: dict = {}
    for row in rows:
        values = list(row)
        for i in where:
            values[i] = known.setdefault(values[i], values[i])
        yield tuple(values)


def _frame(rows: Iterable[tuple], columns: Iterable[str], record: type) -> pd.DataFrame:
    """The rows as a frame with the types of the record's fields, even without rows or values."""
    return _joined([*_frames(rows, columns, record)])


def _frames(rows: Iterable[tuple], columns: Iterable[str], record: type) -> Iterator[pd.DataFrame]:
    """The rows as frames of BATCH rows, at least one: only so many are in memory as Python's objects."""
    rows, names = iter(rows), list(columns)
    types, chunk = frame_types(record, names), list(islice(rows, BATCH))
    while True:
        yield pd.DataFrame.from_records(chunk, columns=names).astype(types)
        if not (chunk := list(islice(rows, BATCH))):
            return


def _joined(frames: list[pd.DataFrame]) -> pd.DataFrame:
    """One frame of several; a column without any value in one of them is of text if it is in another."""
    types = {name: dtype for frame in frames for name, dtype in frame.dtypes.items() if dtype == "str"}
    return pd.concat([frame.astype(types) for frame in frames], ignore_index=True)
