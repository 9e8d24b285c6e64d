"""Games that repeat another one, move for move, because their agents are deterministic: they add no information.

That a short game of agents that draw random numbers comes out the same is part of their results.  So two agents count
as playing by chance if, for each game from an opening that they had met before, at least CHANCE games went another way
than the most from that opening.  A game that ended by a failure or on time is no sign of chance; of agents that do not
play by chance, it counts once like every other way.  Openings with the same moves in another order are one.  The same
moves in two conditions are no repetition.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable

import pandas as pd

from arena.results.database.record import Reason

CHANCE = 0.1  # less is a slip of a program without chance, such as a move found too late
FAILED = frozenset(Reason.FORFEITS)
SETTING = ["condition", "first", "opening_moves"]
COLUMNS = [*SETTING, "second", "outcome", "reason", "moves"]


class Ways:
    """How two agents have followed their openings so far."""

    def __init__(self) -> None:
        self._seen: set[Hashable] = set()
        self._counts: Counter[Hashable] = Counter()  # games of each opening and way, without those that failed
        self._most: Counter[Hashable] = Counter()  # of each opening's ways: the highest count
        self._games = self._usual = 0  # without those that failed; the sum of `_most`

    def __len__(self) -> int:
        """The number of different ways."""
        return len(self._seen)

    @property
    def by_chance(self) -> bool:
        again = self._games - len(self._most)
        return again > 0 and self._games - self._usual >= CHANCE * again

    def repeats(self, place: Hashable, opening: str, way: Hashable, failed: bool) -> bool:
        """Note how a game went after an opening at a place, such as a condition; whether an earlier one went so."""
        if not failed:
            self._games += 1
            self._counts[place, opening, way] += 1
            if self._counts[place, opening, way] > self._most[place, opening]:
                self._most[place, opening] += 1
                self._usual += 1
        known = place, in_any_order(opening), way
        again = known in self._seen
        self._seen.add(known)
        return again


def in_any_order(opening: str) -> str:
    """The sides that made each move, in order: the same for openings that transpose; a column's stones are a stack."""
    sides: dict[str, str] = {}
    for ply, move in enumerate(opening.split()):
        sides[move] = sides.get(move, "") + "01"[ply % 2]
    return " ".join(f"{move}:{sides[move]}" for move in sorted(sides))


def repeated(games: pd.DataFrame) -> pd.Series:
    """bool[games]: this game repeats an earlier one of two deterministic agents.

    `games` has COLUMNS.  Void games, and those of unknown moves, repeat nothing.
    """
    known = games[games["outcome"].notna() & games["second"].notna() & (games["moves"] != "")]
    ways: defaultdict[frozenset, Ways] = defaultdict(Ways)
    again: list[tuple[Hashable, frozenset]] = []
    columns = (known[name].tolist() for name in COLUMNS)
    for index, condition, first, opening, second, outcome, reason, moves in zip(known.index, *columns):
        pair = frozenset((first, second))
        if ways[pair].repeats((condition, first), opening, (moves, outcome), reason in FAILED):
            again.append((index, pair))
    return pd.Series(games.index.isin([index for index, pair in again if not ways[pair].by_chance]), games.index)


def notes(repetitions: pd.DataFrame) -> list[str]:
    """A warning for each two agents that repeat themselves.

    repetitions: first, second and games, the number of those that repeat others
    """
    pairs = pd.Series(
        [" and ".join(sorted(pair)) for pair in zip(repetitions["first"], repetitions["second"])],
        repetitions.index,
        object,
    )
    return [
        f"{number} games between {pair} repeat earlier ones move for move: errors count each game once. More random "
        "opening_plies make games differ."
        for pair, number in repetitions["games"].groupby(pairs).sum().items()
    ]
