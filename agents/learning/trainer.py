"""What all learning shares: the weights of an n-tuple network, and one step towards a target.

A step is stochastic gradient descent.  Each weight has its own rate, |sum of its errors| / sum of their sizes: near 1
while its errors agree, near 0 once they cancel out (temporal coherence: Beal & Smith, "Temporal coherence and
prediction decay in TD learning", IJCAI 1999).  As in logistic regression, the factor of the sigmoid's slope is left
out, so that confidently misjudged positions are learned, too.
"""

from typing import NamedTuple

import numpy as np

from arena.games.core.evaluations.network import COUNT, SCALE, SIDE_ROWS, Network, block_of, place_of, sign_of
from arena.games.core.jit import helper, inlined
from arena.games.core.numbers.bits import WORD

GAMES, POSITIONS, WON, DRAWN = range(4)  # of Trainer.counts
MOST_WEIGHT = 1 << 30  # in units of SCALE


class Trainer(NamedTuple):
    """A network while it learns."""

    weights: np.ndarray  # int32[n], the network's own
    places: np.ndarray  # int32, of the network
    layout: np.ndarray  # int64, of the network
    errors: np.ndarray  # float32[n], sums
    sizes: np.ndarray  # float32[n], sums of the errors' sizes
    counts: np.ndarray  # int64[4] = games, positions, games won by the first player, draws
    losses: np.ndarray  # float64[4], of policies: see agents/learning/visits.py
    rng: np.ndarray  # uint64[1]


def new_trainer(network: Network, rng: np.ndarray) -> Trainer:
    """A trainer that has learned nothing; it will change the network's weights."""
    weights = network.weights
    errors, sizes = np.zeros(len(weights), np.float32), np.zeros(len(weights), np.float32)
    counts, losses = np.zeros(4, np.int64), np.zeros(4)
    return Trainer(weights, network.places, network.layout, errors, sizes, counts, losses, rng)


@helper
def learn(game, trainer, state, target, step):
    """Move the value of a position that is not over towards a target between -1 and 1, for the first player.

    step: each of the n numbers looked up changes its weight by step / n of the error, times the weight's rate.  A
        weight looked up m times, by images of a tuple, moves the sum by m * m / n of the error: while rates are 1, a
        step of 1 then overshoots
    """
    correct(game, trainer, state, target - game.network_value(state), step)
    trainer.counts[POSITIONS] += 1


@inlined
def correct(game, trainer, state, by, step):
    """Change the weights that a position looks up, to raise the first player's value by `by`."""
    layout, weights = trainer.layout, trainer.weights
    words, side = game.planes(state), np.int64(game.player(state))
    row, block, count = side * layout[SIDE_ROWS], block_of(layout, words, side), layout[COUNT]
    error = np.float32(sign_of(layout, side) * by)
    change = step * error / (count * SCALE)
    for index in range(count):
        place = WORD(block + place_of(game, trainer.places, words, WORD(row + index), WORD(count)))
        size = trainer.sizes[place]
        rate = abs(trainer.errors[place]) / size if size > 0.0 else np.float32(1.0)
        changed = weights[place] + np.int64(np.rint(change * rate))
        weights[place] = np.int32(min(max(changed, -MOST_WEIGHT), MOST_WEIGHT))
        trainer.errors[place] += error
        trainer.sizes[place] = size + abs(error)


@inlined
def note_game(trainer, result):
    """Count a game, with the first player's result."""
    trainer.counts[GAMES] += 1
    trainer.counts[WON] += result > 0.0
    trainer.counts[DRAWN] += result == 0.0
