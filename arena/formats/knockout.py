"""Knockout: winners of matches advance in a bracket whose first agents meet last."""

from arena.formats.base import Matches
from arena.formats.fixture import Pair
from arena.formats.pairing import bracket


class Knockout(Matches):
    """Matches of `games` games.

    A tied match gets further pairs of games, one at a time, up to as many as it had; if still tied, the agent first in
    the configuration advances.
    """

    name = "knockout"
    growing = ()

    def __init__(self, names, games, fixtures, keys):
        super().__init__(names, games, fixtures, keys)
        self.rounds = [bracket(len(self.names))]  # two agents in the order of the bracket, or (agent, None)
        self.extend()

    def extend(self):
        while self.all_played() and (len(self.rounds[-1]) > 1 or self.rounds[-1][0][1] is not None):
            open_matches = [pair for pair in self._pairs(self.rounds[-1]) if self.winner(pair) is None]
            if open_matches:
                self.ask({pair: 1 if self._asked[pair] else self.openings for pair in open_matches})
                continue
            winners = [match[0] if match[1] is None else self.winner(_pair(match)) for match in self.rounds[-1]]
            pairs = [*zip(winners[::2], winners[1::2])]
            self.rounds.append(pairs if pairs else [(winners[0], None)])

    def winner(self, pair: Pair) -> int | None:
        """The winner of a match; None if the games wanted so far do not decide it."""
        if self._asked[pair] < self.openings:
            return None
        one, other = self.points(pair, range(self._asked[pair]))
        if one == other:
            return None if self._asked[pair] < 2 * self.openings else pair[0]
        return pair[0] if one > other else pair[1]

    @property
    def most(self):
        return 2 * 2 * self.openings * (len(self.names) - 1)  # every match tied

    @classmethod
    def described(cls, values):
        return f"a knockout, {values['games']} games a match"

    def lines(self):
        lines = []
        for number, matches in enumerate(self.rounds, 1):
            if len(matches) == 1 and matches[0][1] is None:
                lines.append(f"winner: {self.names[matches[0][0]]}")
                continue
            played = [self.match(pair, range(self._asked[pair])) + self._tie(pair) for pair in self._pairs(matches)]
            byes = [f"{self.names[match[0]]} has a bye" for match in matches if match[1] is None]
            lines.append(f"round {number}: {', '.join(played + byes)}")
        return lines

    def _pairs(self, matches) -> list[Pair]:
        return [_pair(match) for match in matches if match[1] is not None]

    def _tie(self, pair):
        one, other = self.points(pair, range(self._asked[pair]))
        tied = one == other and self.winner(pair) == pair[0]
        return f" ({self.names[pair[0]]} goes on, as it comes first)" if tied else ""


def _pair(match) -> Pair:
    return min(match), max(match)
