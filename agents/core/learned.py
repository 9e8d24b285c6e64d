"""Learned policies in searches: a logit for each move, from a file that `arena learn GAME visits` wrote.

A policy is an n-tuple network (games/core/evaluations/network.py).  A move's logit is the network's sum after the move,
seen by the player who makes it.
"""

from typing import NamedTuple

import numpy as np

from arena.games.core.evaluations.network import SCALE, Network
from arena.games.core.evaluations.network_file import POLICY, load_network
from arena.games.core.game import Game
from arena.games.core.jit import helper


class Learned(NamedTuple):
    """A learned policy, or arrays of no length."""

    weights: np.ndarray  # int32, as in Network
    places: np.ndarray  # int32
    layout: np.ndarray  # int64


NOT_LEARNED = Learned(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64))


def load_policy(path: str, game: Game) -> Network:
    """The policy in a file; PreparedFileError if it cannot be used for the game."""
    return load_network(path, game.with_evaluation("") if game.evaluation else game, POLICY)


def learned_in(path: str, game: Game) -> Learned:
    """The arrays of the learned policy in a file."""
    network = load_policy(path, game)
    return Learned(network.weights, network.places, network.layout)


@helper
def units_after(game, learned, state, move, scratch):
    """The logit of a move in units of SCALE: int64.  learned: a network's three arrays; scratch: dtype[state_size]"""
    game.play_into(state, move, scratch)
    total = game.network_units(scratch, learned.weights, learned.places, learned.layout)
    return total if game.player(state) == 0 else -total


@helper
def logit_after(game, learned, state, move, scratch):
    """The logit of a move: float64."""
    return units_after(game, learned, state, move, scratch) * SCALE
