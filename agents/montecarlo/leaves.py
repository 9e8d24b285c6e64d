"""Several playouts of a leaf, whose results are backed up together.

This is leaf parallelisation on one core (Cazenave & Jouandeau, "A parallel Monte-Carlo tree search algorithm", 2008,
"at the leaves"): side by side if the game has lanes, else one by one.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.montecarlo.workers import zeros_apart
from arena.games.core.jit import Compilable
from arena.games.core.lanes.lane_playout import play_side_by_side
from arena.games.core.lanes.lanes import LaneStream, Width, seeded
from arena.games.core.play.playout import copy_state, reward_of

LANES = (1, 2, 4, 8, 16, 32, 64)


class Room(NamedTuple):
    """What one thread needs for the playouts of a leaf.  Arrays alone, as other tuples delay each call of a kernel."""

    state: np.ndarray  # dtype[state_size], or [0]
    stream: np.ndarray  # uint64[2 * words], the state of a LaneStream, or [0]

    def seed(self, rng: np.ndarray) -> None:
        self.stream[:] = seeded(len(self.stream) // 2, rng) if len(self.stream) else 0


@dataclass(frozen=True)
class OneByOne(Compilable):
    """Several playouts in turn."""

    count: int

    def new_room(self, game) -> Room:
        return Room(zeros_apart(game.state_size, game.dtype), np.zeros(0, np.uint64))

    def rewards(self, game, walk, room, rng):
        """The sum of the first player's rewards, 0 to 1 each, in playouts from walk.state."""
        reward = 0.0
        for _ in range(self.count):
            copy_state(game, walk.state, room.state)
            score, _ = game.random_playout(room.state, walk.moves, rng)
            reward += reward_of(score)
        return reward


@dataclass(frozen=True)
class SideBySide(Compilable):
    """Several playouts at once."""

    count: int
    width: Width

    compiled_parts: ClassVar[tuple[str, ...]] = ("width",)

    def new_room(self, game) -> Room:
        return Room(np.zeros(0, game.dtype), zeros_apart(2 * self.width.words, np.uint64))

    def rewards(self, game, walk, room, rng):
        """The sum of the first player's rewards, 0 to 1 each, in playouts from walk.state."""
        if game.is_over(walk.state):
            return self.count * reward_of(game.score(walk.state))
        reward, _ = play_side_by_side(game, walk.state, LaneStream(self.width, room.stream))
        return reward


def playouts_of(game, count: int) -> OneByOne | SideBySide:
    """How `count` playouts of a leaf are made."""
    return SideBySide(count, Width(count, game.lane_bits)) if game.lanes else OneByOne(count)
