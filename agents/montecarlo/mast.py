"""MAST, move-average sampling technique: UCT whose playouts prefer moves that have done well anywhere (H. Finnsson &
Y. Bjornsson, "Simulation-based approach to general game playing", AAAI 2008).

    p(m) = exp(Q(m) / t) / sum over legal m' of exp(Q(m') / t)

Q is the mean reward, 0 to 1, for the player who made it, of the simulations in which a move of that code was made, in
the tree or in the playout.  A move that has not been made counts as one that has always won, so that all are tried.
The weights are Q - 1, which gives the same softmax, and 0 to begin with.
"""

from dataclasses import dataclass
from math import exp

from agents.core.policy import Policy
from agents.montecarlo.ppa import Numbers, PolicyRule, PolicySearch
from games.core.game import CHANCE
from games.core.jit import inlined
from games.core.playout import reward_of

MEAN, COUNT = 0, 1  # rows of weights: Q - 1 of each code, and how often it was played


@dataclass(frozen=True)
class Averages(PolicyRule):
    """Keeps the mean reward of each code."""

    def learn_from(self, game, memory, score):
        reward = reward_of(score)
        for line in range(2):
            for ply in range(memory.lines.length[line]):
                player = memory.lines.players[line, ply]
                if player != CHANCE:
                    number = memory.lines.numbers[line, memory.lines.chosen[line, ply]]
                    own = reward if player == 0 else 1.0 - reward
                    count_reward(memory.policy, number, own, memory.numbers.temperature)


@inlined
def count_reward(policy: Policy, number, reward, temperature):
    """Let one more reward into the mean of a code."""
    policy.weights[COUNT, number] += 1.0
    policy.weights[MEAN, number] += (reward - 1.0 - policy.weights[MEAN, number]) / policy.weights[COUNT, number]
    policy.odds[MEAN, number] = exp(policy.weights[MEAN, number] / temperature)


@dataclass(frozen=True)
class MAST(PolicySearch):
    """UCT with playouts that prefer moves of a good mean reward."""

    temperature: float = 0.1
    memory: bool = True

    name = "mast"
    policies = 2

    def search_rule(self):
        return Averages(self.solver)

    def numbers(self):
        return Numbers(0.0, self.temperature, 0.0)
