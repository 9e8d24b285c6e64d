"""Swiss tournament: rounds in which agents with equal points meet."""

import math
from collections import Counter

from pydantic import Field

from arena.formats.base import ConfigTable, Matches
from arena.formats.pairing import pair_off

MAX_ROUNDS = 1000


class Swiss(Matches):
    """Rounds of matches of `games` games: agents with equal points meet, rematches are avoided where possible.

    Agents are ranked by points, then as in the configuration.  If their number is odd, one has a bye each round, which
    counts as a match won.
    """

    name = "swiss"
    growing = ("rounds",)

    class Keys(ConfigTable):
        rounds: int | None = Field(
            None,
            ge=1,
            le=MAX_ROUNDS,
            description=f"rounds, of the format swiss, is a whole number from 1 to {MAX_ROUNDS}",
        )

    @classmethod
    def completed(cls, keys, names):
        """The keys with the number of rounds: by default, as many as a knockout has."""
        return {"rounds": keys.get("rounds") or math.ceil(math.log2(len(names)))}

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.length = keys["rounds"]
        self.rounds: list[tuple[dict, int | None]] = []  # (pairs with their openings, agent with a bye)
        self.extend()

    def extend(self):
        while self.all_played() and len(self.rounds) < self.length:
            table = self.table()
            met = Counter(pair for pairs, _ in self.rounds for pair in pairs)
            byes = Counter(bye for _, bye in self.rounds if bye is not None)
            pairs, bye = pair_off([agent for agent, _ in table], dict(table), met, byes)
            openings = {pair: range(met[pair] * self.openings, (met[pair] + 1) * self.openings) for pair in pairs}
            self.rounds.append((openings, bye))
            self.ask(dict.fromkeys(pairs, self.openings))

    def table(self) -> list[tuple[int, float]]:
        """Agents and points in all rounds, best first."""
        points = dict.fromkeys(range(len(self.names)), 0.0)
        for pairs, bye in self.rounds:
            for pair, openings in pairs.items():
                for agent, won in zip(pair, self.points(pair, openings)):
                    points[agent] += won
            if bye is not None:
                points[bye] += 2 * self.openings
        return sorted(points.items(), key=lambda item: (-item[1], item[0]))

    @property
    def most(self):
        return self.length * (len(self.names) // 2) * 2 * self.openings

    @classmethod
    def described(cls, values):
        return f"a Swiss tournament of {values['rounds']} rounds, {values['games']} games a match"

    def lines(self):
        lines = []
        for number, (pairs, bye) in enumerate(self.rounds, 1):
            matches = [self.match(pair, openings) for pair, openings in pairs.items()]
            rest = [f"{self.names[bye]} has a bye"] if bye is not None else []
            lines.append(f"round {number} of {self.length}: {', '.join([*matches, *rest])}")
        return [*lines, "points: " + ", ".join(f"{self.names[agent]} {points:g}" for agent, points in self.table())]
