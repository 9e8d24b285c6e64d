"""A game before it is played."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.games.core.shared.seeds import derive_seed

Pair = tuple[int, int]  # two agents, the smaller number first


@dataclass(frozen=True)
class Fixture:
    """One game before it is played; for one player, one run of one agent."""

    id: str  # `2v1-0007`: agent 2 moves first against agent 1, opening 7; `2on3-0007`: agent 2, condition 3
    number: int  # in a round robin, from 0
    condition: int  # of the game and budget, from 0
    seats: tuple[int, ...]  # numbers of the agents, the first mover first
    opening: int  # of the opening, or a single player's run, from 0
    seed: int  # unsigned 64 bits, from the run's seed and the id


@dataclass(frozen=True)
class Fixtures:
    """Makes the fixtures of one condition.

    Ids, numbers and seeds follow from the pairing, never from the number of games: a run can be stopped, resumed and
    made longer.
    """

    agents: int
    seed: int
    condition: int = 0
    conditions: int = 1

    def of_pair(self, pair: Pair, opening: int, place: int | None = None) -> Iterator[Fixture]:
        """Both games of an opening, sides swapped; place: of the opening in a list that is not a round robin's."""
        one, other = pair
        if place is None:
            number = self._block(opening, self.agents * (self.agents - 1)) + 2 * self._index(pair)
        else:
            number = self._block(place, 2)
        where = f"on{self.condition + 1}" if self.conditions > 1 else ""
        for side, (first, second) in enumerate((pair, (other, one))):
            yield self._fixture(
                f"{first + 1}v{second + 1}{where}-{opening:04d}", number + side, (first, second), opening
            )

    def of_agent(self, agent: int, run: int) -> Fixture:
        """One run of an agent that plays alone."""
        id = f"{agent + 1}on{self.condition + 1}-{run:04d}"
        return self._fixture(id, self._block(run, self.agents) + agent, (agent,), run)

    def _fixture(self, id, number, seats, opening):
        return Fixture(id, number, self.condition, seats, opening, derive_seed(self.seed, id))

    def _block(self, opening, games):
        """The first number of an opening's games, `games` of them in a round robin."""
        return (opening * self.conditions + self.condition) * games

    def _index(self, pair):
        """The place of a pair among all: (0, 1), (0, 2), ..., (1, 2), ..."""
        one, other = pair
        return one * (2 * self.agents - one - 1) // 2 + other - one - 1
