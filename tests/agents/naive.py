"""Naive twins of the kernels: object trees and recursion in plain Python, drawing the same random numbers."""

from math import log, sqrt

import numpy as np

from games.core.game import Game
from games.core.random import random_below

F32 = np.float32


class Node:
    def __init__(self, move=None):
        self.move, self.visits, self.value, self.children = move, 0, 0.0, []


def expand(game, node, state, rng):
    moves = game.moves(state)
    for i in range(len(moves) - 1, 0, -1):
        j = int(random_below(rng, i + 1))
        moves[i], moves[j] = moves[j], moves[i]
    node.children = [Node(move) for move in moves]


def select(node, exploration):
    for child in node.children:
        if child.visits == 0:
            return child

    def bound(child):
        share = F32(1) / F32(child.visits)
        return F32(child.value) * share + F32(sqrt(F32(exploration * exploration * log(node.visits)) * share))

    return max(node.children, key=bound)


def uct(game, root_state, simulations, exploration, rng) -> Node:
    """The root after that many simulations."""
    room = np.empty(game.max_moves, np.int32)
    root = Node()
    expand(game, root, root_state, rng)
    for _ in range(simulations):
        state, node, path = root_state.copy(), root, []
        while not game.is_over(state):
            if not node.children:
                if node.visits == 0:
                    break
                expand(game, node, state, rng)
            node = select(node, exploration)
            path.append((node, int(game.player(state))))
            game.play(state, node.move)
        score, _ = Game.random_playout(game, state, room, rng)
        root.visits += 1
        for node, mover in path:
            node.visits += 1
            node.value += (score + 1) / 2 if mover == 0 else (1 - score) / 2
    return root


def flat(game, state, playouts, rng):
    """The results of each move's playouts, for the player to move."""
    moves, room = game.moves(state), np.empty(game.max_moves, np.int32)
    results = {move: [] for move in moves}
    side = 1 if game.player(state) == 0 else -1
    for i in range(playouts):
        after = game.after(state, moves[i % len(moves)])
        results[moves[i % len(moves)]].append(side * Game.random_playout(game, after, room, rng)[0])
    return results


def minimax(game, state, depth, win=10_000.0, ply=0):
    """The value for the player to move, with wins worth win - plies."""
    best = -np.inf
    side = 1 if game.player(state) == 0 else -1
    for move in game.moves(state):
        child = game.after(state, move)
        if game.is_over(child):
            value = side * game.score(child) * (win - ply - 1)
        elif depth == 1:
            value = side * game.evaluate(child)
        else:
            value = minimax(game, child, depth - 1, win, ply + 1)
            value = value if game.player(child) == game.player(state) else -value
        best = max(best, value)
    return best
