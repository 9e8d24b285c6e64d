"""UCT: Monte-Carlo tree search with the UCB1 rule (Kocsis & Szepesvari, "Bandit based Monte-Carlo planning", 2006).

The child with the largest  value + K sqrt(ln N / n)  is selected, unvisited children first; N and n are the visits of
the node and of the child, value the child's mean reward for the player who moves at the node.  With
`first_play_urgency` u an unvisited child has the bound u instead (Gelly & Wang, "Exploration exploitation in Go",
2006), so that a good child may be visited again before all have been.  For games for two players.

With `lanes` a leaf is played out so many times at once, and all results are backed up: see leaves.py beside this file.

`methods` are what others have added to it, a file each in agents/montecarlo/methods; without any it is plain UCT.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any, ClassVar, NamedTuple

import numpy as np

from agents.core.agent import Unsuited
from agents.core.selection import largest_bound, log_of, prefetch
from agents.core.tree import UNPROVEN
from agents.montecarlo.composed import Composed, Numbers, chain_of, chained_values, unchained
from agents.montecarlo.leaves import LANES, new_leaf_playouts
from agents.montecarlo.method import Method, methods_of, registry
from agents.montecarlo.search import UNSAID, Rule, TreeSearch, certain_bound
from agents.montecarlo.workers import own_fields, with_own
from games.core.game import check_choice


class UCBOptions(NamedTuple):
    """The numbers of UCB1."""

    exploration: float
    urgency: float  # the bound of unvisited children, where the rule has `urgency`


@dataclass(frozen=True)
class UCB1(Rule):
    """urgency: whether unvisited children have a bound of their own, rather than coming first."""

    urgency: bool = False

    def best_child(self, game, search, walk, node):
        """The first unvisited child, or the one with the largest bound.

        Single precision, and the bound as q/n + sqrt((K^2 ln N)/n), make a search of Connect 4 a fifth faster.
        """
        tree, options = search.tree, search.options
        first, count = tree.first_child[node], tree.children[node]
        scale = np.float32(options.exploration * options.exploration * log_of(tree.visits[node]))
        if self.solver or self.urgency:
            return self.best_of_each(game, search, walk, node, scale)
        for column in (tree.move, tree.first_child, tree.children):  # what is read next, of one of the children
            prefetch(column, first)
        return largest_bound(tree.visits, tree.value, first, count, scale)

    def best_of_each(self, game, search, walk, node, scale):
        """The same, where proven or unvisited children have bounds of their own."""
        tree = search.tree
        first = tree.first_child[node]
        best, best_bound = first, np.float32(-2.0)
        for child in range(first, first + tree.children[node]):
            visits = tree.visits[child]
            if self.solver and tree.proven[child] != UNPROVEN:
                bound = np.float32(certain_bound(tree, child, game.player(walk.state)))
            elif visits > 0:
                share = np.float32(1.0) / np.float32(visits)
                bound = np.float32(tree.value[child]) * share + sqrt(scale * share)
            elif self.urgency:
                bound = np.float32(search.options.urgency)
            else:
                return child
            if bound > best_bound:
                best, best_bound = child, bound
        return best


@dataclass(frozen=True)
class ManyPlayouts(UCB1):
    """Several playouts of each leaf.  Search.memory: the LeafPlayouts."""

    def play_out(self, game, search, walk, rng):
        return 2.0 * search.memory.way.rewards(game, walk, search.memory.room, rng) / self.lanes - 1.0


def check_exploration(exploration: float) -> None:
    """ValueError unless the constant K is 0 or more."""
    if not exploration >= 0:
        raise ValueError(f"exploration = {exploration} is out of range: it can be 0 or more")


@dataclass(frozen=True)
class UCT(TreeSearch):
    """Monte-Carlo tree search with UCB1.

    exploration: the constant K of the bound, for rewards from 0 to 1
    first_play_urgency: the bound of unvisited children; none: they come first
    lanes: playouts of each leaf, side by side where the game has lanes
    methods: additional methods, joined by +: "implicit(alpha=0.2) + halving"
    """

    exploration: float = 0.4
    first_play_urgency: float | None = None
    lanes: int = 1
    methods: str = ""

    name: ClassVar[str] = "uct"
    catalogue: ClassVar[dict] = {"methods": registry}

    def __post_init__(self):
        super().__post_init__()
        check_exploration(self.exploration)
        check_choice("lanes", self.lanes, LANES)
        for method in self.chosen:
            if self.lanes > 1:
                raise ValueError(f"lanes = {self.lanes} and methods = {self.methods!r} exclude each other")
            if self.keep_tree and not method.keeps:
                raise ValueError(f"keep_tree = True and {method.name} exclude each other")

    @property
    def chosen(self) -> tuple[Method, ...]:
        """Its methods."""
        return methods_of(self.methods)

    def files(self):
        return super().files() + [path for method in self.chosen for path in method.files()]

    def refuses(self, game):
        if reason := super().refuses(game):
            return reason
        for method in self.chosen:
            if unmet := method.needs.unmet(game):
                return f"method {method.name} of {self} plays games {unmet}"
            if misfit := method.misfit(game):
                return f"method {method.name} of {self}: {misfit}"
        return None

    def budget(self, default=None):
        budget = super().budget(default)
        for method in self.chosen:
            if reason := method.unsuited(budget):
                raise Unsuited(f"method {method.name} of {self} {reason}")
        return budget

    def search_rule(self, game):
        urgency, chosen = self.first_play_urgency is not None, self.chosen
        if chosen:
            solver, steps = (any(getattr(method, what) for method in chosen) for what in ("proves", "steps"))
            return Composed(self.solver or solver, chain=chain_of(chosen), urgency=urgency, steps=steps)
        return (UCB1 if self.lanes == 1 else ManyPlayouts)(self.solver, self.lanes, urgency=urgency)

    def options(self):
        if self.chosen:
            numbers = chained_values([method.options() for method in self.chosen])
            return Numbers(self.exploration, self.first_play_urgency or 0.0, numbers)
        return UCBOptions(self.exploration, self.first_play_urgency or 0.0)

    def new_memory(self, game, nodes):
        if self.chosen:
            parts = [method.new_memory(game, nodes) for method in self.chosen]
            for method, part in zip(self.chosen, parts):
                method.forget(part)
            return chained_values(parts)
        return () if self.lanes == 1 else new_leaf_playouts(game, self.lanes)

    def worker_memory(self, memory, policy):
        if not self.chosen:
            return with_own(memory, ("room",)) if self.lanes > 1 else memory
        return chained_values([with_own(part, own_fields(method, policy)) for method, part in self.parts_of(memory)])

    def unshared(self, game, one_policy):
        for method in self.chosen:
            if method.steps and method.private is None:
                return f"method {method.name} {UNSAID}"
            if method.unshared:
                return f"method {method.name} {method.unshared}"
        return None

    def learns(self):
        return any(method.policy for method in self.chosen)

    def seed(self, memory, rng):
        if self.lanes > 1:
            memory.seed(rng)

    def forget(self, memory):
        for method, part in self.parts_of(memory):
            method.forget(part)

    def begin_search(self, game, memory, budget, rng):
        for method, part in self.parts_of(memory):
            method.begin_search(game, part, budget, rng)

    def moved(self, memory, origin):
        return chained_values([moved(method, part, origin) for method, part in self.parts_of(memory)]) or memory

    def last_choice(self, tree, memory):
        chosen = (method.choose(tree, part) for method, part in self.parts_of(memory))
        return next((child for child in chosen if child is not None), None)

    def parts_of(self, memory) -> list[tuple[Method, tuple]]:
        """Its methods, each with its own arrays."""
        return list(zip(self.chosen, unchained(memory))) if self.chosen else []


def moved(method: Method, memory: Any, origin: np.ndarray) -> Any:
    """The arrays of a method for a kept tree: row i of those with a row for each node was row origin[i]."""
    arrays = {}
    for name in method.per_node:
        arrays[name] = np.zeros_like(getattr(memory, name))
        arrays[name][: len(origin)] = getattr(memory, name)[origin]
    return memory._replace(**arrays) if arrays else memory
