"""The strength speed-ups of a study along a parameter of its schemes, such as the virtual losses of a simulation."""

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import pandas as pd

from arena import agents


def along(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of `strength_scaling.table` whose schemes differ in one parameter, with its `parameter` and `value`.

    `scheme` becomes what else a line has: the scheme without the parameter, and its workers.  ValueError: there is no
    such parameter, or more than one.
    """
    values = {scheme: _numbers(scheme) for scheme in frame["scheme"].unique()}
    found = {name: lines for name in _names(values) if (lines := _lines(values, name))}
    if len(found) != 1:
        several = f"several parameters vary: {', '.join(found)}" if found else "no number varies between its schemes"
        raise ValueError(f"{several}; one does in 'tree(virtual_loss=[0, 1, 3, 10])'")
    [(parameter, lines)] = found.items()
    kept = frame[frame["scheme"].isin(lines)].copy()
    kept["parameter"], kept["value"] = parameter, [values[scheme][parameter] for scheme in kept["scheme"]]
    kept["scheme"] = [f"{lines[scheme]} x{workers}" for scheme, workers in zip(kept["scheme"], kept["workers"])]
    return kept.sort_values("value", kind="stable")


def _numbers(scheme: str) -> dict[str, float]:
    """The parameters of a scheme that are numbers."""
    agent: Any = agents.make(scheme)
    every = {field.name: getattr(agent, field.name) for field in fields(agent)}
    return {name: value for name, value in every.items() if isinstance(value, (int, float)) and type(value) is not bool}


def _names(values: dict[str, dict[str, float]]) -> Sequence[str]:
    return list(dict.fromkeys(name for numbers in values.values() for name in numbers))


def _lines(values, name: str) -> dict[str, str]:
    """{scheme: the same at the parameter's default}, of schemes that have company there."""
    base = {scheme: _at_default(scheme, name) for scheme, numbers in values.items() if name in numbers}
    together = [*base.values()]
    return {scheme: line for scheme, line in base.items() if together.count(line) > 1}


def _at_default(scheme: str, name: str) -> str:
    agent: Any = agents.make(scheme)
    default = next(field.default for field in fields(agent) if field.name == name)
    return str(replace(agent, **{name: default}))
