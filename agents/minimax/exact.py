"""Exact values by null windows: alpha-beta to the end of the game that asks only yes or no.

With at most L plies left, a win in d plies scores L + 1 - d, a loss in d the negative of that, and a draw 0.  A search
asks whether the score is at least a threshold; the answers close an interval around it.  Questions begin with the
quick ends, which are refuted soonest, as in Pascal Pons' solver of Connect 4 (http://blog.gamesolver.org).

The table holds certain bounds of plies to a win or a loss, counted from the position, and so serves every later
question.  Two rows share a key: the first is for the position that took the most work, the other for the newest.  The
word of the key is stored as the exclusive or of both, so that threads share a table without locks
(agents/core/transposition_table.py).

Threads search one question together until one has the answer, kept apart by a rule: `Alone` for one thread, and those
of agents/minimax/sharing.py and brothers.py for several.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arena.agents.core.selection import prefetch
from arena.agents.core.sides import result_of, same_side, side_to_move
from arena.agents.core.transposition_table import LINE_WORDS, aligned, move_image, share_of, table_key
from arena.agents.minimax.ordering import KILLER_RANK, MOST_HISTORY, OWN_SHIFT, TABLE_RANK, bring_best_forward
from arena.agents.minimax.stack import DONE, DepthFirstOptions, new_stack, records
from arena.games.core.jit import Compilable, inlined, kernel
from arena.games.core.play.playout import copy_state

NOTHING = -(1 << 20)  # below every score
STEP, AGAIN, PAUSE = range(3)  # a thread makes a step, asks its rule again, or returns
UNSPLIT = -1  # of a node's `split`
KEY, DATA = range(2)  # of a row
SCORE, LEFT, NODES, BEGUN = range(4)  # of a position among many
FARTHEST = 1 << 16  # beyond every score
TABLE_ROW_BYTES = 16
FAR_ROWS = 1 << 16  # a table of a MiB is about as large as a core's cache
FEW_KEYS = 8  # where least keys, of symmetric positions, cost less than waiting for their rows
# Of data, from the lowest bit: 1, whether the value is a lower bound, 16 bits of value, 24 of move + 1, work
VALUE_SHIFT, MOVE_SHIFT, WORK_SHIFT = 2, 18, 42
VALUE_OFFSET, MOVE_MASK, MOST_WORK = 1 << 15, (1 << 24) - 1, (1 << 21) - 1

NODE = np.dtype(
    [
        ("total", np.int64),  # moves
        ("tried", np.int64),  # moves begun
        ("threshold", np.int64),  # is the score for the player to move at least this?
        ("best", np.int64),  # so far: a bound
        ("key", np.uint64),
        ("symmetry", np.int64),  # that leads to the key's position
        ("entered", np.int64),  # nodes visited before
        ("killer", np.int64),  # the last move that reached a threshold at this ply, or -1
        ("split", np.int64),  # of brothers.py, or MARKED of sharing.py; or UNSPLIT
        ("back", np.int64),  # of another thread's split: the ply to go back to, or DONE
        ("waiting", np.int64),  # of its own split: 1 if all moves are taken
    ]
)

COUNTS = np.dtype(
    [
        ("ply", np.int64),  # of the current node, or DONE
        ("nodes", np.int64),
        ("taken", np.int64),  # rows of the table that this search took first
        ("left", np.int64),  # L, of the root
        ("low", np.int64),  # the root's score is at least this
        ("high", np.int64),  # at most this; the search ends when they meet
        ("weak", np.int64),  # 1 if only the sign is asked for
        ("move", np.int64),  # the root's move that last reached a threshold, or -1
        ("thread", np.int64),  # from 0
        ("seen", np.int64),  # of brothers.py: how many splits had been cut when it last looked
        ("looks", np.int64),  # of brothers.py: at how many nodes it looks for the others again
    ]
)


@dataclass(frozen=True)
class Alone(Compilable):
    """How one thread searches, and the base of the rules for several.

    A rule is a constant of kernels, so that one thread neither pays for several nor waits for their code to compile.
    """

    def new_shared(self, game, workers: int) -> tuple:
        """What the threads share."""
        return ()

    def assemble(self, shared: tuple) -> None:
        """Called before threads begin with a question."""

    def resume(self, shared: tuple) -> None:
        """Called before threads go on with a question."""

    def words(self, shared: tuple) -> list[np.ndarray]:
        """The words by which threads wait for each other: see Threads.run."""
        return []

    def next_step(self, game, search, ply, until):
        """(the ply of a thread that is at `ply`, STEP, AGAIN or PAUSE); until: of exact_kernel."""
        return ply, STEP

    def own_rank(self, search, key, move):
        """What the thread adds to a move's rank."""
        return 0

    def is_put_off(self, search, ply, key):
        """Whether the move tried last, to the position of that key, waits until others have been tried."""
        return False

    def left(self, search, ply):
        """The search of the node at `ply`, not the root, is over."""

    def answered(self, search):
        """The thread has the answer."""


ALONE = Alone()


class ExactSearch(NamedTuple):
    """Row p is the node p plies below the root; limit is one more than the plies of the longest game."""

    nodes: np.ndarray  # NODE[limit]
    states: np.ndarray  # dtype[limit, state_size]
    moves: np.ndarray  # int32[limit, max_moves]
    ranks: np.ndarray  # int64[limit, max_moves], the greatest is tried first
    history: np.ndarray  # int64[code_limit], by move_code
    scratch: np.ndarray  # dtype[1, state_size]
    counts: np.ndarray  # COUNTS[1]
    words: np.ndarray  # int64[rows, 2], the table
    stop: np.ndarray  # int64[1], not 0 when a thread has the answer
    shared: tuple  # of the rule
    options: DepthFirstOptions


def new_words(mebibytes: float) -> np.ndarray:
    """An empty table; each pair of rows lies in one cache line."""
    rows = max(2, int(mebibytes * 2**20) // TABLE_ROW_BYTES // 2 * 2)
    return aligned(np.zeros(2 * rows + LINE_WORDS, np.int64), 2 * rows).reshape(rows, 2)


def new_exact_search(game, words: np.ndarray, options: DepthFirstOptions) -> ExactSearch:
    """A search with a table."""
    limit = game.max_plies + 1
    return ExactSearch(
        **new_stack(game, limit, NODE),
        history=np.zeros(game.code_limit, np.int64),
        scratch=np.zeros((1, game.state_size), game.dtype),
        counts=records(1, COUNTS),
        words=words,
        stop=np.zeros(1, np.int64),
        shared=(),
        options=options,
    )


@kernel
def ask_kernel(game, search, state, low, high, weak):
    """Begin to look for the score, known to be between low and high, of a position that is not over; returns L.

    Beyond what a score can be, low and high are brought nearer.
    """
    counts = search.counts[0]
    left = np.int64(game.plies_left(state))
    copy_state(game, state, search.states[0])
    counts.ply, counts.nodes, counts.left, counts.weak, counts.move, counts.looks = DONE, 0, left, weak, -1, 0
    if search.options.foresee:
        plies, exact = foreseen(game, search, 0)
        if exact and plies != 0:  # no search is needed
            counts.low = counts.high = score_of(plies, 1 if weak else left + 1)  # without slack, the sign alone
            return left
    counts.low, counts.high = max(low, -left), min(high, left)
    for i in range(min(left + 1, len(search.nodes))):
        search.nodes[i].killer = -1
    if search.options.history:
        for i in range(len(search.history)):
            search.history[i] = 0
    return left


@kernel
def exact_kernel(game, rule, search, until):
    """Continue until low and high meet, or `until` positions have been visited in all."""
    counts = search.counts[0]
    ply = counts.ply
    while counts.low < counts.high and search.stop[0] == 0:
        ply, what = rule.next_step(game, search, ply, until)
        if what == PAUSE:
            break
        if what == AGAIN:
            continue
        if ply == DONE:
            enter(game, rule, search, 0, next_threshold(counts), (np.uint64(0), 0, -1))
            ply = 0
        node = search.nodes[ply]
        if node.tried == node.total or node.best >= node.threshold:
            if ply > 0:
                if search.options.table:
                    keep(game, search, ply)
                rule.left(search, ply)
                receive(game, search, ply - 1, same_side(game, search, ply - 1) * node.best)
            else:
                conclude(search)
                rule.answered(search)
            ply -= 1
        elif counts.nodes >= until:
            break
        else:
            ply = try_next_move(game, rule, search, ply)
    counts.ply = ply


@kernel
def exact_all_kernel(game, rule, search, states, first, most, until, found):
    """Settle the scores of positions in turn, from `first` on, until `until` nodes have been visited; the next one.

    found: int64[n, 4]: scores, plies left, nodes, and whether one has begun, as when the last call ended.  most: nodes
    for each; with more to do, its score is NOTHING.
    """
    counts, visited, i = search.counts[0], 0, first
    while i < len(states) and visited < until:
        if found[i, BEGUN] == 0:
            ask_kernel(game, search, states[i], -FARTHEST, FARTHEST, False)
            found[i, BEGUN] = 1
        before = counts.nodes
        exact_kernel(game, rule, search, min(most, before + until - visited))
        visited += counts.nodes - before
        if counts.low < counts.high and counts.nodes < most:
            break
        found[i, SCORE] = counts.low if counts.low == counts.high else NOTHING
        found[i, LEFT], found[i, NODES] = counts.left, counts.nodes
        i += 1
    return i


@inlined
def next_threshold(counts):
    """The sign, then the quick ends, then the middle of what is left."""
    low, high = counts.low, counts.high
    if counts.weak:
        return 1 if high > 0 else 0
    middle = low + (high - low) // 2
    if middle <= 0 and -(-low // 2) < middle:
        middle = -(-low // 2)
    elif middle >= 0 and high // 2 > middle:
        middle = high // 2
    return min(middle, high - 1) + 1


@inlined
def conclude(search):
    """The question about the root is answered."""
    counts, root = search.counts[0], search.nodes[0]
    if root.best >= root.threshold:
        counts.low = min(max(root.best, root.threshold), counts.high)
        counts.move = search.moves[0, root.tried - 1]
    else:
        counts.high = max(min(root.best, root.threshold - 1), counts.low)
    if counts.weak and (counts.low > 0 or counts.high < 0):
        counts.low = counts.high = 1 if counts.low > 0 else -1


@inlined
def try_next_move(game, rule, search, ply):
    """Play the next move of the node at `ply`; returns the ply of the node to go on with."""
    counts, node = search.counts[0], search.nodes[ply]
    state, child = search.states[ply], search.states[ply + 1]
    bring_best_forward(search.moves[ply], search.ranks[ply], node.tried, node.total)
    game.play_into(state, np.int64(search.moves[ply, node.tried]), child)
    node.tried += 1
    counts.nodes += 1
    if game.is_over(child):
        size = counts.left - ply
        receive(game, search, ply, np.int64(side_to_move(game, state) * result_of(game.score(child))) * size)
        return ply
    sign = same_side(game, search, ply)
    threshold = node.threshold if sign > 0 else 1 - node.threshold
    known, value = at_a_glance(game, search, ply + 1, threshold)
    if not known:
        key, symmetry = table_key(game, search, child)
        table_move = np.int64(-1)
        if search.options.table:
            known, value, table_move = look_up(search, ply + 1, key, threshold)
        if not known:
            if rule.is_put_off(search, ply, key):
                return ply
            enter(game, rule, search, ply + 1, threshold, (key, symmetry, table_move))
            return ply + 1
    receive(game, search, ply, sign * value)
    return ply


@inlined
def foreseen(game, search, ply):
    """What the game foresees; a helper, so that all kernels of a search share its code."""
    return game.foreseen(search.states[ply])


@inlined
def score_of(plies, slack):
    """The score of a win in `plies`, a loss in -plies, or a draw, 0; at most slack - 1 plies are left."""
    return np.int64(max(1, slack - plies) if plies > 0 else (min(-1, -slack - plies) if plies < 0 else 0))


@inlined
def at_a_glance(game, search, ply, threshold):
    """(whether it answers the question, a bound): what is known of a node without its moves."""
    options, state, slack = search.options, search.states[ply], search.counts[0].left + 1 - ply
    win, loss = 1, 1
    if options.foresee:
        plies, exact = foreseen(game, search, ply)
        if plies != 0:
            value = score_of(plies, slack)
            if exact or (value >= threshold if plies > 0 else value < threshold):
                return True, value
        win, loss = game.soonest_win, game.soonest_loss
    left = np.int64(game.plies_left(state))
    most = slack - win if win <= left else 0
    least = loss - slack if loss <= left else 0
    if most < threshold:
        return True, np.int64(most)
    return least >= threshold, np.int64(least)


@inlined
def enter(game, rule, search, ply, threshold, found):
    """List and rank the moves of a node; found: the table's key, the symmetry that leads there, its move."""
    options, node, state, moves = search.options, search.nodes[ply], search.states[ply], search.moves[ply]
    total = game.sound_moves(state, moves) if options.sound else game.legal_moves(state, moves)
    node.key, node.symmetry, table_move = found
    node.total, node.tried, node.threshold, node.best = total, 0, threshold, NOTHING
    node.entered, node.split = search.counts[0].nodes, UNSPLIT
    if total == 1:
        search.ranks[ply, 0] = 0
        return
    if options.own_order:
        game.move_orders(state, moves, total, search.ranks[ply])
    for i in range(total):
        move, rank = np.int64(moves[i]), 0
        if options.own_order:
            rank += search.ranks[ply, i] << OWN_SHIFT
        if options.killers and move == node.killer:
            rank += KILLER_RANK
        if options.history:
            rank += min(search.history[game.move_code(state, move)], MOST_HISTORY)
        if options.table_first and move_image(game, move, node.symmetry) == table_move:
            rank += TABLE_RANK
        search.ranks[ply, i] = rank + rule.own_rank(search, node.key, move)
    if game.quick_keys and options.table:
        fetch_children(game, search, ply)


@inlined
def fetch_children(game, search, ply):
    """Start to load what the table has of the positions that the moves of a node lead to."""
    state, child, total = search.states[ply], search.states[ply + 1], search.nodes[ply].total
    if len(search.words) < FAR_ROWS or (search.options.symmetries and total > FEW_KEYS):
        return
    for i in range(total):
        game.play_into(state, np.int64(search.moves[ply, i]), child)
        key, _ = table_key(game, search, child)
        prefetch(search.words, 2 * row_of(search.words, key))


@inlined
def receive(game, search, ply, value):
    """The move tried last is worth `value`, a bound, to its player."""
    node = search.nodes[ply]
    if value > node.best:
        node.best = value
        if value >= node.threshold:
            move = np.int64(search.moves[ply, node.tried - 1])
            node.killer = move
            if search.options.history:
                search.history[game.move_code(search.states[ply], move)] += node.total - node.tried + 1


@inlined
def row_of(words, key):
    """The first of a key's two rows."""
    return 2 * share_of(key, len(words) // 2)


@inlined
def look_up(search, ply, key, threshold):
    """(whether the table answers the question at `ply`, its bound, its best move or -1)."""
    words = search.words
    row = row_of(words, key)
    for i in range(row, row + 2):
        data = words[i, DATA]
        if data != 0 and words[i, KEY] == np.int64(key) ^ data:
            plies = (data >> VALUE_SHIFT & 0xFFFF) - VALUE_OFFSET
            value = score_of(plies, search.counts[0].left + 1 - ply)
            answers = value >= threshold if data & 2 else value < threshold
            return answers, value, (data >> MOVE_SHIFT & MOVE_MASK) - 1
    return False, np.int64(0), np.int64(-1)


@inlined
def keep(game, search, ply):
    """Store a node's result, as plies from there."""
    node, words, counts = search.nodes[ply], search.words, search.counts[0]
    value, slack, reached = node.best, counts.left + 1 - ply, node.best >= node.threshold
    plies = slack - value if value > 0 else (-slack - value if value < 0 else 0)
    move = move_image(game, np.int64(search.moves[ply, node.tried - 1]), node.symmetry) if reached else -1
    work = min(counts.nodes - node.entered, MOST_WORK)
    data = 1 | (2 if reached else 0) | (plies + VALUE_OFFSET) << VALUE_SHIFT
    data |= (np.int64(move) + 1) << MOVE_SHIFT | work << WORK_SHIFT
    row, check = row_of(words, node.key), np.int64(node.key)
    if words[row, KEY] != check ^ words[row, DATA]:
        if work >= words[row, DATA] >> WORK_SHIFT:
            counts.taken += words[row, DATA] == 0 or words[row + 1, DATA] == 0
            words[row + 1, KEY], words[row + 1, DATA] = words[row, KEY], words[row, DATA]
        else:
            row += 1
            counts.taken += words[row, DATA] == 0
    words[row, KEY], words[row, DATA] = check ^ data, data
