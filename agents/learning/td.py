"""Temporal difference learning by self-play: a position's value is moved towards later values and the result.

A game's positions s_0 .. s_(n-1) are searched to a few plies; b_t is the value found at s_t, z the game's result.

    g_t = (1 - lambda) b_t + lambda g_(t+1),  g_n = z       (Sutton, "Learning to predict by the methods of temporal
                                                            differences", Machine Learning 3, 1988)
    td      learns at s_t towards g_t                       (with a search: RootStrap, Veness, Silver, Uther & Blair,
                                                            "Bootstrapping from game tree search", NIPS 2009)
    tdleaf  learns at the leaf that b_t comes from          (Baxter, Tridgell & Weaver, "TDLeaf(lambda)", 1999)
            towards g_(t+1)

After a random move, made to explore, later values say nothing of the position before it: there g_t = b_t, and tdleaf
does not learn.  A game whose end is certain is not played on.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.sides import result_of, side_to_move
from arena.agents.learning.learner import Kernel, SelfPlaying
from arena.agents.learning.trainer import GAMES, Trainer, learn, note_game
from arena.games.core.evaluations.network import Network
from arena.games.core.game import Game
from arena.games.core.jit import helper, inlined, kernel
from arena.games.core.play.playout import copy_state
from arena.games.core.random import random_below, random_unit

CERTAIN = 1.0


@dataclass(frozen=True)
class TD(SelfPlaying):
    """Learning by temporal differences.

    plies: the depth of the searches
    decay: lambda: 0 trusts searches, 1 trusts results
    foresee: whether to use ends that the game foresees
    """

    name: ClassVar[str] = "td"
    leaf: ClassVar[bool] = False  # TD-leaf

    plies: int = 1
    decay: float = 0.5
    foresee: bool = True

    ranges: ClassVar[dict] = {"plies": (1, 8), "decay": (0, 1)}

    def kernel(self, game: Game, network: Network, trainer: Trainer) -> Kernel:
        numbers = self.plies, self.decay, self.explore, self.opening, self.foresee, self.leaf, self.step
        room = new_room(game, self.plies)
        return partial(self_play_kernel, game.with_network(network), trainer, game.initial(), room, SelfPlay(*numbers))


class TDLeaf(TD):
    """TD-leaf."""

    name: ClassVar[str] = "tdleaf"
    leaf: ClassVar[bool] = True


class SelfPlay(NamedTuple):
    """How games are played and learned from."""

    plies: int  # of the search, 1 or more
    decay: float  # lambda
    explore: float  # the share of random moves
    opening: int  # the most random moves at the start
    foresee: bool
    leaf: bool  # TD-leaf
    step: float


class Room(NamedTuple):
    """Room for a search, and for a game's positions."""

    states: np.ndarray  # dtype[plies + 1, state_size], the line being searched
    leaves: np.ndarray  # dtype[plies + 1, state_size], of the best line from each ply
    moves: np.ndarray  # int32[plies + 1, max_moves]
    tried: np.ndarray  # int64[plies + 1]
    total: np.ndarray  # int64[plies + 1]
    low: np.ndarray  # float64[plies + 1], the first player's window
    high: np.ndarray  # float64[plies + 1]
    best: np.ndarray  # float64[plies + 1]
    points: np.ndarray  # dtype[max_plies, state_size], positions to learn at
    values: np.ndarray  # float64[max_plies], b_t
    random: np.ndarray  # bool[max_plies], of the move made there


def new_room(game: Game, plies: int) -> Room:
    """Room for games searched to `plies`."""
    line, length = (plies + 1, game.state_size), game.max_plies + 1
    return Room(
        states=np.zeros(line, game.dtype),
        leaves=np.zeros(line, game.dtype),
        moves=np.zeros((plies + 1, game.max_moves), np.int32),
        tried=np.zeros(plies + 1, np.int64),
        total=np.zeros(plies + 1, np.int64),
        low=np.zeros(plies + 1),
        high=np.zeros(plies + 1),
        best=np.zeros(plies + 1),
        points=np.zeros((length, game.state_size), game.dtype),
        values=np.zeros(length),
        random=np.zeros(length, np.bool_),
    )


@kernel(tables=False)  # for a network's planes
def self_play_kernel(game, trainer, root, room, options, until):
    """Play and learn from games until `until` have been played in all."""
    while trainer.counts[GAMES] < until:
        copy_state(game, root, room.states[0])
        for _ in range(random_below(trainer.rng, options.opening + 1)):
            if not game.is_over(room.states[0]):
                game.play(room.states[0], game.random_move(room.states[0], room.moves[0], trainer.rng))
        length, result = play_game(game, trainer, room, options)
        learn_from_game(game, trainer, room, options, length, result)
        note_game(trainer, result)


@helper
def play_game(game, trainer, room, options):
    """Play from room.states[0]; returns (the game's length, the first player's result)."""
    state, rng, length, value = room.states[0], trainer.rng, 0, 0.0
    while not game.is_over(state):
        value, move = search(game, room, options, rng)
        copy_state(game, room.leaves[0] if options.leaf else state, room.points[length])
        room.values[length] = value
        room.random[length] = options.explore > 0.0 and random_unit(rng) < options.explore
        length += 1
        if abs(value) == CERTAIN:
            return length, value
        if room.random[length - 1]:
            move = np.int64(game.random_move(state, room.moves[0], rng))
        game.play(state, move)
    return length, result_of(game.score(state))


@helper
def search(game, room, options, rng):
    """(the first player's value of room.states[0], a best move), by alpha-beta on a stack.

    Ties are broken at random in a search of one ply, else by the first move.
    """
    chosen, equal, ply = np.int64(-1), 1, 0
    begin(game, room, 0, -2.0, 2.0)
    while True:
        if room.tried[ply] == room.total[ply] or room.low[ply] >= room.high[ply]:
            if ply == 0:
                return room.best[0], chosen
            ply -= 1
            value = room.best[ply + 1]
        else:
            game.play_into(room.states[ply], room.moves[ply, room.tried[ply]], room.states[ply + 1])
            room.tried[ply] += 1
            value, goes_on = leaf_value(game, room.states[ply + 1], options.foresee)
            if goes_on and ply + 1 < options.plies:
                ply += 1
                begin(game, room, ply, room.low[ply - 1], room.high[ply - 1])
                continue
            copy_state(game, room.states[ply + 1], room.leaves[ply + 1])
        better, same = take(game, room, ply, value)
        equal = 1 if better else equal + same
        if ply == 0 and (better or (same and options.plies == 1 and random_below(rng, equal) == 0)):
            chosen = np.int64(room.moves[0, room.tried[0] - 1])
            copy_state(game, room.leaves[1], room.leaves[0])


@helper
def begin(game, room, ply, low, high):
    """List the moves of room.states[ply]."""
    room.total[ply], room.tried[ply] = game.legal_moves(room.states[ply], room.moves[ply]), 0
    room.low[ply], room.high[ply] = low, high
    room.best[ply] = -2.0 * side_to_move(game, room.states[ply])


@helper
def take(game, room, ply, value):
    """Take the first player's value of the move tried last; returns whether it is the best, or a tie."""
    side, best = side_to_move(game, room.states[ply]), room.best[ply]
    better = side * value > side * best
    if better:
        room.best[ply] = value
        copy_state(game, room.leaves[ply + 1], room.leaves[ply])
        if side > 0.0:
            room.low[ply] = max(room.low[ply], value)
        else:
            room.high[ply] = min(room.high[ply], value)
    return better, value == best


@inlined
def leaf_value(game, state, foresee):
    """(the first player's value without search, whether the game goes on)."""
    if game.is_over(state):
        return result_of(game.score(state)), False
    if foresee:
        plies, _ = game.foreseen(state)
        if plies != 0:
            return side_to_move(game, state) * (CERTAIN if plies > 0 else -CERTAIN), False
    return game.evaluate(state), True


@helper
def learn_from_game(game, trainer, room, options, length, result):
    """Learn from the positions of a game, backwards."""
    target = result
    for t in range(length - 1, -1, -1):
        unsure = options.leaf and not room.random[t] and abs(room.values[t]) < CERTAIN
        if unsure and not game.is_over(room.points[t]):  # a leaf may be a draw
            learn(game, trainer, room.points[t], target, options.step)
        if room.random[t]:
            target = room.values[t]
        else:
            target = (1.0 - options.decay) * room.values[t] + options.decay * target
        if not options.leaf:
            learn(game, trainer, room.points[t], target, options.step)
