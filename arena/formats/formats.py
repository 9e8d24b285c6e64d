"""Formats of tournaments: what is to be played next, as a function of the configuration and of the results so far.

A round robin, a gauntlet (all against one) and given pairings are known before play.  In the others results decide:

* swiss: in each round agents of like points meet, who have not met before as far as that can be;
* knockout: who wins a match goes on, in a bracket where the first agents of the configuration meet last;
* sprt: each candidate plays the base until a sequential test tells them apart.

Every game is one of the round robin of all agents, with its id, opening and seed.  What has been asked for never
depends on the order in which games end, so that such a tournament is the same on any number of workers, resumed or not.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from arena.config.options import KNOCKOUT, SPRT, SWISS
from arena.formats.pairing import Pair, bracket, pair_off
from arena.formats.schedule import Fixture, Schedule
from results.elo import pentanomial
from results.sprt import Sprt, State

BATCH, SHARE = 16, 10  # pairs that a sequential test plays ahead at least, and one over their share of those played


class Format:
    """Base class: keeps the results, and what has been asked for."""

    def __init__(self, resolved: dict):
        self.names = [entry["name"] for entry in resolved["agents"]]
        self.openings = resolved["games"] // 2  # of a match
        self.asked: Counter[Pair] = Counter()  # openings 0, 1, ... of each pair, as many as this
        # Pair -> (opening, side) -> points of the first of the pair, None if void
        self._points = defaultdict(dict)

    def add(self, first: int, second: int, opening: int, outcome: float | None) -> None:
        """A result: the numbers of the agents, and the outcome for the one who moved first, None for a void game."""
        pair, side = (min(first, second), max(first, second)), int(first > second)
        self._points[pair][opening, side] = outcome if outcome is None or side == 0 else 1 - outcome

    def wanted(self) -> Counter:
        """How many openings each pair is to play, each with both sides, after the results so far; it only grows."""
        while self._all_played() and (more := self.extend()):
            self.asked += more
        return self.asked

    def extend(self) -> Counter:
        """What to play after all that has been asked for was; nothing at the end."""
        raise NotImplementedError

    def lines(self) -> list[str]:
        """How it stands, in words."""
        raise NotImplementedError

    def points(self, pair: Pair, openings: range) -> tuple[float, float]:
        """The points of both in these openings; void games count for nobody."""
        found = [self._points[pair].get((k, side)) for k in openings for side in (0, 1)]
        counted = [points for points in found if points is not None]
        return sum(counted), len(counted) - sum(counted)

    def is_played(self, pair: Pair, opening: int) -> bool:
        """Whether both games of an opening are stored."""
        return all((opening, side) in self._points[pair] for side in (0, 1))

    def _all_played(self) -> bool:
        return all(len(self._points[pair]) >= 2 * n for pair, n in self.asked.items())

    def is_over(self) -> bool:
        """Whether nothing is left to play, now or later."""
        self.wanted()
        return self._all_played()

    def match(self, pair: Pair, openings: range) -> str:
        """A match in words: `a 3.5 : 0.5 b`."""
        one, other = self.points(pair, openings)
        return f"{self.names[pair[0]]} {one:g} : {other:g} {self.names[pair[1]]}"


class Swiss(Format):
    """Rounds of matches.  Ranked by points, then as in the configuration; an agent without an opponent, where their
    number is odd, gets a match's points."""

    def __init__(self, resolved):
        super().__init__(resolved)
        self.length = resolved["rounds"]
        self.rounds = []  # (pairs with the openings that they play, who has a bye or None)

    def extend(self):
        if len(self.rounds) == self.length:
            return Counter()
        table = self.table()
        met = Counter(pair for pairs, _ in self.rounds for pair in pairs)
        byes = Counter(bye for _, bye in self.rounds if bye is not None)
        pairs, bye = pair_off([agent for agent, _ in table], dict(table), met, byes)
        lines = {pair: range(met[pair] * self.openings, (met[pair] + 1) * self.openings) for pair in pairs}
        self.rounds.append((lines, bye))
        return Counter(dict.fromkeys(pairs, self.openings))

    def table(self) -> list[tuple[int, float]]:
        """Agents and their points in all rounds, the best first."""
        points = dict.fromkeys(range(len(self.names)), 0.0)
        for pairs, bye in self.rounds:
            for pair, openings in pairs.items():
                for agent, won in zip(pair, self.points(pair, openings)):
                    points[agent] += won
            if bye is not None:
                points[bye] += 2 * self.openings
        return sorted(points.items(), key=lambda item: (-item[1], item[0]))

    def lines(self):
        self.wanted()
        lines = []
        for number, (pairs, bye) in enumerate(self.rounds, 1):
            matches = [self.match(pair, openings) for pair, openings in pairs.items()]
            rest = [f"{self.names[bye]} has a bye"] if bye is not None else []
            lines.append(f"round {number} of {self.length}: {', '.join([*matches, *rest])}")
        return [*lines, "points: " + ", ".join(f"{self.names[agent]} {points:g}" for agent, points in self.table())]


class Knockout(Format):
    """Matches whose winners go on.  A tied match gets further pairs of games, one after the other, as many as it had;
    if it is tied still, the agent that comes first in the configuration goes on."""

    def __init__(self, resolved):
        super().__init__(resolved)
        self.rounds = [bracket(len(self.names))]  # of matches: two agents in the order of the bracket, or (agent, None)

    def extend(self):
        while len(winners := self.rounds[-1]) > 1 or winners[0][1] is not None:
            matches = [tuple(sorted(match)) for match in self.rounds[-1] if match[1] is not None]
            more = Counter(
                {pair: 1 if self.asked[pair] else self.openings for pair in matches if self.winner(pair) is None}
            )
            if more:
                return more
            winners = [match[0] if match[1] is None else self.winner(tuple(sorted(match))) for match in self.rounds[-1]]
            self.rounds.append([*zip(winners[::2], winners[1::2])] if len(winners) > 1 else [(winners[0], None)])
        return Counter()

    def winner(self, pair: Pair) -> int | None:
        """Who goes on; None if the match is not decided by what has been asked for."""
        if self.asked[pair] < self.openings:
            return None
        one, other = self.points(pair, range(self.asked[pair]))
        if one == other:
            return None if self.asked[pair] < 2 * self.openings else pair[0]
        return pair[0] if one > other else pair[1]

    def lines(self):
        self.wanted()
        lines = []
        for number, matches in enumerate(self.rounds, 1):
            if len(matches) == 1 and matches[0][1] is None:
                lines.append(f"winner: {self.names[matches[0][0]]}")
                continue
            played = [
                self.match(pair, range(self.asked[pair])) + self._tie(pair)
                for match in matches
                if match[1] is not None and (pair := tuple(sorted(match)))
            ]
            byes = [f"{self.names[match[0]]} has a bye" for match in matches if match[1] is None]
            lines.append(f"round {number}: {', '.join(played + byes)}")
        return lines

    def _tie(self, pair):
        one, other = self.points(pair, range(self.asked[pair]))
        tied = one == other and self.winner(pair) == pair[0]
        return f" ({self.names[pair[0]]} goes on, as it comes first)" if tied else ""


class Trial:
    """A candidate's test against the base, on pairs of games in the order of the openings.

    It stops at the first pair after which a bound is crossed; pairs with a void game are left out.
    """

    def __init__(self, test: Sprt):
        self.test = test
        self.counts = [0] * 5  # of pairs, by the candidate's score: LL, LD, WL or DD, WD, WW
        self.pairs = 0  # openings taken, in their order
        self.ahead = BATCH  # where the batch ends that is being played, and where the one after it does
        self.wanted = 2 * BATCH
        self.state = State(0.0, *test.bounds, "continue")

    def take(self, points: float | None) -> None:
        """The candidate's points in the next pair of games; None if one of them was void."""
        while self.pairs >= self.ahead:
            self.ahead, self.wanted = self.wanted, self.wanted + max(BATCH, self.wanted // SHARE)
        self.pairs += 1
        if points is not None:
            self.counts[int(2 * points)] += 1
            self.state = self.test.state(self.counts)


class SequentialTest(Format):
    """Candidates against the base, each until its test ends, or all `games` are played.

    Pairs are played in batches of at least BATCH, one batch ahead of the test, so that no worker has to wait: what lies
    beyond the end of a test is stored, and is no part of its verdict.
    """

    def __init__(self, resolved):
        super().__init__(resolved)
        base = self.names.index(resolved["base"])
        test = Sprt(**resolved["sprt"])
        self.base = base
        self.trials = {tuple(sorted((base, i))): Trial(test) for i in range(len(self.names)) if i != base}

    def add(self, first, second, opening, outcome):
        super().add(first, second, opening, outcome)
        pair = min(first, second), max(first, second)
        trial = self.trials[pair]
        while trial.state.verdict == "continue" and trial.pairs < self.openings and self.is_played(pair, trial.pairs):
            results = [self._points[pair][trial.pairs, side] for side in (0, 1)]
            points = None if None in results else sum(results)
            trial.take(points if points is None or pair[1] == self.base else 2 - points)

    def wanted(self):
        for pair, trial in self.trials.items():
            self.asked[pair] = min(self.openings, trial.wanted)
        return self.asked

    def candidate(self, pair: Pair) -> str:
        """The name of the one that is not the base."""
        return self.names[pair[0] if pair[1] == self.base else pair[1]]

    def reports(self) -> list[dict]:
        """A test a candidate, in plain values."""
        return [self._report(pair, trial) for pair, trial in self.trials.items()]

    def _report(self, pair, trial):
        estimate, state = pentanomial(trial.counts) if any(trial.counts) else None, trial.state
        played = sum(self.is_played(pair, k) for k in {opening for opening, _ in self._points[pair]})
        return {
            "candidate": self.candidate(pair),
            "base": self.names[self.base],
            "pairs": sum(trial.counts),
            "counts": list(trial.counts),
            "llr": state.llr,
            "lower": state.lower,
            "upper": state.upper,
            "verdict": state.verdict,
            "elo": estimate and estimate.elo,
            "error": estimate and estimate.error,
            "bound": estimate.bound if estimate else "",
            "beyond": played - trial.pairs,
        }

    def lines(self):
        ended = [trial.pairs >= self.openings for trial in self.trials.values()]
        return [_test_in_words(report, at_end) for report, at_end in zip(self.reports(), ended)]


def _test_in_words(report, at_end) -> str:
    if report["elo"] is None:
        elo = "no Elo yet"
    elif report["bound"]:
        elo = f"Elo {report['bound']} {report['elo']:+.1f}"
    else:
        elo = f"Elo {report['elo']:+.1f} ± {report['error']:.1f}"
    if report["verdict"] == "continue":
        verdict = "; no verdict after all games" if at_end else ""
    else:
        verdict = f"; {report['verdict']} is accepted"
        if report["beyond"]:
            verdict += f" ({report['beyond']} pairs more, played ahead, are not part of this)"
    return (
        f"{report['candidate']} against {report['base']}: {report['pairs']} pairs, LLR {report['llr']:.2f} "
        f"({report['lower']:.2f} to {report['upper']:.2f}), {elo}{verdict}"
    )


ADAPTIVE = {SWISS: Swiss, KNOCKOUT: Knockout, SPRT: SequentialTest}


class Plan:
    """The games of a tournament, as its format asks for them; `rounds` is None where all are known before play."""

    def __init__(self, resolved: dict):
        self.schedule = Schedule.of(resolved)
        adaptive = ADAPTIVE.get(resolved.get("format"))
        self.rounds = adaptive(resolved) if adaptive else None
        self._number = {entry["name"]: i for i, entry in enumerate(resolved["agents"])}

    @classmethod
    def after(cls, resolved: dict, results: Iterable[tuple]) -> "Plan":
        """The plan after results: (name of the first player, name of the second, opening, outcome or None) each."""
        plan = cls(resolved)
        for result in results if plan.rounds else ():
            plan.add(*result[:4])
        return plan

    def add(self, first: str, second: str | None, opening: int, outcome: float | None) -> None:
        """A game has been stored."""
        if self.rounds:
            outcome = None if outcome is None or math.isnan(outcome) else outcome  # a data frame says nan
            self.rounds.add(self._number[first], self._number[second], opening, outcome)

    @classmethod
    def of(cls, tournament) -> "Plan | None":
        """The plan of a stored run (`results.Tournament`); None if it was imported, and has none."""
        config = tournament.meta.get("config")
        return cls.after(config, tournament.games[["first", "second", "opening", "outcome"]].values) if config else None

    def __len__(self):
        """How many games have been asked for."""
        return 2 * self.rounds.wanted().total() if self.rounds else len(self.schedule)

    def __iter__(self) -> Iterator[Fixture | None]:
        """All games; None where there is none before a result comes in."""
        if not self.rounds:
            yield from self.schedule
            return
        begun = Counter()
        while True:
            wanted = +self.rounds.wanted()
            more = {pair: range(begun[pair], n) for pair, n in wanted.items() if n > begun[pair]}
            begun = wanted
            yield from self.schedule.openings(more)
            if not more:
                if self.rounds.is_over():
                    return
                yield None

    def lines(self) -> list[str]:
        """How it stands, in words; nothing where the tables say it all."""
        return self.rounds.lines() if self.rounds else []
