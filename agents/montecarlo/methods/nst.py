"""NST, N-gram selection technique: playouts prefer moves that have done well after the same one or two moves (M. Tak,
M. Winands & Y. Bjornsson, "N-grams and the last-good-reply policy applied in general game playing", IEEE TCIAIG 4,
2012).

A move's value is the mean of the mean rewards of the sequences that it ends, of 1 to `length` moves of either player;
sequences of several moves count once they have been seen `least` times, 7 in the paper.  A new move has the value 1.
With the probability `epsilon` a random move is made, otherwise the one of largest value.  length = 1 is MAST by that
policy.  The paper never forgets.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.montecarlo.averages import (
    EMPTY,
    LINE,
    Averages,
    Averaging,
    empty,
    joined,
    key_of,
    learn_line,
    mean_at,
    mean_of,
    new_averages,
    place_of,
)
from arena.agents.montecarlo.method import NONE
from arena.games.core.game import CHANCE
from arena.games.core.jit import helper
from arena.games.core.random import random_below, random_unit


class Grams(NamedTuple):
    """Averages of sequences, and scratch."""

    averages: Averages
    moves: np.ndarray  # int32[max_moves]
    lasts: np.ndarray  # uint64[length], the keys of sequences of last moves


@dataclass(frozen=True)
class NST(Averaging):
    """length: of the longest sequence of moves
    epsilon: the probability of a random move
    least: how often a sequence of several moves must have been seen
    memory: whether averages are kept from move to move
    """

    length: int = 3
    epsilon: float = 0.2
    least: int = 7
    memory: bool = True

    name: ClassVar[str] = "nst"
    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("draw the moves of playouts",)
    data_fields: ClassVar[tuple[str, ...]] = ("length", "epsilon", "least")
    private: ClassVar[tuple[str, ...]] = ("moves", "lasts", *(f"averages.{name}" for name in LINE))
    ranges: ClassVar[dict] = {"length": (1, 10), "epsilon": (0, 1), "least": (1,)}

    def new_memory(self, game, nodes):
        room = np.zeros(game.max_moves, np.int32), np.zeros(self.length, np.uint64)
        return Grams(new_averages(game, 1 << 20), *room)

    def begin_search(self, game, memory, budget, rng):
        if not self.memory:
            empty(memory.averages)

    def averages(self, memory):
        return memory.averages

    def learn(self, game, search, walk, result):
        learn_line(search.memory.averages, result, search.options.length)

    def draws(self, game, search, walk, rng):
        if random_unit(rng) < search.options.epsilon:
            return NONE
        moves, best, best_value, ties = search.memory.moves, 0, -1.0, 0
        known = look_back(search.memory, search.options)
        for i in range(game.legal_moves(walk.state, moves)):
            value = value_of(search.memory, game.move_code(walk.state, moves[i]), known, search.options)
            ties = 1 if value > best_value else ties + (value == best_value)
            if value > best_value or (value == best_value and random_below(rng, ties) == 0):
                best, best_value = moves[i], value
        return np.int64(best)


@helper
def look_back(memory, options):
    """Write the keys of the last moves, of 1 to length - 1; returns how many were seen enough."""
    averages, known = memory.averages, 0
    end = averages.length[0]
    for begin in range(end - 1, max(-1, end - options.length), -1):
        if averages.codes[begin] == CHANCE:
            break
        key = key_of(averages, begin, end)
        place = place_of(averages, key)
        if averages.keys[place] == EMPTY or averages.counts[place] < options.least:
            break
        memory.lasts[known] = key
        known += 1
    return known


@helper
def value_of(memory, code, known, options):
    """A move code's value at the end of the line, with `known` keys of last moves."""
    averages = memory.averages
    total, grams = mean_of(averages, code, 1.0), 1
    for i in range(known):
        place = place_of(averages, joined(memory.lasts[i], code))
        if averages.keys[place] != EMPTY and averages.counts[place] >= options.least:
            total, grams = total + mean_at(averages, place), grams + 1
    return total / grams
