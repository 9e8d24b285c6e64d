"""What methods know of moves before any simulation: a policy from a file, and the softmax that makes probabilities.

    P(m) = exp(l(m) / t) / sum of exp(l(m') / t) over the legal moves m'

A learned policy is an n-tuple network (games/core/network.py).  A move's logit l is its sum at the position that the
move leads to, as whoever makes the move sees it.
"""

from math import exp
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.montecarlo.method import Method
from agents.montecarlo.outlook import reward_after
from games.core.game import FILE, Game, check_choice
from games.core.jit import helper
from games.core.network import SCALE, Network, sign_of, tuple_sum
from games.core.network_file import POLICY, load_network
from games.core.playout import copy_state
from games.core.prepared import PreparedFileError


class Learned(NamedTuple):
    """A learned policy, or arrays of no length."""

    weights: np.ndarray  # int32, as in Network
    places: np.ndarray  # int32
    layout: np.ndarray  # int64


def load_policy(path: str, game: Game) -> Network:
    """The learned policy in a file; PreparedFileError if it cannot be used for the game."""
    return load_network(path, game.with_evaluation("") if game.evaluation else game, POLICY)


@helper
def logit_after(game, learned, state, move, scratch):
    """The logit of a move: float64.

    learned: what has the weights, places and layout of a network; scratch: dtype[state_size]
    """
    copy_state(game, state, scratch)
    game.play(scratch, move)
    words, side, layout = game.planes(scratch), np.int64(game.player(scratch)), learned.layout
    total = sign_of(layout, side) * tuple_sum(game, learned.weights, learned.places, layout, words, side)
    return (total if game.player(state) == 0 else -total) * SCALE


@helper
def softmax(values, first, end, temperature):
    """Make probabilities of the numbers from `first` to `end`, in place."""
    high, total = values[first], 0.0
    for i in range(first, end):
        high = max(high, values[i])
    for i in range(first, end):
        values[i] = exp((values[i] - high) / temperature)
        total += values[i]
    for i in range(first, end):
        values[i] /= total


class Guided(Method):
    """Base of the methods with a parameter `prior`: one of the names in `priors`, or `file:PATH` of a learned policy.

    For each of them there is a method `rank_NAME`, `rank_file` for a policy; only the one that is asked for is part of
    a kernel.  The search's memory has the policy as `learned`, and a `state` as scratch.
    """

    priors: ClassVar[tuple[str, ...]]
    prior: str

    def check_prior(self) -> None:
        """ValueError that says what a prior can be."""
        if not self.prior.startswith(FILE):
            check_choice("prior", self.prior, (*self.priors, FILE + "PATH"))

    def compiled_parameter(self, name: str) -> Any:
        """Kernels are shared between all files with policies."""
        return FILE if name == "prior" and self.prior.startswith(FILE) else getattr(self, name)

    def misfit(self, game):
        try:
            self.learned(game)
        except PreparedFileError as error:
            return f"prior = {self.prior!r}: {error}"
        return None

    def learned(self, game) -> Learned:
        """The arrays of the policy, if the prior is one."""
        if not self.prior.startswith(FILE):
            return Learned(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))
        network = load_policy(self.prior.removeprefix(FILE), game)
        return Learned(network.weights, network.places, network.layout)

    def function(self, name: str):
        if name == "rank":
            name = f"rank_{'file' if self.prior.startswith(FILE) else self.prior}"
        return super().function(name)

    def rank(self, game, search, walk, child):
        """What the prior says of a child: float64."""
        return self.function("rank")(self, game, search, walk, child)

    def rank_evaluation(self, game, search, walk, child):
        """The evaluation after the move, 0 to 1 for the player who makes it."""
        move, player = search.tree.move[child], game.player(walk.state)
        return reward_after(game, walk.state, move, player, search.memory.state)

    def rank_file(self, game, search, walk, child):
        """The logit of a learned policy."""
        memory = search.memory
        return logit_after(game, memory.learned, walk.state, search.tree.move[child], memory.state)
