"""The schedule of a run: a format for each condition, and the order of their games."""

import math
from collections.abc import Iterable, Iterator, Mapping
from heapq import merge
from typing import Any

from arena.formats.base import Format, Way, formats
from arena.formats.fixture import Fixture, Fixtures
from arena.results.database.conditions import conditions_of


class Schedule:
    """All games of `Config.resolved()`, one by one by `next`."""

    def __init__(self, resolved: Mapping[str, Any]):
        names = [entry["name"] for entry in resolved["agents"]]
        conditions = len(resolved["instances"]) * len(resolved["budgets"])
        kind = formats()[resolved["format"]]
        self.formats: list[Format] = [
            kind(names, resolved["games"], Fixtures(len(names), resolved["seed"], condition, conditions), resolved)
            for condition in range(conditions)
        ]
        self._number = {name: i for i, name in enumerate(names)}
        self.labels = [condition.label for condition in conditions_of(resolved)]
        self._begun = [0 for _ in self.formats]  # games wanted when those below were listed
        self._listed: Iterator[Fixture] = iter(())

    @classmethod
    def after(cls, resolved: Mapping[str, Any], results: Iterable[tuple]) -> "Schedule":
        """The schedule after results, each with the arguments of `took`."""
        schedule = cls(resolved)
        for result in results if schedule.formats[0].adaptive else ():
            schedule.took(*result)
        return schedule

    @classmethod
    def of(cls, tournament) -> "Schedule | None":
        """The schedule of a `results.Tournament`; None if its games were imported."""
        if not (config := tournament.meta.get("config")):
            return None
        columns = ["condition", "first", "second", "opening", "outcome", "opening_moves", "moves", "reason"]
        adaptive = formats()[config["format"]].adaptive  # else games need not be read
        return cls.after(config, tournament.games[columns].values if adaptive else ())

    def took(
        self,
        condition: int,
        first: str,
        second: str | None,
        opening: int,
        outcome: float | None,
        opening_moves: str = "",
        moves: str = "",
        reason: str = "",
    ) -> None:
        """Take the result of a game, with the agents' names."""
        if not self.formats[condition].adaptive:
            return
        seats = tuple(self._number[name] for name in (first, second) if isinstance(name, str))
        outcome = None if outcome is None or math.isnan(outcome) else outcome  # nan is from data frames
        self.formats[condition].took(seats, opening, outcome, Way(opening_moves, moves, reason))

    def next(self) -> Fixture | None:
        """The next game; None if none is wanted before a result comes in, or ever."""
        fixture = next(self._listed, None)
        if fixture is None:
            # in the order of numbers, so that conditions advance together
            new = [format.wanted(begun) for format, begun in zip(self.formats, self._begun)]
            self._begun = list(map(len, self.formats))
            self._listed = merge(*new, key=lambda fixture: fixture.number) if new[1:] else new[0]
            fixture = next(self._listed, None)
        return fixture

    def __len__(self):
        return sum(map(len, self.formats))

    @property
    def most(self) -> int:
        """The number of games that may be wanted in all."""
        return sum(format.most for format in self.formats)

    def lines(self) -> list[str]:
        """The standing of each condition; nothing if the tables say it all."""
        return [
            f"{label}: {line}" if len(self.formats) > 1 else line
            for label, format in zip(self.labels, self.formats)
            for line in format.lines()
        ]

    def reports(self) -> list[dict]:
        """The verdicts of all tests, with their conditions if there are several."""
        several = len(self.formats) > 1
        return [
            report | ({"condition": label} if several else {})
            for label, format in zip(self.labels, self.formats)
            for report in format.reports()
        ]


def described(resolved: Mapping[str, Any]) -> str:
    """The run in words: `connect4(rows=5): 3 agents, 100 games for each pair`."""
    instances, budgets = resolved["instances"], resolved["budgets"]
    what = f"{len(instances)} games" if instances[1:] else instances[0]
    if budgets[1:]:
        what += f" at {len(budgets)} budgets"
    kind = formats()[resolved["format"]]
    return f"{what}: {len(resolved['agents'])} agents, {kind.described(resolved)}"
