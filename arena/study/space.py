"""The parameters of an agent that is tuned: ranges and choices, as points from 0 to 1 and as the agent's text."""

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from arena import agents
from arena.agents.core.agent import Agent
from arena.config.complaints import shown
from arena.config.config import ConfigError
from arena.games.core.parameters import parameters_of
from arena.games.core.registry import spell

MOST, LEAST = 1e150, 1e-150  # of numbers whose quotients are numbers
KEYS = {"low", "high", "log", "whole", "choices"}
DIGITS = 4  # significant ones of a value tried
JOINTS = {"options": "; "}  # between the weights or options in a parameter's text
FORM = "is no range: { low = 0.1, high = 2.0, log = true }, [0.1, 2.0], or { choices = [...] }"

Value = int | float | str | bool
Values = dict[str, Value]  # by the parameter's name, such as exploration or evaluation.queens


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
        own: dict[str, Any] = {}
        weights: dict[str, dict[str, Any]] = {}
        for name, value in values.items():
            field, _, part = name.partition(".")
            if part:
                weights.setdefault(field, {})[part] = value
            else:
                own[field] = value
        for field, changed in weights.items():
            given = {name.strip(): value for name, value in _parts(self.agent, field).items()}
            own[field] = JOINTS.get(field, ", ").join(f"{name}={value}" for name, value in (given | changed).items())
        return str(agents.make(spell(replace(self.agent, **own), every=False)))

    def start(self) -> Values:
        """The agent's own values, which may lie beyond the ranges."""
        found = {own.name: _own_value(self.agent, own) for own in self.parameters}
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
    known = {field.name: field for field in parameters_of(type(agent))}
    parameters = []
    for name, table in tables.items():
        if name not in known:
            problems.append(f"parameters.{name}: {agent.name} has no parameter {name}; it has {', '.join(known)}")
        elif _has_parts(table):
            parameters += [_read(f"{name}.{part}", each, False, problems) for part, each in table.items()]
        else:
            parameters.append(_read(name, table, known[name].type in (int, int | None), problems))
    if not tables:
        problems.append("parameters: is missing; give the ranges to search: exploration = { low = 0.1, high = 2.0 }")
    found = Space(agent, tuple(parameter for parameter in parameters if parameter))
    if not problems:
        problems += _refused(found)
    if problems:
        raise ConfigError([f"{source}: {problem}" for problem in problems])
    return found


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


def _own_value(agent: Agent, own: Parameter) -> Any:
    """The agent's value of a parameter; of a weight or an option as text says, as a number unless it is a choice."""
    field, _, part = own.name.partition(".")
    value = _parts(agent, field).get(part) if part else getattr(agent, field)
    with suppress(ValueError):
        return float(value) if part and value is not None and not own.choices else value
    return value


def _refused(space: Space) -> list[str]:
    """What the agent says of the ends of ranges, and of choices; and values to begin from that there are not."""
    found = [problem for own in space.parameters for problem in _start_fault(space.agent, own)]
    if found:
        return found
    start = space.start()
    for parameter in space.parameters:
        for value in parameter.choices or (parameter.value(0.0), parameter.value(1.0)):
            try:
                space.spec(start | {parameter.name: value})
            except ValueError as error:
                found.append(f"parameters.{parameter.name}: {error}")
    return found


def _start_fault(agent: Agent, own: Parameter) -> list[str]:
    value = _own_value(agent, own)
    if own.choices:
        fault = "" if value in own.choices else "is none of the choices"
    else:
        known = type(value) in (int, float) and math.isfinite(value)
        fault = "" if known and (value > 0 or not own.log) else "is no number to begin from"
    if not fault:
        return []
    such = f"give it one, such as {own.name} = {own.value(0 if own.choices else 0.5)!r}"
    return [f"parameters.{own.name}: its value in agent = {str(agent)!r}, {value!r}, {fault}: {such}"]


def _parts(agent: Agent, field: str) -> dict[str, str]:
    """The weights, or options, in a parameter's text."""
    text = str(getattr(agent, field) or "")
    pairs = [part.partition("=") for part in text.split(JOINTS.get(field, ", ").strip()) if "=" in part]
    return {name.strip(): value.strip() for name, _, value in pairs}
