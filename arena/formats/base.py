"""The base of formats: classes that say which games a tournament has, and how it stands.

A format is one file in this folder: a subclass of `Format`, or of `Matches` where two agents meet, with its name and
keys.  Only `took` changes it, by one result at a time, and what is wanted never depends on the order of results: so a
tournament is the same on any number of workers, resumed or not.
"""

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, NamedTuple

from pydantic import BaseModel, ConfigDict

from arena.formats.fixture import Fixture, Fixtures, Pair

Complaint = tuple[tuple, object, str]  # the key's place, its value, what is wrong


class Way(NamedTuple):
    """How a game went."""

    opening: str = ""  # its moves
    moves: str = ""  # those after it
    reason: str = ""  # one of Reason


UNKNOWN = Way()

_classes: dict[str, type["Format"]] = {}


class ConfigTable(BaseModel):
    """A table of a configuration: keys of exact types, no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Format(ABC):
    """The games of one condition.

    names: as configured; games: for each pair of agents (even), or each agent that plays alone; fixtures: makes the
    games; keys: the format's own, as `completed` returns them
    """

    name: ClassVar[str]
    players: ClassVar[int] = 2
    adaptive: ClassVar[bool] = False  # whether results decide which games are played
    renames: ClassVar[bool] = True  # whether the rest of an agent's games may be another one's, whose code is another
    growing: ClassVar[tuple[str, ...]] = ("games",)  # may grow when a run is resumed
    counts_games: ClassVar[bool] = False  # whether its own keys say how many games there are
    Keys: ClassVar[type[ConfigTable]] = ConfigTable  # the format's own keys in the configuration

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
        """Complaints about keys of the right form; `names` are the agents'."""
        yield from ()

    @classmethod
    def completed(cls, keys: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """The format's keys with defaults, as plain values."""
        return dict(keys)

    @classmethod
    def has_grown(cls, key: str, was, now) -> bool:
        """Whether it asks for the same tournament with more games."""
        return was is not None and now is not None and now > was

    # -- The games ------------------------------------------------------------------------------------------------

    def took(self, seats: tuple[int, ...], opening: int, outcome: float | None, way: Way = UNKNOWN) -> None:  # noqa: B027
        """Take the result of a game; nothing to do if results decide nothing.

        seats: the agents' numbers, the first mover first; outcome: its 1, 0.5 or 0, None for a void game and a run of
        one agent; way: how the game went
        """

    @abstractmethod
    def wanted(self, begin: int) -> Iterator[Fixture]:
        """The games wanted so far, in order, but the first `begin`, as many as were listed before."""

    @abstractmethod
    def __len__(self) -> int:
        """The number of games wanted so far, which only grows."""

    @property
    def most(self) -> int:
        """The number of games that may be wanted in all."""
        return len(self)

    # -- Words ----------------------------------------------------------------------------------------------------

    @classmethod
    @abstractmethod
    def described(cls, values: Mapping[str, Any]) -> str:
        """The pairings of a resolved configuration, in words."""

    def lines(self) -> list[str]:
        """The standing, in words; nothing if the tables say it all."""
        return []

    def reports(self) -> list[dict]:
        """The verdicts of its tests, as plain values."""
        return []


class KnownMatches(Format):
    """Base of the formats whose matches are known before play: openings 0, 1, ..., each played with both sides."""

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self._pairs = sorted(self.pairs(keys))

    @abstractmethod
    def pairs(self, keys: Mapping[str, Any]) -> Iterable[Pair]:
        """The pairs that meet."""

    def wanted(self, begin):
        """Opening by opening, so that pairs advance together."""
        for place in range(begin // 2, len(self) // 2):
            opening, number = divmod(place, len(self._pairs))
            yield from self.fixtures.of_pair(self._pairs[number], opening)

    def __len__(self):
        return 2 * (self.games // 2) * len(self._pairs)


class Matches(Format):
    """Two agents meet on openings 0, 1, ..., each played with both sides; results decide who meets next."""

    adaptive, renames = True, False

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.openings = games // 2  # of a match
        self._wanted: list[tuple[Pair, int]] = []  # a pair, and an opening that it is to play
        self._asked: Counter[Pair] = Counter()  # openings each pair is to play
        self._left = 0  # games wanted that have not ended
        # [opening, side] of the pair's first agent, which moves first if the side is 0; None for a void game
        self._points: dict[Pair, dict[tuple[int, int], float | None]] = defaultdict(dict)

    def took(self, seats, opening, outcome, way=UNKNOWN):
        first, second = seats
        pair, side = (min(seats), max(seats)), int(first > second)
        self._left -= opening < self._asked[pair]
        self._points[pair][opening, side] = outcome if outcome is None or side == 0 else 1 - outcome
        self.extend()

    @abstractmethod
    def extend(self) -> None:
        """Ask for more games, if results call for them."""

    def ask(self, more: Mapping[Pair, int]) -> None:
        """Ask for more openings, one by one so that pairs advance together; a resumed run may have played some."""
        asked = self._asked
        new = [(opening, pair) for pair, n in more.items() for opening in range(asked[pair], asked[pair] + n)]
        self._left += sum((opening, side) not in self._points[pair] for opening, pair in new for side in (0, 1))
        self._wanted += [(pair, opening) for opening, pair in sorted(new)]
        asked.update(more)

    def wanted(self, begin):
        for pair, opening in self._wanted[begin // 2 :]:
            yield from self.fixtures.of_pair(pair, opening)

    def __len__(self):
        return 2 * len(self._wanted)

    @property
    @abstractmethod
    def most(self):
        """The number of games that may be wanted in all."""

    def all_played(self) -> bool:
        """Whether all games wanted so far have ended."""
        return self._left == 0

    def is_played(self, pair: Pair, opening: int) -> bool:
        """Whether both games of an opening have ended."""
        return all((opening, side) in self._points[pair] for side in (0, 1))

    def points(self, pair: Pair, openings: range) -> tuple[float, float]:
        """Both agents' points in these openings; void games count for neither."""
        found = [points for (k, _), points in self._points[pair].items() if k in openings]
        counted = [points for points in found if points is not None]
        return sum(counted), len(counted) - sum(counted)

    def match(self, pair: Pair, openings: range) -> str:
        """A match in words: `a 3.5 : 0.5 b`."""
        one, other = self.points(pair, openings)
        return f"{self.names[pair[0]]} {one:g} : {other:g} {self.names[pair[1]]}"


@cache
def formats() -> dict[str, type[Format]]:
    """All formats by name, including those in this folder."""
    package = importlib.import_module("arena.formats")
    for module in pkgutil.iter_modules(package.__path__, "arena.formats."):
        importlib.import_module(module.name)
    return dict(sorted(_classes.items()))
