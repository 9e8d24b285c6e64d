"""Naive twins of the solvers: memoized minimax, and proof-number searches with objects, dictionaries and recursion."""

from itertools import count
from math import ceil, inf

import numpy as np

INFINITE = inf


def exact(game, state):
    """(value, plies to the end) of a position for its player to move, the quickest win and the longest loss."""
    return next(found for depth in count(1) if (found := within(game, state, depth, {})))


def within(game, state, depth, memo):
    """The same of a position that is decided within so many plies; None of others."""
    key = state.tobytes(), depth
    if key not in memo:
        found = [by_move(game, state, move, depth, memo) for move in game.moves(state)]
        best = max((pair for pair in found if pair), key=quality, default=(-1, 0))
        memo[key] = best if None not in found or best[0] == 1 else None
    return memo[key]


def quality(pair):
    """The better, the larger: the quickest win, the longest loss."""
    value, plies = pair
    return value, -value * plies


def by_move(game, state, move, depth, memo):
    """What a move is worth to who makes it, if that is decided within so many plies."""
    after, player = state.copy(), int(game.player(state))
    game.play(after, move)
    if game.is_over(after):
        score = game.score(after)
        return ((score > 0) - (score < 0)) * (1 if player == 0 else -1), 1
    found = within(game, after, depth - 1, memo) if depth > 1 else None
    return found and (found[0] if int(game.player(after)) == player else -found[0], found[1] + 1)


def best_moves(game, state, value, plies):
    """The moves that keep a value and plies; the plies of a draw do not matter."""
    depth, memo = plies if value else game.max_plies, {}
    found = {move: by_move(game, state, move, depth, memo) for move in game.moves(state)}
    return [move for move, pair in found.items() if pair and (pair == (value, plies) or pair[0] == value == 0)]


def leaf_numbers(game, goal, state, ply):
    """(proof, disproof) of a new node; None as a third where it is open."""
    if game.is_over(state):
        reward = (float(game.score(state) > 0) + float(game.score(state) >= 0)) / 2
        return (0, INFINITE) if reward >= goal.least else (INFINITE, 0)
    if ply >= goal.plies:
        return (0, INFINITE) if goal.late else (INFINITE, 0)
    plies, _ = game.foreseen(state)
    first_wins = (plies > 0) == (game.player(state) == 0)
    if plies and (first_wins == goal.late or ply + abs(plies) <= goal.plies):
        return (0, INFINITE) if first_wins else (INFINITE, 0)
    moves = len(sound_moves(game, state))
    return (1, moves) if game.player(state) == 0 else (moves, 1)


def sound_moves(game, state):
    """The moves that a solver looks at."""
    room = np.empty(game.max_moves, np.int32)
    return room[: game.sound_moves(state, room)].tolist()


def combined(numbers, or_node, total=sum):
    """A node's (proof, disproof) from its children's."""
    proof, disproof = zip(*numbers)
    return (min(proof), total(disproof)) if or_node else (total(proof), min(disproof))


def weak(numbers):
    """What stands for the sum: the largest number, and one for each other that is not 0."""
    return max(numbers) + max(0, sum(number > 0 for number in numbers) - 1)


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
        leaf.children = [
            Node(game, goal, game.after(leaf.state, move), leaf.ply + 1) for move in sound_moves(game, leaf.state)
        ]
        nodes += len(leaf.children)
        for node in reversed(path):
            node.numbers = combined([child.numbers for child in node.children], node.or_node)
        expansions -= 1
    return root, nodes


class Graph:
    """PNS in a graph: a dictionary from position to node, and all numbers computed anew after each expansion."""

    def __init__(self, game, goal, state):
        self.game, self.goal, self.nodes, self.root = game, goal, {}, Node(game, goal, state, 0)
        self.root.numbers, self.rows = (1, 1), 1

    def node(self, state, ply):
        """The node of a position, or of the image of it that has the least key."""
        state = least_image(self.game, state)
        key = state.tobytes(), ply if self.goal.plies <= self.game.max_plies else None
        return self.nodes.setdefault(key, Node(self.game, self.goal, state, ply))

    def expand(self):
        """Expand the most-proving leaf."""
        node = self.root
        while node.children:
            which = 0 if node.or_node else 1
            node = min(node.children, key=lambda child: child.numbers[which])
        for move in sound_moves(self.game, node.state):
            node.children.append(self.node(self.game.after(node.state, move), node.ply + 1))
        self.rows += len(node.children)
        self.compute(self.root, set())

    def compute(self, node, done):
        """Compute the numbers of a node and of all below it, children first."""
        if node.children and id(node) not in done and 0 not in node.numbers:
            done.add(id(node))
            for child in node.children:
                self.compute(child, done)
            node.numbers = combined([child.numbers for child in node.children], node.or_node)


def least_image(game, state):
    """The same state for all positions that symmetries take into each other."""
    images = []
    for symmetry in range(game.symmetries):
        images.append(state.copy())
        game.transform(state, symmetry, images[-1])
    with np.errstate(over="ignore"):  # keys wrap
        return min(images, key=game.key)


class DepthFirst:
    """df-pn by recursion, with a table that forgets nothing; `nodes` counts the positions that are looked at, of which
    there may be `limit`."""

    def __init__(self, game, goal, epsilon, weakly=False):
        self.game, self.goal, self.epsilon, self.table, self.nodes = game, goal, epsilon, {}, 0
        self.total, self.limit = weak if weakly else sum, INFINITE

    def search(self, state, ply=0, limits=(INFINITE, INFINITE)):
        """The numbers of a position when they reach its limits, or it is settled, or the nodes are spent."""
        states, numbers, or_node = self.children(state, ply)
        while True:
            now = self.together(numbers, or_node)
            spent = self.nodes + self.game.max_moves > self.limit
            if 0 in now or now[0] >= limits[0] or now[1] >= limits[1] or spent:
                self.table[state.tobytes()] = now
                return now
            best, below = self.select(numbers, or_node, now, limits)
            numbers[best] = self.search(states[best], ply + 1, below)

    def children(self, state, ply):
        """(positions after the moves of one, their numbers, whether it is an OR node)."""
        or_node = int(self.game.player(state)) == 0
        states, numbers = [], []
        for move in sound_moves(self.game, state):
            after = self.game.after(state, move)
            self.nodes += 1
            first = leaf_numbers(self.game, self.goal, after, ply + 1)
            numbers.append(tuple(self.table.get(after.tobytes(), first)))
            states.append(after)
            if numbers[-1][0 if or_node else 1] == 0:
                break
        return states, numbers, or_node

    def together(self, numbers, or_node):
        """A node's numbers; one child may settle it."""
        if all(entry[0 if or_node else 1] for entry in numbers):
            return combined(numbers, or_node, self.total)
        return (0, INFINITE) if or_node else (INFINITE, 0)

    def select(self, numbers, or_node, now, limits):
        """The child to go on with, and its limits."""
        own, other = (0, 1) if or_node else (1, 0)
        ranked = sorted(range(len(numbers)), key=lambda i: numbers[i][own])
        best, second = ranked[0], numbers[ranked[1]][own] if len(ranked) > 1 else INFINITE
        below = [0, 0]
        beyond = INFINITE if second == INFINITE else max(second + 1, ceil(second * (1 + self.epsilon)))
        below[own] = min(limits[own], beyond)
        rest = now[other] - numbers[best][other]
        if self.total is weak:
            rest = sum(entry[other] > 0 for entry in numbers) - 1
        below[other] = limits[other] - rest
        return best, tuple(below)


class Jobs(DepthFirst):
    """SPDF-PN by one worker, which has no use for virtual numbers: from the root down to a node that has cost fewer
    nodes than a job, df-pn there, and back up, again and again.  `jobs` counts them."""

    def __init__(self, game, goal, epsilon, job):
        super().__init__(game, goal, epsilon)
        self.job, self.top, self.jobs, self.rows = job, {}, 0, []

    def solve(self, state):
        """The numbers of a position, which is settled then."""
        self.top[state.tobytes()] = [(1, 1), 0]
        while True:
            path = self.descend(state)
            if path is None:
                return self.node_numbers(0)
            self.back_up(*path)

    def descend(self, state):
        """The rows' moves down to a job, and its (state, limits); None if the root is settled."""
        ply, limits, chosen = 0, [(INFINITE, INFINITE)], []
        self.look(self.open(0, state))
        while True:
            row, now = self.rows[ply], self.node_numbers(ply)
            if 0 in now or now[0] >= limits[ply][0] or now[1] >= limits[ply][1]:
                if ply == 0:
                    return None
                self.table[row["state"].tobytes()] = self.top[row["state"].tobytes()][0] = now
                limits.pop()
                ply -= 1
                self.rows[ply]["numbers"][chosen.pop()] = now
                continue
            best, below = self.select(row["numbers"], row["or_node"], now, limits[ply])
            numbers = row["numbers"][best]
            limits.append((max(below[0], numbers[0] + 1), max(below[1], numbers[1] + 1)))
            chosen.append(best)
            after = row["states"][best]
            ply += 1
            if self.top.get(after.tobytes(), (None, 0))[1] < self.job:
                del self.rows[ply:]
                return chosen, after, limits[ply]
            self.look(self.open(ply, after))

    def open(self, ply, state):
        """The row of a position, which is kept as long as the way to it is the same."""
        if ply < len(self.rows) and self.rows[ply]["state"].tobytes() != state.tobytes():
            del self.rows[ply:]
        if ply == len(self.rows):
            states, numbers, or_node = self.children(state, ply)
            self.rows.append({"state": state, "states": states, "numbers": numbers, "or_node": or_node})
        return self.rows[ply]

    def look(self, row):
        """Take over what is known of the children: what is settled from the table, the rest first from the top."""
        for i, (state, numbers) in enumerate(zip(row["states"], row["numbers"])):
            key = state.tobytes()
            if 0 not in numbers:
                known = self.table.get(key)
                if known and (0 in known or key not in self.top):
                    row["numbers"][i] = known
                elif key in self.top:
                    row["numbers"][i] = self.top[key][0]

    def node_numbers(self, ply):
        return self.together(self.rows[ply]["numbers"], self.rows[ply]["or_node"])

    def back_up(self, chosen, state, limits):
        """Do the job, and give the nodes above it their new numbers."""
        before, ply, key = self.nodes, len(chosen), state.tobytes()
        self.jobs, self.limit = self.jobs + 1, self.nodes + self.job + self.game.max_moves
        found = self.search(state, ply, limits)
        self.limit, nodes = INFINITE, self.nodes - before
        self.top[key] = [found, self.top.get(key, (None, 0))[1] + nodes]
        for row in reversed(self.rows[:ply]):
            self.look(row)
            now, key = self.together(row["numbers"], row["or_node"]), row["state"].tobytes()
            self.table[key] = now
            self.top[key] = [now, self.top[key][1] + nodes]


class JobLevel:
    """A tree of jobs for workers in virtual time; all that is virtual is computed anew whenever it is asked for.

    A job is `pns` in a tree, of so many nodes.
    """

    def __init__(self, game, goal, state, workers, nodes, policy="equivalence", flagging=True, postponed=False):
        self.game, self.goal, self.workers, self.nodes = game, goal, workers, nodes
        self.taken_for = {"win": (0, INFINITE), "loss": (INFINITE, 0)}.get(policy)
        self.flagging, self.postponed = flagging, postponed
        self.root, self.order, self.visited, self.time, self.events = Node(game, goal, state, 0), [], 0, 0, []
        self.root.numbers = 1, 1

    def run(self):
        """Do jobs until the root is settled."""
        while 0 not in self.root.numbers:
            while len(self.events) < self.workers and (path := self.descend()):
                leaf = path[-1]
                leaf.in_flight = True
                self.order.append(leaf.state.tobytes())
                goal = self.goal._replace(plies=self.goal.plies - leaf.ply)
                found, size = job(self.game, goal, leaf.state, self.nodes)
                self.events.append((self.time + size - 1, len(self.order), path, found))
            self.events.sort(key=lambda event: event[:2])
            before, (self.time, _, path, found) = self.time, self.events.pop(0)
            self.answer(path, found)
            for node in reversed(path[:-1]):
                node.numbers = combined([child.numbers for child in node.children], node.or_node)
            assert self.time >= before
        return self

    def answer(self, path, found):
        leaf = path[-1]
        leaf.in_flight, leaf.numbers = False, found.numbers
        if 0 not in found.numbers or leaf is self.root:
            leaf.children = found.children
            for child in leaf.children:
                child.ply, child.children = leaf.ply + 1, []

    def descend(self):
        """The way to the leaf that is given out next, or nothing."""
        path = [self.root]
        while path[-1].children:
            which, eligible = 0 if path[-1].or_node else 1, self.eligible(path[-1])
            if not self.flagging:
                eligible = [child for child in eligible if 0 not in self.virtual(child)]
            if not eligible:
                return []
            path.append(min(eligible, key=lambda child: self.rank(child, which)))
        return [] if self.flagged(path[-1]) else path

    def rank(self, child, which):
        virtual = self.virtual(child)
        return (1, child.numbers[which]) if 0 in virtual else (0, virtual[which])

    def eligible(self, node):
        open_ones = [child for child in node.children if 0 not in child.numbers]
        if self.postponed and any(not child.children and self.flagged(child) for child in open_ones):
            open_ones = [child for child in open_ones if child.children]
        return [child for child in open_ones if not (self.flagging and self.flagged(child))]

    def flagged(self, node):
        return not self.eligible(node) if node.children else getattr(node, "in_flight", False)

    def virtual(self, node):
        if node.children:
            return combined([self.virtual(child) for child in node.children], node.or_node)
        return self.taken_for or node.numbers if self.flagged(node) else node.numbers


def job(game, goal, state, nodes):
    """(root, nodes of the tree) of PNS that stops once it has visited so many."""
    for expansions in count(1):
        root, size = pns(game, goal, state, expansions)
        if size > nodes or 0 in root.numbers:
            return root, size
