"""Naive twins of the solvers: memoized minimax, and proof-number searches with objects, dictionaries and recursion."""

from math import ceil, inf

INFINITE = inf


def exact(game, state, memo):
    """(value, plies to the end) of a position for its player to move, the quickest win and the longest loss; over: for
    the player who would be to move."""
    key = state.tobytes()
    if key not in memo:
        player = int(game.player(state))
        found = []
        for move in game.moves(state):
            after = game.after(state, move)
            if game.is_over(after):
                score = game.score(after)
                sign = (score > 0) - (score < 0)
                found.append((sign if player == 0 else -sign, 1))
            else:
                value, plies = exact(game, after, memo)
                found.append((value if int(game.player(after)) == player else -value, plies + 1))
        memo[key] = max(found, key=lambda pair: (pair[0], -pair[1] if pair[0] > 0 else pair[1]))
    return memo[key]


def best_moves(game, state, memo):
    """The moves that keep a position's value, and its plies unless it is a draw."""
    player, (value, plies) = int(game.player(state)), exact(game, state, memo)
    kept = []
    for move in game.moves(state):
        after = game.after(state, move)
        if game.is_over(after):
            score = game.score(after)
            found = ((score > 0) - (score < 0)) * (1 if player == 0 else -1), 1
        else:
            below, more = exact(game, after, memo)
            found = below if int(game.player(after)) == player else -below, more + 1
        if found == (value, plies) or (found[0] == value == 0):
            kept.append(move)
    return kept


def leaf_numbers(game, goal, state, ply):
    """(proof, disproof) of a new node; None as a third where it is open."""
    if game.is_over(state):
        reward = (float(game.score(state) > 0) + float(game.score(state) >= 0)) / 2
        return (0, INFINITE) if reward >= goal.least else (INFINITE, 0)
    if ply >= goal.plies:
        return (0, INFINITE) if goal.late else (INFINITE, 0)
    count = len(game.moves(state))
    return (1, count) if game.player(state) == 0 else (count, 1)


def combined(numbers, or_node):
    """A node's (proof, disproof) from its children's."""
    proof, disproof = zip(*numbers)
    return (min(proof), sum(disproof)) if or_node else (sum(proof), min(disproof))


class Node:
    def __init__(self, game, goal, state, ply):
        self.state, self.ply, self.children, self.or_node = state, ply, [], int(game.player(state)) == 0
        self.numbers = leaf_numbers(game, goal, state, ply)


def pns(game, goal, state, expansions):
    """(root, nodes) after so many expansions of the most-proving leaf, or when it is settled."""
    root, nodes = Node(game, goal, state, 0), 1
    root.numbers = 1, 1
    while expansions and 0 not in root.numbers:
        path = [root]
        while path[-1].children:
            which = 0 if path[-1].or_node else 1
            path.append(min(path[-1].children, key=lambda child: child.numbers[which]))
        leaf = path[-1]
        leaf.children = [Node(game, goal, game.after(leaf.state, move), leaf.ply + 1) for move in game.moves(leaf.state)]
        nodes += len(leaf.children)
        for node in reversed(path):
            node.numbers = combined([child.numbers for child in node.children], node.or_node)
        expansions -= 1
    return root, nodes


class DepthFirst:
    """df-pn by recursion, with a table that forgets nothing; `nodes` counts the positions that are looked at."""

    def __init__(self, game, goal, epsilon):
        self.game, self.goal, self.epsilon, self.table, self.nodes = game, goal, epsilon, {}, 0

    def search(self, state, ply=0, limits=(INFINITE, INFINITE)):
        """The numbers of a position when they reach its limits, or it is settled."""
        or_node = int(self.game.player(state)) == 0
        own, other = (0, 1) if or_node else (1, 0)
        states, numbers = [], []
        for move in self.game.moves(state):
            after = self.game.after(state, move)
            self.nodes += 1
            first = leaf_numbers(self.game, self.goal, after, ply + 1)
            numbers.append(list(self.table.get(after.tobytes(), first)))
            states.append(after)
            if numbers[-1][own] == 0:
                break
        while True:
            now = (0, INFINITE) if or_node else (INFINITE, 0)
            if all(entry[own] for entry in numbers):
                now = combined(numbers, or_node)
            if 0 in now or now[0] >= limits[0] or now[1] >= limits[1]:
                self.table[state.tobytes()] = now
                return now
            ranked = sorted(range(len(numbers)), key=lambda i: numbers[i][own])
            best, second = ranked[0], numbers[ranked[1]][own] if len(ranked) > 1 else INFINITE
            below = [0, 0]
            beyond = INFINITE if second == INFINITE else max(second + 1, ceil(second * (1 + self.epsilon)))
            below[own] = min(limits[own], beyond)
            below[other] = limits[other] - (now[other] - numbers[best][other])
            numbers[best] = list(self.search(states[best], ply + 1, tuple(below)))
