"""Naive twins of the methods of uct: objects and dictionaries in plain Python, drawing the same random numbers."""

from collections import defaultdict
from functools import partial
from math import ceil, log2, sqrt

import numpy as np

from arena.games.core.numbers.elementary import exp, log
from arena.games.core.random import random_below, random_unit
from tests.agents.naive import Grave, Node, descend, expand, shuffled
from tests.agents.naive_nested import adapt, drawn_step, steps_of

FIRST = 100.0


def reward_for(game, state, player):
    value = (game.score(state) > 0) - (game.score(state) < 0) if game.is_over(state) else game.evaluate(state)
    return 0.5 * (1.0 + value) if player == 0 else 0.5 * (1.0 - value)


class Twin:
    """Does nothing, as Method does; `line` is the simulation's (player, code) so far."""

    def expanded(self, game, node, state):
        pass

    def takes(self, node, child):
        return True

    def mean(self, child, mean):
        return mean

    def explore(self, node, child, term):
        return term

    def bonus(self, game, state, child):
        return 0.0

    def goes_to(self, node, depth):
        return None

    def decides(self, game, state):
        return None

    def draws(self, game, state, line, rng):
        return None

    def amends(self, game, state, move, rng):
        return move

    def estimate(self, game, state, plies):
        return None

    def result(self, score, result):
        return result

    def learn(self, game, path, movers, line, result):
        pass


class Implicit(Twin):
    def __init__(self, alpha):
        self.alpha = alpha

    def expanded(self, game, node, state):
        for child in node.children:
            child.implicit = reward_for(game, game.after(state, child.move), game.player(state))

    def mean(self, child, mean):
        return (1 - self.alpha) * mean + self.alpha * child.implicit if child.visits else mean

    def learn(self, game, path, movers, line, result):
        for i in range(len(path) - 2, 0, -1):
            best = max(child.implicit for child in path[i].children)
            path[i].implicit = best if movers[i] == movers[i - 1] else 1 - best


class Bias(Twin):
    def __init__(self, weight):
        self.weight = weight

    def expanded(self, game, node, state):
        for child in node.children:
            child.bias = reward_for(game, game.after(state, child.move), game.player(state))

    def bonus(self, game, state, child):
        return self.weight * child.bias / (child.visits + 1)


class Widening(Twin):
    def __init__(self, first, step, growth):
        self.first, self.step, self.growth = first, step, growth

    def expanded(self, game, node, state):
        player = game.player(state)
        node.children.sort(key=lambda child: -reward_for(game, game.after(state, child.move), player))

    def takes(self, node, child):
        width, due, step = self.first, self.step, self.step
        while node.visits >= due:
            width, step = width + 1, step * self.growth
            due += step
        return node.children.index(child) < width


class Codes(Twin):
    """Mean rewards of sequences of codes."""

    def __init__(self, length=1):
        self.length, self.sums = length, defaultdict(lambda: [0, 0.0])

    def learn(self, game, path, movers, line, result):
        codes = [code for _, code in line]
        for ply, (player, _) in enumerate(line):
            for length in range(1, min(self.length, ply + 1) + 1):
                entry = self.sums[tuple(codes[ply + 1 - length : ply + 1])]
                entry[0] += 1
                entry[1] += (1 + result) / 2 if player == 0 else (1 - result) / 2

    def average(self, *codes, least=1, unknown=None):
        count, total = self.sums[codes]
        return total / count if count >= least else unknown


class History(Codes):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def bonus(self, game, state, child):
        mean = self.average(game.move_code(state, child.move), unknown=0.0)
        return mean * self.weight / (child.visits - child.value + 1)


class NST(Codes):
    def __init__(self, length, epsilon, least):
        super().__init__(length)
        self.epsilon, self.least = epsilon, least

    def draws(self, game, state, line, rng):
        if random_unit(rng) < self.epsilon:
            return None
        best, best_value, ties = 0, -1.0, 0
        for move in game.moves(state):
            codes = [*(code for _, code in line), game.move_code(state, move)]
            values = [self.average(codes[-1], unknown=1.0)]
            for length in range(2, min(self.length, len(codes)) + 1):
                value = self.average(*codes[-length:], least=self.least)
                values += [] if value is None else [value]
            value = sum(values) / len(values)
            ties = 1 if value > best_value else ties + (value == best_value)
            if value > best_value or (value == best_value and random_below(rng, ties) == 0):
                best, best_value = move, value
        return best


class Reply(Twin):
    def __init__(self):
        self.replies = {}

    def draws(self, game, state, line, rng):
        for before in (2, 1):
            code = self.replies.get(tuple(code for _, code in line[-before:])) if len(line) >= before else None
            for move in game.moves(state):
                if code == game.move_code(state, move):
                    return move
        return None

    def learn(self, game, path, movers, line, result):
        for ply in range(1, len(line)):
            for before in range(1, min(ply, 2) + 1):
                key = tuple(code for _, code in line[ply - before : ply])
                player, code = line[ply]
                if result and (player == 0) == (result > 0):
                    self.replies[key] = code
                elif result and self.replies.get(key) == code:
                    del self.replies[key]


def by_order(game, state, moves):
    """The game's order of moves, from 0 for the lowest of them to 1 for the highest."""
    order = [float(game.move_order(state, move)) for move in moves]
    return [(h - min(order)) / max(max(order) - min(order), 1e-9) for h in order]


def softmax(values, temperature=1.0):
    odds = [exp((value - max(values)) / temperature) for value in values]
    return [odd / sum(odds) for odd in odds]


class Heavy(Twin):
    def __init__(self, temperature, epsilon, hints=by_order):
        self.temperature, self.epsilon, self.hints = temperature, epsilon, hints

    def draws(self, game, state, line, rng):
        if random_unit(rng) < self.epsilon:
            return None
        moves, left = game.moves(state), random_unit(rng)
        for move, chance in zip(moves, softmax(self.hints(game, state, moves), self.temperature)):
            left -= chance
            if left < 0.0:
                return move
        return moves[-1]


class Informed(Twin):
    def __init__(self, epsilon, depth=1, width=0):
        self.epsilon, self.depth, self.width = epsilon, depth, width

    def draws(self, game, state, line, rng):
        if random_unit(rng) < self.epsilon:
            return None
        moves = shuffled(game, state, rng)
        if 0 < self.width < len(moves):
            orders = {move: int(game.move_order(state, move)) for move in moves}
            for i in range(self.width):
                j = max(range(i, len(moves)), key=lambda j: orders[moves[j]])
                moves[i], moves[j] = moves[j], moves[i]
            moves = moves[: self.width]
        return max(moves, key=lambda move: self.value(game, game.after(state, move), game.player(state)))

    def value(self, game, after, player):
        if self.depth == 1 or game.is_over(after) or game.player(after) == player:
            return reward_for(game, after, player)
        return min(reward_for(game, game.after(after, reply), player) for reply in game.moves(after))


class PUCT(Twin):
    def __init__(self, c, temperature, unvisited):
        self.c, self.temperature, self.unvisited = c, temperature, unvisited

    def expanded(self, game, node, state):
        chances = softmax(by_order(game, state, [child.move for child in node.children]), self.temperature)
        for child, chance in zip(node.children, chances):
            child.prior = chance

    def mean(self, child, mean):
        return mean if child.visits else self.unvisited

    def explore(self, node, child, term):
        return self.c * child.prior * sqrt(node.visits) / (1 + child.visits)


class Decisive(Twin):
    def __init__(self, anti=True):
        self.anti = anti

    def winning(self, game, state, moves):
        """Which of the moves is the first that wins at once, or None."""
        player, after = game.player(state), [game.after(state, move) for move in moves]
        wins = [i for i, end in enumerate(after) if game.is_over(end) and reward_for(game, end, player) == 1.0]
        return wins[0] if wins else None

    def leaves_a_win(self, game, state, move):
        after = game.after(state, move)
        if not self.anti or game.is_over(after) or game.player(after) == game.player(state):
            return False
        return self.winning(game, after, game.moves(after)) is not None

    def expanded(self, game, node, state):
        place = self.winning(game, state, [child.move for child in node.children])
        node.decisive = None if place is None else node.children[place]
        for child in node.children:
            child.loses = self.leaves_a_win(game, state, child.move)

    def goes_to(self, node, depth):
        return node.decisive

    def bonus(self, game, state, child):
        return -1000.0 if child.loses else 0.0

    def decides(self, game, state):
        place = self.winning(game, state, game.moves(state))
        return None if place is None else game.moves(state)[place]

    def amends(self, game, state, move, rng):
        drawn, moves = move, game.moves(state) if self.leaves_a_win(game, state, move) else []
        while moves:
            i = random_below(rng, len(moves))
            if not self.leaves_a_win(game, state, moves[i]):
                return moves[i]
            moves[i] = moves[-1]
            moves.pop()
        return drawn


class Bandit(Twin):
    def __init__(self, bound, rng):
        self.bound, self.rng, self.rewards = bound, rng, defaultdict(list)

    def explore(self, node, child, term):
        n, mean = child.visits, child.value / child.visits if child.visits else 0.0
        if self.bound == "thompson":
            won, lost = (self.gamma(1 + count) for count in (child.value, n - child.value))
            return won / (won + lost) - mean
        if not n:
            return term
        rate, rewards = log(node.visits) / n, self.rewards[id(child)]
        variance = max(0.0, sum(reward**2 for reward in rewards) / n - mean**2)
        if self.bound == "tuned":
            return sqrt(rate * min(0.25, variance + sqrt(2 * rate)))
        return sqrt(2 * variance * rate) + 3 * rate

    def learn(self, game, path, movers, line, result):
        for node, mover in zip(path[1:], movers):
            self.rewards[id(node)].append(0.5 * (1 + result if mover == 0 else 1 - result))

    def gamma(self, shape):
        d = shape - 1 / 3
        while True:
            x = self.normal()
            root = 1 + x / sqrt(9 * d)
            v = root * root * root
            if v > 0 and log(1 - random_unit(self.rng)) < x * x / 2 + d - d * v + d * log(v):
                return d * v

    def normal(self):
        square = 0
        while not 0 < square < 1:
            x, y = (2 * random_unit(self.rng) - 1 for _ in range(2))
            square = x * x + y * y
        return x * sqrt(-2 * log(square) / square)


class Cutoff(Twin):
    def __init__(self, plies):
        self.plies = plies

    def estimate(self, game, state, plies):
        return game.evaluate(state) if plies >= self.plies else None


class Score(Twin):
    def __init__(self, weight, scale):
        self.weight, self.scale = weight, scale

    def result(self, score, result):
        return (1 - self.weight) * result + self.weight * score / (abs(score) + self.scale)


class ScoreAlone(Score):
    """With the game's own playouts, which draw other random numbers in some games."""

    def __init__(self, weight, scale, rng):
        super().__init__(weight, scale)
        self.rng = rng

    def estimate(self, game, state, plies):
        score, _ = game.random_playout(state, np.empty(game.max_moves, np.int32), self.rng)
        return self.result(score, float(np.sign(score)))


def value_of(child):
    return child.value / child.visits if child.visits else -1.0


class Halving(Twin):
    """At the root, and unless `below` is 0 at nodes whose first round gives each move so many simulations."""

    def __init__(self, budget, below=0):
        self.budget, self.below = budget, below
        self.given, self.left, self.target = {}, {}, {}

    def round(self, node, moves):
        rounds = ceil(log2(len(node.children)))
        return max(1, self.given[node] // max(1, moves * rounds))

    def raise_target(self, node):
        self.target[node] += self.round(node, len(self.left[node]))

    def goes_to(self, node, depth):
        if depth == 0:
            self.given[node] = self.budget
        elif not self.below or not self.given.get(node) or self.round(node, len(node.children)) < self.below:
            return None
        if node not in self.left:
            self.left[node], self.target[node] = list(node.children), 0
            self.raise_target(node)
        while len(self.left[node]) > 1:
            for child in self.left[node]:
                if child.visits < self.target[node]:
                    return self.give(child, self.target[node])
            best = sorted(self.left[node], key=self.rank, reverse=True)
            self.left[node] = best[: ceil(len(best) / 2)]
            self.raise_target(node)
        return self.give(self.left[node][0], self.given[node])

    def give(self, child, simulations):
        if self.given.get(child) != simulations:
            self.given[child] = simulations
            self.left.pop(child, None)
        return child

    def rank(self, child):
        return value_of(child)


class Gumbel(Halving):
    """With the logits of moves given as a function; the noise is drawn at once."""

    def __init__(self, budget, considered, logits, game, rng, noise=1.0):
        super().__init__(budget)
        self.considered, self.logits, self.drawn = considered, logits, {}
        self.noise = [-noise * log(-log(random_unit(rng))) for _ in range(game.max_moves)]

    def expanded(self, game, node, state):
        if not self.drawn:
            logits = self.logits(game, state, [child.move for child in node.children])
            self.drawn = {child: noise + logit for child, noise, logit in zip(node.children, self.noise, logits)}

    def raise_target(self, node):
        rounds = ceil(log2(min(len(node.children), self.considered)))
        self.target[node] += max(1, self.given[node] // max(1, len(self.left[node]) * rounds))

    def goes_to(self, node, depth):
        if depth == 0 and node not in self.left:
            self.given[node], self.target[node] = self.budget, 0
            self.left[node] = sorted(node.children, key=self.drawn.get, reverse=True)[: self.considered]
            self.raise_target(node)
        return super().goes_to(node, depth)

    def rank(self, child):
        most = max(other.visits for other in self.drawn)
        return self.drawn[child] + (50.0 + most) * value_of(child)


class Adapts:
    """With a playout policy that adapts to the winner's moves."""

    def draws(self, game, state, line, rng):
        return drawn_step(game, state, self.weights, game.move_code, rng, self.temperature)[1]

    def learn(self, game, path, movers, line, result):
        if result:
            steps = steps_of(game, self.state, line, game.move_code)
            self.weights = adapt(self.weights, steps, int(result < 0), self.alpha, self.temperature)


class PPA(Adapts, Twin):
    def __init__(self, alpha, temperature=1.0):
        self.alpha, self.temperature, self.weights, self.state = alpha, temperature, {}, None

    def expanded(self, game, node, state):
        self.state = state.copy() if self.state is None else self.state


class AMAF(Twin):
    """GRAVE's counts and values; the first of the twins, which keeps it informed of the path."""

    def __init__(self, ref, bias):
        self.ref, self.bias, self.grave, self.path, self.codes = ref, bias, Grave(ref, bias), [], {}

    def expanded(self, game, node, state):
        self.codes |= {id(child): int(game.move_code(state, child.move)) for child in node.children}

    def goes_to(self, node, depth):
        self.path[depth:] = [node]

    def known_of(self, child):
        """How often the move was made below the reference node, and the rewards."""
        seen = [node for node in self.path[1:] if node.visits > self.ref]
        return self.grave.counts.get(seen[-1] if seen else self.path[0], {}).get(self.codes[id(child)], (0, 0.0))

    def mean(self, child, mean):
        seen, won = self.known_of(child)
        share = seen / max(seen + child.visits + self.bias * seen * child.visits, 1)
        return (1 - share) * mean + share * (won / max(seen, 1))

    def explore(self, node, child, term):
        return term if child.visits == self.known_of(child)[0] == 0 else 0.0

    def learn(self, game, path, movers, line, result):
        self.grave.learn(path, line, result)


class AdaptedGumbel(Adapts, Gumbel):
    """With the weights of a playout policy that adapts to the winner's moves, as they are at the moment."""

    def __init__(self, budget, considered, game, state, rng, alpha=1.0, temperature=1.0, warmup=0.1):
        super().__init__(budget, considered, self.logits_by_weights, game, rng)
        self.game, self.state, self.weights, self.warmup = game, state, {}, warmup
        self.alpha, self.temperature = alpha, temperature

    def logits_by_weights(self, game, state, moves):
        return [self.weights.get(int(game.move_code(state, move)), 0.0) / self.temperature for move in moves]

    def goes_to(self, node, depth):
        if depth == 0:
            if node.visits < self.warmup * self.budget:
                return None
            self.draw_again(node)
        return super().goes_to(node, depth)

    def draw_again(self, root):
        self.drawn = {}
        self.expanded(self.game, root, self.state)


class SHUSS(Halving, Codes):
    def __init__(self, budget, weight):
        Halving.__init__(self, budget)
        Codes.__init__(self)
        self.weight, self.codes = weight, {}

    def expanded(self, game, node, state):
        self.codes |= {id(child): game.move_code(state, child.move) for child in node.children}

    def rank(self, child):
        score = self.average(self.codes[id(child)], unknown=0.5)
        return value_of(child) + self.weight * score / max(1, child.visits)


class Anytime(Twin):
    def __init__(self):
        self.left, self.done = None, 0

    def goes_to(self, node, depth):
        if depth > 0:
            return None
        if self.left is None:
            self.left = list(node.children)
        if self.done == len(node.children):
            self.done = 0
            best = sorted(self.left, key=value_of, reverse=True)[: ceil(len(self.left) / 2)]
            self.left = best if len(self.left) > 2 else list(node.children)
        self.done += 1
        return self.left[(self.done - 1) % len(self.left)]


def composed(game, root_state, simulations, methods, exploration, rng) -> Node:
    """The root of UCT with these twins after that many simulations."""
    chosen, grown = partial(select, methods, exploration), partial(grow, methods, rng)
    root = Node()
    grown(game, root, root_state)
    for _ in range(simulations):
        state, path, line, play = descend(game, root, root_state, chosen, grown)
        movers = [player for player, _ in line]
        result = play_out(game, state, methods, line, play, rng)
        root.visits += 1
        for node, mover in zip(path[1:], movers):
            node.visits += 1
            node.value += 0.5 * (1 + result) if mover == 0 else 1 - 0.5 * (1 + result)
        for method in methods:
            method.learn(game, path, movers, line, result)
    return root


def grow(methods, rng, game, node, state):
    expand(game, node, state, rng)
    for method in methods:
        method.expanded(game, node, state)


def select(methods, exploration, game, state, path):
    node = path[-1]
    for method in methods:
        if (child := method.goes_to(node, len(path) - 1)) is not None:
            return child

    def bound(child):
        mean = child.value / child.visits if child.visits else 0.0
        term = sqrt(exploration * exploration * log(max(node.visits, 1)) / child.visits) if child.visits else FIRST
        for method in methods:
            mean, term = method.mean(child, mean), method.explore(node, child, term)
        return mean + term + sum(method.bonus(game, state, child) for method in reversed(methods))

    return max([child for child in node.children if all(m.takes(node, child) for m in methods)], key=bound)


def next_move(game, state, methods, line, room, rng):
    """The next move of a playout."""
    decided = [move for method in methods if (move := method.decides(game, state)) is not None]
    if decided:
        return decided[0]
    drawn = (method.draws(game, state, line, rng) for method in methods)
    move = next((move for move in drawn if move is not None), None)
    move = int(game.random_move(state, room, rng)) if move is None else move
    for method in methods:
        move = method.amends(game, state, move, rng)
    return move


def play_out(game, state, methods, line, play, rng):
    """The first player's result."""
    plies, room = 0, np.empty(game.max_moves, np.int32)
    while not game.is_over(state):
        for method in methods:
            if (value := method.estimate(game, state, plies)) is not None:
                return value
        play(next_move(game, state, methods, line, room, rng))
        plies += 1
    score = game.score(state)
    result = float((score > 0) - (score < 0))
    for method in methods:
        result = method.result(score, result)
    return result
