"""Conditions, in each of which a tournament plays everything: an instance, which is a game, with a budget."""

from collections.abc import Mapping
from typing import NamedTuple

_TOLD = {"playouts": "{} playouts", "nodes": "{} nodes", "depth": "depth {}", "seconds": "{} s", "clock": "clock {}"}


class Condition(NamedTuple):
    """Number = index of the instance * number of budgets + index of the budget."""

    number: int  # from 0
    instance: str  # the game, with parameters not at their defaults
    budget: str  # such as `1000 playouts`; empty if there is none
    spec: str = ""  # the game again; empty if not known, as for imported games
    limits: Mapping[str, float | str] = {}  # the budget by kinds: {"playouts": 1000}, {"clock": "10+0.1"}

    @property
    def label(self) -> str:
        """Instance and budget."""
        return ", ".join(filter(None, (self.instance, self.budget)))


def conditions_of(config: Mapping) -> list[Condition]:
    """The conditions of a resolved configuration, in the order of their numbers."""
    pairs = [(spec, limits) for spec in config["instances"] for limits in config["budgets"]]
    return [Condition(number, spec, budget_name(limits), spec, limits) for number, (spec, limits) in enumerate(pairs)]


def budget_name(limits: Mapping[str, float | str]) -> str:
    """`{"playouts": 1000}` as `1000 playouts`."""
    texts = {kind: amount if isinstance(amount, str) else f"{amount:.12g}" for kind, amount in limits.items()}
    return ", ".join(_TOLD[kind].format(text) for kind, text in texts.items())
