"""Descent: best-first minimax that goes down to the end of the game, with an evaluation that learns from its trees
(Cohen-Solal, "Learning to play two-player perfect-information games without knowledge", 2020).

A descent follows the best moves from the root to the end of the game, and expands each new position on the way; then
values are backed up.  After a number of descents the best move is made or, to explore, a random one; and every position
of the tree with moves is learned, towards its value there.

The tree is that of agents/minimax/ubfm.py, with completion, new for each move.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from arena.agents.core.sides import result_of
from arena.agents.core.tree_arrays import shuffled_moves
from arena.agents.learning.learner import Kernel, SelfPlaying
from arena.agents.learning.trainer import GAMES, Trainer, learn, note_game
from arena.agents.minimax.ubfm import (
    EDGES,
    NONE,
    ROOT,
    SIZE,
    Graph,
    UBFMOptions,
    add_position,
    back_up,
    edge_to_descend,
    expand,
    new_graph,
    update,
)
from arena.games.core.evaluations.network import Network
from arena.games.core.game import Game
from arena.games.core.jit import helper, kernel
from arena.games.core.play.playout import copy_state
from arena.games.core.random import random_below, random_unit


@dataclass(frozen=True)
class Descent(SelfPlaying):
    """Learning by descents.

    descents: how many precede each move
    """

    name: ClassVar[str] = "descent"

    descents: int = 10

    ranges: ClassVar[dict] = {"descents": (1, 10_000)}

    def kernel(self, game: Game, network: Network, trainer: Trainer) -> Kernel:
        tree, trees = UBFMOptions(completion=True, to_root=True), new_trees(game, self.descents)
        descending = Descending(self.descents, self.explore, self.opening, self.step, tree)
        return partial(descent_kernel, game.with_network(network), trainer, game.initial(), trees, descending)


class Descending(NamedTuple):
    """How games are played and learned from."""

    descents: int  # for each move
    explore: float  # the share of random moves
    opening: int  # the most random moves at the start
    step: float
    tree: UBFMOptions


class Trees(NamedTuple):
    """The tree of one move, and a walk through it: row p is p plies below the root."""

    graph: Graph
    states: np.ndarray  # dtype[max_plies + 1, state_size]
    moves: np.ndarray  # int32[max_moves]
    path: np.ndarray  # int32[max_plies + 1], positions
    edges: np.ndarray  # int32[max_plies + 1], the move to try next
    seen: np.ndarray  # bool[positions], where the walk has been


def new_trees(game: Game, descents: int) -> Trees:
    """Room for that many descents, or for a tree of 2^20 positions."""
    capacity = min(descents * (game.max_plies + 1) * game.max_moves + 2, 1 << 20)
    length = game.max_plies + 2
    return Trees(
        new_graph(capacity),
        np.zeros((length, game.state_size), game.dtype),
        np.zeros(game.max_moves, np.int32),
        np.zeros(length, np.int32),
        np.zeros(length, np.int32),
        np.zeros(capacity, np.bool_),
    )


@kernel(tables=False)  # for a network's planes
def descent_kernel(game, trainer, root, trees, options, until):
    """Play and learn from games until `until` have been played in all."""
    state, rng = root.copy(), trainer.rng
    while trainer.counts[GAMES] < until:
        copy_state(game, root, state)
        for _ in range(random_below(rng, options.opening + 1)):
            if not game.is_over(state):
                game.play(state, game.random_move(state, trees.moves, rng))
        while not game.is_over(state):
            search(game, trees, state, options, rng)
            learn_from_tree(game, trainer, trees, state, options)
            if random_unit(rng) < options.explore:
                move = np.int64(game.random_move(state, trees.moves, rng))
            else:
                move = best_move(trees.graph)
            game.play(state, move)
        note_game(trainer, result_of(game.score(state)))


@helper
def search(game, trees, root, options, rng):
    """Build a tree by descents, until the root is resolved or there is no room for another."""
    graph = trees.graph
    graph.counts[:] = 0
    graph.slots[:] = 0
    copy_state(game, root, trees.states[0])
    add_position(game, graph, trees.states[0])
    for _ in range(options.descents):
        need = game.max_moves * (game.max_plies + 1)
        if (
            graph.resolved[ROOT]
            or min(len(graph.values) - graph.counts[SIZE], len(graph.moves) - graph.counts[EDGES]) < need
        ):
            break
        descend_to_end(game, trees, root, options, rng)


@helper
def descend_to_end(game, trees, root, options, rng):
    """One descent, and the backing up of its values."""
    graph, state, child = trees.graph, trees.states[0], trees.states[1]
    copy_state(game, root, state)
    node, length = np.int64(ROOT), 1
    trees.path[0] = ROOT
    while not graph.resolved[node]:
        if graph.total[node] == 0:
            count = shuffled_moves(game, state, trees.moves, rng)
            expand(game, graph, node, state, child, trees.moves, count)
        edge = edge_to_descend(graph, node, options.tree)
        if edge == NONE:
            break
        graph.descents[edge] += 1
        game.play(state, graph.moves[edge])
        node = np.int64(graph.targets[edge])
        trees.path[length] = node
        length += 1
    if graph.total[node] == 0:
        length -= 1  # an end of the game has its value
    back_up(graph, trees.path, length, options.tree)


@helper
def best_move(graph):
    """The root's move of the best certain result and value, then of the most descents."""
    side, best, best_edge = np.int64(graph.sides[ROOT]), -np.inf, graph.first[ROOT]
    for edge in range(graph.first[ROOT], graph.first[ROOT] + graph.total[ROOT]):
        target = graph.targets[edge]
        value = 2.0 * side * graph.results[target] + side * graph.values[target] + 1e-9 * graph.descents[edge]
        if value > best:
            best, best_edge = value, edge
    return np.int64(graph.moves[best_edge])


@helper
def learn_from_tree(game, trainer, trees, root, options):
    """Learn at every position with moves, after those below, whose values are backed up again."""
    graph, states, ply = trees.graph, trees.states, 0
    for node in range(graph.counts[SIZE]):
        trees.seen[node] = graph.total[node] == 0
    copy_state(game, root, states[0])
    trees.path[0], trees.edges[0], trees.seen[ROOT] = ROOT, graph.first[ROOT], True
    while ply >= 0:
        node, edge = trees.path[ply], trees.edges[ply]
        if edge == graph.first[node] + graph.total[node]:
            update(graph, node, options.tree)
            learn(game, trainer, states[ply], graph.values[node], options.step)
            ply -= 1
            continue
        trees.edges[ply] += 1
        target = graph.targets[edge]
        if not trees.seen[target]:
            trees.seen[target] = True
            copy_state(game, states[ply], states[ply + 1])
            ply += 1
            game.play(states[ply], graph.moves[edge])
            trees.path[ply], trees.edges[ply] = target, graph.first[target]
