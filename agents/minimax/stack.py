"""What a depth-first search works with: the line being searched, as a stack of nodes, and its options."""

from typing import NamedTuple

import numpy as np

from arena.agents.core.table import Table
from arena.agents.minimax.ordering import NO_POLICY, Policy
from arena.games.core.jit import COMPILED

WIN = 10_000.0
INFINITE = 1e9
LEAST_TABLE = 2**-14  # MiB: the room of a search that uses no table
DONE = -1  # the ply of a search that is over
OPEN, FROM_TABLE, TOO_LATE, END, EVALUATED, FORESEEN = range(6)  # kinds of nodes

# A node of the line, 128 bytes.
NODE = np.dtype(
    [
        ("total", np.int64),  # legal moves
        ("tried", np.int64),  # moves begun
        ("draft", np.int64),  # depth left
        ("kind", np.int64),
        ("alpha", np.float64),
        ("beta", np.float64),
        ("best", np.float64),  # the best value so far
        ("floor", np.float64),  # alpha at first
        ("key", np.uint64),  # of the table
        ("symmetry", np.int64),  # that leads to the position of that key
        ("entered", np.int64),  # nodes visited when it was entered
        ("evaluated", np.int64),  # leaves evaluated when it was entered
        ("again", np.int64),  # 1 while the move tried last is searched a second time, else 0
        ("length", np.int64),  # where the best line from here ends
        ("killer", np.int64),  # the last move that cut off at this ply, or -1
        ("older_killer", np.int64),  # the last one before that, or -1
    ]
)

COUNTS = np.dtype(
    [
        ("ply", np.int64),  # of the current node, or DONE
        ("nodes", np.int64),
        ("leaves", np.int64),
        ("evaluated", np.int64),  # leaves that were evaluated, or whose value came so from the table
        ("cutoffs", np.int64),  # by a move
        ("table_cutoffs", np.int64),
    ]
)


class DepthFirstOptions(NamedTuple):
    """What a search does, as runtime flags: one compilation serves them all."""

    pruning: bool  # alpha-beta; without, minimax
    shortest: bool  # the quickest win, rather than any
    scores: bool  # ends are worth their scores, rather than a win, a draw or a loss
    table: bool  # use the transposition table
    symmetries: bool  # positions that symmetries take into each other are one
    scout: bool  # principal variation search
    quiescence: bool  # go on at the greatest depth with unstable moves
    foresee: bool  # take what the game foresees for certain
    sound: bool  # leave out the moves that the game knows to be no better than another
    table_first: bool  # order: the table's move first
    own_order: bool  # order: by the game's own move_order
    killers: bool  # order: the last two moves that cut off at the same ply
    history: bool  # order: by what a move has cut off elsewhere
    by_policy: bool  # order: by a learned policy, near the root

    @property
    def merges(self) -> bool:
        """Whether each node merges moves to symmetric positions, because there is no table to do so."""
        return self.symmetries and not self.table


class DepthFirstSearch(NamedTuple):
    """A search: row p is the node p plies below the root, and limit the greatest depth, plus one."""

    nodes: np.ndarray  # NODE[limit]
    states: np.ndarray  # dtype[limit, state_size]
    moves: np.ndarray  # int32[limit, max_moves]
    ranks: np.ndarray  # int64[limit, max_moves], the greatest is tried first
    line: np.ndarray  # int32[limit, limit], the best line from here: its moves from the second index p on
    history: np.ndarray  # int64[2, move_limit], by player and move; [2, 1] where it is not used
    scratch: np.ndarray  # dtype[2, state_size], states to work with
    counts: np.ndarray  # COUNTS[1]
    table: Table
    options: DepthFirstOptions
    policy: Policy


def new_search(
    game, limit: int, table: Table, options: DepthFirstOptions, policy: Policy = NO_POLICY
) -> DepthFirstSearch:
    """A search to depths below `limit`."""
    return DepthFirstSearch(
        **new_stack(game, limit, NODE),
        line=np.zeros((limit, limit), np.int32),
        history=np.zeros((2, game.move_limit if options.history else 1), np.int64),
        scratch=np.zeros((2, game.state_size), game.dtype),
        counts=records(1, COUNTS),
        table=table,
        options=options,
        policy=policy,
    )


def new_stack(game, limit: int, node: np.dtype) -> dict[str, np.ndarray]:
    """The arrays of a line of `limit` nodes, which every depth-first search has."""
    return dict(
        nodes=records(limit, node),
        states=np.zeros((limit, game.state_size), game.dtype),
        moves=np.zeros((limit, game.max_moves), np.int32),
        ranks=np.zeros((limit, game.max_moves), np.int64),
    )


def records(count: int, dtype: np.dtype) -> np.ndarray:
    """Zeroed records, whose fields kernels read as attributes, and Python code by name: `nodes[0]["best"]`.

    Where kernels run as plain Python, a recarray gives them the attributes.  Elsewhere it would cost 20 us for each
    call of a kernel, because Numba looks up the type of an array quickly only if it is a plain one.
    """
    zeros = np.zeros(count, dtype)
    return zeros if COMPILED else zeros.view(np.recarray)


def restart(search: DepthFirstSearch, depth: int, alpha: float = -INFINITE, beta: float = INFINITE) -> None:
    """Begin to search the root, whose state and moves are there, to `depth`."""
    root, counts = search.nodes[0], search.counts[0]
    for field in ("tried", "kind", "symmetry", "entered", "evaluated", "again", "length"):
        root[field] = 0
    root["draft"], root["beta"], root["best"] = depth, beta, -INFINITE
    root["alpha"] = root["floor"] = alpha
    counts["ply"] = counts["evaluated"] = 0


def best_line(search: DepthFirstSearch) -> tuple[int, ...]:
    """The best line from the root."""
    return tuple(search.line[0, : search.nodes[0]["length"]].tolist())
