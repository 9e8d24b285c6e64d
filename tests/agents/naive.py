"""Naive twins of the kernels: object trees and recursion in plain Python, drawing the same random numbers."""

from functools import partial
from math import sqrt

import numpy as np

from arena.games.core.game import Game
from arena.games.core.numbers.elementary import log
from arena.games.core.random import random_below

F32 = np.float32


class Node:
    def __init__(self, move=None):
        self.move, self.visits, self.value, self.children = move, 0, 0.0, []


def shuffled(game, state, rng):
    moves = game.moves(state)
    for i in range(len(moves) - 1, 0, -1):
        j = int(random_below(rng, i + 1))
        moves[i], moves[j] = moves[j], moves[i]
    return moves


def expand(game, node, state, rng):
    node.children = [Node(move) for move in shuffled(game, state, rng)]


def ucb1(exploration, urgency=None):
    """UCT's choice among the children: the largest bound; unvisited ones have `urgency` for theirs.

    Without urgency they come first, and of each bound, a float of 32 bits, the three lowest do not count.
    `passing` is how many other simulations are on their way through the node.
    """

    def select(game, state, path, passing=0):
        node = path[-1]

        def bound(child):
            if child.visits == 0:
                return F32(np.inf if urgency is None else urgency)
            share, logarithm = F32(1) / F32(child.visits), log(node.visits + passing)
            if urgency is None:
                return F32(child.value) * share + F32(exploration) * F32(sqrt(logarithm)) * F32(sqrt(share))
            return F32(child.value) * share + F32(sqrt(F32(exploration * exploration * logarithm) * share))

        return max(node.children, key=bound if urgency is not None else lambda child: bound(child).view(np.int32) & ~7)

    return select


def descend(game, root, root_state, select, grow):
    """(state, path, line, play) of a simulation that has come to a leaf, grown if it has been visited before.

    line: (player, code) of each move; `play` makes the moves after it
    """
    state, path, line = root_state.copy(), [root], []

    def play(move):
        line.append((int(game.player(state)), int(game.move_code(state, move))))
        game.play(state, move)

    while not game.is_over(state):
        if not path[-1].children:
            if path[-1].visits == 0:
                break
            grow(game, path[-1], state)
        path.append(select(game, state, path))
        play(path[-1].move)
    return state, path, line, play


def uct(game, root_state, simulations, exploration, rng, urgency=None) -> Node:
    """The root after that many simulations."""
    return search(game, root_state, simulations, ucb1(exploration, urgency), rng)


def search(
    game, root_state, simulations, select, rng, learn=lambda path, line, score: None, play_out=None, each=1
) -> Node:
    """Monte-Carlo tree search; `learn` gets the path's nodes, the simulation's (player, code) and the score.

    `play_out(state, moves)` plays on behind the moves made in the tree, where it is not at random; it may return the
    mean score of `each` playouts, which all count.
    """
    room = np.empty(game.max_moves, np.int32)
    root = Node()
    grow = partial(expand, rng=rng)
    grow(game, root, root_state)
    for _ in range(simulations):
        state, path, line, play = descend(game, root, root_state, select, grow)
        players = [player for player, _ in line]
        if play_out:
            score = play_out(state, [node.move for node in path[1:]])
        else:
            while not game.is_over(state):
                play(int(game.random_move(state, room, rng)))
            score = game.score(state)
        root.visits += each
        for node, mover in zip(path[1:], players):
            node.visits += each
            node.value += each * ((score + 1) / 2 if mover == 0 else (1 - score) / 2)
        learn(path, line, score)
    return root


def uct_in_lots(game, root_state, simulations, rng, lot, per_lot, busy) -> Node:
    """UCT as a thread on a shared tree does it: a lot below the last node on the way with `busy` lots of visits.

    A lot has a simulation for each `per_lot` visits of the root, up to `lot`.
    """
    room, root, select, done = np.empty(game.max_moves, np.int32), Node(), ucb1(0.4), 0
    expand(game, root, root_state, rng)
    while done < simulations:
        size = min(max(1, min(lot, root.visits // per_lot)), simulations - done)
        base, trunk, above = root_state.copy(), [root], []
        while size > 1 and not game.is_over(base) and trunk[-1].children:
            child = select(game, base, trunk, size - 1)
            if child.visits < busy * size:
                break
            above.append(game.player(base))
            game.play(base, child.move)
            trunk.append(child)
        total = 0.0
        for _ in range(size):
            state, path, movers = base.copy(), trunk[-1:], []
            while not game.is_over(state):
                if not path[-1].children:
                    if path[-1].visits == 0:
                        break
                    expand(game, path[-1], state, rng)
                path.append(select(game, state, path, size - 1 if len(path) == 1 else 0))
                movers.append(game.player(state))
                game.play(state, path[-1].move)
            while not game.is_over(state):
                game.play(state, int(game.random_move(state, room, rng)))
            reward = (game.score(state) + 1) / 2
            count(path[1:], movers, 1, reward)
            total += reward
        root.visits += size
        count(trunk[1:], above, size, total)
        done += size
    return root


def count(nodes, movers, simulations, reward):
    """Count simulations, and the first player's reward, at nodes that these players moved into."""
    for node, mover in zip(nodes, movers):
        node.visits += simulations
        node.value += reward if mover == 0 else simulations - reward


class Grave:
    """GRAVE's choice and its AMAF counts, in a dictionary by node."""

    def __init__(self, ref, bias):
        self.ref, self.bias, self.counts = ref, bias, {}

    def select(self, game, state, path):
        known = [node for node in path[1:] if node.visits > self.ref]
        amaf = self.counts.get(known[-1] if known else path[0], {})

        def value(child):
            seen, won = amaf.get(int(game.move_code(state, child.move)), (0, 0.0))
            if child.visits == seen == 0:
                return 100.0
            share = seen / (seen + child.visits + self.bias * seen * child.visits)
            return (1 - share) * (child.value / max(child.visits, 1)) + share * (won / max(seen, 1))

        return max(path[-1].children, key=value)

    def learn(self, path, line, score):
        for depth, node in enumerate(path):
            counts = self.counts.setdefault(node, {})
            for code in dict.fromkeys(code for _, code in line[depth:]):
                player = next(player for player, other in line[depth:] if other == code)
                seen, won = counts.get(code, (0, 0.0))
                counts[code] = seen + 1, won + ((score + 1) / 2 if player == 0 else (1 - score) / 2)


def flat(game, state, playouts, rng, play_out=Game.random_playout):
    """The scores of each move's playouts, for the player to move; `play_out`: some games have playouts of their own."""
    moves, room = shuffled(game, state, rng), np.empty(game.max_moves, np.int32)
    results = {move: [] for move in moves}
    side = 1 if game.player(state) == 0 else -1
    for i in range(playouts):
        after = game.after(state, moves[i % len(moves)])
        results[moves[i % len(moves)]].append(side * play_out(game, after, room, rng)[0])
    return results


def solve(game, state, known):
    """The first player's result of best play, -1, 0 or 1; `known` is a dictionary of those of other positions."""
    key = int(game.player(state)), state.tobytes()
    if key not in known:
        if game.is_over(state):
            known[key] = int(np.sign(game.score(state)))
        else:
            results = [solve(game, game.after(state, move), known) for move in game.moves(state)]
            known[key] = max(results) if game.player(state) == 0 else min(results)
    return known[key]


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
