"""Games that repeat another one, move for move, because their agents are deterministic: they add no information.

That a short game of agents that draw random numbers comes out the same is part of their results.  So two agents count
as playing by chance if, for each game from an opening that they had met before, at least CHANCE games went another way
than the most from that opening.  A game that ended by a failure or on time is no sign of chance, nor is an imported
one, whose opening is not known; of agents that do not play by chance, it counts once like every other way.  Openings
with the same moves in another order are one.  The same moves in two conditions are no repetition.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache

import pandas as pd

from arena.results.database.record import Reason

CHANCE = 0.1  # less is a slip of a program without chance, such as a move found too late
ROWS = 10_000  # of a table, looked at in one go
NO_SIGN = frozenset({*Reason.FORFEITS, Reason.IMPORTED})  # of chance, however such games went
MOST_NAMED = 4  # pairs of agents, each in a sentence of its own
SETTING = ["condition", "first", "opening_moves"]
COLUMNS = [*SETTING, "second", "outcome", "reason", "moves"]

Pair = tuple[str, str]  # names of two agents, in order


class Ways:
    """How two agents have followed their openings so far."""

    def __init__(self) -> None:
        # by hashes, since a large run has many long games
        self._seen: set[int] = set()
        self._counts: Counter[int] = Counter()  # games of each opening and way, without those of NO_SIGN
        self._most: Counter[int] = Counter()  # of each opening's ways: the highest count
        self._games = self._usual = 0  # without those of NO_SIGN; the sum of `_most`

    def __len__(self) -> int:
        """The number of different ways."""
        return len(self._seen)

    @property
    def by_chance(self) -> bool:
        again = self._games - len(self._most)
        return again > 0 and self._games - self._usual >= CHANCE * again

    def surely_by_chance(self, games: int) -> bool:
        """Whether `by_chance` holds after `games` games at most, without those of NO_SIGN, however the others go.

        For the openings met, and the games that went another way than the most from theirs, never become fewer.
        """
        otherwise = self._games - self._usual
        return otherwise > 0 and otherwise >= CHANCE * (games - len(self._most))

    def repeats(self, place: Hashable, opening: str, way: Hashable, no_sign: bool) -> bool:
        """Note how a game went after an opening at a place, such as a condition; whether an earlier one went so."""
        if not no_sign:
            setting, whole = hash((place, opening)), hash((place, opening, way))
            self._games += 1
            self._counts[whole] += 1
            if self._counts[whole] > self._most[setting]:
                self._most[setting] += 1
                self._usual += 1
        known = hash((place, in_any_order(opening), way))
        again = known in self._seen
        self._seen.add(known)
        return again


@lru_cache(1024)  # the games of an opening come close together
def in_any_order(opening: str) -> str:
    """The sides that made each move, in order: the same for openings that transpose; a column's stones are a stack."""
    sides: dict[str, str] = {}
    for ply, move in enumerate(opening.split()):
        sides[move] = sides.get(move, "") + "01"[ply % 2]
    return " ".join(f"{move}:{sides[move]}" for move in sorted(sides))


def repeated(games: pd.DataFrame, met: Mapping[Pair, int] | None = None) -> pd.Series:
    """bool[games]: this game repeats an earlier one of two deterministic agents.

    `games` has COLUMNS.  Void games, and those of unknown moves, repeat nothing.  met: as of `repeating`
    """
    again = [number for number, *_ in repeating(_rows_of(games), met)]
    found = pd.Series(False, games.index)
    found.iloc[again] = True
    return found


def _rows_of(games: pd.DataFrame) -> Iterator[tuple]:
    """Yields the rows of COLUMNS; only some are in memory as Python's objects."""
    for begin in range(0, len(games), ROWS):
        columns = games[COLUMNS].iloc[begin : begin + ROWS].astype(object)
        columns = columns.where(columns.notna(), None)
        yield from zip(*(columns[name].tolist() for name in COLUMNS))


def repeating(rows: Iterable[tuple], met: Mapping[Pair, int] | None = None) -> list[tuple[int, str, str, float]]:
    """(place, first, second, outcome) of the rows of COLUMNS that repeat an earlier one; nothing is kept of others.

    met: the games of each two agents, at most, without those of NO_SIGN; with it, no more rows are read once all
    agents are sure to play by chance
    """
    ways: defaultdict[Pair, Ways] = defaultdict(Ways)
    again: list[tuple[int, str, str, float]] = []
    sure: set[Pair] = set()
    for number, (condition, first, opening, second, outcome, reason, moves) in enumerate(rows):
        if second is None or outcome is None or not moves:
            continue
        if (pair := pair_of(first, second)) in sure:
            continue
        of_pair = ways[pair]
        if of_pair.repeats((condition, first), opening, (moves, outcome), reason in NO_SIGN):
            again.append((number, first, second, outcome))
        if met is not None and of_pair.surely_by_chance(met.get(pair, sys.maxsize)):
            sure.add(pair)
            if len(sure) == len(met):
                break
    return [row for row in again if not ways[pair_of(*row[1:3])].by_chance]


def pair_of(first: str, second: str) -> Pair:
    """The two agents, in one order whoever moves first."""
    return (first, second) if first < second else (second, first)


def notes(repetitions: pd.DataFrame) -> list[str]:
    """A warning for each two agents that repeat themselves; one for all if there are many.

    repetitions: first, second and games, the number of those that repeat others
    """
    pairs = pd.Series(
        [" and ".join(sorted(pair)) for pair in zip(repetitions["first"], repetitions["second"])],
        repetitions.index,
        object,
    )
    games = repetitions["games"].groupby(pairs).sum()
    if len(games) > MOST_NAMED:
        most = games.idxmax()
        games = pd.Series({f"{len(games)} pairs of agents, as {most},": games.sum()})
    return [
        f"{number:,} {'games' if number > 1 else 'game'} between {pair} {'repeat' if number > 1 else 'repeats'} "
        "earlier ones move for move: errors count each game once. When playing, more random opening_plies help."
        for pair, number in games.items()
    ]
