"""Pig (John Scarne, 1945): two players race to `target` points with one die.

In a turn, rolls of 2 to 6 add to a total, and a 1 loses it and ends the turn; to hold scores the total and ends the
turn.  Holding is the only move when it wins.  Best play: Neller & Presser, "Optimal play of the dice game Pig", The
UMAP Journal 25 (2004).  A draw after `horizon` rolls and holds; random play to 100 takes about 120.
"""

from dataclasses import dataclass

import numpy as np

from arena.games.core.game import CHANCE, Game
from arena.games.core.random import random_below

ROLL, HOLD = 0, 7  # 1 to 6 are the faces of the die
TURN, SIDE, ROLLING, DECISIONS = 2, 3, 4, 5  # of a state, behind the scores


@dataclass(frozen=True)
class Pig(Game):
    """state: int64[6] = the players' points, the turn's total, whose turn it is, whether the die is rolling, rolls and
    holds so far.

    target: points that win
    horizon: rolls and holds after which the game is a draw
    """

    target: int = 100
    horizon: int = 1000

    name = "pig"
    rules = (
        "Be the first with 100 points, or as many as target says. With `roll`, a throw of 2 to 6 adds to the turn's "
        "total, and a 1 loses it and ends the turn. With `hold`, the total is scored and the turn ends."
    )
    sides = ("A", "B")
    sizes = "target 2 to 10000, horizon 1 to 100000"
    state_size = 6
    dtype = np.int64
    move_limit = 8
    max_moves = 6
    has_chance = True
    ranges = {"target": (2, 10_000), "horizon": (1, 100_000)}

    @property
    def max_plies(self):
        """Twice the horizon, since after each roll the die falls."""
        return 2 * self.horizon

    def start(self, state):
        state[:] = 0

    def player(self, state):
        return np.int64(CHANCE) if state[ROLLING] == 1 else state[SIDE]

    def legal_moves(self, state, moves):
        if state[ROLLING] == 1:
            for i in range(6):
                moves[i] = i + 1
            return 6
        if state[state[SIDE]] + state[TURN] >= self.target:
            moves[0] = HOLD
            return 1
        moves[0], moves[1] = ROLL, HOLD
        return 2

    def play(self, state, move):
        if move == ROLL:
            state[ROLLING] = 1
            state[DECISIONS] += 1
        elif move == HOLD:
            state[state[SIDE]] += state[TURN]
            state[DECISIONS] += 1
            self.end_turn(state)
        else:
            state[ROLLING] = 0
            state[TURN] += move
            if move == 1:
                self.end_turn(state)

    def is_over(self, state):
        return state[0] >= self.target or state[1] >= self.target or state[DECISIONS] >= self.horizon

    def score(self, state):
        return 1.0 if state[0] >= self.target else (-1.0 if state[1] >= self.target else 0.0)

    def move_name(self, state, move):
        return "roll" if move == ROLL else ("hold" if move == HOLD else str(move))

    def render(self, state):
        lines = [f"{mark} {points}" for mark, points in zip("AB", state[:2])]
        lines[state[SIDE]] += f" + {state[TURN]}" + (", rolling" if state[ROLLING] else "")
        return "\n".join(lines)

    def chance(self, state, moves, probabilities):
        probabilities[:6] = 1.0 / 6.0
        return self.legal_moves(state, moves)

    def random_outcome(self, state, rng):
        return random_below(rng, 6) + 1

    def end_turn(self, state):
        state[TURN] = 0
        state[SIDE] ^= 1

    # -- For strength ------------------------------------------------------------------------------------------

    def evaluate(self, state):
        """The lead with the turn's total, over itself and the target."""
        turn = state[TURN] if state[SIDE] == 0 else -state[TURN]
        lead = state[0] - state[1] + turn
        return lead / (self.target + abs(lead))
