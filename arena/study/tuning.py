"""Tuning: which values of an agent's parameters win, found by games, and confirmed by others.

A step is a list of matches in one run (`formats.matches`).  What a step has follows from the results of the steps
before alone, so a tuning is the same on any number of workers, resumed or not.  The values recommended are the peak of
a surface fitted to all results (`results.statistics.surface`), not the trial that was luckiest; a sequential test
against the agent as it was, from openings not used before, then says whether they win.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np
from msgspec import Meta
from pydantic import ValidationError

from arena.config.complaints import complaint, in_words
from arena.config.config import Config, ConfigError
from arena.config.keys import MAX_COUNT
from arena.config.loading import from_values
from arena.config.trust import TrustError, import_stored
from arena.formats.base import UNKNOWN, Way
from arena.formats.sequential import CandidateTest, SprtTable
from arena.games.core.shared.errors import UserError
from arena.results.statistics.elo import Estimate, pentanomial
from arena.results.statistics.surface import Results, Surface, fit
from arena.runner import study_kinds
from arena.study import cells, samplers
from arena.study.samplers import Gains, Trial
from arena.study.space import Space, Values, space_of

START, BEST, RECOMMENDED = "start", "best", "recommended"
LEAST_CMAES = 4  # trials of a step of CMA-ES
CONFIRM = {"elo0": 0.0, "elo1": 10.0, "games": 10_000}


class TuningError(UserError):
    """A tuning that cannot go on, or has nothing to recommend."""


class PlayedPair(NamedTuple):
    """A pair of games of one opening: the first agent's points, None for a void game, and how the games went."""

    points: tuple[float | None, float | None]
    ways: tuple[Way, Way] = (UNKNOWN, UNKNOWN)
    repeats: bool = False  # move for move an earlier pair of these two

    @property
    def won(self) -> float:
        """The first agent's points, void games aside."""
        return sum(points or 0.0 for points in self.points)

    @property
    def turned(self) -> "PlayedPair":
        """The pair with the other agent's points."""
        one, other = (None if points is None else 1 - points for points in self.points)
        return self._replace(points=(one, other))


# of two agents, by condition and opening
Pairs = dict[tuple[str, str], dict[tuple[int, int], PlayedPair]]


@dataclass(frozen=True)
class Step:
    """Matches that are played together.

    agents: (name, text) of those that come; trials: (name, values) of those proposed; matches: as of the format
    """

    kind: str  # "search" or "confirm"
    agents: list[tuple[str, str]]
    trials: list[tuple[str, Values]]
    matches: list[tuple[str, str, int, int]]


@dataclass(frozen=True)
class Tuning(cells.Plan):
    """What is tuned, and how.

    agent: its text; parameters: their ranges (`space_of`); run: keys of a run, such as instances and openings; against:
    agents, or "start", the agent as it is, or "best", with the best values so far; games: of the search; at_once:
    trials, or iterations of SPSA, of a step; pairs: of games of a trial against each opponent in each condition, half
    of them in a first step; confirm: keys of `SprtTable`, and games
    """

    agent: str
    parameters: dict[str, Any]
    run: dict[str, Any] = field(default_factory=dict)
    against: tuple[str, ...] = (START,)
    sampler: str = "tpe"
    games: Annotated[int, Meta(ge=2, le=MAX_COUNT)] = 5000
    at_once: Annotated[int, Meta(ge=1, le=10_000)] = 16
    pairs: cells.Games = 8  # a trial plays half of them first
    seed: cells.Seed = 0
    spsa: dict[str, Annotated[float, Meta(gt=0, le=1000)]] = field(default_factory=dict)
    confirm: dict[str, Any] = field(default_factory=dict)

    FILE, WHAT = study_kinds.TUNING.file, "tuning"

    @classmethod
    def read(cls, folder):
        """As of all plans; TrustError if it names a plug-in that is to be asked for, before that is imported."""
        tuning = super().read(folder)
        own, plugins = tuning.run.get("plugin_path"), tuning.run.get("plugins")
        named = [one for one in plugins if isinstance(one, str)] if isinstance(plugins, list) else []
        try:
            import_stored({"plugins": named, "plugin_path": own if isinstance(own, str) else None})
        except TrustError as error:
            what = str(error).partition(" To read")[0]
            text = f"{what} To go on with the tuning, which runs this code: arena run --out {folder} --resume --trust"
            raise TrustError(text) from None
        return tuning

    @cached_property
    def space(self) -> Space:
        return space_of(self.agent, self.parameters, "tune")

    @cached_property
    def conditions(self) -> int:
        return len(self.config([]).conditions)

    @property
    def half(self) -> int:
        """Openings of a step."""
        return self.pairs if self.sampler == "spsa" else self.pairs // 2

    @property
    def gains(self) -> Gains:
        return Gains(**self.spsa)

    @property
    def iterations(self) -> int:
        """Of SPSA."""
        return -(-self.games // (2 * self.pairs * self.conditions))

    @property
    def test(self) -> SprtTable:
        return SprtTable(**{key: value for key, value in (CONFIRM | self.confirm).items() if key != "games"})

    @property
    def confirm_games(self) -> int:
        return (CONFIRM | self.confirm)["games"]

    @property
    def most_confirmed(self) -> int:
        """Openings of the confirming match, at most."""
        return max(1, self.confirm_games // (2 * self.conditions))

    def opponents(self) -> list[tuple[str, str]]:
        """(name, text) of those that are there from the start: the agent as it is, and others."""
        return [(START, self.space.spec(self.space.start())), *((one, one) for one in self.others())]

    def others(self) -> list[str]:
        return [one for one in self.against if one not in (START, BEST)]

    def config(self, steps: Sequence[Step]) -> Config:
        """The configuration of a run of these steps; ConfigError if the keys of the run are wrong."""
        made = [*self.opponents(), *(one for step in steps for one in step.agents)]
        matches = [list(match) for step in steps for match in step.matches]
        if not steps:  # to see whether the keys are right
            made.append(("trial", self.space.spec(self.space.start())))
            matches = [["trial", START, 0, 1]]
        entries = [{"name": name, "agent": spec} for name, spec in made]
        values = {"format": "matches", "agents": entries, "matches": matches, "seed": self.seed}
        return from_values(self.run | values, "tune")

    def faults(self):
        problems = []
        if type(self.confirm_games) is not int or not 2 <= self.confirm_games <= MAX_COUNT:
            text = f"is a whole number from 2 to {MAX_COUNT}"
            problems.append(complaint(("confirm", "games"), self.confirm_games, text))
        if self.sampler == "cmaes" and self.at_once < LEAST_CMAES:
            problems.append(f"at_once = {self.at_once}: cmaes needs {LEAST_CMAES} or more, of which half are its own")
        if not self.against or (len(self.against) > 1 and BEST in self.against):
            problems.append(f"against = {list(self.against)}: give agents or {START!r}, or {BEST!r} alone")
        for own in sorted({"format", "agents", "matches", "pairings", "base"} & self.run.keys()):
            problems.append(f"{own}: cannot be given; a tuning sets it")
        for read in (lambda: self.test.test(), lambda: self.gains, lambda: samplers.check(self.sampler, self.space)):
            try:
                read()
            except ConfigError as error:
                problems += error.problems
            except ValidationError as error:
                problems += [f"confirm.{in_words(fault, SprtTable.model_fields)}" for fault in error.errors()]
            except (ValueError, TypeError) as error:
                problems.append(str(error))
        if not problems:
            self.config([])
        return problems

    def extends(self, other):
        """Ranges may become narrower or wider, and games more."""
        same = [one.name for one in self.space.parameters] == [one.name for one in other.space.parameters]
        freed = {"parameters": {}, "games": 0, "confirm": {}}
        return same and replace(self, **freed) == replace(other, **freed) and self.games >= other.games


# -- What has been found ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Findings:
    """A tuning's steps and their results."""

    tuning: Tuning
    steps: list[Step]
    pairs: Pairs

    @property
    def space(self) -> Space:
        return self.tuning.space

    @cached_property
    def searched(self) -> list[Step]:
        return [step for step in self.steps if step.kind == "search"]

    @cached_property
    def values(self) -> dict[str, Values]:
        """Of all agents of the space, by name."""
        tried = {name: values for step in self.searched for name, values in step.trials}
        return {START: self.space.start(), **tried}

    @property
    def games(self) -> int:
        """Asked for by the search."""
        pairs = sum(end - begin for step in self.searched for _, _, begin, end in step.matches)
        return 2 * pairs * self.tuning.conditions

    @cached_property
    def played(self) -> int:
        """Games of the search that have ended."""
        openings: dict[tuple[str, str], set[int]] = {}
        for step in self.searched:
            for one, other, begin, end in step.matches:
                openings.setdefault((one, other), set()).update(range(begin, end))
        met = {
            (one, other): self.pairs.get((one, other)) or self.pairs.get((other, one), {}) for one, other in openings
        }
        return 2 * sum(opening in own for pair, own in openings.items() for _, opening in met[pair])

    @property
    def is_searched(self) -> bool:
        """Whether all games of the search are asked for and have ended."""
        tuning = self.tuning
        all_of_spsa = tuning.sampler == "spsa" and len(self.searched) * tuning.at_once >= tuning.iterations
        return self.played >= self.games and (self.games >= tuning.games or all_of_spsa)

    def of(self, one: str, other: str) -> dict[tuple[int, int], PlayedPair]:
        """The pairs of games that count of two agents, with the points of the first."""
        found = self.pairs.get((one, other))
        if found is None:
            turned = self.pairs.get((other, one), {})
            found = {place: pair.turned for place, pair in turned.items()}
        return {place: pair for place, pair in found.items() if None not in pair.points and not pair.repeats}

    def won(self, one: str, other: str) -> dict[int, list[float]]:
        """The first agent's points in these pairs, by condition."""
        found: dict[int, list[float]] = {}
        for (condition, _), pair in self.of(one, other).items():
            found.setdefault(condition, []).append(pair.won)
        return found

    @cached_property
    def matches(self) -> list[tuple[str, str]]:
        """Pairs of agents of the search, each once."""
        return list(dict.fromkeys((one, other) for step in self.searched for one, other, _, _ in step.matches))

    @cached_property
    def trials(self) -> list[Trial]:
        """All proposals, in order, with results so far."""
        against_start = START in self.tuning.against or BEST in self.tuning.against
        known = [Trial(self.values[START], -1, 0.0)] if against_start else []
        met: dict[str, list[str]] = {}
        for one, other in self.matches:
            met.setdefault(one, []).append(other)
        worth: dict[str, float] = {START: 0.0} if against_start else {}
        for step in self.searched:
            for name, _ in step.trials:
                if name != START or not against_start:
                    worth[name] = self._value(name, met.get(name, []), worth)
        return known + [
            Trial(values, number, worth[name], self._by_number(name, number))
            for number, step in enumerate(self.searched)
            for name, values in step.trials
        ]

    def _value(self, name, opponents, worth) -> float:
        found = []
        for other in opponents:
            for each in self.won(name, other).values():
                won, games = sum(each), 2 * len(each)
                found.append(math.log((won + 0.5) / (games - won + 0.5)) + worth.get(other, 0.0))
        return sum(found) / len(found) if found else math.nan

    def _by_number(self, name: str, step: int) -> dict[int, float]:
        """Points of the pairs of one step, by a number that is the same for all its trials."""
        if step >= len(self.searched):
            return {}
        found: dict[int, float] = {}
        listed = [match for match in self.searched[step].matches if match[0] == name]
        for place, (_, other, begin, end) in enumerate(listed):
            for (condition, opening), pair in self.of(name, other).items():
                if begin <= opening < end:
                    number = (place * self.tuning.conditions + condition) * (end - begin) + opening - begin
                    found[number] = pair.won
        return found

    @cached_property
    def results(self) -> Results:
        """All results of the search, for a surface."""
        names = list(self.values) + self.tuning.others()
        number = {name: i for i, name in enumerate(names)}
        points = np.full((len(names), len(self.space.parameters)), np.nan)
        for name, values in self.values.items():
            points[number[name]] = self.space.point(values)
        rows, spread, expected = [], 0.0, 0.0
        for one, other in self.matches:
            for condition, won in self.won(one, other).items():
                scores = [points / 2 for points in won]
                constant = number[other] * self.tuning.conditions + condition
                rows.append((number[one], number[other], constant, 2 * sum(scores), 2 * len(scores)))
                mean = sum(scores) / len(scores)
                spread += sum((score - mean) ** 2 for score in scores)
                expected += (len(scores) - 1) * mean * (1 - mean) / 2
        columns = np.array(rows, float).reshape(-1, 5).T
        dispersion = min(max(spread / expected, 0.05), 4.0) if expected else 1.0
        one, other, constant = columns[:3].astype(int)
        return Results(points, one, other, constant, columns[3], columns[4], dispersion)

    @cached_property
    def surface(self) -> Surface:
        """TuningError without a result."""
        if not len(self.results.one):
            raise TuningError("the tuning has no result yet")
        return fit(self.results, self.space.sizes, self.tuning.seed)

    # -- SPSA -------------------------------------------------------------------------------------------------

    @cached_property
    def path(self) -> list[np.ndarray]:
        """Where SPSA has been: its point before each step, and after the last whose games have ended."""
        point, found = np.array(self.space.inner(self.space.point(self.space.start()))), []
        for number in range(len(self.searched)):
            found.append(point)
            together = []
            for i, one in enumerate(self.iterations_of(number, point)):
                scores = [pair.won - 1 for pair in self.of(*self.of_iteration(number, i)).values()]
                if scores:
                    together.append((one, 2 * sum(scores) / len(scores)))
            point = samplers.stepped(point, together)
        return [*found, point]

    def iterations_of(self, step: int, point: np.ndarray) -> list[samplers.Perturbed]:
        """The iterations of a step that begins at a point."""
        first, tuning = step * self.tuning.at_once + 1, self.tuning
        numbers = range(first, min(first + tuning.at_once, tuning.iterations + 1))
        return [samplers.perturbed(self.space, point, tuning.gains, k, tuning.iterations, tuning.seed) for k in numbers]

    @staticmethod
    def of_iteration(step: int, i: int) -> tuple[str, str]:
        """The names of its two agents."""
        return f"step {step + 1}.{i + 1} +", f"step {step + 1}.{i + 1} -"

    # -- The end ----------------------------------------------------------------------------------------------

    @cached_property
    def peak(self) -> np.ndarray:
        """The point to recommend: of SPSA the mean of its second half (Polyak & Juditsky, SIAM Journal on Control and
        Optimization 30, 1992), else the surface's.
        """
        if self.tuning.sampler == "spsa":
            return np.mean(self.path[len(self.path) // 2 :], axis=0)
        return self.surface.peak

    @property
    def best(self) -> Values:
        """The values at the peak, to be confirmed."""
        return self.space.values(self.peak)

    @property
    def nothing_better(self) -> bool:
        """Whether the best values are those of the agent as it is."""
        return self.space.spec(self.best) == self.space.spec(self.space.start())

    @property
    def recommended(self) -> Values:
        """The best values, if the confirming match has confirmed them; else those of the agent as it is."""
        test = self.test
        confirmed = self.confirming and test.state.verdict == "H1" and not test.no_verdict
        return self.best if confirmed else self.space.start()

    @cached_property
    def confirming(self) -> tuple[str, int, int] | None:
        """(name of the agent that meets the start, first opening, end) of the confirming match; None before it."""
        last = max((number for number, step in enumerate(self.steps) if step.kind == "search"), default=-1)
        found = [match for step in self.steps[last + 1 :] for match in step.matches]
        return (found[0][0], found[0][2], found[-1][3]) if found else None

    @cached_property
    def test(self) -> CandidateTest:
        """The confirming match's test, of the pairs in the order of their openings."""
        test = CandidateTest(self.tuning.test)
        if self.confirming:
            name, begin, end = self.confirming
            pairs = self.pairs.get((name, START)) or {}
            turned = self.pairs.get((START, name)) or {}
            pairs = pairs | {place: pair.turned for place, pair in turned.items()}
            for opening in range(begin, end):
                for condition in range(self.tuning.conditions):
                    if (pair := pairs.get((condition, opening))) and not test.is_over:
                        test.take(list(pair.points), pair.ways)
        return test

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to play."""
        if not self.confirming:
            return self.is_searched and self.nothing_better
        _, begin, end = self.confirming
        all_played = self.test.pairs == (end - begin) * self.tuning.conditions
        return self.test.is_over or (end - begin >= self.tuning.most_confirmed and all_played)

    @property
    def estimate(self) -> Estimate:
        """Of the confirming match."""
        return pentanomial(self.test.counts)
