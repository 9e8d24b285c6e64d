"""Single player: each agent plays alone, for a score."""

from collections import Counter

from arena.formats.base import Format


class SinglePlayer(Format):
    """Each agent plays the game `games` times, run by run, all agents in turn."""

    name = "single_player"
    players = 1

    def due(self, begun):
        for run in range(begun["runs"], self.games):
            for agent in range(len(self.names)):
                yield self.fixtures.of_agent(agent, run)

    def asked(self):
        return Counter(runs=self.games)

    def __len__(self):
        return len(self.names) * self.games

    @classmethod
    def described(cls, values):
        return f"{values['games']} runs of each"
