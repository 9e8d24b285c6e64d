"""A tournament as stored at one moment: the tables, notes and figures of its games."""

from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from arena.results.database import repeats
from arena.results.database.snapshot import Snapshot
from arena.results.database.store import StoreError
from arena.results.shown import scores, study_table, summary, tables
from arena.results.shown.frames import shown_as
from arena.results.shown.kinds import KINDS, SINGLE_PLAYER_KINDS
from arena.results.statistics import ranking
from arena.results.statistics.bootstrap import bootstrap
from arena.results.statistics.ratings import Ratings, count_results, rate

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

    from arena.results.shown.plotter import Plotter

ALL = "all"  # conditions together
JOINT = ("ratings", "pairs", "differences")  # kinds that begin with all conditions together
BY_CONDITION = (*JOINT, "win_rates")  # with rows by condition, where there are several


class Tournament(Snapshot):
    """A run as it was loaded; load again to see games added later."""

    @cached_property
    def ratings(self) -> Ratings:
        """Ratings of the agents, in the order of the configuration."""
        return self.rate()

    def rate(self, **options) -> Ratings:
        """Ratings by options `draws`, `advantage`, `anchors` of `ratings.rate`; StoreError for games for one player."""
        if self.single_player:
            text = "are of games for one player, which nobody wins; `arena table` and `arena plot DIR curves` show them"
            raise StoreError(f"the runs in {self.folder} {text}")
        repetitions = count_results(self.names, self.repetitions)
        return rate(self.names, self._counts, self._counts - repetitions, **options)

    def bootstrap(self, samples: int = 200, seed: int = 0, **options) -> pd.DataFrame:
        """Errors of `rate(**options)` from games that differ; see `statistics.bootstrap`."""
        games = self.paired()
        return bootstrap(self.names, games[~games["repeats"]], samples, seed, **options)

    @cached_property
    def _counts(self) -> np.ndarray:
        return count_results(self.names, self.tallies)

    @shown_as("standings")
    def standings(self, condition: int | None = None) -> pd.DataFrame:
        """The standings over all games, or over one condition's; see `tables.standings`."""
        if condition is not None:
            return self.at([condition]).standings()
        return tables.standings(self.names, self.tallies, self.ratings)

    @shown_as("ratings")
    def ratings_by_condition(self) -> pd.DataFrame:
        """The standings over all games, then of each condition, with columns instance and budget."""
        return self._by_condition("ratings")

    def _by_condition(self, kind: str) -> pd.DataFrame:
        blocks = [(ALL, ALL, self)] if kind in JOINT else []
        blocks += [(one.instance, one.budget, self.part(one.number)) for one in self.conditions]
        method = {"ratings": "standings"}.get(kind, kind)
        frames = [getattr(part, method)().assign(instance=instance, budget=budget) for instance, budget, part in blocks]
        columns = [name for name in ("instance", "budget") if len(getattr(self, f"{name}s")) > 1]
        return pd.concat(frames, ignore_index=True)[[*columns, *frames[0].columns[:-2]]]

    def part(self, condition: int) -> Self:
        """One condition's games; figures keep the order of all games' standings."""
        part = self.at([condition])
        part.order = self.order
        return part

    @cached_property
    def order(self) -> list[str]:
        """The agents' names as they stand in the standings."""
        return self.standings()["agent"].tolist()

    @shown_as("crosstable")
    def crosstable(self, values: str = "score") -> pd.DataFrame:
        """Each agent against each other, all games together, in the order of the standings; see `tables.crosstable`."""
        where = [self.names.index(name) for name in self.order]
        return tables.crosstable(self.order, self._counts[np.ix_(where, where)], values)

    @shown_as("pairs")
    def pairs(self) -> pd.DataFrame:
        """One row for each two agents that met; see `tables.pairs`."""
        games = self.paired()
        return tables.pairs(self.names, games, games["repeats"])

    @shown_as("differences")
    def differences(self) -> pd.DataFrame:
        """Elo differences, a row for each ordered pair of agents; see `tables.differences`."""
        return tables.differences(self.ratings)

    @shown_as("ranks")
    def ranks(self, samples: int = ranking.SAMPLES, seed: int = 0) -> pd.DataFrame:
        """A row per agent in the order of the standings: its rank with a 95 % interval, and two rankings without Elo.

        Columns rank, agent, elo, low, high; nash and alpha_rank (`statistics.ranking`), NaN unless all have met all.
        """
        games = self.paired()
        found = ranking.rank_intervals(self.names, games[~games["repeats"]], samples, seed).set_index("agent")
        standings = self.standings()[["rank", "agent", "elo"]]
        frame = standings.assign(**{name: found.loc[standings["agent"], name].to_numpy() for name in ("low", "high")})
        scores = self.crosstable().to_numpy(float, copy=True)
        np.fill_diagonal(scores, 0.5)
        if np.isnan(scores).any() or len(scores) < 2:
            return frame.assign(nash=np.nan, alpha_rank=np.nan)
        return frame.assign(nash=ranking.nash_average((scores - scores.T) / 2), alpha_rank=ranking.alpha_rank(scores))

    @cached_property
    def misfit(self) -> ranking.Misfit:
        """What Elo does not explain of who beats whom."""
        games = self.paired()
        return ranking.misfit(self.ratings, tables.meetings(self.names, games, games["repeats"]))

    def residuals(self) -> pd.DataFrame:
        """Each agent's score against each other less what Elo expects, in the order of the standings."""
        games, where = self.paired(), [self.names.index(name) for name in self.order]
        found = ranking.residuals(self.ratings, tables.meetings(self.names, games, games["repeats"]))
        return pd.DataFrame(found[np.ix_(where, where)], self.order, self.order)

    @shown_as("win_rates")
    def win_rates(self) -> pd.DataFrame:
        """A row per agent: scores by side, and effort; reads moves; see `tables.win_rates`."""
        by_agent = self.effort.groupby("agent", sort=False).sum().reset_index()
        return tables.win_rates(self.names, self.tallies, by_agent)

    @cached_property
    def effort(self) -> pd.DataFrame:
        """One row per agent and ply, in the order of the standings: what the agents spent.

        Columns agent, ply, decisions; for each field of `Effort` its sum, and as `..._given` the decisions that count
        it.  Read when first used, and verified if there are at most MOVES_VERIFIED decisions.
        """
        frame = self.spent()
        place = {name: place for place, name in enumerate(self.order)}
        order = frame.assign(place=frame["agent"].map(place)).sort_values(["place", "ply"]).index
        return frame.loc[order].reset_index(drop=True)

    def summary(self) -> list[str]:
        """Who won, who can be told apart, and the first player's advantage; see `summary`."""
        found = summary.summary(self.standings(), self.tallies, self.ratings, len(self.instances))
        return found + ([self.misfit.sentence] if self.misfit.sentence else [])

    @shown_as("scores")
    def scores(self) -> pd.DataFrame:
        """Scores in games for one player, with one table per budget below the other; see `scores.scores`."""
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

    @shown_as("study")
    def study(self) -> pd.DataFrame:
        """One row per game, budget and agent: its score, or mean score, with a 95 % interval; see `frames.study_table`.

        Columns instance, budget, agent, games, value, low, high; `results.render` lays it out as papers do.
        """
        if self.single_player:
            frame = study_table.mean_scores(self.scores(), self.conditions, self.names)
        else:
            games = self.paired()
            frame = study_table.win_rates(self.names, self.conditions, games, games["repeats"])
        frame.attrs = {
            "caption": study_table.caption(self.names, frame, self.single_player),
            "points": self.single_player,
        }
        return frame

    def notes(self) -> list[str]:
        """What a reader of the tables must know, in sentences."""
        of_games = tables.notes(self.tallies) if self.single_player else self.notes_of(self.ratings)
        return [*self.versions, *of_games]

    @property
    def versions(self) -> list[str]:
        """Sentences that each table needs, in whatever form, if code changed while the run was played."""
        merged = [f"{run['folder']}: {text}" for run in self.meta.get("merged", []) for text in run.get("versions", [])]
        return [*merged, *tables.notes_on_versions(self.meta.get("versions", []))]

    def notes_on(self, frame: pd.DataFrame) -> list[str]:
        """The notes of `notes`, with one on this table's intervals if many stand side by side."""
        more = [summary.side_by_side(summary.intervals_in(frame))]
        if frame.attrs.get("kind") == "ranks":
            more.append(self.misfit.sentence or self.misfit.otherwise)
        return [*self.notes(), *filter(None, more)]

    def notes_of(self, ratings: Ratings) -> list[str]:
        """What a reader of ratings by other options must know, in sentences."""
        return tables.notes(self.tallies) + repeats.notes(self.repetitions) + ratings.notes

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tables there are, the main one first."""
        kinds = SINGLE_PLAYER_KINDS if self.single_player else KINDS
        if len(self.conditions) == 1:
            return kinds
        return ("scores", "study", *kinds[1:]) if self.single_player else ("study", "standings", "ratings", *kinds[1:])

    def table(self, kind: str | None = None) -> pd.DataFrame:
        """The table of that kind, or the main one, for `export.render`; ValueError names the kinds.

        With several games or budgets, ratings, pairs, differences and win_rates have rows for each, the first three
        after those of all together.
        """
        kind = kind or self.kinds[0]
        if kind not in self.kinds:
            raise ValueError(f"no table {kind!r}; there are {', '.join(self.kinds)}")
        if len(self.conditions) > 1 and kind in BY_CONDITION:
            frame = self._by_condition(kind)
        else:
            frame = self.games.copy() if kind == "games" else getattr(self, kind)()
        frame.attrs |= {"kind": kind}
        return frame

    @property
    def plot(self) -> "Plotter":
        """The figures: `plot.ratings()` and others, which draw on matplotlib axes."""
        from arena.results.shown.plotter import Plotter

        return Plotter(self)

    def styled(self, kind: str = "standings") -> "Styler":
        """The table as a pandas Styler, for notebooks: rounded, scores as a heat map."""
        from arena.results.shown.notebook import styled

        return styled(self.table(kind))

    def __repr__(self) -> str:
        return f"Tournament({str(self.folder)!r}: {len(self.agents)} agents, {len(self)} games)"

    def __str__(self) -> str:
        """The main table as the terminal shows it, with notes."""
        from arena.results.shown.export import render

        table = self.table()
        return "\n".join([str(render(table, "text")).rstrip("\n"), *self.notes_on(table)])

    def _repr_html_(self) -> str:
        from arena.results.shown.notebook import page

        return page(self)
