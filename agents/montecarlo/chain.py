"""The methods of a search as one object, a chain, which hands each method its own arrays and numbers."""

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from arena.agents.montecarlo.method import NONE, Method
from arena.agents.montecarlo.search import Search
from arena.games.core.jit import Compilable

# A chain's line for the call of each method, and its last return value
EACH = "{call}", "None"
ALL_OF = "if not {call}: return False", "True"
ANY_OF = "if {call}: return True", "False"
FIRST_OF = "found = {call}\n    if found != NONE: return found", "NONE"
SELECTION = ("look", "takes", "mean", "explore", "bonus", "goes_to")
JOINTS = {
    "has_room": ALL_OF,
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
    "played": EACH,
    "plays": ("return {call}", "0.0"),
    "stops": ANY_OF,
    "estimate": ("total = {call} + total", "total"),
    "result": ("result = {call}", "result"),
    "learn": EACH,
}


@functools.cache
def joined(name: str, methods: tuple[Method, ...]) -> Callable[..., Any]:
    """A chain's function of that name, generated to call only the methods that replace it."""
    line, returned = JOINTS[name]
    first, *rest = inspect.signature(getattr(Method, name)).parameters
    lines = [f"def {name}({', '.join([first, *rest])}):"]
    scope: dict[str, Any] = {"__name__": __name__, "Search": Search, "NONE": NONE}
    if returned == "total":
        lines.append("total = 0.0")
    for i, method in reversed(list(enumerate(methods))) if returned == "total" else enumerate(methods):
        if replaces(method, name):
            scope[f"method{i}"] = method
            own = f"Search(search.tree, search.memory[{i}], search.options.chain[{i}])"
            passed = ", ".join(own if each == "search" else each for each in rest)
            lines.append(line.format(call=f"method{i}.{name}({passed})"))
    exec("\n    ".join([*lines, f"return {returned}"]), scope)
    return scope[name]


def replaces(method: Method, name: str) -> bool:
    """Whether a method has its own function of that name."""
    return method.function(name) is not getattr(Method, name)


def joint(name: str) -> Callable[..., Any]:
    """The function `name` of any chain in plain Python; each kernel has its chain's own."""

    @functools.wraps(getattr(Method, name))
    def call(self, *arguments):
        return joined(name, self.methods)(self, *arguments)

    return call


@dataclass(frozen=True)
class Chain(Compilable):
    """Several methods as one, with Method's functions.  Kernels get tuples of the methods' arrays and numbers."""

    methods: tuple[Method, ...] = ()

    compiled_parts: ClassVar[tuple[str, ...]] = ("methods",)
    vars().update({name: joint(name) for name in JOINTS})

    def function(self, name):
        return joined(name, self.methods)
