"""Weak Schur numbers: put 1, 2, 3, ... one after the other into parts that must stay weakly sum-free (one player).

No part may have distinct x and y and their sum.  The game ends when the next number fits nowhere; the score is the last
one placed.  The best with k parts is the weak Schur number WS(k): 2, 8, 23, 66 for one to four (OEIS A072842); 196 and
646 have been reached with five and six.  A test of nested search: S. Eliahou, C. Fonlupt, J. Fromentin, V. Marion-Poty,
D. Robilliard and F. Teytaud, "Investigating Monte-Carlo methods on the weak Schur problem" (EvoCOP 2013).

A move is a part's number, from 0; people name parts from 1.  Every permutation of parts is a symmetry.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arena.games.core.game import Game
from arena.games.core.numbers.bits import ONE, WORD, ZERO, popcount
from arena.games.core.random import GAMMA, mix, random_below

LAST, FITTING, SETS = 0, 1, 2
EXACT = {1: 2, 2: 8, 3: 23, 4: 66}


@dataclass(frozen=True)
class WeakSchur(Game):
    """state: uint64[2 + 2 * parts * words] = last number placed, the parts that the next one fits into, and each part's
    members and sums of two distinct ones: sets, with the number n in bit n % 64 of word n // 64.

    parts: sets that the numbers are put into
    """

    parts: int = 3

    name = "weakschur"
    rules = (
        "Place as many of the numbers from 1 upward as you can. A move is the part that the next number goes to: `2`. "
        "No part may hold two different numbers and their sum."
    )
    players = 1
    sizes = "1 to 6 parts"
    ranges = {"parts": (1, 6)}

    @property
    def max_plies(self):
        """WS(parts), or the bound n! n e (R. W. Irving, "An extension of Schur's theorem on sum-free partitions", and
        P. Bornsztein, "An extension of a theorem of Schur": Acta Arithmetica 25 and 101)."""
        return EXACT.get(self.parts, int(math.factorial(self.parts) * self.parts * math.e))

    @property
    def move_limit(self):
        return self.parts

    max_moves = move_limit

    @property
    def words(self):
        """Words of a set of the numbers up to max_plies + 1, which is looked up at the end."""
        return (self.max_plies + 1) // 64 + 1

    @property
    def state_size(self):
        return SETS + 2 * self.parts * self.words

    def start(self, state):
        state[:] = 0
        state[FITTING] = (1 << self.parts) - 1

    def player(self, state):
        return 0

    def legal_moves(self, state, moves):
        count = 0
        for part in range(self.parts):
            if state[FITTING] >> WORD(part) & ONE != ZERO:
                moves[count] = part
                count += 1
        return count

    def play(self, state, move):
        number = np.int64(state[LAST]) + 1
        members = SETS + 2 * move * self.words
        self.add_shifted(state, members, number)
        state[members + number // 64] |= ONE << WORD(number % 64)
        state[LAST] = number
        state[FITTING] = self.fitting(state, number + 1)

    def is_over(self, state):
        return state[FITTING] == ZERO

    def score(self, state):
        return float(state[LAST])

    def move_name(self, state, move):
        return str(move + 1)

    def render(self, state):
        lines = []
        for part in range(self.parts):
            words = state[SETS + 2 * part * self.words :][: self.words]
            members = [64 * i + bit for i, word in enumerate(words) for bit in range(64) if int(word) >> bit & 1]
            lines.append(f"{part + 1}: {' '.join(map(str, members))}".rstrip())
        return "\n".join(lines)

    def add_shifted(self, state, members, number):
        """Add `number` + m to a part's sums for every member m, as far as the set goes."""
        sums, far, near = members + self.words, number // 64, WORD(number % 64)
        carried = ZERO
        for i in range(min(far + 1, self.words - far)):
            word = state[members + i]
            state[sums + far + i] |= word << near | carried
            carried = word >> ONE >> (WORD(63) - near)  # in two steps, as a shift by 64 is none
        if far + far + 1 < self.words:
            state[sums + far + far + 1] |= carried

    def fitting(self, state, number):
        parts = ZERO
        for part in range(self.parts):
            blocked = state[SETS + (2 * part + 1) * self.words + number // 64] >> WORD(number % 64) & ONE
            parts |= (ONE - blocked) << WORD(part)
        return parts

    # -- For speed ---------------------------------------------------------------------------------------------

    @property
    def symmetries(self):
        return math.factorial(self.parts)

    @cached_property
    def permutations(self):
        """permutations[s, part]: where symmetry s takes it."""
        return np.array(list(itertools.permutations(range(self.parts))), np.int64)

    def key(self, state):
        word = mix(state[LAST])
        used = np.int64(state[LAST]) // 64 + 1
        for part in range(self.parts):
            for i in range(used):
                word = mix(word + state[SETS + 2 * part * self.words + i] + GAMMA)
        return word

    def transform(self, state, symmetry, target):
        size = 2 * self.words
        target[LAST], target[FITTING] = state[LAST], ZERO
        for part in range(self.parts):
            image = self.permutations[symmetry, part]
            target[FITTING] |= (state[FITTING] >> WORD(part) & ONE) << WORD(image)
            for i in range(size):
                target[SETS + image * size + i] = state[SETS + part * size + i]

    def transform_move(self, move, symmetry):
        return self.permutations[symmetry, move]

    def random_move(self, state, moves, rng):
        parts, waiting = state[FITTING], random_below(rng, popcount(state[FITTING]))
        move = 0
        while parts & ONE == ZERO or waiting > 0:
            waiting -= np.int64(parts & ONE)
            parts >>= ONE
            move += 1
        return move

    # -- For strength ------------------------------------------------------------------------------------------

    @property
    def code_limit(self):
        return self.parts * (self.max_plies + 1)

    def move_code(self, state, move):
        return (np.int64(state[LAST]) + 1) * self.parts + np.int64(move)
