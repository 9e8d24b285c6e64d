"""Mean rewards by a key, such as a move code or the last few ones: what MAST, NST and progressive history learn."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.probing import FILLED, find_slot
from arena.agents.montecarlo.method import Method
from arena.games.core.game import CHANCE
from arena.games.core.jit import helper, inlined
from arena.games.core.play.playout import copy_state
from arena.games.core.random import mix

EMPTY = np.uint64(0)
START = np.uint64(0x9E3779B97F4A7C15)
LINE = ("codes", "players", "length", "state")  # the fields of Averages that belong to one simulation


class Averages(NamedTuple):
    """An open-addressing table of sums of rewards, and the current simulation's line of moves, the tree's first."""

    keys: np.ndarray  # uint64[size], EMPTY or a key; size is a power of two
    counts: np.ndarray  # int64[size]
    sums: np.ndarray  # float64[size], of rewards, 0 to 1, for the player of the key's last move
    used: np.ndarray  # int64[1], keys in the table
    codes: np.ndarray  # int64[max_plies], of the moves of the line; CHANCE for outcomes
    players: np.ndarray  # int64[max_plies], who made them
    length: np.ndarray  # int64[1]
    state: np.ndarray  # dtype[state_size], to replay in


def new_averages(game, entries: int) -> Averages:
    """An empty table with `entries` places, a power of two."""
    plies = game.max_plies
    return Averages(
        np.zeros(entries, np.uint64),
        np.zeros(entries, np.int64),
        np.zeros(entries),
        np.zeros(1, np.int64),
        np.zeros(plies, np.int64),
        np.zeros(plies, np.int64),
        np.zeros(1, np.int64),
        np.zeros(game.state_size, game.dtype),
    )


def empty(averages: Averages) -> None:
    """Forget all keys."""
    if averages.used[0]:
        averages.keys[:] = EMPTY
        averages.used[0] = 0


@helper
def begin_line(game, averages, tree, walk):
    """Make the line that of the moves in the tree."""
    state = averages.state
    averages.length[0] = 0
    copy_state(game, walk.root, state)
    for i in range(1, walk.length[0]):
        add_move(game, averages, state, tree.move[walk.path[i]])
        game.play(state, tree.move[walk.path[i]])


@helper
def add_move(game, averages, state, move):
    """Put a move that is about to be made at the end of the line."""
    ply, player = averages.length[0], game.player(state)
    averages.players[ply] = player
    averages.codes[ply] = game.move_code(state, move) if player != CHANCE else CHANCE
    averages.length[0] = ply + 1


@inlined
def joined(key, code):
    """The key of a sequence of moves and one more; START is the key of none."""
    found = mix(np.uint64(key) ^ mix(np.uint64(np.int64(code) + 2)))
    return found if found != EMPTY else START


@helper
def key_of(averages, begin, end):
    """The key of the line's moves from `begin` to before `end`."""
    key = START
    for i in range(begin, end):
        key = joined(key, averages.codes[i])
    return key


@helper
def place_of(averages, key):
    """The place of a key, or the empty one where it belongs."""
    return find_slot(averages.keys, averages.keys, EMPTY, key, key)


@helper
def mean_of(averages, code, unknown):
    """The mean reward of a move code, or `unknown`."""
    place = place_of(averages, joined(START, code))
    return mean_at(averages, place) if averages.keys[place] != EMPTY else np.float64(unknown)


@inlined
def mean_at(averages, place):
    """The mean reward of the key in a place, whose first reward another thread may be counting."""
    return averages.sums[place] / max(averages.counts[place], 1)


@helper
def count_reward(averages, key, reward):
    """Add a reward to the mean of a key; a new one needs room in the table."""
    place = place_of(averages, key)
    if averages.keys[place] == EMPTY:
        if averages.used[0] > FILLED * len(averages.keys):  # it only counts the keys that it has
            return
        averages.keys[place], averages.counts[place], averages.sums[place] = key, 0, 0.0
        averages.used[0] += 1
    averages.counts[place] += 1
    averages.sums[place] += reward


@helper
def learn_line(averages, result, length):
    """Count the first player's result, -1 to 1, for each move of the line together with up to length - 1 before it."""
    reward, end = 0.5 * (1.0 + result), averages.length[0]
    for first in range(end):
        key = START
        for ply in range(first, min(end, first + length)):
            if averages.codes[ply] == CHANCE:
                break
            key = joined(key, averages.codes[ply])
            count_reward(averages, key, reward if averages.players[ply] == 0 else 1.0 - reward)


@dataclass(frozen=True)
class Averaging(Method):
    """Base of the methods that learn mean rewards of codes.  Its memory: Averages, kept from move to move."""

    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = LINE

    def new_memory(self, game, nodes):
        return new_averages(game, 1 << 17)

    def averages(self, memory):
        return memory

    def arrive(self, game, search, walk):
        begin_line(game, self.averages(search.memory), search.tree, walk)

    def made(self, game, search, walk, move):
        add_move(game, self.averages(search.memory), walk.state, move)

    def learn(self, game, search, walk, result):
        learn_line(self.averages(search.memory), result, 1)
