"""The parameters of an agent that is tuned: ranges and choices, as points from 0 to 1 and as the agent's text."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, replace
from functools import cached_property
from typing import Any

from arena import agents
from arena.agents.core.agent import Agent
from arena.config.complaints import shown
from arena.config.config import ConfigError
from arena.games.core.shared.parameters import parameters_of
from arena.games.core.shared.registry import spell

MOST, LEAST = 1e150, 1e-150  # of numbers whose quotients are numbers
KEYS = {"low", "high", "log", "whole", "choices"}
DIGITS = 4  # significant ones of a value tried
JOINTS = {"options": "; "}  # between the weights or options in a parameter's text
FORM = "is no range: { low = 0.1, high = 2.0, log = true }, [0.1, 2.0], or { choices = [...] }"

Value = int | float | str | bool
Values = dict[str, Value]  # by the parameter's name, such as exploration, evaluation.queens or methods.puct.c
Made = dict[str, Any]  # an agent, its search and its methods, by what their parameters' names begin with: see `_made`


@dataclass(frozen=True)
class Parameter:
    """A number from `low` to `high`, whole or not, on a logarithmic scale or not; or one of `choices`."""

    name: str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False
    choices: tuple[Value, ...] = ()

    def value(self, place: float) -> Value:
        """The value at a place from 0 to 1, or the choice of that number."""
        if self.choices:
            return self.choices[int(place)]
        place = min(max(place, 0.0), 1.0)
        if self.log:
            exact = self.low * (self.high / self.low) ** place
        else:
            exact = self.low + place * (self.high - self.low)
        if self.whole:
            return round(exact)
        return min(max(float(f"{exact:.{DIGITS}g}"), self.low), self.high)

    def place(self, value: Any) -> float:
        """The inverse of `value`; outside 0 to 1 beyond the range; ValueError of what is no choice."""
        if self.choices:
            return float(self.choices.index(value))
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def holds(self, value: Any) -> bool:
        """Whether a value is in the range, or a choice."""
        return value in self.choices if self.choices else self.low <= value <= self.high

    def shown(self, place: float) -> str:
        """The value at a place, for people."""
        found = self.value(place)
        return f"{found:.3g}" if isinstance(found, float) else str(found)


@dataclass(frozen=True)
class Space:
    """An agent with parameters to tune; the others stay as they are."""

    agent: Agent
    parameters: tuple[Parameter, ...]

    @cached_property
    def made(self) -> Made:
        return _made(self.agent)

    @property
    def sizes(self) -> list[int]:
        """For each parameter how many choices it has, 0 for a number."""
        return [len(parameter.choices) for parameter in self.parameters]

    def values(self, point: Iterable[float]) -> Values:
        """The values at a point."""
        return {parameter.name: parameter.value(place) for parameter, place in zip(self.parameters, point)}

    def point(self, values: Mapping[str, Any]) -> list[float]:
        """The point of values."""
        return [parameter.place(values[parameter.name]) for parameter in self.parameters]

    def spec(self, values: Mapping[str, Any]) -> str:
        """The agent's text with these values; ValueError if it refuses them."""
        return str(agents.make(_text(self.made, "", values)))

    def start(self) -> Values:
        """The agent's own values, which may lie beyond the ranges."""
        found = {own.name: _own_value(self.made, own) for own in self.parameters}
        return {own.name: int(found[own.name]) if own.whole else found[own.name] for own in self.parameters}

    def inner(self, point: Iterable[float]) -> list[float]:
        """The nearest point within the ranges."""
        return [place if size else min(max(place, 0.0), 1.0) for place, size in zip(point, self.sizes)]


def space_of(spec: str, tables: Mapping[str, Any], source: str) -> Space:
    """The space of an agent's text and tables of ranges; ConfigError with everything that is wrong."""
    try:
        agent = agents.make(spec)
    except ValueError as error:
        raise ConfigError([f"{source}: agent = {shown(spec)}: {error}"]) from None
    problems: list[str] = []
    parameters = _ranges(_made(agent), "", tables, problems)
    if not tables:
        problems.append("parameters: is missing; give the ranges to search: exploration = { low = 0.1, high = 2.0 }")
    found = Space(agent, tuple(parameters))
    if not problems:
        problems += _refused(found)
    if problems:
        raise ConfigError([f"{source}: {problem}" for problem in problems])
    return found


def _made(agent: Any, at: str = "") -> Made:
    """An agent, as "", its search, as "search.", and its methods, as "methods.puct."; None for "methods." itself."""
    found: Made = {at: agent}
    if "search" in _fields(agent) and hasattr(agent, "searcher"):
        found |= _made(agent.searcher(), f"{at}search.")
    for field in getattr(agent, "catalogue", {}):
        found[f"{at}{field}."] = None
        found |= {f"{at}{field}.{one.name}.": one for one in getattr(agent, "chosen", ())}
    return found


def _fields(made: Any) -> dict[str, Field]:
    return {field.name: field for field in parameters_of(type(made))} if made else {}


def _text(made: Made, at: str, values: Mapping[str, Any]) -> str:
    """The text of what is at a place, with these values; ValueError if it refuses them."""
    if made[at] is None:
        return " + ".join(_text(made, place, values) for place in made if place.startswith(at) and place != at)
    own: dict[str, Any] = {}
    weights: dict[str, dict[str, Any]] = {}
    for name in [name for name in values if name.startswith(at)]:
        field, _, part = name.removeprefix(at).partition(".")
        if not part:
            own[field] = values[name]
        elif f"{at}{field}." in made:
            own[field] = _text(made, f"{at}{field}.", values)
        else:
            weights.setdefault(field, _parts(made[at], field))[part] = values[name]
    for field, changed in weights.items():
        own[field] = JOINTS.get(field, ", ").join(f"{name}={value}" for name, value in changed.items())
    return spell(replace(made[at], **own), every=False)


def _ranges(made: Made, at: str, tables: Mapping[str, Any], problems: list[str]) -> list[Parameter]:
    """The parameters in a table of ranges, and in those within it."""
    found: list[Parameter | None] = []
    known = _fields(made[at])
    for name, table in tables.items():
        place = f"{at}{name}."
        if place in made and _has_parts(table):
            found += _ranges(made, place, table, problems)
        elif name not in known:
            problems.append(f"parameters.{at}{name}: {_unknown(made, at, name)}")
        elif _has_parts(table):
            found += [_read(place + part, each, False, problems) for part, each in table.items()]
        else:
            found.append(_read(at + name, table, known[name].type in (int, int | None), problems))
    return [parameter for parameter in found if parameter]


def _unknown(made: Made, at: str, name: str) -> str:
    """Words on a name that is no parameter: what there is."""
    meant = [place + name for place, one in made.items() if name in _fields(one)]
    did = f" (did you mean {meant[0]}?)" if meant else ""
    if inner := _fields(made.get(f"{at}{name}.")):
        return f"is no parameter; it has {', '.join(inner)}: {name} = {{ {next(iter(inner))} = ... }}"
    if made[at] is None:
        named = [place.removeprefix(at)[:-1] for place in made if place.startswith(at) and place != at]
        return f"the agent's text names no {name}{did}; it names {', '.join(named) or 'none'}"
    return f"{made[at].name} has no parameter {name}{did}; it has {', '.join(_fields(made[at]))}"


def _has_parts(table: Any) -> bool:
    return isinstance(table, Mapping) and bool(table) and not table.keys() & {"low", "high", "choices"}


def _read(name: str, table: Any, whole: bool, problems: list[str]) -> Parameter | None:
    place = f"parameters.{name} = {shown(table)}"
    if isinstance(table, list | tuple) and len(table) == 2 and all(type(one) in (int, float) for one in table):
        table = {"low": table[0], "high": table[1]}
    if not isinstance(table, Mapping) or not table.keys() <= KEYS:
        problems.append(f"{place}: {FORM}")
        return None
    if "choices" in table:
        choices = table["choices"]
        plain = isinstance(choices, list | tuple) and all(isinstance(one, Value) for one in choices)
        if not plain or len(set(choices)) < max(2, len(choices)):
            problems.append(f"{place}: choices are a list of two or more different values")
            return None
        return Parameter(name, choices=tuple(choices))
    low: Any = table.get("low")
    high: Any = table.get("high")
    log, whole = table.get("log", False), table.get("whole", whole)
    if not {type(low), type(high)} <= {int, float} or {type(log), type(whole)} != {bool}:
        problems.append(f"{place}: {FORM}")
    elif not low < high:
        problems.append(f"{place}: low is less than high; from {shown(high)} to {shown(low)}?")
    elif not -MOST <= low < high <= MOST or high - low < LEAST:
        problems.append(f"{place}: low and high are finite numbers, up to {MOST:g} and at least {LEAST:g} apart")
    elif log and low < LEAST:
        problems.append(f"{place}: on a logarithmic scale low is above 0, at least {LEAST:g}")
    elif whole and not low == round(low) < round(high) == high:
        ends = f"{{ low = {math.floor(low)}, high = {math.ceil(high)} }}"
        problems.append(f"{place}: is for whole numbers, so low and high are whole, such as {ends}")
    else:
        return Parameter(name, low, high, log, whole)
    return None


def _own_value(made: Made, own: Parameter) -> Any:
    """The agent's value of a parameter; of a weight or an option as text says, as a number unless it is a choice."""
    at = max((place for place in made if own.name.startswith(place)), key=len)
    field, _, part = own.name.removeprefix(at).partition(".")
    value = _parts(made[at], field).get(part) if part else getattr(made[at], field)
    with suppress(ValueError):
        return float(value) if part and value is not None and not own.choices else value
    return value


def _refused(space: Space) -> list[str]:
    """What the agent says of the ends of ranges, and of choices; and values to begin from that there are not."""
    found = [problem for own in space.parameters for problem in _start_fault(space, own)]
    if found:
        return found
    start = space.start()
    for parameter in space.parameters:
        for value in parameter.choices or (parameter.value(0.0), parameter.value(1.0)):
            try:
                space.spec(start | {parameter.name: value})
            except ValueError as error:
                found.append(f"parameters.{parameter.name}: {error}")
            except TypeError:
                found.append(f"parameters.{parameter.name}: {value!r} is not of its type")
    return found


def _start_fault(space: Space, own: Parameter) -> list[str]:
    value = _own_value(space.made, own)
    if own.choices:
        fault = "" if value in own.choices else "is none of the choices"
    else:
        known = type(value) in (int, float) and math.isfinite(value)
        fault = "" if known and (value > 0 or not own.log) else "is no number to begin from"
    if not fault:
        return []
    such = f"give it one, such as {own.name.rpartition('.')[2]} = {own.value(0 if own.choices else 0.5)!r}"
    return [f"parameters.{own.name}: its value in agent = {str(space.agent)!r}, {value!r}, {fault}: {such}"]


def _parts(made: Any, field: str) -> dict[str, str]:
    """The weights, or options, in a parameter's text."""
    text = str(getattr(made, field) or "")
    pairs = [part.partition("=") for part in text.split(JOINTS.get(field, ", ").strip()) if "=" in part]
    return {name.strip(): value.strip() for name, _, value in pairs}
