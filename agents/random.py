"""The uniformly random player: the floor of every comparison."""

from dataclasses import dataclass

from agents.core.agent import Agent, Decision, Player
from games.core.random import random_below


@dataclass(frozen=True)
class Random(Agent):
    """Plays each legal move with the same probability."""

    name = "random"

    def refuses(self, game):
        return None

    def new_player(self, game, budget):
        return RandomPlayer(game)


class RandomPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game):
        self.game = game

    def decide(self, state, rng):
        moves = self.game.moves(state)
        return Decision(moves[random_below(rng, len(moves))])
