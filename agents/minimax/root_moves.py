"""The start of a depth-first search: the root's moves, and their order."""

import numpy as np

from arena.agents.core.children import moves_of
from arena.agents.minimax.depthfirst import merge_kernel
from arena.agents.minimax.ordering import BY_POLICY, root_ranks_kernel
from arena.agents.minimax.stack import DepthFirstSearch


def put_root(game, search: DepthFirstSearch, state: np.ndarray, rng: np.ndarray | None) -> None:
    """Make `state` the root and reset the counts; moves are in random order, the policy's, or the game's (no rng)."""
    moves = moves_of(game, state, rng)
    search.states[0] = state
    search.moves[0, : len(moves)] = moves
    search.nodes[0]["total"] = merge_kernel(game, search, len(moves)) if search.options.merges else len(moves)
    if search.options.by_policy:
        root_ranks_kernel(game, BY_POLICY, search)
        count = search.nodes[0]["total"]
        ranked = np.argsort(-search.ranks[0, :count], kind="stable")
        search.moves[0, :count] = search.moves[0, ranked]
    search.counts[:] = 0
    search.nodes["killer"] = search.nodes["older_killer"] = -1
    search.history[:] = 0


def put_first(search: DepthFirstSearch, move: int) -> None:
    """Search a move of the root first; the others keep their order."""
    moves = search.moves[0, : search.nodes[0]["total"]]
    moves[:] = [move, *moves[moves != move]]
