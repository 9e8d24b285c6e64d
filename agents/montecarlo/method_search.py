"""Monte-Carlo tree searches as agents: what `uct`, `grave`, `ppa` and `mast` share."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from arena.agents.core.agent import Budget, Unsuited
from arena.agents.core.tree_arrays import Tree
from arena.agents.knowledge.prepared import PreparedAgent
from arena.agents.montecarlo.chain import SELECTION, Chain, replaces
from arena.agents.montecarlo.composed import Composed, Selecting
from arena.agents.montecarlo.method import Method
from arena.agents.montecarlo.search import TreeSearchPlayer
from arena.agents.montecarlo.ucb1 import UCB1, Numbers
from arena.agents.montecarlo.workers import own_fields, with_own


@dataclass(frozen=True)
class TreeSearch(PreparedAgent):
    """Base of the Monte-Carlo tree searches: UCB1, changed by methods.

    keep_tree: continue in the subtree of the moves that were played, instead of starting from nothing
    solver: back up proven wins, draws and losses as such
    max_nodes: a tree of this size is expanded no further (a node takes 33 bytes, and more with methods)
    exploration: the constant K of the bound, for rewards from 0 to 1
    """

    playouts: int | None = None
    seconds: float | None = None
    keep_tree: bool = False
    solver: bool = False
    max_nodes: int = 1 << 24
    exploration: float = 0.4

    budgets: ClassVar[tuple[str, ...]] = ("playouts", "seconds")
    ranges: ClassVar[dict] = {"max_nodes": (1000, 2**31 - 1), "exploration": (0,)}

    def __post_init__(self):
        super().__post_init__()
        for method in self.chosen:
            if self.keep_tree and not method.keeps:
                raise ValueError(f"keep_tree = True and {method.name} exclude each other")

    @property
    def chosen(self) -> tuple[Method, ...]:
        raise NotImplementedError

    @property
    def urgency(self) -> float | None:
        """The bound of unvisited children; None: they come first."""
        return None

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

    def new_player(self, game, budget):
        return TreeSearchPlayer(self, game, budget)

    def search_rule(self, game, shared: bool = False) -> UCB1:
        """The rule; `shared`: for threads on one tree without a lock."""
        chosen = self.chosen
        compiled = [method.compiled(game) for method in chosen]
        return (Selecting if self.selects_otherwise() else Composed)(
            solver=self.solver or any(method.proves for method in chosen),
            lanes=self.leaf_playouts(),
            urgency=self.urgency is not None,
            chain=Chain(tuple(one.for_threads() if shared else one for one in compiled)),
            steps=any(method.steps for method in chosen),
        )

    def selects_otherwise(self) -> bool:
        """Whether a method changes the selection."""
        return any(replaces(method, name) for method in self.chosen for name in SELECTION)

    def by_bound_alone(self) -> bool:
        """Whether it selects by the bound of UCB1 and nothing else."""
        proves = self.solver or any(method.proves for method in self.chosen)
        return not (proves or self.urgency is not None or self.selects_otherwise())

    def options(self) -> Numbers:
        """The numbers that the rule reads: Search.options."""
        return Numbers(self.exploration, self.urgency or 0.0, tuple(method.options() for method in self.chosen))

    def new_memory(self, game, nodes: int, playouts: int | None = None) -> tuple:
        """The methods' arrays in one game, for trees of up to `nodes` nodes and of `playouts`: Search.memory."""
        fitted = (each if playouts is None else each.fitted(game, playouts) for each in self.chosen)
        memory = tuple(method.new_memory(game, nodes) for method in fitted)
        self.forget(memory)
        return memory

    def forget(self, memory: tuple) -> None:
        for method, part in zip(self.chosen, memory):
            method.forget(part)

    def forget_own(self, memory: tuple) -> None:
        """Prepare another worker's arrays for a new tree, once the common ones are."""
        for method, part in zip(self.chosen, memory):
            method.forget(part) if method.policy else method.forget_own(part)

    def seed(self, memory: tuple, rng: np.ndarray) -> None:
        """Seed the generators among the arrays from `rng`, before a search."""

    def begin_search(self, game, memory: tuple, budget: Budget, rng: np.ndarray) -> None:
        """Prepare for a search with that budget; `rng` provides the arrays' random numbers."""
        for method, part in zip(self.chosen, memory):
            method.begin_search(game, part, budget, rng)

    def with_room(self, game, memory: tuple) -> tuple:
        """The arrays, or larger ones with the same content if they might be full."""
        return tuple(method.with_room(game, part) for method, part in zip(self.chosen, memory)) or memory

    def worker_memory(self, memory: tuple, policy: bool, workers: int) -> tuple:
        """One of several workers' arrays: private ones copied, with `policy` the policy too."""
        own = (with_own(part, own_fields(method, policy)) for method, part in zip(self.chosen, memory))
        return tuple(method.of_worker(part, workers) for method, part in zip(self.chosen, own))

    def locking(self) -> list[str]:
        """The methods for which threads on one tree need a lock for all but the playout."""
        return [method.name for method in self.chosen if not method.lockless]

    def unshared(self, game, one_policy: bool) -> str | None:
        """Why several workers cannot search one tree, with one policy for all or without; else None."""
        for method in self.chosen:
            if method.steps and method.private is None:
                return f"method {method.name} does not name the arrays of one simulation (private)"
            if method.unshared:
                return f"method {method.name} {method.unshared}"
            if method.grows(game) and not method.policy:
                return f"method {method.name} has arrays that grow in {game}"
            if method.grows(game) and one_policy:
                own = "so that each worker needs its own: policy = 'own'"
                return f"method {method.name} has a policy that grows in {game}, {own}"
        return None

    def learns(self) -> bool:
        return any(method.policy for method in self.chosen)

    def leaf_playouts(self) -> int:
        return max((method.leaf_playouts() for method in self.chosen), default=1)

    def moved(self, memory: tuple, origin: np.ndarray) -> tuple:
        """The arrays for a kept tree, whose node i was node origin[i]: int32[nodes]."""
        return tuple(moved(method, part, origin) for method, part in zip(self.chosen, memory)) or memory

    def last_choice(self, tree: Tree, memory: tuple) -> int | None:
        """The root's child that a method plays; None leaves it to the visits."""
        chosen = (method.choose(tree, part) for method, part in zip(self.chosen, memory))
        return next((child for child in chosen if child is not None), None)


@dataclass(frozen=True)
class Preset(TreeSearch):
    """Base of the agents that are `uct` with one method."""

    method: ClassVar[type[Method]]

    @property
    def chosen(self):
        own = {field.name: getattr(self, field.name) for field in fields(self.method) if hasattr(self, field.name)}
        return (self.method(**own),)


def moved(method: Method, memory: Any, origin: np.ndarray) -> Any:
    """A kept tree's arrays of a method: row i of those by nodes was row origin[i]."""
    arrays = {}
    for name in method.per_node:
        arrays[name] = np.zeros_like(getattr(memory, name))
        arrays[name][: len(origin)] = getattr(memory, name)[origin]
    return memory._replace(**arrays) if arrays else memory
