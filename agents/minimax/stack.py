"""What a depth-first search keeps: the line being searched, as a stack of arrays, and what it has been told to do."""

from typing import NamedTuple

import numpy as np

WIN = 10_000.0
INFINITE = 1e9
PLY, NODES, LEAVES, GUESSES, CUTOFFS, TABLE_CUTS = range(6)  # of Stack.counts
ALPHA, BETA, BEST, FLOOR = range(4)  # of a row of Stack.window
TOTAL, TRIED, DRAFT, ENTERED, GUESSED, SYMMETRY, AGAIN, KIND = range(8)  # of a row of Stack.node
OPEN, FROM_TABLE, TOO_LATE, END, GUESS = range(5)  # kinds of nodes


class Options(NamedTuple):
    """What a search does, as runtime flags: one compilation serves them all."""

    pruning: bool  # alpha-beta; without, minimax
    shortest: bool  # the quickest win, rather than any
    scores: bool  # ends are worth their scores, rather than a win, a draw or a loss
    table: bool  # use the transposition table
    symmetries: bool  # positions that symmetries take into each other are one
    scout: bool  # principal variation search
    quiescence: bool  # go on at the greatest depth with unstable moves
    sound: bool  # leave out the moves that the game knows to be no better than another
    table_first: bool  # order: the table's move first
    own_order: bool  # order: by the game's own move_order
    killers: bool  # order: the last two moves that cut off at the same ply
    history: bool  # order: by what a move has cut off elsewhere


class Stack(NamedTuple):
    """The line being searched; row p is the node p plies below the root.  limit is the greatest depth, plus one."""

    states: np.ndarray  # dtype[limit, state_size]
    moves: np.ndarray  # int32[limit, max_moves]
    ranks: np.ndarray  # int64[limit, max_moves], the greatest is tried first
    node: np.ndarray  # int64[limit, 8] = legal moves, moves begun, depth left, nodes and guesses when entered,
    #                      symmetry of its key, whether the last move is searched again, kind
    window: np.ndarray  # float64[limit, 4] = alpha, beta, best value so far, alpha at first
    keys: np.ndarray  # uint64[limit], of the table
    line: np.ndarray  # int32[limit, limit], the best line from here: its moves from the second index p on
    length: np.ndarray  # int32[limit], where that line ends
    killers: np.ndarray  # int32[limit, 2]
    history: np.ndarray  # int64[2, move_limit], or [2, 1] without
    rooms: np.ndarray  # dtype[2, state_size], room to work in
    counts: np.ndarray  # int64[6] = ply of the current node (-1 when done), nodes, leaves, leaves that were evaluated
    #                      or came so from the table, cut-offs by a move, cut-offs by the table


def new_stack(game, limit: int, history: bool = False) -> Stack:
    """Room for searches to a depth under `limit`."""
    return Stack(
        np.zeros((limit, game.state_size), game.dtype),
        np.zeros((limit, game.max_moves), np.int32),
        np.zeros((limit, game.max_moves), np.int64),
        np.zeros((limit, 8), np.int64),
        np.zeros((limit, 4)),
        np.zeros(limit, np.uint64),
        np.zeros((limit, limit), np.int32),
        np.zeros(limit, np.int32),
        np.full((limit, 2), -1, np.int32),
        np.zeros((2, game.move_limit if history else 1), np.int64),
        np.zeros((2, game.state_size), game.dtype),
        np.zeros(6, np.int64),
    )


def restart(stack: Stack, depth: int, alpha: float = -INFINITE, beta: float = INFINITE) -> None:
    """Begin a search of the root, whose state and moves are there, to `depth`."""
    total = stack.node[0, TOTAL]
    stack.node[0] = 0
    stack.node[0, TOTAL], stack.node[0, DRAFT] = total, depth
    stack.length[0] = 0
    stack.window[0] = alpha, beta, -INFINITE, alpha
    stack.counts[PLY] = stack.counts[GUESSES] = 0
