"""Learning from recorded games: each position is moved towards the result of its game.

With the network's sigmoid this is logistic regression in all but the sigmoid's form (Buro, "From simple features to
sophisticated evaluation functions", 1998), by stochastic gradient descent on positions in random order.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from arena.agents.learning.learner import Kernel, Learner
from arena.agents.learning.trainer import GAMES, Trainer, learn
from arena.games.core.evaluations.network import Network
from arena.games.core.game import Game
from arena.games.core.jit import kernel
from arena.games.core.random import random_below


@dataclass(frozen=True)
class Run(Learner):
    """Learning from positions drawn from the games of a stored run.

    folder: the run's
    """

    name: ClassVar[str] = "run"
    unit: ClassVar[str] = "positions"

    folder: str

    def kernel(self, game: Game, network: Network, trainer: Trainer, positions=None) -> Kernel:
        """Learn positions: (states, targets) of `regression_kernel`."""
        return partial(regression_kernel, game.with_network(network), trainer, *positions, self.step)


@kernel(tables=False)  # for a network's planes
def regression_kernel(game, trainer, states, targets, step, until):
    """Learn positions, drawn with replacement, until `until` are learned in all; each counts as a game.

    states: dtype[n, state_size], not over; targets: float32[n], between -1 and 1, for the first player
    """
    while trainer.counts[GAMES] < until:
        i = random_below(trainer.rng, len(targets))
        learn(game, trainer, states[i], np.float64(targets[i]), step)
        trainer.counts[GAMES] += 1
