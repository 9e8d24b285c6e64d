"""The depth-first search that minimax and alpha-beta are made of: a stack, one step of it, and what it may skip.

The line being searched is a stack of arrays, not a recursion, so that the search can stop after any number of nodes
and go on.  A value is for the player to move.  A node has a window (alpha, beta): with pruning it ends when a move is
worth beta or more, since the player before would not come here.  A win in p plies is worth WIN - p, a loss p - WIN, so
that the quickest win and the longest resistance are best; an evaluation lies between -1 and 1.

Values are "fail-soft": below alpha they are upper bounds, from beta on lower bounds.  The table keeps which they are,
with the depth they were searched to; a value is used again at the same depth, or at any if it is certain, so that the
table changes no value but those that it makes certain.
"""

import numpy as np

from agents.core.table import least_key, probe, store
from agents.minimax.ordering import bring_best_forward, merge_symmetric, note_cutoff, order_moves
from agents.minimax.stack import (
    AGAIN,
    ALPHA,
    BEST,
    BETA,
    CUTOFFS,
    DRAFT,
    END,
    ENTERED,
    FLOOR,
    FROM_TABLE,
    GUESS,
    GUESSED,
    GUESSES,
    INFINITE,
    KIND,
    LEAVES,
    NODES,
    OPEN,
    PLY,
    SYMMETRY,
    TABLE_CUTS,
    TOO_LATE,
    TOTAL,
    TRIED,
    WIN,
)
from games.core.jit import helper, kernel
from games.core.playout import copy_state, reward_of

EXACT, LOWER, UPPER = range(3)  # what a value in the table is
DRAFT_BITS, CERTAIN = 24, (1 << 22) - 1  # a certain value has been searched to any depth


@kernel
def search_kernel(game, stack, table, options, until):
    """Go on with the search until it is done, or `until` positions have been visited in all."""
    counts, ply = stack.counts, stack.counts[PLY]
    while ply >= 0:
        if stack.node[ply, TRIED] == stack.node[ply, TOTAL] or stack.window[ply, BEST] >= stack.window[ply, BETA]:
            if ply > 0:
                keep_in_table(game, stack, table, options, ply)
                receive(game, stack, options, ply - 1)
            ply -= 1
        elif counts[NODES] >= until:
            break
        else:
            ply = try_next_move(game, stack, table, options, ply)
    counts[PLY] = ply


@kernel
def line_kernel(game, stack, table, options, state, draft):
    """The move that the table knows to be best in `state`, where it has been searched to that depth; else -1."""
    key, symmetry = table_key(game, stack, options, state)
    held, _, packed = probe(table, key)
    searched, bound, move = unpack(packed)
    if not held or bound != EXACT or (searched != CERTAIN and searched != draft):
        return -1
    for i in range(game.legal_moves(state, stack.moves[-1])):
        if game.transform_move(stack.moves[-1, i], symmetry) == move:
            return np.int64(stack.moves[-1, i])
    return -1


@kernel
def merge_kernel(game, stack, count):
    """Leave out the moves of the root to images of positions that earlier ones lead to; returns how many are left."""
    return merge_symmetric(game, stack.states[0], stack.moves[0], count, stack.ranks[0], stack.rooms)


@helper
def table_key(game, stack, options, state):
    """(the key that the table has a position by, the symmetry that leads there)."""
    if options.symmetries:
        return least_key(game, state, stack.rooms[0])
    return game.key(state), 0


@helper
def same_side(game, stack, ply):
    """1 if the player to move after a ply is the one to move before, else -1: a value's sign from one to the other."""
    return 1.0 if game.player(stack.states[ply]) == game.player(stack.states[ply + 1]) else -1.0


@helper
def try_next_move(game, stack, table, options, ply):
    """Play the next move of the node at `ply`; returns the ply of the node to go on with."""
    node, counts, state, child = stack.node, stack.counts, stack.states[ply], stack.states[ply + 1]
    if ply > 0 and (options.table_first or options.own_order or options.killers or options.history):
        bring_best_forward(stack.moves[ply], stack.ranks[ply], node[ply, TRIED], node[ply, TOTAL])
    copy_state(game, state, child)
    game.play(child, stack.moves[ply, node[ply, TRIED]])
    node[ply, TRIED] += 1
    counts[NODES] += 1
    stack.length[ply + 1] = ply + 1
    if game.is_over(child):
        counts[LEAVES] += 1
        node[ply + 1, KIND] = END
        take_leaf(game, stack, options, ply, value_of_end(game, stack, options, ply))
    elif node[ply, DRAFT] == 1 and not options.quiescence:
        counts[LEAVES] += 1
        counts[GUESSES] += 1
        node[ply + 1, KIND] = GUESS
        take_leaf(game, stack, options, ply, (1.0 if game.player(state) == 0 else -1.0) * game.evaluate(child))
    else:
        enter(game, stack, table, options, ply + 1)
        return ply + 1
    return ply


@helper
def value_of_end(game, stack, options, ply):
    """What the end after the move tried last at `ply` is worth to the player who made it."""
    side, score = 1.0 if game.player(stack.states[ply]) == 0 else -1.0, game.score(stack.states[ply + 1])
    if options.scores:
        return side * score
    return side * (2.0 * reward_of(score) - 1.0) * (WIN - (ply + 1 if options.shortest else 0))


@helper
def take_leaf(game, stack, options, ply, value):
    """Take the value of the position after the move tried last at `ply`, which is not searched."""
    stack.window[ply + 1, BEST] = value
    stack.node[ply, AGAIN] = 0
    take_value(game, stack, options, ply, value)


@helper
def enter(game, stack, table, options, ply):
    """Begin the node at `ply`: its window, its moves; or none, if its value is known without them."""
    node, window, counts = stack.node, stack.window, stack.counts
    draft = node[ply - 1, DRAFT] - 1
    for i in range(8):
        node[ply, i] = 0
    node[ply, DRAFT], node[ply, ENTERED], node[ply, GUESSED] = draft, counts[NODES], counts[GUESSES]
    inherit_window(game, stack, options, ply)
    if options.pruning and options.shortest and not options.scores:
        window[ply, BETA] = min(window[ply, BETA], WIN - (ply + 1))  # no win is quicker
        if window[ply, ALPHA] >= window[ply, BETA]:
            node[ply, KIND], window[ply, BEST] = TOO_LATE, window[ply, BETA]
            return
    table_move = -1
    if options.table and draft > 0:
        table_move = look_up(game, stack, table, options, ply)
        if node[ply, KIND] == FROM_TABLE:
            return
    if draft > 0:
        list_moves(game, stack, options, ply, table_move)
    else:
        list_unstable_moves(game, stack, options, ply)


@helper
def inherit_window(game, stack, options, ply):
    """The parent's window, from the other side; of no width, to ask whether a move is better than the best so far, for
    all moves after the first: principal variation search (Marsland & Campbell, 1982)."""
    alpha, beta = stack.window[ply - 1, ALPHA], stack.window[ply - 1, BETA]
    if not options.pruning:
        alpha, beta = -INFINITE, INFINITE
    elif options.scout and stack.node[ply - 1, TRIED] > 1 and stack.node[ply - 1, AGAIN] == 0:
        beta = min(beta, np.nextafter(alpha, INFINITE))
    if same_side(game, stack, ply - 1) < 0.0:
        alpha, beta = -beta, -alpha
    stack.window[ply, ALPHA] = stack.window[ply, FLOOR] = alpha
    stack.window[ply, BETA], stack.window[ply, BEST] = beta, -INFINITE


@helper
def list_moves(game, stack, options, ply, table_move):
    """List the moves of the node at `ply`, and rank them."""
    state, moves = stack.states[ply], stack.moves[ply]
    # a move that loses in two plies may look well after one
    if options.sound and stack.node[ply, DRAFT] > 1:
        count = game.sound_moves(state, moves)
    else:
        count = game.legal_moves(state, moves)
    if options.symmetries and not options.table:
        count = merge_symmetric(game, state, moves, count, stack.ranks[ply], stack.rooms)
    stack.node[ply, TOTAL] = count
    order_moves(game, stack, options, ply, count, table_move)


@helper
def list_unstable_moves(game, stack, options, ply):
    """Below the greatest depth the player may stop here, with the evaluation as the value, or make an unstable move."""
    state, moves = stack.states[ply], stack.moves[ply]
    listed, count = game.legal_moves(state, moves), 0
    for i in range(listed):
        if game.is_unstable(state, moves[i]):
            moves[count] = moves[i]
            count += 1
    value = (1.0 if game.player(state) == 0 else -1.0) * game.evaluate(state)
    stack.window[ply, BEST] = value
    stack.window[ply, ALPHA] = max(value, stack.window[ply, ALPHA])
    stack.counts[GUESSES] += 1
    stack.counts[LEAVES] += count == 0
    stack.node[ply, TOTAL], stack.node[ply, KIND] = count, GUESS
    order_moves(game, stack, options, ply, count, -1)


@helper
def look_up(game, stack, table, options, ply):
    """Ask the table for the node at `ply`.  Where it has the value, the node is marked; returns its move, or -1."""
    node, state = stack.node, stack.states[ply]
    stack.keys[ply], node[ply, SYMMETRY] = table_key(game, stack, options, state)
    held, value_bits, packed = probe(table, stack.keys[ply])
    if not held:
        return -1
    draft, bound, move = unpack(packed)
    value = np.int64(value_bits).view(np.float64)
    if options.shortest and not options.scores and abs(value) > 1.0:
        value -= ply if value > 0.0 else -ply
    enough = draft == CERTAIN or draft == node[ply, DRAFT]
    lower, upper = value >= stack.window[ply, BETA], value <= stack.window[ply, ALPHA]
    if enough and (bound == EXACT or (bound == LOWER and lower) or (bound == UPPER and upper)):
        node[ply, KIND], stack.window[ply, BEST] = FROM_TABLE, value
        stack.counts[TABLE_CUTS] += 1
        stack.counts[GUESSES] += draft != CERTAIN
    return move


@helper
def unpack(packed):
    """(depth searched to or CERTAIN, what the value is, move or -1) of the second number of a place in the table."""
    return packed >> 2 & CERTAIN, packed & 3, (packed >> DRAFT_BITS) - 1


@helper
def keep_in_table(game, stack, table, options, ply):
    """Store what the search of the node at `ply` has come to, with plies to a win or a loss counted from there."""
    node, value = stack.node, stack.window[ply, BEST]
    if not options.table or node[ply, KIND] != OPEN:
        return
    bound = EXACT
    if value >= stack.window[ply, BETA]:
        bound = LOWER
    elif value <= stack.window[ply, FLOOR]:
        bound = UPPER
    draft = min(node[ply, DRAFT], CERTAIN - 1)
    if stack.counts[GUESSES] == node[ply, GUESSED]:
        draft = CERTAIN
    elif not options.scores and abs(value) > 1.0 and bound != (UPPER if value > 0.0 else LOWER):
        # a win is certain, but whether it is the quickest is not
        draft, bound = CERTAIN, LOWER if value > 0.0 else UPPER
    if options.shortest and not options.scores and abs(value) > 1.0:
        value += ply if value > 0.0 else -ply
    move = -1
    if stack.length[ply] > ply:
        move = game.transform_move(stack.line[ply, ply], node[ply, SYMMETRY])
    packed = (np.int64(move) + 1) << DRAFT_BITS | draft << 2 | bound
    work = stack.counts[NODES] - node[ply, ENTERED]
    store(table, stack.keys[ply], np.float64(value).view(np.int64), packed, work)


@helper
def receive(game, stack, options, ply):
    """The node below `ply` is done: take its value; or have its move searched again, if only a bound was asked for."""
    node, window = stack.node, stack.window
    value = window[ply + 1, BEST] * same_side(game, stack, ply)
    scouted = options.scout and options.pruning and node[ply, TRIED] > 1 and node[ply, AGAIN] == 0
    if scouted and window[ply, ALPHA] < value < window[ply, BETA]:
        node[ply, AGAIN] = 1
        node[ply, TRIED] -= 1
        return
    node[ply, AGAIN] = 0
    take_value(game, stack, options, ply, value)


@helper
def take_value(game, stack, options, ply, value):
    """The move tried last at `ply` is worth `value` to its player: keep it, and the line it begins, if it is better."""
    if value <= stack.window[ply, BEST]:
        return
    stack.window[ply, BEST] = value
    stack.window[ply, ALPHA] = max(value, stack.window[ply, ALPHA])
    stack.line[ply, ply] = stack.moves[ply, stack.node[ply, TRIED] - 1]
    for i in range(ply + 1, stack.length[ply + 1]):
        stack.line[ply, i] = stack.line[ply + 1, i]
    stack.length[ply] = stack.length[ply + 1]
    if value >= stack.window[ply, BETA]:
        stack.counts[CUTOFFS] += 1
        note_cutoff(game, stack, options, ply)
