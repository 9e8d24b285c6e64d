"""The decision of a Monte-Carlo tree search, by the children of its root."""

import numpy as np

from arena.agents.core.agent import Decision, MoveStatistics
from arena.agents.core.tree_arrays import ROOT, Tree, most_visited_child, principal_variation, proven_result


def decision_from(tree: Tree, playouts: int, player: int, best: int | None = None) -> Decision:
    """The root's child `best` (default: the most visited) as a move, with statistics for `player`, who is to move.

    A proven win is played instead; a proven loss only if all moves are lost.
    """
    first, best = int(tree.first_child[ROOT]), most_visited_child(tree, ROOT) if best is None else best
    children = slice(first, first + int(tree.children[ROOT]))
    visits = tree.visits[children].astype(np.int64)
    means = 2.0 * tree.value[children] / np.maximum(visits, 1) - 1.0
    best = first + best_of_proven(tree.proven[children], visits, means, best - first, player)
    variation = principal_variation(tree, best)
    return Decision(
        move=variation[0],
        value=float(means[best - first]),
        playouts=playouts,
        nodes=int(tree.size[0]),
        depth=len(variation),
        principal_variation=variation,
        statistics=MoveStatistics(tree.move[children].copy(), visits, means),
    )


def best_of_proven(proofs: np.ndarray, visits: np.ndarray, means: np.ndarray, best: int, player: int) -> int:
    """The index of the move for `player` to play instead of `best`; proven results replace `means`."""
    certain = proofs.nonzero()[0]
    if not len(certain):
        return best
    means[certain] = [(1.0 if player == 0 else -1.0) * proven_result(proof) for proof in proofs[certain]]
    won, lost = certain[means[certain] == 1.0], certain[means[certain] == -1.0]
    if len(won):
        return int(won[0])
    if best in lost and len(lost) < len(visits):
        unclear = np.delete(np.arange(len(visits)), lost)
        return int(unclear[np.argmax(visits[unclear])])
    return best
