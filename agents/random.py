"""The uniformly random player: the baseline of every comparison."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.core.agent import Agent, Decision, Player
from arena.agents.core.needs import Needs
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Random(Agent):
    """Plays each legal move with the same probability."""

    name: ClassVar[str] = "random"
    needs: ClassVar[Needs] = Needs(players=(1, 2), kernels=False)

    def new_player(self, game, budget):
        return RandomPlayer(game)


class RandomPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game):
        self.game = game

    def decide(self, state, rng):
        moves = self.game.moves(state)
        return Decision(moves[random_below(rng, len(moves))])
