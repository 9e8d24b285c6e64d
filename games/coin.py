"""The coin game of the lecture notes, an example for expectiminimax: chance, MAX, chance, MIN.

MAX, the first player, tosses a coin and may stop: heads then win the stake, tails lose it.  Else MIN tosses: two heads
win it for MAX, two tails lose it, one of each is 0; MIN keeps this, or pays MAX a penalty.  A stake of 2 and a penalty
of 1 are worth 1/2 to MAX: stop at heads, go on at tails.
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.game import CHANCE, Game
from arena.games.core.random import random_below

HEADS, TAILS, STOP, GO, KEEP, PAY = range(6)
NAMES = ("heads", "tails", "stop", "go", "keep", "pay")
FIRST_MOVES = (HEADS, STOP, HEADS, KEEP)  # by ply; the other move is the next number


@dataclass(frozen=True)
class Coin(Game):
    """state: int64[5] = plies, and the moves made, in order.

    stake: what heads win for MAX, and tails lose
    penalty: what MIN pays MAX to be rid of the result of the tosses
    """

    stake: float = 2.0
    penalty: float = 1.0

    name = "coin"
    rules = (
        "After the first toss, MAX can `stop`, and heads win the stake, tails lose it; or `go`, and MIN tosses. Two "
        "heads then win it for MAX, two tails lose it, one of each is 0. MIN can `keep` this, or `pay` MAX the "
        "penalty instead."
    )
    sizes = "stake and penalty 0 to 1000000"
    state_size = 5
    dtype = np.int64
    move_limit = 6
    max_moves = 2
    max_plies = 4
    has_chance = True
    ranges = {"stake": (0, 1_000_000), "penalty": (0, 1_000_000)}

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return np.int64(CHANCE) if state[0] & 1 == 0 else state[0] >> 1

    def legal_moves(self, state, moves):
        moves[0] = FIRST_MOVES[state[0]]
        moves[1] = moves[0] + 1
        return 2

    def play(self, state, move):
        state[0] += 1
        state[state[0]] = move

    def is_over(self, state):
        return state[0] == 4 or (state[0] == 2 and state[2] == STOP)

    def score(self, state):
        first = 1 if state[1] == HEADS else -1
        second = 1 if state[3] == HEADS else -1
        if state[2] == STOP:
            return self.stake * first
        return self.penalty if state[4] == PAY else self.stake * (first + second) / 2.0

    def move_name(self, state, move):
        return NAMES[move]

    def render(self, state):
        return " ".join(NAMES[move] for move in state[1 : 1 + state[0]]) or "no coin has been tossed"

    def chance(self, state, moves, probabilities):
        probabilities[:2] = 0.5
        return self.legal_moves(state, moves)

    def random_outcome(self, state, rng):
        return random_below(rng, 2)
