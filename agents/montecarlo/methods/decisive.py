"""Decisive and anti-decisive moves, in the tree and in playouts (F. Teytaud & O. Teytaud, "On the huge benefit of
decisive moves in Monte-Carlo tree search algorithms", CIG 2010).

A decisive move wins at once, and is made.  An anti-decisive move prevents a decisive move of the opponent; others are
made only if there is none.  In a playout a drawn move that leaves the opponent a decisive one is replaced by a random
anti-decisive one.  With uniform draws this is a uniform draw of anti-decisive moves, and needs the replies to one move
instead of all.  If the game foresees all wins at once, it needs no replies.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import last_node
from arena.agents.montecarlo.method import NONE, Method
from arena.agents.montecarlo.outlook import can_win_at_once, winning_move, wins_at_once
from arena.games.core.jit import helper
from arena.games.core.random import random_below

FAR = 1000.0  # puts a bound below all others but LOST


class DecisiveMoves(NamedTuple):
    """Findings at nodes, and scratch space."""

    wins: np.ndarray  # int32[nodes], at a first child's row: the index of a child that wins at once, or NONE
    loses: np.ndarray  # bool[nodes], whether the move to it leaves the opponent a decisive move
    states: np.ndarray  # dtype[2, state_size], scratch, as are `moves`
    moves: np.ndarray  # int32[2, max_moves]


@dataclass(frozen=True)
class Decisive(Method):
    """anti: whether to look for anti-decisive moves"""

    anti: bool = True

    name: ClassVar[str] = "decisive"
    part: ClassVar[str] = "selection, playout"
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = ("states", "moves")
    lockless: ClassVar[bool] = True
    per_node: ClassVar[tuple[str, ...]] = ("wins", "loses")

    def new_memory(self, game, nodes):
        states, moves = np.zeros((2, game.state_size), game.dtype), np.zeros((2, game.max_moves), np.int32)
        return DecisiveMoves(np.zeros(nodes, np.int32), np.zeros(nodes, np.bool_), states, moves)

    def expanded(self, game, search, walk, node):
        tree, memory = search.tree, search.memory
        first = tree.first_child[node]
        wins = can_win_at_once(game, walk.state, memory.moves[0], memory.states[0])
        memory.wins[first] = NONE
        for child in range(first, first + tree.children[node]):
            move = tree.move[child]
            memory.loses[child] = self.anti and leaves_a_win(game, walk.state, move, memory)
            if wins and memory.wins[first] == NONE and wins_at_once(game, walk.state, move, memory.states[0]):
                memory.wins[first] = child - first

    def goes_to(self, game, search, walk):
        first = search.tree.first_child[last_node(walk)]
        which = search.memory.wins[first]
        return np.int64(first + which if which != NONE else NONE)

    def bonus(self, game, search, walk, child):
        return -FAR if search.memory.loses[child] else 0.0

    def decides(self, game, search, walk, rng):
        return winning_move(game, walk.state, search.memory.moves[0], search.memory.states[0])

    def amends(self, game, search, walk, move, rng):
        memory, state = search.memory, walk.state
        if not self.anti or not leaves_a_win(game, state, move, memory):
            return move
        moves = memory.moves[0]
        left = game.legal_moves(state, moves)
        while left > 0:  # draw among the rest until a move prevents the win
            i = random_below(rng, left)
            if not leaves_a_win(game, state, moves[i], memory):
                return np.int64(moves[i])
            left -= 1
            moves[i] = moves[left]
        return move


@helper
def leaves_a_win(game, state, move, memory):
    """Whether the other player can win at once after a move."""
    after = memory.states[1]
    game.play_into(state, move, after)
    if game.is_over(after) or game.player(after) != 1 - game.player(state):
        return False
    return can_win_at_once(game, after, memory.moves[1], memory.states[0])
