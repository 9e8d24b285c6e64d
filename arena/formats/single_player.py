"""Single player: each agent plays alone, for a score."""

from arena.formats.base import Format


class SinglePlayer(Format):
    """Each agent plays the game `games` times, run by run, all agents in turn."""

    name = "single_player"
    players = 1

    def wanted(self, begin):
        for place in range(begin, len(self)):
            run, agent = divmod(place, len(self.names))
            yield self.fixtures.of_agent(agent, run)

    def __len__(self):
        return len(self.names) * self.games

    @classmethod
    def described(cls, values):
        return f"{values['games']} runs of each"
