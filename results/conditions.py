"""Conditions, in each of which a tournament plays everything: an instance, which is a game, with a budget."""

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_TOLD = {"playouts": "{} playouts", "nodes": "{} nodes", "depth": "depth {}", "seconds": "{} s", "clock": "clock {}"}


class Condition(NamedTuple):
    """One condition of a tournament; number = index of the instance * number of budgets + index of the budget."""

    number: int  # from 0
    instance: str  # the game, in the shortest form that differs from the other instances
    budget: str  # such as `1000 playouts`; empty where there is none
    spec: str = ""  # the game with all its parameters
    limits: Mapping[str, float | str] = {}  # the budget by kinds, such as {"playouts": 1000} or {"clock": "10+0.1"}

    @property
    def label(self) -> str:
        """Instance and budget."""
        return ", ".join(filter(None, (self.instance, self.budget)))


def conditions_of(config: Mapping) -> list[Condition]:
    """The conditions of a resolved configuration, in the order of their numbers."""
    labels = short_names(config["instances"])
    pairs = [(spec, label, limits) for spec, label in zip(config["instances"], labels) for limits in config["budgets"]]
    return [
        Condition(number, label, budget_name(limits), spec, limits)
        for number, (spec, label, limits) in enumerate(pairs)
    ]


def budget_name(limits: Mapping[str, float | str]) -> str:
    """`{"playouts": 1000}` as `1000 playouts`."""
    texts = {kind: amount if isinstance(amount, str) else f"{amount:.12g}" for kind, amount in limits.items()}
    return ", ".join(_TOLD[kind].format(text) for kind, text in texts.items())


def short_names(specs: Sequence[str]) -> list[str]:
    """`name(a=1, b=2)` as `name(b=2)` where every spec of that name has the same a."""
    calls = [ast.parse(spec, mode="eval").body for spec in specs]
    parts = [_parts(call) for call in calls]
    short = []
    for name, values in parts:
        others = [other for its_name, other in parts if its_name == name]
        telling = [
            f"{key}={value}" for key, value in values.items() if any(other.get(key) != value for other in others)
        ]
        short.append(f"{name}({', '.join(telling)})" if telling else name)
    return short


def _parts(call: ast.expr) -> tuple[str, dict[str | None, str]]:
    """The name and the parameters of a parsed spec."""
    if isinstance(call, ast.Call):
        return ast.unparse(call.func), {word.arg: ast.unparse(word.value) for word in call.keywords}
    return ast.unparse(call), {}
