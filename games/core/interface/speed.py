"""What a game may define for speed: keys, symmetries, random moves, playouts, lanes, and lists of codes and orders."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from arena.games.core.interface.rules import CHANCE, Rules
from arena.games.core.lanes.lanes import WIDE
from arena.games.core.random import GAMMA, mix, random_below


@dataclass(frozen=True)
class Speed(Rules):
    """Methods that follow from the rules; a game replaces those that it can do faster."""

    symmetries: ClassVar[int] = 1  # how many, including the identity, which is number 0
    uniform_playouts: ClassVar[bool] = True  # whether random_playout scores as uniformly random moves do
    playout_policy: ClassVar[str] = "uniform"  # the moves that random_playout draws from, in words
    has_tabu_moves: ClassVar[bool] = False  # whether it has `random_move_tabu`
    lane_bits: ClassVar[int] = 0  # the bits of a word in `lane_step`, 16, 32 or 64; 0: the game has no lanes
    # the registers that a word of lanes fills, on processors with 32 of 512 bits, and on others: what is quickest
    # depends on how many words a step has at a time
    lane_registers: ClassVar[tuple[int, int]] = 4, 4

    def key(self, state: np.ndarray) -> np.uint64:
        """uint64: a hash of the position, for transposition tables."""
        word = np.uint64(0)
        for i in range(self.state_size):
            word = mix(word + np.uint64(state[i]) + GAMMA)
        return word

    def transform(self, state: np.ndarray, symmetry: int, target: np.ndarray) -> None:
        """Write the image of `state` under a symmetry, 0 <= symmetry < symmetries, into `target`."""
        for i in range(self.state_size):
            target[i] = state[i]

    def transform_move(self, move: int, symmetry: int) -> int:
        """The image of a move under the same symmetry."""
        return move

    def play_into(self, state: np.ndarray, move: int, target: np.ndarray) -> None:
        """Write the position after a legal move into `target: dtype[state_size]`."""
        for i in range(self.state_size):
            target[i] = state[i]
        self.play(target, move)

    def least_key(self, state: np.ndarray, image: np.ndarray) -> tuple[np.uint64, int]:
        """(the least key among the images of a state under the symmetries, the symmetry that gives it).

        So symmetric positions share a key.  `image: dtype[state_size]` is scratch space.
        """
        least, symmetry = self.key(state), 0
        for i in range(1, self.symmetries):
            self.transform(state, i, image)
            key = self.key(image)
            if key < least:
                least, symmetry = key, i
        return least, symmetry

    def random_move(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """A uniformly random legal move, or an outcome of chance by its probability.

        `moves: int32[max_moves]` is scratch space.
        """
        if self.has_chance and self.player(state) == CHANCE:
            return self.random_outcome(state, rng)
        return moves[random_below(rng, self.legal_moves(state, moves))]

    def random_step(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Make and return the move that random_move would draw; games replace this if drawing is half of making it."""
        move = self.random_move(state, moves, rng)
        self.play(state, move)
        return move

    def random_playout(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> tuple[float, int]:
        """Play uniformly random moves to the end and return (score, plies); `state` is used up.

        A faster replacement must score as random moves would; one with a better policy sets uniform_playouts to False.
        """
        plies = 0
        while not self.is_over(state):
            self.random_step(state, moves, rng)
            plies += 1
        return self.score(state), plies

    @property
    def lanes(self) -> int:
        """The number of random playouts that run side by side, a power of two; 0: the game has no lanes."""
        return WIDE // self.lane_bits if self.lane_bits > 0 else 0

    def lane_start(self, state: np.ndarray, zero: Any) -> tuple[Any, ...]:
        """A position that is not over as a tuple of lanes, all alike, in games with lanes (games/core/lanes/lanes.py).

        `zero` is 0 in every lane; the caller chooses the number of lanes.
        """
        raise NotImplementedError

    def lane_step(self, words: tuple[Any, ...], rng: Any) -> tuple[tuple[Any, ...], Any, Any, Any]:
        """Make one uniformly random move, or more, in every lane; return (words, plies, over, score).

        words: as from lane_start; plies: how many moves were made, a number or lanes; over: the mask of the lanes whose
        game has ended; score: lanes with the scores of the games that have ended, whole numbers.  A lane may wait.
        What a lane does after the end of its game does not matter, except for plies: -1 takes a move back.
        """
        raise NotImplementedError

    def random_move_tabu(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Like random_move, but only from moves that the game does not hold back; where has_tabu_moves is true."""
        raise NotImplementedError

    def random_step_tabu(self, state: np.ndarray, moves: np.ndarray, rng: np.ndarray) -> int:
        """Make the move that random_move_tabu would draw, and return it; where has_tabu_moves is true."""
        move = self.random_move_tabu(state, moves, rng)
        self.play(state, move)
        return move
