"""Learning from games that were played: each position is moved towards the result of its game.

With the sigmoid of the network this is logistic regression in all but the sigmoid's form (Buro, "From simple features
to sophisticated evaluation functions", 1998), fitted by stochastic gradient descent: positions come in random order,
each as often as there are passes.
"""

import numpy as np

from agents.learning.trainer import GAMES, learn
from games.core.jit import kernel
from games.core.random import random_below


@kernel(tables=False)  # for a network's planes
def regression_kernel(game, trainer, states, targets, step, until):
    """Learn positions, drawn with replacement, until `until` have been learned in all; they count as games, too.

    states: dtype[n, state_size], not over; targets: float32[n], between -1 and 1, for the first player
    """
    while trainer.counts[GAMES] < until:
        i = random_below(trainer.rng, len(targets))
        learn(game, trainer, states[i], np.float64(targets[i]), step)
        trainer.counts[GAMES] += 1
