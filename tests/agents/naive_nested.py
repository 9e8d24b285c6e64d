"""Naive twins of learned policies and nested search: dictionaries and recursion, drawing the same random numbers."""

from collections import defaultdict
from functools import partial
from math import inf, sqrt

import numpy as np

from arena.games.core.numbers.elementary import exp, log
from arena.games.core.random import random_unit
from tests.agents.naive import Node, descend, expand, shuffled


def sp_mcts(game, root_state, simulations, exploration, deviation, rng):
    """The root of the tree, and the score and moves of each simulation."""
    root, scores, simulated, room = Node(), defaultdict(list), [], np.empty(game.max_moves, np.int32)

    def grow(game, node, state):
        expand(game, node, state, rng)

    def bound(node, least, width, child):
        seen = scores[child]
        if not seen:
            return inf
        mean, square = sum(seen) / len(seen), sum(score * score for score in seen) / len(seen)
        return (
            (mean - least) / width
            + sqrt(exploration * exploration * log(node.visits) / len(seen))
            + sqrt((square - mean * mean) / (width * width) + deviation / len(seen))
        )

    def select(game, state, path):
        least, largest = min(scores[root], default=0), max(scores[root], default=0)
        return max(path[-1].children, key=partial(bound, path[-1], least, (largest - least) or 1.0))

    grow(game, root, root_state)
    for _ in range(simulations):
        state, path, _, _ = descend(game, root, root_state, select, grow)
        moves = [node.move for node in path[1:]]
        while not game.is_over(state):
            moves.append(int(game.random_move(state, room, rng)))
            game.play(state, moves[-1])
        for node in path:
            scores[node].append(game.score(state))
            node.visits, node.value = node.visits + 1, sum(scores[node])
        simulated.append((game.score(state), moves))
    return root, simulated


def probabilities(weights, codes, biases, temperature):
    exponents = [weights.get(code, 0.0) / temperature + bias for code, bias in zip(codes, biases)]
    largest = max(exponents)
    odds = [exp(value - largest) for value in exponents]
    return [value / sum(odds) for value in odds]


def legal(game, state, code_of, bias):
    moves = game.moves(state)
    return moves, [int(code_of(state, move)) for move in moves], [bias * game.bias(state, move) for move in moves]


def drawn_step(game, state, weights, code_of, rng, temperature=1.0, bias=0.0):
    """The next step of a playout."""
    moves, codes, biases = legal(game, state, code_of, bias)
    aim, place = random_unit(rng), 0
    shares = probabilities(weights, codes, biases, temperature)
    while place < len(moves) - 1 and sum(shares[: place + 1]) <= aim:
        place += 1
    return int(game.player(state)), moves[place], codes, biases, place


def steps_of(game, state, line, code_of):
    """The steps of a line that begins with these (player, code)."""
    steps, state = [], state.copy()
    for player, code in line:
        moves, codes, biases = legal(game, state, code_of, 0.0)
        steps.append((player, moves[codes.index(code)], codes, biases, codes.index(code)))
        game.play(state, moves[codes.index(code)])
    return steps


def playout(game, state, weights, code_of, rng, temperature=1.0, bias=0.0):
    """The score and the steps of a playout: (player, move, codes, biases, place of the move)."""
    steps, state = [], state.copy()
    while not game.is_over(state):
        steps.append(drawn_step(game, state, weights, code_of, rng, temperature, bias))
        game.play(state, steps[-1][1])
    return float(game.score(state)), steps


def adapt(weights, steps, player, alpha, temperature=1.0):
    """New weights, from the probabilities of the old ones."""
    adapted = dict(weights)
    for mover, _, codes, biases, place in steps:
        if mover == player:
            for code, share in zip(codes, probabilities(weights, codes, biases, temperature)):
                adapted[code] = adapted.get(code, 0.0) - alpha / temperature * share
            adapted[codes[place]] += alpha / temperature
    return adapted


def nrpa(game, level, iterations, weights, code_of, rng, alpha=1.0, temperature=1.0, bias=0.0, stabilization=1):
    """The score and the steps of one search."""
    if level == 0:
        return playout(game, game.initial(), weights, code_of, rng, temperature, bias)
    best, steps, weights = -float("inf"), None, dict(weights)
    for _ in range(iterations):
        for _ in range(stabilization if level == 1 else 1):
            below = (game, level - 1, iterations, weights, code_of, rng, alpha, temperature, bias, stabilization)
            score, found = nrpa(*below)
            if score >= best:
                best, steps = score, found
        weights = adapt(weights, steps, 0, alpha, temperature)
    return best, steps


def beam_nrpa(game, level, iterations, beam, weights, code_of, rng, scores, stabilization=1):
    """The scores and the steps of the members of one search, the best first; adds to `scores` those of all playouts."""
    if level == 0:
        one = playout(game, game.initial(), weights, code_of, rng)
        scores.append(one[0])
        return [one]
    members = [(-float("inf"), None, dict(weights))]
    for _ in range(iterations):
        candidates = []
        for value, steps, policy in members:
            below = (game, level - 1, iterations, beam, policy, code_of, rng, scores, stabilization)
            times = stabilization if level == 1 else 1
            found = [one for _ in range(times) for one in beam_nrpa(*below)[::-1]]
            for score, line in [(value, steps), *found] if steps else found:
                if not any(line == other for _, other, _ in candidates):
                    rank = sum(one[0] > score for one in candidates)
                    candidates = [*candidates[:rank], (score, line, policy), *candidates[rank:]][:beam]
        members = [(score, line, adapt(policy, line, 0, 1.0)) for score, line, policy in candidates]
    return [member[:2] for member in members]


class Lazy:
    """The mean scores of looks, by the number of moves before them."""

    def __init__(self, playouts, ratio):
        self.playouts, self.ratio, self.means = playouts, ratio, defaultdict(list)

    def threshold(self, ply):
        means = self.means[ply]
        return (1 - self.ratio) * (sum(means) / len(means)) + self.ratio * max(means)


def nmcs(game, level, state, room, rng, draw, lazy=None, ply=0):
    """The score and the moves of one search of a game for one player."""
    state, line = state.copy(), []
    if level == 0:
        while not game.is_over(state):
            line.append(int(draw(state, room, rng)))
            game.play(state, line[-1])
        return float(game.score(state)), line
    best, sequence = -float("inf"), []

    def search(move, level):
        nonlocal best, sequence
        score, rest = nmcs(game, level, game.after(state, move), room, rng, draw, lazy, ply + len(line) + 1)
        if score > best:
            best, sequence = score, [*line, move, *rest]
        return score

    while not game.is_over(state):
        moves = shuffled(game, state, rng)
        if lazy and level > 1:
            means = {move: sum(search(move, 0) / lazy.playouts for _ in range(lazy.playouts)) for move in moves}
            lazy.means[ply + len(line)] += means.values()
        for move in moves:
            poor = lazy and level > 1 and means[move] < lazy.threshold(ply + len(line))
            search(move, 0 if poor else level - 1)
        line.append(sequence[len(line)])
        game.play(state, line[-1])
    return (best, sequence) if sequence else (float(game.score(state)), line)


def nmcs_for_two(game, level, state, plies, room, rng):
    """The first player's discounted result of the game that a call plays, `plies` moves after the root."""
    state = state.copy()
    while not game.is_over(state):
        if level == 0:
            game.play(state, int(game.random_move(state, room, rng)))
        else:
            sign, best = (1 if game.player(state) == 0 else -1), None
            for move in game.moves(state):
                value = nmcs_for_two(game, level - 1, game.after(state, move), plies + 1, room, rng)
                if best is None or sign * value > sign * best:
                    best, chosen = value, move
                if sign * value > 0:
                    break
            game.play(state, chosen)
        plies += 1
    return ((game.score(state) > 0) - (game.score(state) < 0)) / (plies + 1)
