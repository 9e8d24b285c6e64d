"""Alpha-beta: depth-first minimax that skips what cannot change the result (Knuth & Moore, "An analysis of alpha-beta
pruning", 1975), with an evaluation function where the depth ends.

A value is for the player to move.  A node has a window (alpha, beta): it ends when no move is left, or when a move is
worth beta or more, since the player before would not come here.  A win in p plies is worth WIN - p, a loss p - WIN, so
that the quickest win and the longest resistance are best; an evaluation lies between -1 and 1.

The line being searched is a stack of arrays, not a recursion, so that the search can stop after any number of nodes
and go on.  For games of two players and no chance.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.core.agent import Agent, Decision, Player
from agents.core.chunks import run_chunks
from games.core.jit import helper, kernel
from games.core.playout import copy_state, reward_of
from games.core.random import random_below

WIN = 10_000.0
INFINITE = 1e9
PLY, NODES, LEAVES, GUESSES = range(4)  # of Stack.counts
ALPHA, BETA, BEST = range(3)  # of a row of Stack.window


@dataclass(frozen=True)
class AlphaBeta(Agent):
    """Searches to `depth`; with a budget of nodes or seconds, to depth 1, 2, 3 and so on until it is spent.

    Moves of equal value are chosen from at random.

    evaluation: the name of one of the game's evaluation functions, or "" for its default
    shortest: prefer the quickest win and the longest resistance, rather than any; it costs some cut-offs
    """

    depth: int | None = None
    nodes: int | None = None
    seconds: float | None = None
    shortest: bool = True
    evaluation: str = ""

    name = "alphabeta"
    budgets = ("depth", "nodes", "seconds")

    def refuses(self, game):
        if reason := super().refuses(game):
            return reason
        if game.has_chance:
            return f"alphabeta plays games without chance, and {game} has some"
        if self.evaluation and self.evaluation not in game.evaluations():
            known = ", ".join(game.evaluations()) or "only its default"
            return f"evaluation = {self.evaluation!r} is not one of {game.name}; known: {known}"
        return None

    def new_player(self, game, budget):
        return AlphaBetaPlayer(self, game.with_evaluation(self.evaluation) if self.evaluation else game, budget)


class Stack(NamedTuple):
    """The line being searched; row p is the node p plies below the root.  limit is the greatest depth, plus one."""

    states: np.ndarray   # dtype[limit, state_size]
    moves: np.ndarray    # int32[limit, max_moves]
    total: np.ndarray    # int32[limit], legal moves
    tried: np.ndarray    # int32[limit], moves begun
    window: np.ndarray   # float64[limit, 3] = alpha, beta, best value so far, for the player to move
    line: np.ndarray     # int32[limit, limit], the best line from here: its moves from the second index p on
    length: np.ndarray   # int32[limit], where that line ends
    counts: np.ndarray   # int64[4] = ply of the current node (-1 when done), nodes, leaves, leaves that were evaluated


def new_stack(game, limit: int) -> Stack:
    """Room for searches to a depth under `limit`."""
    return Stack(
        np.zeros((limit, game.state_size), game.dtype),
        np.zeros((limit, game.max_moves), np.int32),
        np.zeros(limit, np.int32),
        np.zeros(limit, np.int32),
        np.zeros((limit, 3)),
        np.zeros((limit, limit), np.int32),
        np.zeros(limit, np.int32),
        np.zeros(4, np.int64),
    )


class AlphaBetaPlayer(Player):
    """Keeps the room for its stack from move to move, and nothing else."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.deepest = min(budget.depth or game.max_plies, game.max_plies)
        self.stack = new_stack(game, self.deepest + 1)

    def decide(self, state, rng):
        budget = self.budget
        put_root(self.game, self.stack, state, rng)
        deepening = budget.nodes is not None or budget.seconds is not None
        search = Deepening(self.game, self.stack, self.agent.shortest, 1 if deepening else self.deepest, self.deepest)
        run_chunks(search.run, budget.nodes, budget.seconds)
        value, line = search.result()
        return Decision(
            move=line[0],
            value=max(-1.0, min(1.0, value)),
            nodes=int(self.stack.counts[NODES]),
            depth=search.completed,
            principal_variation=line,
        )


class Deepening:
    """Searches one after the other, each a ply deeper than the last, in steps of some nodes at a time."""

    def __init__(self, game, stack, shortest, depth, deepest):
        self.game, self.stack, self.shortest, self.depth, self.deepest = game, stack, shortest, depth, deepest
        self.completed = 0
        self.finished = False
        self.best = 0.0, (int(stack.moves[0, 0]),)  # should the budget end before any move is searched
        restart(stack)

    def run(self, nodes: int) -> int:
        """Visit up to `nodes` more positions; returns how many: 0 only when going deeper is of no use."""
        if self.finished:
            return 0
        before = self.stack.counts[NODES]
        search_kernel(self.game, self.stack, self.shortest, self.depth, before + nodes)
        if self.stack.counts[PLY] < 0:
            self.end_depth()
        return int(self.stack.counts[NODES] - before)

    def end_depth(self):
        """Keep what this depth has found; begin the next one with the best move first, unless the value is exact."""
        self.best = self.result()
        self.completed = self.depth
        self.finished = self.depth == self.deepest or abs(self.best[0]) > 1.0 or self.stack.counts[GUESSES] == 0
        if not self.finished:
            self.depth += 1
            put_first(self.stack, self.best[1][0])
            restart(self.stack)

    def result(self):
        """(value, line) of the best move found at the depth being searched, or before any is, at the one before.

        A depth that is not completed can be relied on, since it begins with the best move of the one before.
        """
        value = float(self.stack.window[0, BEST])
        if value == -INFINITE:
            return self.best
        return value, tuple(int(move) for move in self.stack.line[0, : self.stack.length[0]])


def put_root(game, stack, state, rng) -> None:
    """Make `state` the root, with its moves in random order, and count from 0."""
    moves = game.moves(state)
    for i in range(len(moves) - 1, 0, -1):
        j = int(random_below(rng, i + 1))
        moves[i], moves[j] = moves[j], moves[i]
    stack.states[0] = state
    stack.moves[0, : len(moves)] = moves
    stack.total[0] = len(moves)
    stack.counts[:] = 0


def put_first(stack, move) -> None:
    """Make a move of the root the first to be searched; the others keep their order."""
    moves = stack.moves[0, : stack.total[0]]
    moves[:] = [move, *moves[moves != move]]


def restart(stack) -> None:
    """Begin a search at the root, with an open window."""
    stack.tried[0] = stack.length[0] = 0
    stack.window[0] = -INFINITE, INFINITE, -INFINITE
    stack.counts[PLY] = stack.counts[GUESSES] = 0


@kernel
def search_kernel(game, stack, shortest, depth, until):
    """Go on with the search to `depth` until it is done, or `until` positions have been visited in all."""
    counts, ply = stack.counts, stack.counts[PLY]
    while ply >= 0:
        if stack.tried[ply] == stack.total[ply] or stack.window[ply, BEST] >= stack.window[ply, BETA]:
            ply -= 1
            if ply >= 0:
                take_value(game, stack, ply, stack.window[ply + 1, BEST] * same_side(game, stack, ply))
        elif counts[NODES] == until:
            break
        else:
            ply = try_next_move(game, stack, shortest, ply, depth)
    counts[PLY] = ply


@helper
def same_side(game, stack, ply):
    """1 if the player to move after a ply is the player to move before, else -1: a value's sign from one to the other."""
    return 1.0 if game.player(stack.states[ply]) == game.player(stack.states[ply + 1]) else -1.0


@helper
def try_next_move(game, stack, shortest, ply, depth):
    """Play the next move of the node at `ply`; returns the ply of the node to go on with."""
    state, child = stack.states[ply], stack.states[ply + 1]
    copy_state(game, state, child)
    game.play(child, stack.moves[ply, stack.tried[ply]])
    stack.tried[ply] += 1
    stack.counts[NODES] += 1
    stack.length[ply + 1] = ply + 1
    side = 1.0 if game.player(state) == 0 else -1.0
    if game.is_over(child):
        stack.counts[LEAVES] += 1
        result = 2.0 * reward_of(game.score(child)) - 1.0
        take_value(game, stack, ply, side * result * (WIN - (ply + 1 if shortest else 0)))
    elif ply + 1 == depth:
        stack.counts[LEAVES] += 1
        stack.counts[GUESSES] += 1
        take_value(game, stack, ply, side * game.evaluate(child))
    else:
        open_node(game, stack, ply + 1)
        return ply + 1
    return ply


@helper
def open_node(game, stack, ply):
    """List the moves of the node at `ply` and give it its parent's window, from its own player's view."""
    stack.total[ply] = game.legal_moves(stack.states[ply], stack.moves[ply])
    stack.tried[ply] = 0
    alpha, beta = stack.window[ply - 1, ALPHA], stack.window[ply - 1, BETA]
    if same_side(game, stack, ply - 1) < 0:
        alpha, beta = -beta, -alpha
    stack.window[ply, ALPHA], stack.window[ply, BETA], stack.window[ply, BEST] = alpha, beta, -INFINITE


@helper
def take_value(game, stack, ply, value):
    """The move tried last at `ply` is worth `value` to its player: keep it, and the line it begins, if it is better."""
    if value <= stack.window[ply, BEST]:
        return
    stack.window[ply, BEST] = value
    stack.window[ply, ALPHA] = max(value, stack.window[ply, ALPHA])
    stack.line[ply, ply] = stack.moves[ply, stack.tried[ply] - 1]
    for i in range(ply + 1, stack.length[ply + 1]):
        stack.line[ply, i] = stack.line[ply + 1, i]
    stack.length[ply] = stack.length[ply + 1]
