"""Agents and games that do harm, each in a way of its own: a plugin."""

import os
from dataclasses import dataclass

import numpy as np
from numba import njit

from arena.agents.core.agent import Agent, Decision, Player
from arena.games.core.random import random_below
from tests.faults.harm import HARM
from tests.heap import Heap


@dataclass(frozen=True)
class Hostile(Agent):
    """Plays at random until its decision number `at`; the fourth is the first that it makes in play."""

    how: str = "never"
    at: int = 4
    name = "test_hostile"

    def new_player(self, game, budget):
        return HostilePlayer(self, game)


class HostilePlayer(Player):
    def __init__(self, agent, game):
        self.agent, self.game, self.decisions = agent, game, 0

    def decide(self, state, rng):
        self.decisions += 1
        moves = self.game.moves(state)
        move = moves[random_below(rng, len(moves))]
        if self.decisions == self.agent.at and self.agent.how != "never":
            answer = HARM[self.agent.how](move)
            return answer if isinstance(answer, Decision) else Decision(move)
        return Decision(move)


@dataclass(frozen=True)
class Count(Heap):
    """These rules are sound; those below are not."""

    heap: int = 20
    name = "test_count"


LATE = 8  # matches, from which on most of these rules fail


class ThirdPlayer(Count):
    name = "test_third_player"

    def player(self, state):
        return int(state[1]) + 2 * (state[0] < LATE)


class NoMoves(Count):
    name = "test_no_moves"

    def legal_moves(self, state, moves):
        moves[0] = 1
        return int(state[0] >= LATE)


class ManyMoves(Count):
    name = "test_many_moves"

    def legal_moves(self, state, moves):
        return 7


class NegativeMoves(Count):
    name = "test_negative_moves"

    def legal_moves(self, state, moves):
        return -1


class MovesRaise(Count):
    name = "test_moves_raise"

    def legal_moves(self, state, moves):
        if state[0] < LATE:
            raise ValueError("no moves today")
        moves[0] = 1
        return 1


class PlayRaises(Count):
    name = "test_play_raises"

    def play(self, state, move):
        if state[0] < LATE:
            raise ValueError("no play today")
        state[0] -= np.uint64(move)
        state[1] = 1 - state[1]


class PlayDivides(Count):
    name = "test_play_divides"

    def play(self, state, move):
        state[1] = 1 - state[1]
        state[0] -= np.uint64(move + (0 if state[0] >= LATE else 1 // (int(state[0]) - int(state[0]))))


class Endless(Count):
    name = "test_endless"

    def play(self, state, move):
        if state[0] >= LATE:
            state[0] -= np.uint64(move)
        state[1] = 1 - state[1]


class OverRaises(Count):
    name = "test_over_raises"

    def is_over(self, state):
        if state[0] < LATE:
            raise ValueError("never over")
        return False


class ScoreRaises(Count):
    name = "test_score_raises"

    def score(self, state):
        raise ValueError("no score today")


class ScoreNan(Count):
    name = "test_score_nan"

    def score(self, state):
        return np.nan


class ScoreInfinite(Count):
    name = "test_score_infinite"

    def score(self, state):
        return np.inf


class ScoreNone(Count):
    name = "test_score_none"

    def score(self, state):
        return None


class ScoreNoneAtTimes(Count):
    name = "test_score_none_at_times"

    def score(self, state):
        if state[1] == 0:
            return None
        return 1.0


class PlayerNone(Count):
    name = "test_player_none"

    def player(self, state):
        if state[0] < LATE:
            return None
        return int(state[1])


class PlayerNegative(Count):
    name = "test_player_negative"

    def player(self, state):
        return int(state[1]) - 7 * (state[0] < LATE)


class PlayRecurses(Count):
    """Deeper than any stack, on which a kernel dies."""

    name = "test_play_recurses"

    def play(self, state, move):
        if state[0] < LATE:
            _go_down(1, state)
        state[0] -= np.uint64(move)
        state[1] = 1 - state[1]


@njit
def _go_down(depth, state):
    if state[0] == LATE + 100:
        return depth
    return _go_down(depth + 1, state) + _go_down(depth + 2, state)


class StartRaises(Count):
    name = "test_start_raises"

    def start(self, state):
        raise ValueError("no start today")


class NameRaises(Count):
    name = "test_name_raises"

    def move_name(self, state, move):
        raise ValueError("no name today")


class NameNone(Count):
    name = "test_name_none"

    def move_name(self, state, move):
        return None


class NameSurrogate(Count):
    name = "test_name_surrogate"

    def move_name(self, state, move):
        return "\ud800"


class TooLong(Count):
    name = "test_too_long"
    max_plies = 3


def _plain(state):
    os.environ.update({str(word): "1" for word in state})  # which no kernel can


class Plain(Count):
    """Right in plain Python, but no kernel can be made of it."""

    name = "test_plain"

    def play(self, state, move):
        _plain(state)
        state[0] -= np.uint64(move)
        state[1] = 1 - state[1]


class PlayoutRaises(Count):
    """Right but for the playout, which only kernels call."""

    name = "test_playout_raises"

    def random_playout(self, state, moves, rng):
        if state[0] > 0:
            raise ValueError("no playout today")
        return 1.0, 0


class PlayoutHangs(Count):
    name = "test_playout_hangs"

    def random_playout(self, state, moves, rng):
        while state[0] > 0:
            state[1] = 1 - state[1]
        return 1.0, 1
