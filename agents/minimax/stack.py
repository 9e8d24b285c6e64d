"""What a depth-first search works with: the line being searched, a stack of nodes, and its options."""

from typing import NamedTuple

import numpy as np

from arena.agents.core.transposition_table import Table
from arena.agents.minimax.ordering import NO_POLICY, Policy
from arena.games.core.jit import COMPILED

WIN = 10_000.0
INFINITE = 1e9
LEAST_TABLE = 2**-14  # MiB, of a search without a table
DONE = -1  # the ply, when the search is over
OPEN, FROM_TABLE, TOO_LATE, END, EVALUATED, FORESEEN = range(6)  # kinds of nodes

# 128 bytes
NODE = np.dtype(
    [
        ("total", np.int64),  # legal moves
        ("tried", np.int64),  # moves begun
        ("draft", np.int64),  # depth left
        ("kind", np.int64),
        ("alpha", np.float64),
        ("beta", np.float64),
        ("best", np.float64),  # so far
        ("floor", np.float64),  # alpha at first
        ("key", np.uint64),
        ("symmetry", np.int64),  # that leads to the key's position
        ("entered", np.int64),  # nodes visited before
        ("evaluated", np.int64),  # leaves evaluated before
        ("again", np.int64),  # 1 while the move tried last is searched again
        ("length", np.int64),  # where the best line from here ends
        ("killer", np.int64),  # the last move that cut off at this ply, or -1
        ("older_killer", np.int64),  # the one before, or -1
    ]
)

COUNTS = np.dtype(
    [
        ("ply", np.int64),  # of the current node, or DONE
        ("nodes", np.int64),
        ("leaves", np.int64),
        ("evaluated", np.int64),  # leaves with an evaluation, made or from the table
        ("cutoffs", np.int64),  # by a move
        ("table_cutoffs", np.int64),
    ]
)


class DepthFirstOptions(NamedTuple):
    """Runtime flags of a search: one compilation serves all."""

    pruning: bool  # alpha-beta; without, minimax
    shortest: bool  # the quickest win, not any
    scores: bool  # ends are worth their scores
    table: bool
    symmetries: bool  # symmetric positions are one
    scout: bool  # principal variation search
    quiescence: bool  # go on at the greatest depth with unstable moves
    foresee: bool  # take what the game foresees
    sound: bool  # leave out moves that the game knows to be no better
    table_first: bool  # order: the table's move first
    own_order: bool  # order: by the game's own move_order
    killers: bool  # order: the last two moves that cut off at the same ply
    history: bool  # order: by what a move has cut off elsewhere
    by_policy: bool  # order: by a learned policy, near the root

    @property
    def merges(self) -> bool:
        """Whether each node merges symmetric moves, for lack of a table."""
        return self.symmetries and not self.table


class DepthFirstSearch(NamedTuple):
    """Row p is the node p plies below the root; limit is the greatest depth, plus one."""

    nodes: np.ndarray  # NODE[limit]
    states: np.ndarray  # dtype[limit, state_size]
    moves: np.ndarray  # int32[limit, max_moves]
    ranks: np.ndarray  # int64[limit, max_moves], the greatest is tried first
    line: np.ndarray  # int32[limit, limit], the best line from here: its moves from the second index p on
    history: np.ndarray  # int64[2, move_limit], by player and move; [2, 1] if not used
    scratch: np.ndarray  # dtype[2, state_size]
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
    """The arrays of a line of `limit` nodes."""
    return dict(
        nodes=records(limit, node),
        states=np.zeros((limit, game.state_size), game.dtype),
        moves=np.zeros((limit, game.max_moves), np.int32),
        ranks=np.zeros((limit, game.max_moves), np.int64),
    )


def records(count: int, dtype: np.dtype) -> np.ndarray:
    """Zeroed records, whose fields kernels read as attributes, and Python code by name: `nodes[0]["best"]`.

    A recarray gives them the attributes only where kernels run as plain Python: elsewhere it would cost 20 us for each
    call of a kernel, because Numba finds only the type of a plain array quickly.
    """
    zeros = np.zeros(count, dtype)
    return zeros if COMPILED else zeros.view(np.recarray)


def restart(search: DepthFirstSearch, depth: int, alpha: float = -INFINITE, beta: float = INFINITE) -> None:
    """Begin to search the root, whose state and moves are there."""
    root, counts = search.nodes[0], search.counts[0]
    for field in ("tried", "kind", "symmetry", "entered", "evaluated", "again", "length"):
        root[field] = 0
    root["draft"], root["beta"], root["best"] = depth, beta, -INFINITE
    root["alpha"] = root["floor"] = alpha
    counts["ply"] = counts["evaluated"] = 0


def best_line(search: DepthFirstSearch) -> tuple[int, ...]:
    """The best line from the root."""
    return tuple(search.line[0, : search.nodes[0]["length"]].tolist())
