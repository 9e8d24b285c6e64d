"""The order in which a depth-first search tries moves: good moves first bring cut-offs early.

First the table's move, then the game's own order, then "killers", the last two moves that cut off at the same ply (Akl
& Newborn, "The principal continuation and the killer heuristic", 1977), then history: the sum of the squared depths at
which a move has caused cut-offs anywhere (Schaeffer, "The history heuristic", 1983).

A learned policy replaces history at and near the root: it costs as much for each move as searching the position after
it, which cut-offs repay in a large subtree.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.core.learned import NOT_LEARNED, Learned, units_after
from arena.agents.core.transposition_table import move_image
from arena.games.core.jit import Compilable, inlined, kernel

TABLE_RANK, OWN_SHIFT, KILLER_RANK, MOST_HISTORY = 1 << 60, 20, 1 << 19, (1 << 19) - 1
LOGIT_SHIFT, MOST_LOGIT = 6, 1 << 18  # logits in units of 2^-14, between -16 and 16


class Policy(NamedTuple):
    """A policy, and where it ranks moves."""

    learned: Learned
    least: int  # the least depth left where it does


NO_POLICY = Policy(NOT_LEARNED, 0)


@dataclass(frozen=True)
class Unguided(Compilable):
    """No policy takes part.  As a constant of kernels, it spares them the game's functions for policies."""

    def ranks(self, policy, draft):
        """Whether the policy ranks the moves of a node with that depth left."""
        return False

    def rank(self, game, policy, state, move, scratch):
        """A move's rank by the policy, int64, in the range of history's.  scratch: dtype[state_size]"""
        return 0


@dataclass(frozen=True)
class ByPolicy(Unguided):
    """A policy takes part."""

    def ranks(self, policy, draft):
        return draft >= policy.least

    def rank(self, game, policy, state, move, scratch):
        units = units_after(game, policy.learned, state, move, scratch)
        return min(max(units >> LOGIT_SHIFT, -MOST_LOGIT), MOST_LOGIT)


UNGUIDED, BY_POLICY = Unguided(), ByPolicy()


def guide_of(options) -> Unguided:
    """The guide for kernels of a search with these options."""
    return BY_POLICY if options.by_policy else UNGUIDED


@kernel
def root_ranks_kernel(game, guide, search):
    """Write the policy's ranks of the root's moves into their row of ranks."""
    for i in range(search.nodes[0].total):
        move, scratch = search.moves[0, i], search.scratch[0]
        search.ranks[0, i] = guide.rank(game, search.policy, search.states[0], move, scratch)


@inlined
def are_ranked(options):
    """Whether moves are tried by rank, not in the order of the list."""
    return options.table_first or options.own_order or options.killers or options.history or options.by_policy


@inlined
def order_moves(game, guide, search, ply, table_move):
    """Rank a node's moves; `table_move`: through the node's symmetry, or -1."""
    options, node, state = search.options, search.nodes[ply], search.states[ply]
    if not are_ranked(options):
        return
    side, by_policy = max(game.player(state), 0), guide.ranks(search.policy, node.draft)
    if options.own_order:
        game.move_orders(state, search.moves[ply], node.total, search.ranks[ply])
    for i in range(node.total):
        move, rank = search.moves[ply, i], 0
        if options.own_order:
            rank += search.ranks[ply, i] << OWN_SHIFT
        if options.killers and (move == node.killer or move == node.older_killer):
            rank += KILLER_RANK
        if by_policy:
            rank += guide.rank(game, search.policy, state, move, search.scratch[0])
        elif options.history:
            rank += min(search.history[side, move], MOST_HISTORY)
        if options.table_first and move_image(game, move, node.symmetry) == table_move:
            rank += TABLE_RANK
        search.ranks[ply, i] = rank


@inlined
def bring_best_forward(moves, ranks, begin, end):
    """Bring the move of the greatest rank to `begin`; the others keep their order."""
    best = begin
    for i in range(begin + 1, end):
        if ranks[i] > ranks[best]:
            best = i
    move, rank = moves[best], ranks[best]
    for i in range(best, begin, -1):
        moves[i], ranks[i] = moves[i - 1], ranks[i - 1]
    moves[begin], ranks[begin] = move, rank


@inlined
def merge_symmetric(game, search, ply, count):
    """Keep one of the `count` moves to each set of symmetric positions; returns how many."""
    moves, keys, kept = search.moves[ply], search.ranks[ply], 0
    child, image = search.scratch[0], search.scratch[1]
    for i in range(count):
        game.play_into(search.states[ply], moves[i], child)
        key, seen = np.int64(game.least_key(child, image)[0]), False
        for j in range(kept):
            seen |= keys[j] == key
        if not seen:
            moves[kept], keys[kept] = moves[i], key
            kept += 1
    return kept


@inlined
def note_cutoff(game, search, ply):
    """Remember the move tried last, which has caused a cut-off."""
    options, node = search.options, search.nodes[ply]
    if not (options.killers or options.history):
        return
    move = search.moves[ply, node.tried - 1]
    if options.killers and node.killer != move:
        node.killer, node.older_killer = move, node.killer
    if options.history:
        search.history[max(game.player(search.states[ply]), 0), move] += max(node.draft, 1) * max(node.draft, 1)
