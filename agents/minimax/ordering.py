"""The order in which a depth-first search tries moves: cut-offs come early where good moves come first.

First the transposition table's move, then the game's own order, then "killers", the last two moves that cut off at the
same ply (Akl & Newborn, "The principal continuation and the killer heuristic", 1977), then history:
the sum of the squared depths at which a move has caused cut-offs anywhere (Schaeffer, "The history heuristic", 1983).
"""

from agents.core.table import least_key
from games.core.jit import inlined
from games.core.playout import copy_state

TABLE_RANK, OWN_SHIFT, KILLER_RANK, MOST_HISTORY = 1 << 60, 20, 1 << 19, (1 << 19) - 1


@inlined
def order_moves(game, search, ply, table_move):
    """Rank the moves of the node at `ply`; `table_move` is the table's, seen through the node's symmetry, or -1."""
    options, node, state = search.options, search.nodes[ply], search.states[ply]
    if not (options.table_first or options.own_order or options.killers or options.history):
        return
    side = max(game.player(state), 0)
    for i in range(node.total):
        move, rank = search.moves[ply, i], 0
        if options.own_order:
            rank += game.move_order(state, move) << OWN_SHIFT
        if options.killers and (move == node.killer or move == node.older_killer):
            rank += KILLER_RANK
        if options.history:
            rank += min(search.history[side, move], MOST_HISTORY)
        if options.table_first and game.transform_move(move, node.symmetry) == table_move:
            rank += TABLE_RANK
        search.ranks[ply, i] = rank


@inlined
def bring_best_forward(moves, ranks, begin, end):
    """Bring the move of the greatest rank to the index `begin`; the moves that it passes keep their order."""
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
    """Leave out the moves to images of positions that earlier moves lead to, of `count` moves listed at `ply`.

    Returns how many are left.  The row of ranks serves as room for keys.
    """
    moves, keys, kept = search.moves[ply], search.ranks[ply], 0
    child, image = search.scratch[0], search.scratch[1]
    for i in range(count):
        copy_state(game, search.states[ply], child)
        game.play(child, moves[i])
        key, seen = int(least_key(game, child, image)[0]), False
        for j in range(kept):
            seen |= keys[j] == key
        if not seen:
            moves[kept], keys[kept] = moves[i], key
            kept += 1
    return kept


@inlined
def note_cutoff(game, search, ply):
    """Remember the move tried last at `ply`, which has cut off."""
    options, node = search.options, search.nodes[ply]
    if not (options.killers or options.history):
        return
    move = search.moves[ply, node.tried - 1]
    if options.killers and node.killer != move:
        node.killer, node.older_killer = move, node.killer
    if options.history:
        search.history[max(game.player(search.states[ply]), 0), move] += max(node.draft, 1) * max(node.draft, 1)
