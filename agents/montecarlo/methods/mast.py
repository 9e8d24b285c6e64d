"""MAST, move-average sampling technique: playouts prefer moves that have done well anywhere (H. Finnsson & Y.
Bjornsson, "Simulation-based approach to general game playing", AAAI 2008).

    p(m) = exp(Q(m) / t) / sum over legal m' of exp(Q(m') / t)

Q is the mean reward, 0 to 1 for the player who made the move, of the simulations in which a move of that code was made,
in the tree or in the playout.  A new move counts as one that has always won, so that all are tried.  The weights, Q - 1
for the same softmax, are 0 at first.
"""

from dataclasses import dataclass
from typing import ClassVar

from arena.agents.montecarlo.methods.ppa import LINES, Following, PolicyParameters
from arena.games.core.game import CHANCE
from arena.games.core.jit import inlined
from arena.games.core.numbers.elementary import exp

MEAN, COUNT = 0, 1  # rows of weights: Q - 1 of each code, and how often it was played


@dataclass(frozen=True)
class MASTParameters(PolicyParameters):
    """PPA's parameters with other defaults."""

    temperature: float = 0.1
    memory: bool = True


@dataclass(frozen=True)
class MAST(MASTParameters, Following):
    """Playouts prefer moves of a good mean reward."""

    name: ClassVar[str] = "mast"
    policies: ClassVar[int] = 2

    def teach(self, learner, result):
        reward, lines = 0.5 * (1.0 + result), learner.lines
        for line in range(LINES):
            for ply in range(lines.length[line]):
                player = lines.players[line, ply]
                if player != CHANCE:
                    number = lines.numbers[line, lines.chosen[line, ply]]
                    count_reward(learner, number, reward if player == 0 else 1.0 - reward)


@inlined
def count_reward(learner, number, reward):
    """Add a reward to the mean of a code."""
    weights = learner.policy.weights
    weights[COUNT, number] += 1.0
    weights[MEAN, number] += (reward - 1.0 - weights[MEAN, number]) / weights[COUNT, number]
    learner.policy.odds[MEAN, number] = exp(weights[MEAN, number] / learner.settings.temperature)
