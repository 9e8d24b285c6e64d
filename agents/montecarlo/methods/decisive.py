"""Decisive and anti-decisive moves, in the tree and in playouts (F. Teytaud & O. Teytaud, "On the huge benefit of
decisive moves in Monte-Carlo tree search algorithms", CIG 2010).

A decisive move wins at once, and is made.  An anti-decisive move keeps the opponent from having a decisive one; others
are made only if there is none.  Finding out means generating every reply to each move, which is slow in most games.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.tree import last_node
from agents.montecarlo.method import NONE, Method
from agents.montecarlo.outlook import winning_move, wins_at_once
from games.core.jit import helper
from games.core.playout import copy_state
from games.core.random import random_below

FAR = 1000.0  # which keeps a bound below all others but LOST


class Found(NamedTuple):
    """What has been found of nodes, and room to find it in."""

    wins: np.ndarray  # int32[nodes], at a first child's row: which of the children wins at once, from 0 on, or NONE
    loses: np.ndarray  # bool[nodes], whether the move to it leaves the opponent a decisive one
    states: np.ndarray  # dtype[2, state_size]
    moves: np.ndarray  # int32[2, max_moves]


@dataclass(frozen=True)
class Decisive(Method):
    """anti: whether anti-decisive moves are looked for"""

    anti: bool = True

    name: ClassVar[str] = "decisive"
    part: ClassVar[str] = "selection, playout"
    steps: ClassVar[bool] = True
    per_node: ClassVar[tuple[str, ...]] = ("wins", "loses")

    def new_memory(self, game, nodes):
        states, moves = np.zeros((2, game.state_size), game.dtype), np.zeros((2, game.max_moves), np.int32)
        return Found(np.zeros(nodes, np.int32), np.zeros(nodes, np.bool_), states, moves)

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first = tree.first_child[node]
        memory.wins[first] = NONE
        for child in range(first, first + tree.children[node]):
            move = tree.move[child]
            memory.loses[child] = self.anti and leaves_a_win(game, walk.state, move, memory)
            if memory.wins[first] == NONE and wins_at_once(game, walk.state, move, memory.states[0]):
                memory.wins[first] = child - first

    def goes_to(self, game, search, walk):
        first = search.tree.first_child[last_node(walk)]
        which = search.memory.wins[first]
        return np.int64(first + which if which != NONE else NONE)

    def bonus(self, game, search, walk, child):
        return -FAR if search.memory.loses[child] else 0.0

    def decides(self, game, search, walk, rng):
        memory, state = search.memory, walk.state
        move = winning_move(game, state, memory.moves[0], memory.states[0])
        if move != NONE or not self.anti:
            return move
        count, kept = game.legal_moves(state, memory.moves[0]), 0
        for i in range(count):
            if not leaves_a_win(game, state, memory.moves[0, i], memory):
                memory.moves[0, kept] = memory.moves[0, i]
                kept += 1
        return np.int64(memory.moves[0, random_below(rng, kept)]) if 0 < kept < count else np.int64(NONE)


@helper
def leaves_a_win(game, state, move, memory):
    """Whether the other player can win at once after a move."""
    after = memory.states[1]
    copy_state(game, state, after)
    game.play(after, move)
    if game.is_over(after) or game.player(after) != 1 - game.player(state):
        return False
    return winning_move(game, after, memory.moves[1], memory.states[0]) != NONE
