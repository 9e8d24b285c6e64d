"""Sequential test: each candidate plays the base until a test decides."""

from typing import Any

from pydantic import Field, ValidationError

from arena.formats.base import UNKNOWN, ConfigTable, Matches, Way
from arena.formats.gauntlet import BaseKeys, base_complaints
from arena.results.database.record import Reason
from arena.results.database.repeats import Ways
from arena.results.statistics.elo import pentanomial
from arena.results.statistics.sprt import Sprt, State, in_words

BATCH, SHARE = 16, 10  # least look-ahead in pairs; at most one pair in SHARE of those played
# copies in a row for each different pair, at least LEAST, after which no new pair is expected: of equally likely
# openings with one missing, this happens once in e^8 times
COPIES, LEAST = 8, 32
NO_NEW_PAIR = (
    "no new pair comes; more openings, random opening_plies or agents that draw random numbers make pairs differ"
)
FAILURES = {*Reason.FORFEITS} - {Reason.TIME}  # being slow is a weakness that a test may measure
MEND = "mend the program, or count failures by allow_failures = true in the table sprt"


class SprtTable(ConfigTable):
    """The hypotheses of a sequential test, and its chances of error; see `results.statistics.sprt`."""

    elo0: float = Field(0.0, description="elo0, the difference under H0, is a number")
    elo1: float = Field(5.0, description="elo1, the difference under H1, is a number above elo0")
    alpha: float = Field(0.05, description="alpha, the chance to accept H1 though H0 holds, is between 0 and 0.5")
    beta: float = Field(0.05, description="beta, the chance to accept H0 though H1 holds, is between 0 and 0.5")
    model: str = Field("normalized", description='model is "normalized" or "logistic"')
    allow_failures: bool = Field(False, description="allow_failures, a verdict from failures, is true or false")

    def test(self) -> Sprt:
        """The test; ValueError says what is out of range."""
        return Sprt(**self.model_dump(exclude={"allow_failures"}))

    def plain(self) -> dict[str, Any]:
        """The keys; without `allow_failures` where false, as in runs older than that key."""
        return self.model_dump(exclude=None if self.allow_failures else {"allow_failures"})


class CandidateTest:
    """A candidate's test against the base, on pairs of games in the order of the openings.

    It stops at the first pair that crosses a bound, or when only copies come.  Left out are pairs with a void game, and
    copies of earlier pairs, move for move, unless these two play by chance (see `results.database.repeats`).
    """

    def __init__(self, table: SprtTable):
        self.sprt = sprt = table.test()
        self._allows_failures = table.allow_failures
        self.losses = self.failures = 0  # decisive games, and those decided by a failure, of pairs taken
        self.pairs = 0  # openings taken, in order
        self.ahead = BATCH  # end of the current batch; `wanted`: of the next one
        self.wanted = 2 * BATCH
        self.state = State(0.0, *sprt.bounds, "continue")
        self._every, self._different = [0] * 5, [0] * 5  # pairs, by the candidate's score: LL, LD, WL or DD, WD, WW
        self._ways = Ways()
        self._in_a_row = 0  # copies

    @property
    def counts(self) -> list[int]:
        """Pairs that the test counts, by the candidate's score: LL, LD, WL or DD, WD, WW."""
        return self._every if self._ways.by_chance else self._different

    @property
    def copies(self) -> int:
        """Pairs left out as copies."""
        return sum(self._every) - sum(self.counts)

    @property
    def is_over(self) -> bool:
        """Whether the test has ended, be it without a verdict."""
        return self.state.verdict != "continue" or bool(self.no_verdict)

    @property
    def no_verdict(self) -> str:
        """Why there is none, though the test has ended; else ""."""
        if self._in_a_row >= max(LEAST, COPIES * len(self._ways)):
            return NO_NEW_PAIR
        if self.state.verdict != "continue" and self.failures > self.losses / 2 and not self._allows_failures:
            return f"{self.failures} of {self.losses} lost games were lost by a failure; {MEND}"
        return ""

    def take(self, points: list[float | None], ways: tuple[Way, ...]) -> None:
        """Take the candidate's points in the next two games, None for a void one, and how both games went."""
        while self.pairs >= self.ahead:
            self.ahead, self.wanted = self.wanted, self.wanted + max(BATCH, self.wanted // SHARE)
        self.pairs += 1
        known = [result for result in points if result is not None]
        if len(known) < 2:
            return
        self.losses += sum(result != 0.5 for result in known)
        self.failures += sum(way.reason in FAILURES for way in ways)
        score, copy = int(2 * sum(known)), self._is_copy(ways)
        self._every[score] += 1
        self._different[score] += not copy
        self._in_a_row = self._in_a_row + 1 if copy and not self._ways.by_chance else 0
        self.state = self.sprt.state(self.counts)

    def _is_copy(self, ways) -> bool:
        """Whether an earlier pair went so; pairs of unknown moves are no copies."""
        if any(way.moves == "" for way in ways):
            return False
        failed = any(way.reason in Reason.FORFEITS for way in ways)
        return self._ways.repeats("", ways[0].opening, tuple((way.moves, way.reason) for way in ways), failed)


class SequentialTest(Matches):
    """Each candidate plays the base until its test ends or all `games` are played.

    Pairs come in batches of at least BATCH, one ahead of the test, so that no worker waits.  Games beyond a test's end
    are stored, but not part of its verdict.
    """

    name = "sprt"

    class Keys(BaseKeys):
        sprt: SprtTable = Field(SprtTable(), description="sprt is a table such as { elo0 = 0, elo1 = 5 }")

    @classmethod
    def complaints(cls, keys, names):
        yield from base_complaints(keys, names)
        try:
            SprtTable(**keys.get("sprt", {})).test()
        except ValidationError:
            pass  # reported elsewhere
        except ValueError as error:
            yield ("sprt",), keys["sprt"], str(error)

    @classmethod
    def completed(cls, keys, names):
        return {"base": keys.get("base") or names[0], "sprt": SprtTable(**keys.get("sprt", {})).plain()}

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.base = self.names.index(keys["base"])
        others = [i for i in range(len(self.names)) if i != self.base]
        table = SprtTable(**keys["sprt"])
        self.tests = {(min(self.base, i), max(self.base, i)): CandidateTest(table) for i in others}
        self._ways = {pair: {} for pair in self.tests}  # by opening and side, of games that no test has taken
        self.extend()

    def took(self, seats, opening, outcome, way=UNKNOWN):
        super().took(seats, opening, outcome)
        pair = min(seats), max(seats)
        test, ways = self.tests[pair], self._ways[pair]
        ways[opening, int(seats != pair)] = way
        while not test.is_over and test.pairs < self.openings and self.is_played(pair, test.pairs):
            ended = test.pairs
            test.take(self._candidates_points(pair, ended), tuple(ways.pop((ended, side)) for side in (0, 1)))
        self.extend()

    def _candidates_points(self, pair, opening) -> list[float | None]:
        """The candidate's points in both games of an opening; None for a void one."""
        results = [self._points[pair][opening, side] for side in (0, 1)]
        return [result if result is None or pair[1] == self.base else 1 - result for result in results]

    def extend(self):
        self.ask({pair: min(self.openings, test.wanted) - self._asked[pair] for pair, test in self.tests.items()})

    @property
    def most(self):
        return 2 * self.openings * len(self.tests)

    def candidate(self, pair) -> str:
        """The candidate's name."""
        return self.names[pair[0] if pair[1] == self.base else pair[1]]

    @classmethod
    def described(cls, values):
        return f"a sequential test, at most {values['games']} games of each against {values['base']}"

    def lines(self):
        return [
            _in_words(report, test, at_end=test.pairs >= self.openings)
            for report, test in zip(self.reports(), self.tests.values())
        ]

    def reports(self):
        return [self._report(pair, test) for pair, test in self.tests.items()]

    def _report(self, pair, test):
        estimate, state = pentanomial(test.counts) if any(test.counts) else None, test.state
        played = sum(self.is_played(pair, k) for k in {opening for opening, _ in self._points[pair]})
        return {
            "candidate": self.candidate(pair),
            "base": self.names[self.base],
            "pairs": sum(test.counts),
            "copies": test.copies,
            "failures": test.failures,
            "no_verdict": test.no_verdict,
            "counts": list(test.counts),
            "llr": state.llr,
            "lower": state.lower,
            "upper": state.upper,
            "verdict": "continue" if test.no_verdict else state.verdict,
            "elo": estimate and estimate.elo,
            "error": estimate and estimate.error,
            "bound": estimate.bound if estimate else "",
            "nelo": estimate and estimate.nelo,
            "nelo_error": estimate and estimate.nelo_error,
            "beyond": played - test.pairs,
        }


def _in_words(report: dict, test: CandidateTest, at_end: bool) -> str:
    if report["elo"] is None:
        elo = "no Elo yet"
    elif report["bound"]:
        elo = f"Elo {report['bound']} {report['elo']:+.1f}"
    else:
        elo = f"Elo {report['elo']:+.1f} ± {report['error']:.1f}"
    if report["nelo"] is not None:
        elo += f", nElo {report['nelo']:+.1f} ± {report['nelo_error']:.1f}"
    copies = f" and {report['copies']} copies of them" if report["copies"] else ""
    if report["no_verdict"]:
        verdict = f"; no verdict: {report['no_verdict']}"
    elif report["verdict"] == "continue":
        early = f"; no verdict before {test.sprt.min_pairs} pairs" if test.sprt.too_few(test.counts) else ""
        verdict = "; no verdict after all games" if at_end else early
    else:
        verdict = f"; {in_words(report['verdict'], test.sprt.elo0, test.sprt.elo1).rstrip('.')}"
        if report["beyond"]:
            verdict += f" ({report['beyond']} more pairs, played ahead, are not part of this)"
    return (
        f"{report['candidate']} against {report['base']}: {report['pairs']} pairs{copies}, LLR {report['llr']:.2f} "
        f"({report['lower']:.2f} to {report['upper']:.2f}), {elo}{verdict}"
    )
