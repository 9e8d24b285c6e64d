"""UCT with methods: the rule that calls them, one after the other, at the points of a simulation.

The methods are a chain: a method, and the rest of the chain, which is a chain itself or the End.  Their arrays and
numbers are chains of the same form, so that each link hands its method what is the method's own.
"""

from dataclasses import dataclass, field
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np

from agents.core.selection import log_of
from agents.core.tree import UNPROVEN
from agents.montecarlo.method import NONE, Method, compiled_form
from agents.montecarlo.search import Rule, Search, certain_bound, expand
from games.core.game import CHANCE
from games.core.jit import Compilable, inlined
from games.core.playout import reward_of

FIRST = 100.0  # the exploration term of children without visits, which come before all others
LOST = -1e6  # the bound of a child that is proven to be lost, below that of any other


class Numbers(NamedTuple):
    """Search.options: UCB1's, and those of the chain."""

    exploration: float
    urgency: float  # the bound of unvisited children, where the rule has `urgency`
    chain: tuple


@inlined
def own(search):
    """The search as the first method of a chain sees it."""
    return Search(search.tree, search.memory[0], search.options[0])


@inlined
def others(search):
    """The search as the rest of a chain sees it."""
    return Search(search.tree, search.memory[1], search.options[1])


@inlined
def chained(search):
    """The search as a whole chain sees it."""
    return Search(search.tree, search.memory, search.options.chain)


End = Method  # of which no function does anything


@dataclass(frozen=True)
class Link(Compilable):
    """A method and the rest of the chain.  Its functions are those of Method, each with what its text says there."""

    method: Method
    rest: Compilable

    compiled_parts: ClassVar[tuple[str, ...]] = ("method", "rest")

    def expand(self, game, search, walk, node):
        if self.method.expand(game, own(search), walk, node):
            return True
        return self.rest.expand(game, others(search), walk, node)

    def expanded(self, game, search, walk, node):
        self.method.expanded(game, own(search), walk, node)
        self.rest.expanded(game, others(search), walk, node)

    def look(self, game, search, walk):
        self.method.look(game, own(search), walk)
        self.rest.look(game, others(search), walk)

    def takes(self, game, search, walk, child):
        if not self.method.takes(game, own(search), walk, child):
            return False
        return self.rest.takes(game, others(search), walk, child)

    def mean(self, game, search, walk, child, mean):
        return self.rest.mean(game, others(search), walk, child, self.method.mean(game, own(search), walk, child, mean))

    def explore(self, game, search, walk, child, term, constant):
        term = self.method.explore(game, own(search), walk, child, term, constant)
        return self.rest.explore(game, others(search), walk, child, term, constant)

    def bonus(self, game, search, walk, child):
        first = self.method.bonus(game, own(search), walk, child)
        return first + self.rest.bonus(game, others(search), walk, child)

    def goes_to(self, game, search, walk):
        child = self.method.goes_to(game, own(search), walk)
        return child if child != NONE else self.rest.goes_to(game, others(search), walk)

    def arrive(self, game, search, walk):
        self.method.arrive(game, own(search), walk)
        self.rest.arrive(game, others(search), walk)

    def decides(self, game, search, walk, rng):
        move = self.method.decides(game, own(search), walk, rng)
        return move if move != NONE else self.rest.decides(game, others(search), walk, rng)

    def draws(self, game, search, walk, rng):
        move = self.method.draws(game, own(search), walk, rng)
        return move if move != NONE else self.rest.draws(game, others(search), walk, rng)

    def amends(self, game, search, walk, move, rng):
        move = self.method.amends(game, own(search), walk, move, rng)
        return self.rest.amends(game, others(search), walk, move, rng)

    def made(self, game, search, walk, move):
        self.method.made(game, own(search), walk, move)
        self.rest.made(game, others(search), walk, move)

    def stops(self, game, search, walk, plies):
        return self.method.stops(game, own(search), walk, plies) or self.rest.stops(game, others(search), walk, plies)

    def estimate(self, game, search, walk):
        first = self.method.estimate(game, own(search), walk)
        return first + self.rest.estimate(game, others(search), walk)

    def result(self, game, search, score, result):
        result = self.method.result(game, own(search), score, result)
        return self.rest.result(game, others(search), score, result)

    def learn(self, game, search, walk, result):
        self.method.learn(game, own(search), walk, result)
        self.rest.learn(game, others(search), walk, result)


def chain_of(methods: tuple[Method, ...]) -> Compilable:
    """The methods as a chain."""
    return Link(compiled_form(methods[0]), chain_of(methods[1:])) if methods else End()


def chained_values(values: list) -> tuple:
    """The values, one for each method, in the form of a chain."""
    return (values[0], chained_values(values[1:])) if values else ()


def unchained(chain: tuple) -> list:
    """The values of a chain."""
    return [chain[0], *unchained(chain[1])] if chain else []


@dataclass(frozen=True)
class Composed(Rule):
    """UCB1 with methods.

    urgency: whether unvisited children have a bound of their own, rather than coming first
    steps: whether a method takes part in the moves of playouts
    """

    chain: Compilable = field(default_factory=End)
    urgency: bool = False
    steps: bool = False

    compiled_parts: ClassVar[tuple[str, ...]] = ("chain",)
    hooked: ClassVar[bool] = True

    def grow(self, game, search, walk, node, rng):
        methods, node = chained(search), np.int64(node)
        if not self.chain.expand(game, methods, walk, node):
            expand(game, search.tree, node, walk.state, walk.moves, rng)
            self.chain.expanded(game, methods, walk, node)

    def best_child(self, game, search, walk, node):
        """The child that a method goes to, or the one with the largest bound among those that take part.

        If these are all proven to be lost, the others are tried.
        """
        methods, tree = chained(search), search.tree
        child = self.chain.goes_to(game, methods, walk)
        if child != NONE:
            return child
        self.chain.look(game, methods, walk)
        first, player = tree.first_child[node], game.player(walk.state)
        scale = search.options.exploration * search.options.exploration * log_of(tree.visits[node])
        best, best_bound, spare = first, -1e9, NONE
        for child in range(first, first + tree.children[node]):
            if not self.chain.takes(game, methods, walk, child):
                spare = child if tree.proven[child] == UNPROVEN else spare
                continue
            if self.solver and tree.proven[child] != UNPROVEN:
                bound = certain_bound(tree, child, player)
                bound = bound if bound >= 0.0 else LOST
            else:
                bound = self.bound(game, search, walk, child, scale)
            if bound > best_bound:
                best, best_bound = child, bound
        return spare if self.solver and best_bound <= LOST and spare != NONE else best

    def bound(self, game, search, walk, child, scale):
        """mean + exploration term + what the methods add."""
        methods, tree = chained(search), search.tree
        visits = tree.visits[child]
        if visits > 0:
            mean, term = tree.value[child] / visits, sqrt(scale / visits)
        else:
            mean, term = (search.options.urgency, 0.0) if self.urgency else (0.0, FIRST)
        mean = self.chain.mean(game, methods, walk, child, mean)
        term = self.chain.explore(game, methods, walk, child, term, search.options.exploration)
        return mean + term + self.chain.bonus(game, methods, walk, child)

    def arrive(self, game, search, walk):
        self.chain.arrive(game, chained(search), walk)

    def play_out(self, game, search, walk, rng):
        """The first player's result, -1 to 1."""
        self.arrive(game, search, walk)
        methods, state, plies = chained(search), walk.state, 0
        if not self.steps:
            score, _ = game.random_playout(state, walk.moves, rng)
            return self.chain.result(game, methods, score, 2.0 * reward_of(score) - 1.0)
        while not game.is_over(state):
            if self.chain.stops(game, methods, walk, plies):
                return self.chain.estimate(game, methods, walk)
            move = self.next_move(game, search, walk, rng)
            self.chain.made(game, methods, walk, move)
            game.play(state, move)
            plies += 1
        score = game.score(state)
        return self.chain.result(game, methods, score, 2.0 * reward_of(score) - 1.0)

    def next_move(self, game, search, walk, rng):
        """The next move of a playout, or an outcome of chance."""
        methods, state = chained(search), walk.state
        if game.has_chance and game.player(state) == CHANCE:
            return np.int64(game.random_move(state, walk.moves, rng))
        move = self.chain.decides(game, methods, walk, rng)
        if move != NONE:
            return np.int64(move)
        move = self.chain.draws(game, methods, walk, rng)
        if move == NONE:
            move = np.int64(game.random_move(state, walk.moves, rng))
        return np.int64(self.chain.amends(game, methods, walk, move, rng))

    def reward(self, score):
        return 0.5 * (1.0 + score)

    def learn(self, game, search, walk, score):
        self.chain.learn(game, chained(search), walk, score)
