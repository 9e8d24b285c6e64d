"""How a depth-first search begins: the root's moves, and their order."""

from agents.minimax.depthfirst import merge_kernel
from agents.minimax.stack import TOTAL
from games.core.random import random_below


def put_root(game, stack, state, rng, merge: bool = False) -> None:
    """Make `state` the root, with its moves in random order, or in the game's if rng is None, and count from 0.

    merge: leave out the moves to images, by the game's symmetries, of positions that others lead to.
    """
    moves = game.moves(state)
    for i in range(len(moves) - 1 if rng is not None else 0, 0, -1):
        j = int(random_below(rng, i + 1))
        moves[i], moves[j] = moves[j], moves[i]
    stack.states[0] = state
    stack.moves[0, : len(moves)] = moves
    stack.node[0, TOTAL] = merge_kernel(game, stack, len(moves)) if merge else len(moves)
    stack.counts[:] = 0
    stack.killers[:] = -1
    stack.history[:] = 0


def put_first(stack, move) -> None:
    """Make a move of the root the first to be searched; the others keep their order."""
    moves = stack.moves[0, : stack.node[0, TOTAL]]
    moves[:] = [move, *moves[moves != move]]
