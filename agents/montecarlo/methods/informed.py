"""MCTS-IR, informed rollouts: playouts make the move that leads to the best evaluation (H. Baier & M. Winands,
"MCTS-minimax hybrids with state evaluations", JAIR 62, 2018).

    with probability epsilon    a random move
    otherwise                   the move m of the largest v(m); ties are broken at random
    depth 1, MCTS-IR-E          v(m) = evaluation after m, or the result if the game is over then
    depth 2, MCTS-IR-M          v(m) = least evaluation after a reply to m, with alpha-beta's cut-offs

If the player moves again, or chance does, there is no reply, and v is the evaluation after m.  With `width` k only the
first k moves in the game's own order are compared, with all their replies; the paper prunes to k moves at every ply,
and has greater depths.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.tree_arrays import shuffled_moves
from arena.agents.montecarlo.method import NONE, Method
from arena.agents.montecarlo.outlook import reward_after, reward_for
from arena.games.core.jit import helper
from arena.games.core.random import random_unit


class Rooms(NamedTuple):
    """Row 0 is for the compared moves, row 1 for the replies."""

    states: np.ndarray  # dtype[2, state_size]
    moves: np.ndarray  # int32[2, max_moves]
    orders: np.ndarray  # int64[max_moves], by the game's order


@dataclass(frozen=True)
class Informed(Method):
    """epsilon: the probability of a random move
    depth: 1 compares the evaluations after each move, 2 the worst after a reply
    width: how many moves are compared, the first ones in the game's order; 0: all
    """

    epsilon: float = 0.1
    depth: int = 1
    width: int = 0

    name: ClassVar[str] = "informed"
    part: ClassVar[str] = "playout"
    alone: ClassVar[tuple[str, ...]] = ("draw the moves of playouts",)
    data_fields: ClassVar[tuple[str, ...]] = ("epsilon", "width")
    steps: ClassVar[bool] = True
    private: ClassVar[tuple[str, ...]] = ("states", "moves", "orders")
    lockless: ClassVar[bool] = True
    ranges: ClassVar[dict] = {"epsilon": (0, 1), "depth": (1, 2), "width": (0,)}

    def new_memory(self, game, nodes):
        states, moves = np.zeros((2, game.state_size), game.dtype), np.zeros((2, game.max_moves), np.int32)
        return Rooms(states, moves, np.zeros(game.max_moves, np.int64))

    def draws(self, game, search, walk, rng):
        if random_unit(rng) < search.options.epsilon:
            return NONE
        memory, state = search.memory, walk.state
        moves, player = memory.moves[0], game.player(state)
        count = shuffled_moves(game, state, moves, rng)
        if 0 < search.options.width < count:
            count = put_first(game, state, memory, count, np.int64(search.options.width))
        best, best_value = moves[0], -1.0
        for i in range(count):
            if self.depth == 1:
                value = reward_after(game, state, moves[i], player, memory.states[0])
            else:
                value = reward_after_replies(game, state, moves[i], player, memory, best_value)
            if value > best_value:
                best, best_value = moves[i], value
        return np.int64(best)


@helper
def put_first(game, state, memory, count, width):
    """Put the `width` moves of the largest order first, of `count` in random order; returns width."""
    moves, orders = memory.moves[0], memory.orders
    game.move_orders(state, moves, count, orders)
    for i in range(width):
        first = i
        for j in range(i + 1, count):
            if orders[j] > orders[first]:
                first = j
        moves[i], moves[first] = moves[first], moves[i]
        orders[i], orders[first] = orders[first], orders[i]
    return width


@helper
def reward_after_replies(game, state, move, player, memory, low):
    """The value of a move if the opponent replies, 0 to 1 for `player`, or a bound not above `low`."""
    after = memory.states[0]
    game.play_into(state, move, after)
    if game.is_over(after) or game.player(after) != 1 - player:
        return reward_for(game, after, player)
    least = 1.0
    for i in range(game.legal_moves(after, memory.moves[1])):
        least = min(least, reward_after(game, after, memory.moves[1, i], player, memory.states[1]))
        if least <= low:
            break
    return least
