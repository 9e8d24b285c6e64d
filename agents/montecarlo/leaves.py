"""Playouts of a leaf: one, or several whose results are backed up together.

Several are leaf parallelisation on one core (Cazenave & Jouandeau, "A parallel Monte-Carlo tree search algorithm",
2008, "at the leaves"): side by side if the game has lanes, else one by one.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.montecarlo.workers import zeros_apart
from arena.games.core.jit import Compilable
from arena.games.core.lane_playout import play_side_by_side
from arena.games.core.lanes import LaneStream, Width, lane_stream
from arena.games.core.playout import copy_state, reward_of

LANES = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True)
class Once(Compilable):
    """One playout.  Its room is ()."""

    def rewards(self, game, walk, room, rng):
        """The sum of the first player's rewards, 0 to 1 each, in playouts from walk.state, which may change."""
        score, _ = game.random_playout(walk.state, walk.moves, rng)
        return reward_of(score)


@dataclass(frozen=True)
class OneByOne(Compilable):
    """Several playouts in turn.  Its room: dtype[state_size], the current state."""

    count: int

    def rewards(self, game, walk, room, rng):
        reward = 0.0
        for _ in range(self.count):
            copy_state(game, walk.state, room)
            score, _ = game.random_playout(room, walk.moves, rng)
            reward += reward_of(score)
        return reward


@dataclass(frozen=True)
class SideBySide(Compilable):
    """Several playouts at once.  Its room: the LaneStream of their random numbers."""

    count: int

    def rewards(self, game, walk, room, rng):
        if game.is_over(walk.state):
            return self.count * reward_of(game.score(walk.state))
        reward, _ = play_side_by_side(game, walk.state, room)
        return reward


class LeafPlayouts(NamedTuple):
    """How one thread plays leaves out, with the room for it."""

    way: Once | OneByOne | SideBySide
    room: tuple | np.ndarray | LaneStream

    def seed(self, rng: np.ndarray) -> None:
        if isinstance(self.room, LaneStream):
            self.room.state[:] = lane_stream(self.room.width, rng).state


def new_leaf_playouts(game, count: int) -> LeafPlayouts:
    """`count` playouts of each leaf."""
    if count == 1:
        return LeafPlayouts(Once(), ())
    if not game.lanes:
        return LeafPlayouts(OneByOne(count), zeros_apart(game.state_size, game.dtype))
    width = Width(count, game.lane_bits)
    return LeafPlayouts(SideBySide(count), LaneStream(width, zeros_apart(2 * width.words, np.uint64)))
