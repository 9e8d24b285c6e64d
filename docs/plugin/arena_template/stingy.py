"""Stingy: plays the move that leaves the opponent the fewest moves."""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.core.agent import Agent, Decision, Player
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Stingy(Agent):
    """Needs no budget: it looks one move ahead.  Moves that leave equally many are drawn among."""

    name: ClassVar[str] = "stingy"

    def new_player(self, game, budget):
        return StingyPlayer(game)


class StingyPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game):
        self.game = game

    def decide(self, state, rng):
        moves = self.game.moves(state)
        left = [len(self.game.moves(self.game.after(state, move))) for move in moves]
        fewest = [move for move, count in zip(moves, left) if count == min(left)]
        return Decision(fewest[random_below(rng, len(fewest))], nodes=len(moves))
