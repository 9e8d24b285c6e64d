"""The schedule: a pure function of the configuration.

Every game is known before play: who meets, who moves first, after which opening, with which seed.  None of that
depends on how many games there are, so a tournament can be stopped, resumed, and made longer.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, count, islice

import numpy as np

from arena.config.options import GAUNTLET
from games.core.random import derive_seed, stream

TRIES = 1000  # draws of an opening that does not end the game, before we say that there is none


class OpeningError(ValueError):
    """A game that is over within its opening, however often the opening is drawn."""


@dataclass(frozen=True)
class Fixture:
    """One game before play."""

    id: str  # such as `2v1-0007`: agent 2 moves first against agent 1, opening 7
    number: int  # place in the schedule of a round robin, from 0
    pairing: int  # which pair of agents of a round robin, from 0; which instance, where the game is for one player
    opening: int  # which opening, from 0; which run, where the game is for one player
    seed: int  # unsigned 64 bits, derived from the tournament's seed and the id
    first: int  # index of the agent that moves first
    second: int | None  # index of its opponent; None where the game is for one player

    @property
    def seats(self) -> tuple[int, ...]:
        """The indices of the agents that take part."""
        return (self.first,) if self.second is None else (self.first, self.second)

    @property
    def instance(self) -> int:
        """Which of the games that the tournament is about."""
        return self.pairing if self.second is None else 0


class Schedule:
    """All games of a round robin of `agents` agents with `games` games a pair (even), as Fixtures; or of some pairs.

    Opening by opening, every pair of agents meets twice, with sides swapped: so the standings mean something after
    each round, and the games that share an opening are close to each other.  With `pairings`, index pairs, only those
    meet, in games that are the same as in the round robin of all.
    """

    def __init__(self, agents: int, games: int, seed: int, pairings: Iterable[tuple[int, int]] = ()):
        self.agents = agents
        self.games = games
        self.seed = seed
        wanted = {tuple(sorted(pair)) for pair in pairings}
        all_pairs = list(combinations(range(agents), 2))
        self.pairings = [(i, pair) for i, pair in enumerate(all_pairs) if not wanted or pair in wanted]
        self._round = 2 * len(all_pairs)  # games of an opening, were it for all

    @classmethod
    def of(cls, resolved: dict) -> "Schedule | SoloSchedule":
        """All games of a resolved configuration (`Config.resolved()`); of a format whose results decide who meets, all
        that can be asked for at first (`arena.formats.formats`)."""
        number = {entry["name"]: i for i, entry in enumerate(resolved["agents"])}
        if resolved["format"] == "single_player":
            return SoloSchedule(len(number), len(resolved["instances"]), resolved["games"], resolved["seed"])
        pairings = [(number[one], number[other]) for one, other in resolved.get("pairings", ())]
        if resolved.get("format") == GAUNTLET:
            pairings = [(number[resolved["base"]], i) for i in number.values() if i != number[resolved["base"]]]
        return cls(len(number), resolved["games"], resolved["seed"], pairings)

    def __len__(self):
        return len(self.pairings) * self.games

    def __iter__(self) -> Iterator[Fixture]:
        return self.openings({pair: range(self.games // 2) for _, pair in self.pairings})

    def openings(self, wanted: Mapping[tuple[int, int], range]) -> Iterator[Fixture]:
        """The games of some openings of some pairs (smaller index first), opening by opening."""
        pairings = [(i, pair, wanted[pair]) for i, pair in self.pairings if wanted.get(pair)]
        begin = min((openings.start for _, _, openings in pairings), default=0)
        for opening in range(begin, max((openings.stop for _, _, openings in pairings), default=0)):
            for pairing, pair, openings in pairings:
                if opening in openings:
                    yield from self._both_sides(pairing, *pair, opening)

    def _both_sides(self, pairing, one, other, opening):
        for side, (first, second) in enumerate(((one, other), (other, one))):
            id = f"{first + 1}v{second + 1}-{opening:04d}"
            number = opening * self._round + 2 * pairing + side
            yield Fixture(id, number, pairing, opening, derive_seed(self.seed, id), first, second)


class SoloSchedule:
    """All runs of games for one player: each of `agents` agents on each of `instances` games, `runs` times.

    Run by run and instance by instance, all agents in turn; `2on3-0007` is run 7 of agent 2 on instance 3.
    """

    def __init__(self, agents: int, instances: int, runs: int, seed: int):
        self.agents = agents
        self.instances = instances
        self.runs = runs
        self.seed = seed

    def __len__(self):
        return self.agents * self.instances * self.runs

    def __iter__(self) -> Iterator[Fixture]:
        numbers = count()
        for run in range(self.runs):
            for instance in range(self.instances):
                for agent in range(self.agents):
                    id = f"{agent + 1}on{instance + 1}-{run:04d}"
                    yield Fixture(id, next(numbers), instance, run, derive_seed(self.seed, id), agent, None)


def opening(game, seed: int, k: int, plies: int) -> list[int]:
    """The moves of opening number `k` of a tournament: `plies` random legal ones (outcomes of chance by probability).

    It is drawn anew while the game is over within it; OpeningError after TRIES draws.  Two openings may coincide.
    """
    rng = stream(seed, "opening", k)
    if plies < game.max_plies:
        for moves in islice((_random_line(game, plies, rng) for _ in count()), TRIES):
            if moves is not None:
                return moves
    raise OpeningError(f"{game} is over within {plies} random plies; fewer opening_plies leave something to play")


def _random_line(game, plies, rng):
    """`plies` random moves from the initial position; None if the game is then over."""
    state, line, room = game.initial(), [], np.empty(game.max_moves, np.int32)
    while len(line) < plies and not game.is_over(state):
        line.append(int(game.random_move(state, room, rng)))
        game.play(state, line[-1])
    return None if game.is_over(state) else line
