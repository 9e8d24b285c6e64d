"""In which order a depth-first search tries moves: cut-offs come early where good moves come first.

First the move that the transposition table has, then by the game's own order, then "killers", the last two moves that
cut off at the same ply (Akl & Newborn, "The principal continuation and the killer heuristic", 1977), then by history:
the sum of the squared depths below what a move has cut off anywhere (Schaeffer, "The history heuristic", 1983).
"""

from agents.core.table import least_key
from agents.minimax.stack import DRAFT, SYMMETRY, TRIED
from games.core.jit import helper
from games.core.playout import copy_state

TABLE_RANK, OWN_SHIFT, KILLER_RANK, MOST_HISTORY = 1 << 60, 20, 1 << 19, (1 << 19) - 1


@helper
def order_moves(game, stack, options, ply, count, table_move):
    """Rank the moves of the node at `ply`; `table_move` is as the table has it, seen through the node's symmetry;
    -1 for none."""
    if not (options.table_first or options.own_order or options.killers or options.history):
        return
    state, side = stack.states[ply], max(game.player(stack.states[ply]), 0)
    for i in range(count):
        move, rank = stack.moves[ply, i], 0
        if options.own_order:
            rank += game.move_order(state, move) << OWN_SHIFT
        if options.killers and (move == stack.killers[ply, 0] or move == stack.killers[ply, 1]):
            rank += KILLER_RANK
        if options.history:
            rank += min(stack.history[side, move], MOST_HISTORY)
        if options.table_first and game.transform_move(move, stack.node[ply, SYMMETRY]) == table_move:
            rank += TABLE_RANK
        stack.ranks[ply, i] = rank


@helper
def bring_best_forward(moves, ranks, begin, end):
    """Move the move of the greatest rank to the place `begin`; those before it, which keep their order, move up."""
    best = begin
    for i in range(begin + 1, end):
        if ranks[i] > ranks[best]:
            best = i
    move, rank = moves[best], ranks[best]
    for i in range(best, begin, -1):
        moves[i], ranks[i] = moves[i - 1], ranks[i - 1]
    moves[begin], ranks[begin] = move, rank


@helper
def merge_symmetric(game, state, moves, count, keys, rooms):
    """Leave out the moves to images of positions that earlier moves lead to; returns how many are left.

    `keys: int64[max_moves]` and `rooms: dtype[2, state_size]` are room to work in.
    """
    kept = 0
    for i in range(count):
        copy_state(game, state, rooms[0])
        game.play(rooms[0], moves[i])
        key, seen = int(least_key(game, rooms[0], rooms[1])[0]), False
        for j in range(kept):
            seen |= keys[j] == key
        if not seen:
            moves[kept], keys[kept] = moves[i], key
            kept += 1
    return kept


@helper
def note_cutoff(game, stack, options, ply):
    """Remember the move tried last at `ply`, which has cut off."""
    if not (options.killers or options.history):
        return
    move, draft = stack.moves[ply, stack.node[ply, TRIED] - 1], stack.node[ply, DRAFT]
    if options.killers and stack.killers[ply, 0] != move:
        stack.killers[ply, 1] = stack.killers[ply, 0]
        stack.killers[ply, 0] = move
    if options.history:
        stack.history[max(game.player(stack.states[ply]), 0), move] += max(draft, 1) * max(draft, 1)
