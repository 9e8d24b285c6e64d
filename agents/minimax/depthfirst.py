"""The depth-first search of minimax and alpha-beta: a stack, one step of it, and what it may skip.

The line being searched is a stack of nodes, not a recursion, so that the search can stop after any number of nodes and
go on.  A value is for the player to move.  With pruning, a node with the window (alpha, beta) ends when a move is worth
beta or more.  A win in p plies is worth WIN - p, a loss p - WIN; an evaluation lies between -1 and 1.

Values are "fail-soft": below alpha they are upper bounds, from beta on lower bounds.  The table records which, with the
depth searched; a value is used again at the same depth, or at any depth if it is certain, so that the table changes
only values that it makes certain.

The helpers are `inlined`, since calls that pass the search would take half the time.
"""

import numpy as np

from arena.agents.core.sides import result_of, same_side, side_to_move
from arena.agents.core.transposition_table import fetch, move_image, probe, store, table_key
from arena.agents.minimax.ordering import are_ranked, bring_best_forward, merge_symmetric, note_cutoff, order_moves
from arena.agents.minimax.stack import DONE, END, EVALUATED, FORESEEN, FROM_TABLE, INFINITE, OPEN, TOO_LATE, WIN
from arena.games.core.jit import inlined, kernel

EXACT, LOWER, UPPER = range(3)  # of values in the table
DRAFT_BITS, CERTAIN = 24, (1 << 22) - 1  # searched to any depth
FEW_MOVES = 8  # with more, most moves are never tried, and to make them all costs more than it saves


@kernel
def depth_first_kernel(game, guide, search, until):
    """Continue until the search is done, or `until` positions have been visited in all.

    guide: of agents/minimax/ordering.py, whether a policy ranks moves
    """
    counts = search.counts[0]
    ply = counts.ply
    while ply != DONE:
        node = search.nodes[ply]
        if node.tried == node.total or node.best >= node.beta:
            if ply > 0:
                keep_in_table(game, search, ply)
                receive(game, search, ply - 1)
            ply -= 1
        elif counts.nodes >= until:
            break
        else:
            ply = try_next_move(game, guide, search, ply)
    counts.ply = ply


@kernel
def line_kernel(game, search, state, draft):
    """The best move that the table knows in `state`, searched to that depth; else -1."""
    key, symmetry = table_key(game, search, state)
    held, _, packed = probe(search.table, key)
    searched, bound, move = unpack(packed)
    if not held or bound != EXACT or (searched != CERTAIN and searched != draft):
        return -1
    for i in range(game.legal_moves(state, search.moves[-1])):
        if move_image(game, search.moves[-1, i], symmetry) == move:
            return np.int64(search.moves[-1, i])
    return -1


@kernel
def merge_kernel(game, search, count):
    """Leave out the moves of the root to images of positions that earlier ones lead to; returns how many are left."""
    return merge_symmetric(game, search, 0, count)


@inlined
def try_next_move(game, guide, search, ply):
    """Play the next move; returns the ply to go on with."""
    options, counts, node, below = search.options, search.counts[0], search.nodes[ply], search.nodes[ply + 1]
    state, child = search.states[ply], search.states[ply + 1]
    if ply > 0 and are_ranked(options):
        bring_best_forward(search.moves[ply], search.ranks[ply], node.tried, node.total)
    game.play_into(state, search.moves[ply, node.tried], child)
    node.tried += 1
    counts.nodes += 1
    below.length = ply + 1
    value = leaf_value(game, search, ply)
    if below.kind == OPEN:
        enter(game, guide, search, ply + 1)
        return ply + 1
    counts.leaves += 1
    below.best = value
    node.again = 0
    take_value(game, search, ply, value)
    return ply


@inlined
def leaf_value(game, search, ply):
    """The value, for its player, of the move tried last, if it leads to a leaf; notes its kind."""
    options, node, below, child = search.options, search.nodes[ply], search.nodes[ply + 1], search.states[ply + 1]
    below.kind = OPEN
    if game.is_over(child):
        below.kind = END
        return value_of_end(game, search, ply)
    if options.foresee:
        plies, exact = game.foreseen(child)
        if plies != 0:
            size = WIN - (ply + 1 + abs(plies) if options.shortest else 0)
            value = same_side(game, search, ply) * (size if plies > 0 else -size)
            bound = options.pruning and (value >= node.beta if value > 0.0 else value <= node.alpha)
            if exact or bound or not options.shortest:
                below.kind = FORESEEN
                return value
    if node.draft == 1 and not options.quiescence:
        search.counts[0].evaluated += 1
        below.kind = EVALUATED
        return side_to_move(game, search.states[ply]) * game.evaluate(child)
    return 0.0


@inlined
def value_of_end(game, search, ply):
    """The value of the end after the move tried last, for its player."""
    side, score = side_to_move(game, search.states[ply]), game.score(search.states[ply + 1])
    if search.options.scores:
        return side * score
    return side * result_of(score) * (WIN - (ply + 1 if search.options.shortest else 0))


@inlined
def enter(game, guide, search, ply):
    """Begin a node; its moves are listed unless its value is known without them."""
    options, counts, node = search.options, search.counts[0], search.nodes[ply]
    node.total = node.tried = node.symmetry = node.again = 0
    node.kind = OPEN
    node.draft = search.nodes[ply - 1].draft - 1
    node.entered, node.evaluated = counts.nodes, counts.evaluated
    inherit_window(game, search, ply)
    if options.pruning and options.shortest and not options.scores:
        # no win is quicker, and no loss
        node.beta = min(node.beta, WIN - (ply + (game.soonest_win if options.foresee else 1)))
        worst = ply + (game.soonest_loss if options.foresee else 1) - WIN
        if node.alpha >= node.beta or worst >= node.beta:
            node.kind, node.best = TOO_LATE, max(node.beta, worst)
            return
    table_move = -1
    if options.table and node.draft > 0:
        table_move = look_up(game, search, ply)
        if node.kind == FROM_TABLE:
            return
    list_moves(game, search, ply)
    order_moves(game, guide, search, ply, table_move)
    if game.max_moves <= FEW_MOVES and options.table and node.draft > 1 and not options.symmetries:
        fetch_children(game, search, ply)


@inlined
def fetch_children(game, search, ply):
    """Bring what the table has of the positions below the node at `ply` near; the first will be looked up soon."""
    child = search.scratch[0]
    for i in range(search.nodes[ply].total):
        game.play_into(search.states[ply], search.moves[ply, i], child)
        fetch(search.table, game.key(child))


@inlined
def inherit_window(game, search, ply):
    """The parent's window, seen from the other side.

    After the first move its width is zero, to ask only whether a move is better than the best: principal variation
    search (Marsland & Campbell, 1982).
    """
    options, node, parent = search.options, search.nodes[ply], search.nodes[ply - 1]
    alpha, beta = parent.alpha, parent.beta
    if not options.pruning:
        alpha, beta = -INFINITE, INFINITE
    elif options.scout and parent.tried > 1 and parent.again == 0:
        beta = min(beta, np.nextafter(alpha, INFINITE))
    if same_side(game, search, ply - 1) < 0:
        alpha, beta = -beta, -alpha
    node.alpha = node.floor = alpha
    node.beta, node.best = beta, -INFINITE


@inlined
def list_moves(game, search, ply):
    """List a node's moves; beyond the greatest depth the unstable ones."""
    options, node, state, moves = search.options, search.nodes[ply], search.states[ply], search.moves[ply]
    # a move that loses within two plies may look good after one
    if options.sound and node.draft > 1:
        node.total = game.sound_moves(state, moves)
    else:
        node.total = game.legal_moves(state, moves)
    if node.draft <= 0:
        keep_unstable_moves(game, search, ply)
    elif options.symmetries and not options.table:
        node.total = merge_symmetric(game, search, ply, node.total)


@inlined
def keep_unstable_moves(game, search, ply):
    """Beyond the greatest depth the player may stop, for the evaluation, or make an unstable move."""
    counts, node, state, moves = search.counts[0], search.nodes[ply], search.states[ply], search.moves[ply]
    count = 0
    for i in range(node.total):
        if game.is_unstable(state, moves[i]):
            moves[count] = moves[i]
            count += 1
    value = side_to_move(game, state) * game.evaluate(state)
    node.best, node.alpha = value, max(value, node.alpha)
    counts.evaluated += 1
    counts.leaves += count == 0
    node.total, node.kind = count, EVALUATED


@inlined
def look_up(game, search, ply):
    """The table's best move for the node, or -1; marks the node if the table has its value."""
    options, node, state = search.options, search.nodes[ply], search.states[ply]
    node.key, node.symmetry = table_key(game, search, state)
    held, value_bits, packed = probe(search.table, node.key)
    if not held:
        return -1
    draft, bound, move = unpack(packed)
    value = np.int64(value_bits).view(np.float64)
    if options.shortest and not options.scores and abs(value) > 1.0:
        value -= ply if value > 0.0 else -ply
    enough = draft == CERTAIN or draft == node.draft
    lower, upper = value >= node.beta, value <= node.alpha
    if enough and (bound == EXACT or (bound == LOWER and lower) or (bound == UPPER and upper)):
        node.kind, node.best = FROM_TABLE, value
        search.counts[0].table_cutoffs += 1
        search.counts[0].evaluated += draft != CERTAIN
    return move


@inlined
def unpack(packed):
    """(depth searched or CERTAIN, kind of value, move or -1)."""
    return packed >> 2 & CERTAIN, packed & 3, (packed >> DRAFT_BITS) - 1


@inlined
def keep_in_table(game, search, ply):
    """Store a result, with plies to a win or a loss counted from the node."""
    options, counts, node = search.options, search.counts[0], search.nodes[ply]
    value = node.best
    if not options.table or node.kind != OPEN:
        return
    bound = EXACT
    if value >= node.beta:
        bound = LOWER
    elif value <= node.floor:
        bound = UPPER
    draft = min(node.draft, CERTAIN - 1)
    if counts.evaluated == node.evaluated:
        draft = CERTAIN
    elif not options.scores and abs(value) > 1.0 and bound != (UPPER if value > 0.0 else LOWER):
        # a win is certain, but whether it is the quickest is not
        draft, bound = CERTAIN, LOWER if value > 0.0 else UPPER
    if options.shortest and not options.scores and abs(value) > 1.0:
        value += ply if value > 0.0 else -ply
    move = -1
    if node.length > ply:
        move = move_image(game, search.line[ply, ply], node.symmetry)
    packed = (np.int64(move) + 1) << DRAFT_BITS | draft << 2 | bound
    store(search.table, node.key, np.float64(value).view(np.int64), packed, counts.nodes - node.entered)


@inlined
def receive(game, search, ply):
    """Take the value of the node below, or search it again where a bound is not enough."""
    options, node = search.options, search.nodes[ply]
    value = search.nodes[ply + 1].best * same_side(game, search, ply)
    scouted = options.scout and options.pruning and node.tried > 1 and node.again == 0
    if scouted and node.alpha < value < node.beta:
        node.again = 1
        node.tried -= 1
        return
    node.again = 0
    take_value(game, search, ply, value)


@inlined
def take_value(game, search, ply, value):
    """Keep the value of the move tried last, with its line, if it is the best."""
    node, below = search.nodes[ply], search.nodes[ply + 1]
    if value <= node.best:
        return
    node.best, node.alpha = value, max(value, node.alpha)
    search.line[ply, ply] = search.moves[ply, node.tried - 1]
    for i in range(ply + 1, below.length):
        search.line[ply, i] = search.line[ply + 1, i]
    node.length = below.length
    if value >= node.beta:
        search.counts[0].cutoffs += 1
        note_cutoff(game, search, ply)
