"""UCT with methods: the rule that calls them, one after the other, at the points of a simulation.

The methods are a chain, which hands each method what is the method's own.
"""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.core.selection import log_of
from agents.core.tree import UNPROVEN
from agents.montecarlo.method import NONE, Method
from agents.montecarlo.search import Rule, Search, certain_bound, expand
from games.core.game import CHANCE
from games.core.jit import Compilable
from games.core.playout import reward_of

FIRST = 100.0  # the exploration term of children without visits, which come before all others
LOST = -1e6  # the bound of a child that is proven to be lost, below that of any other


class Numbers(NamedTuple):
    """Search.options: UCB1's, and the methods'."""

    exploration: float
    urgency: float  # the bound of unvisited children, where the rule has `urgency`
    chain: tuple  # of those of each method


# What a chain does with a call of each of its methods, and what it returns in the end
EACH = "{call}", "None"
ALL_OF = "if not {call}: return False", "True"
ANY_OF = "if {call}: return True", "False"
FIRST_OF = "found = {call}\n    if found != NONE: return found", "NONE"
JOINTS = {
    "expand": ANY_OF,
    "expanded": EACH,
    "look": EACH,
    "takes": ALL_OF,
    "mean": ("mean = {call}", "mean"),
    "explore": ("term = {call}", "term"),
    "bonus": ("total = {call} + total", "total"),
    "goes_to": FIRST_OF,
    "arrive": EACH,
    "decides": FIRST_OF,
    "draws": FIRST_OF,
    "amends": ("move = {call}", "move"),
    "made": EACH,
    "stops": ANY_OF,
    "estimate": ("total = {call} + total", "total"),
    "result": ("result = {call}", "result"),
    "learn": EACH,
}


@functools.cache
def joined(name: str, methods: tuple[Method, ...]) -> Callable[..., Any]:
    """The function of that name of a chain, which calls those methods alone that replace it.

    Its text is written here, since a kernel then compiles one function for each point of a simulation, and none of the
    functions that no method replaces.
    """
    line, returned = JOINTS[name]
    first, *rest = inspect.signature(getattr(Method, name)).parameters
    lines = [f"def {name}({', '.join([first, *rest])}):"]
    scope: dict[str, Any] = {"__name__": __name__, "Search": Search, "NONE": NONE}
    if returned == "total":
        lines.append("total = 0.0")
    for i, method in reversed(list(enumerate(methods))) if returned == "total" else enumerate(methods):
        if method.function(name) is not getattr(Method, name):
            scope[f"method{i}"] = method
            own = f"Search(search.tree, search.memory[{i}], search.options.chain[{i}])"
            passed = ", ".join(own if each == "search" else each for each in rest)
            lines.append(line.format(call=f"method{i}.{name}({passed})"))
    exec("\n    ".join([*lines, f"return {returned}"]), scope)
    return scope[name]


def joint(name: str) -> Callable[..., Any]:
    """That function for any chain; kernels have the function of theirs."""

    @functools.wraps(getattr(Method, name))
    def call(self, *arguments):
        return joined(name, self.methods)(self, *arguments)

    return call


@dataclass(frozen=True)
class Chain(Compilable):
    """Methods as one.  Its functions are those of Method, for each method with its own arrays and numbers.

    search.memory is a tuple of the methods' arrays, search.options.chain one of their numbers.
    """

    methods: tuple[Method, ...] = ()

    compiled_parts: ClassVar[tuple[str, ...]] = ("methods",)
    vars().update({name: joint(name) for name in JOINTS})

    def function(self, name):
        return joined(name, self.methods)


@dataclass(frozen=True)
class Composed(Rule):
    """UCB1 with methods.

    urgency: whether unvisited children have a bound of their own, rather than coming first
    steps: whether a method takes part in the moves of playouts
    """

    chain: Chain = Chain()
    urgency: bool = False
    steps: bool = False

    compiled_parts: ClassVar[tuple[str, ...]] = ("chain",)
    hooked: ClassVar[bool] = True

    def grow(self, game, search, walk, node, rng):
        node = np.int64(node)
        if not self.chain.expand(game, search, walk, node):
            expand(game, search.tree, node, walk.state, walk.moves, rng)
            self.chain.expanded(game, search, walk, node)

    def best_child(self, game, search, walk, node):
        """The child that a method goes to, or the one with the largest bound among those that take part.

        If these are all proven to be lost, the others are tried.
        """
        tree = search.tree
        child = self.chain.goes_to(game, search, walk)
        if child != NONE:
            return child
        self.chain.look(game, search, walk)
        first, player = tree.first_child[node], game.player(walk.state)
        scale = search.options.exploration * search.options.exploration * log_of(tree.visits[node])
        best, best_bound, spare = first, -1e9, NONE
        for child in range(first, first + tree.children[node]):
            if not self.chain.takes(game, search, walk, child):
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
        tree = search.tree
        visits = tree.visits[child]
        if visits > 0:
            mean, term = tree.value[child] / visits, sqrt(scale / visits)
        else:
            mean, term = (search.options.urgency, 0.0) if self.urgency else (0.0, FIRST)
        mean = self.chain.mean(game, search, walk, child, mean)
        term = self.chain.explore(game, search, walk, child, term, search.options.exploration)
        return mean + term + self.chain.bonus(game, search, walk, child)

    def arrive(self, game, search, walk):
        self.chain.arrive(game, search, walk)

    def play_out(self, game, search, walk, rng):
        """The first player's result, -1 to 1."""
        self.arrive(game, search, walk)
        state, plies = walk.state, 0
        if not self.steps:
            score, _ = game.random_playout(state, walk.moves, rng)
            return self.chain.result(game, search, score, 2.0 * reward_of(score) - 1.0)
        while not game.is_over(state):
            if self.chain.stops(game, search, walk, plies):
                return self.chain.estimate(game, search, walk)
            move = self.next_move(game, search, walk, rng)
            self.chain.made(game, search, walk, move)
            game.play(state, move)
            plies += 1
        score = game.score(state)
        return self.chain.result(game, search, score, 2.0 * reward_of(score) - 1.0)

    def next_move(self, game, search, walk, rng):
        """The next move of a playout, or an outcome of chance."""
        state = walk.state
        if game.has_chance and game.player(state) == CHANCE:
            return np.int64(game.random_move(state, walk.moves, rng))
        move = self.chain.decides(game, search, walk, rng)
        if move != NONE:
            return np.int64(move)
        move = self.chain.draws(game, search, walk, rng)
        if move == NONE:
            move = np.int64(game.random_move(state, walk.moves, rng))
        return np.int64(self.chain.amends(game, search, walk, move, rng))

    def reward(self, score):
        return 0.5 * (1.0 + score)

    def learn(self, game, search, walk, score):
        self.chain.learn(game, search, walk, score)
