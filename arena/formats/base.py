"""What a format is: a class that says which games a tournament consists of, and how it stands.

A format is one file in this folder: a subclass of `Format`, or of `Matches` where two agents meet, with its name and
its keys in the configuration.  It says what can be wrong with them, what may grow when a run is resumed, which games
are due, and how it stands in words.  `told` alone changes it, by one result at a time, and what is due never depends
on the order in which results come in: so a tournament is the same on any number of workers, resumed or not.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import combinations
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from arena.formats.fixture import Fixture, Fixtures, Pair

Complaint = tuple[tuple, object, str]  # the place of a key, its value, and what is wrong with it

_classes: dict[str, type["Format"]] = {}


class Table(BaseModel):
    """A table of a configuration: keys of exact types, and no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Format(ABC):
    """The games of one condition.

    names: the agents, in the order of the configuration; games: how many for each pair of agents (even), or of each
    agent where it plays alone; fixtures: makes the games; keys: the format's own, as `completed` returns them.
    """

    name: ClassVar[str]
    players: ClassVar[int] = 2
    adaptive: ClassVar[bool] = False  # whether results decide what is played
    growing: ClassVar[tuple[str, ...]] = ("games",)  # keys that may be larger when a run is resumed
    Keys: ClassVar[type[Table]] = Table  # the keys of the configuration that belong to the format

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "name" in vars(cls):
            _classes[cls.name] = cls

    def __init__(self, names: Sequence[str], games: int, fixtures: Fixtures, keys: Mapping[str, Any]):
        self.names = list(names)
        self.games = games
        self.fixtures = fixtures

    # -- The configuration ----------------------------------------------------------------------------------------

    @classmethod
    def complaints(cls, keys: Mapping[str, Any], names: Sequence[str]) -> Iterator[Complaint]:
        """What is wrong with keys whose form is right; `names` are those of the agents."""
        yield from ()

    @classmethod
    def completed(cls, keys: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """The format's keys with their defaults, as plain values."""
        return dict(keys)

    @classmethod
    def has_grown(cls, key: str, was, now) -> bool:
        """Whether a growing key asks for the same tournament with more to play."""
        return was is not None and now is not None and now > was

    # -- The games ------------------------------------------------------------------------------------------------

    def told(self, seats: tuple[int, ...], opening: int, outcome: float | None) -> None:  # noqa: B027
        """A game has ended; where results decide nothing, there is nothing to do.

        seats: the agents' numbers, the one that moved first in front; outcome: 1, 0.5 or 0 for that one, None for a
        void game and for a run of one agent.
        """

    @abstractmethod
    def due(self, begun: Counter) -> Iterator[Fixture]:
        """The games that are asked for now, in their order, without those that `begun` counts.

        `begun` is what `asked()` returned before, or empty.
        """

    @abstractmethod
    def asked(self) -> Counter:
        """A count of what has been asked for so far, which only grows."""

    @abstractmethod
    def __len__(self) -> int:
        """How many games have been asked for."""

    @property
    def is_over(self) -> bool:
        """Whether no result can ask for more games."""
        return True

    # -- Words ----------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def described(cls, values: Mapping[str, Any]) -> str:
        """Who meets whom by a resolved configuration, in words."""

    def lines(self) -> list[str]:
        """How it stands, in words; nothing where the tables say it all."""
        return []

    def reports(self) -> list[dict]:
        """The verdicts of its tests, in plain values; none where there is no test."""
        return []


class Matches(Format):
    """Base of the formats in which two agents meet, on openings 0, 1, ..., each played with both sides."""

    adaptive = True

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.openings = games // 2  # of a match
        self._asked: Counter[Pair] = Counter()  # how many openings each pair is to play
        self._left = 0  # games that were asked for and have not ended
        self._points: dict[Pair, dict[tuple[int, int], float | None]] = defaultdict(dict)  # [opening, side] of the
        # first of the pair, who moves first where the side is 0; None for a void game

    def told(self, seats, opening, outcome):
        first, second = seats
        pair, side = (min(seats), max(seats)), int(first > second)
        self._left -= opening < self._asked[pair]
        self._points[pair][opening, side] = outcome if outcome is None or side == 0 else 1 - outcome
        self.extend()

    def extend(self) -> None:
        """Ask for what follows once all games asked for so far are played."""

    def ask(self, more: Mapping[Pair, int]) -> None:
        """Ask for so many openings more of each pair; a resumed run may have played some of them."""
        for pair, openings in more.items():
            begin, end = self._asked[pair], self._asked[pair] + openings
            self._left += 2 * openings - sum(begin <= opening < end for opening, _ in self._points[pair])
            self._asked[pair] = end

    def asked(self):
        return Counter(self._asked)

    def __len__(self):
        return 2 * self._asked.total()

    def due(self, begun):
        """Opening by opening, so that all pairs have played about as many games at any time."""
        left = {pair: range(begun[pair], n) for pair, n in sorted(self._asked.items()) if n > begun[pair]}
        first = min((openings.start for openings in left.values()), default=0)
        for opening in range(first, max((openings.stop for openings in left.values()), default=0)):
            for pair, openings in left.items():
                if opening in openings:
                    yield from self.fixtures.of_pair(pair, opening)

    @property
    def is_over(self):
        return self.all_played()

    def all_played(self) -> bool:
        """Whether all games that were asked for have ended."""
        return self._left == 0

    def is_played(self, pair: Pair, opening: int) -> bool:
        """Whether both games of an opening have ended."""
        return all((opening, side) in self._points[pair] for side in (0, 1))

    def points(self, pair: Pair, openings: Iterable[int]) -> tuple[float, float]:
        """The points of both agents in these openings; void games count for neither."""
        found = [self._points[pair].get((k, side)) for k in openings for side in (0, 1)]
        counted = [points for points in found if points is not None]
        return sum(counted), len(counted) - sum(counted)

    def match(self, pair: Pair, openings: Iterable[int]) -> str:
        """A match in words: `a 3.5 : 0.5 b`."""
        one, other = self.points(pair, openings)
        return f"{self.names[pair[0]]} {one:g} : {other:g} {self.names[pair[1]]}"


class KnownMatches(Matches):
    """Base of the formats whose matches are all known before play."""

    adaptive = False

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.ask(dict.fromkeys(self.pairs(keys), self.openings))

    @abstractmethod
    def pairs(self, keys: Mapping[str, Any]) -> Iterable[Pair]:
        """Who meets."""

    def told(self, seats, opening, outcome):
        """Results change nothing."""

    @property
    def is_over(self):
        return True


def all_pairs(agents: int) -> list[Pair]:
    """Every pair of agents."""
    return list(combinations(range(agents), 2))


def unknown_agent(place: tuple, value, name: str, names: Sequence[str]) -> Iterator[Complaint]:
    """A complaint if no agent has that name."""
    if name not in names:
        yield place, value, f"{name!r} is the name of none of the agents: {', '.join(names)}"


@cache
def formats() -> dict[str, type[Format]]:
    """All formats by name, those that this folder holds among them."""
    package = importlib.import_module("arena.formats")
    for module in pkgutil.iter_modules(package.__path__, "arena.formats."):
        importlib.import_module(module.name)
    return dict(sorted(_classes.items()))
