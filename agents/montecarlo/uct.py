"""UCT: Monte-Carlo tree search with the UCB1 rule (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006).

A simulation selects, expands, plays out and backs up:

    select    from the root, to the child of the largest  value + K sqrt(ln N / n),  unvisited children first,
              until a leaf; N and n are the visits of the node and of the child, value the child's mean reward for
              the player who moves at the node
    expand    a leaf that has been visited before gets all its children, in random order
    play out  random moves to the end of the game; win 1, draw 1/2, loss 0
    back up   the reward and a visit to every node on the way

Where chance moves, the child is drawn by its probability.  The move with the most visits is played.  For games of two
players.
"""

from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from agents.core.agent import Agent, Decision, MoveStatistics, Player
from agents.core.chunks import run_chunks
from agents.core.tree import (
    LEAF,
    ROOT,
    add_children,
    child_by_move,
    clear,
    copy_subtree,
    most_visited_child,
    new_tree,
    principal_variation,
)
from games.core.game import CHANCE, check_range
from games.core.jit import helper, kernel
from games.core.playout import copy_state, reward_of
from games.core.random import random_below


@dataclass(frozen=True)
class UCT(Agent):
    """Monte-Carlo tree search with UCB1.

    exploration: the constant K of the bound, for rewards from 0 to 1
    keep_tree: search on in the part of the tree that the moves played lead to, rather than anew
    max_nodes: when the tree has this many, leaves are played out but no longer expanded (28 bytes a node)
    """

    exploration: float = 0.4
    playouts: int | None = None
    seconds: float | None = None
    keep_tree: bool = False
    max_nodes: int = 1 << 24

    name = "uct"
    budgets = ("playouts", "seconds")

    def __post_init__(self):
        super().__post_init__()
        if self.exploration < 0:
            raise ValueError(f"exploration = {self.exploration} is out of range: it can be 0 or more")
        check_range("max_nodes", self.max_nodes, 1000, 2**31 - 1)

    def new_player(self, game, budget):
        return UCTPlayer(self, game, budget)


class UCTPlayer(Player):
    """One game's tree; between moves it is kept or cleared, as the agent says."""

    def __init__(self, agent, game, budget):
        self.agent, self.game, self.budget = agent, game, budget
        self.tree = new_tree(agent.max_nodes)

    def decide(self, state, rng):
        if not self.agent.keep_tree:
            clear(self.tree)
        playouts = run_chunks(
            lambda n: search_kernel(self.game, self.tree, state, n, self.agent.exploration, rng),
            self.budget.playouts,
            self.budget.seconds,
        )
        return decision_from(self.tree, playouts)

    def played(self, move):
        if not self.agent.keep_tree:
            return
        child = child_by_move(self.tree, ROOT, move)
        if child is None:
            clear(self.tree)
        else:
            kept = new_tree(len(self.tree.visits))
            copy_subtree(self.game, self.tree, child, kept)
            self.tree = kept


def decision_from(tree, playouts: int) -> Decision:
    """The most visited move of the root, and what the tree says of it."""
    best = most_visited_child(tree, ROOT)
    children = slice(tree.first_child[ROOT], tree.first_child[ROOT] + tree.children[ROOT])
    visits = tree.visits[children].astype(np.int64)
    means = 2.0 * tree.value[children] / np.maximum(visits, 1) - 1.0
    variation = principal_variation(tree)
    return Decision(
        move=int(tree.move[best]),
        value=2.0 * float(tree.value[best]) / max(int(tree.visits[best]), 1) - 1.0,
        playouts=playouts,
        nodes=int(tree.size[0]),
        depth=len(variation),
        principal_variation=variation,
        statistics=MoveStatistics(tree.move[children].copy(), visits, means),
    )


@kernel
def search_kernel(game, tree, root, simulations, exploration, rng):
    """Run that many simulations, and return their number."""
    state, moves = root.copy(), np.empty(game.max_moves, np.int32)
    path, movers = np.empty(game.max_plies + 1, np.int32), np.empty(game.max_plies + 1, np.int64)
    if tree.children[ROOT] == LEAF:
        expand(game, tree, ROOT, state, moves, rng)
    for _ in range(simulations):
        copy_state(game, root, state)
        length = descend(game, tree, state, path, movers, moves, exploration, rng)
        score, _ = game.random_playout(state, moves, rng)
        back_up(tree, path, movers, length, reward_of(score))
    return simulations


@helper
def descend(game, tree, state, path, movers, moves, exploration, rng):
    """Select down to a leaf, expanding it if it has been visited before; returns the path's length.

    path[i] is the node i plies below the root, movers[i] the player who moved into it; `state` follows.
    """
    node, length = ROOT, 1
    path[0] = ROOT
    while not game.is_over(state):
        if tree.children[node] == LEAF:
            if tree.visits[node] == 0 or tree.size[0] + game.max_moves > len(tree.visits):
                break
            expand(game, tree, node, state, moves, rng)
        movers[length] = game.player(state)
        if game.has_chance and movers[length] == CHANCE:
            node = child_of_move(tree, node, game.random_outcome(state, rng))
        else:
            node = best_child(tree, node, exploration)
        game.play(state, tree.move[node])
        path[length] = node
        length += 1
    return length


@helper
def child_of_move(tree, node, move):
    """The child of an expanded node that a legal move leads to."""
    child = tree.first_child[node]
    while tree.move[child] != move:
        child += 1
    return child


@helper
def best_child(tree, node, exploration):
    """The first unvisited child, or the one with the largest bound.

    In single precision, with the bound as q/n + sqrt((K^2 ln N)/n): a search of Connect 4 gains a fifth by it.
    """
    first = tree.first_child[node]
    scale = np.float32(exploration * exploration * log(tree.visits[node]))
    best, best_bound = first, np.float32(-1.0)
    for child in range(first, first + tree.children[node]):
        visits = tree.visits[child]
        if visits == 0:
            return child
        share = np.float32(1.0) / np.float32(visits)
        bound = np.float32(tree.value[child]) * share + sqrt(scale * share)
        if bound > best_bound:
            best, best_bound = child, bound
    return best


@helper
def expand(game, tree, node, state, moves, rng):
    """Give a leaf its children, in random order, so that unvisited ones are tried in no order of the game's."""
    count = game.legal_moves(state, moves)
    for i in range(count - 1, 0, -1):
        j = random_below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]
    add_children(tree, node, moves, count)


@helper
def back_up(tree, path, movers, length, reward):
    """Count a visit along the path, and the reward, which is the first player's, for whoever moved into each node."""
    tree.visits[ROOT] += 1
    for i in range(1, length):
        node = path[i]
        tree.visits[node] += 1
        tree.value[node] += reward if movers[i] == 0 else 1.0 - reward
