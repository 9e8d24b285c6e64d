"""Tree searches that methods change: what `uct`, `grave`, `ppa` and `mast` share."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from agents.core.agent import Unsuited
from agents.montecarlo.chain import SELECTION, Chain, replaces
from agents.montecarlo.composed import Composed, Numbers, Selecting
from agents.montecarlo.method import Method
from agents.montecarlo.search import TreeSearch
from agents.montecarlo.workers import own_fields, with_own


@dataclass(frozen=True)
class MethodSearch(TreeSearch):
    """Base of the searches with methods.

    exploration: the constant K of the bound, for rewards from 0 to 1
    """

    exploration: float = 0.4

    ranges: ClassVar[dict] = {"exploration": (0,)}

    def __post_init__(self):
        super().__post_init__()
        for method in self.chosen:
            if self.keep_tree and not method.keeps:
                raise ValueError(f"keep_tree = True and {method.name} exclude each other")

    @property
    def chosen(self) -> tuple[Method, ...]:
        """Its methods."""
        raise NotImplementedError

    @property
    def urgency(self) -> float | None:
        """The bound of unvisited children, if they have one of their own."""
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

    def search_rule(self, game):
        chosen = self.chosen
        selects = any(replaces(method, name) for method in chosen for name in SELECTION)
        return (Selecting if selects else Composed)(
            solver=self.solver or any(method.proves for method in chosen),
            lanes=self.leaf_playouts(),
            urgency=self.urgency is not None,
            chain=Chain(tuple(method.compiled(game) for method in chosen)),
            steps=any(method.steps for method in chosen),
        )

    def options(self):
        return Numbers(self.exploration, self.urgency or 0.0, tuple(method.options() for method in self.chosen))

    def new_memory(self, game, nodes):
        memory = tuple(method.new_memory(game, nodes) for method in self.chosen)
        self.forget(memory)
        return memory

    def forget(self, memory):
        for method, part in zip(self.chosen, memory):
            method.forget(part)

    def begin_search(self, game, memory, budget, rng):
        for method, part in zip(self.chosen, memory):
            method.begin_search(game, part, budget, rng)

    def with_room(self, game, memory):
        return tuple(method.with_room(game, part) for method, part in zip(self.chosen, memory)) or memory

    def worker_memory(self, memory, policy):
        return tuple(with_own(part, own_fields(method, policy)) for method, part in zip(self.chosen, memory))

    def unshared(self, game, one_policy):
        for method in self.chosen:
            if method.steps and method.private is None:
                return f"method {method.name} does not say which of its arrays belong to one simulation (private)"
            if method.unshared:
                return f"method {method.name} {method.unshared}"
            if method.grows(game) and not method.policy:
                return f"method {method.name} has arrays that grow in {game}"
            if method.grows(game) and one_policy:
                own = "so that each worker needs its own: policy = 'own'"
                return f"method {method.name} has a policy that grows in {game}, {own}"
        return None

    def learns(self):
        return any(method.policy for method in self.chosen)

    def leaf_playouts(self):
        return max((method.leaf_playouts() for method in self.chosen), default=1)

    def moved(self, memory, origin):
        return tuple(moved(method, part, origin) for method, part in zip(self.chosen, memory)) or memory

    def last_choice(self, tree, memory):
        chosen = (method.choose(tree, part) for method, part in zip(self.chosen, memory))
        return next((child for child in chosen if child is not None), None)


@dataclass(frozen=True)
class Preset(MethodSearch):
    """Base of the agents that are `uct` with one method, whose parameters are theirs."""

    method: ClassVar[type[Method]]

    @property
    def chosen(self):
        own = {field.name: getattr(self, field.name) for field in fields(self.method) if hasattr(self, field.name)}
        return (self.method(**own),)


def moved(method: Method, memory: Any, origin: np.ndarray) -> Any:
    """The arrays of a method for a kept tree: row i of those with a row for each node was row origin[i]."""
    arrays = {}
    for name in method.per_node:
        arrays[name] = np.zeros_like(getattr(memory, name))
        arrays[name][: len(origin)] = getattr(memory, name)[origin]
    return memory._replace(**arrays) if arrays else memory
