"""Columns from the fields of record classes: names, and types in SQLite and pandas."""

from collections.abc import Iterable
from dataclasses import Field, fields
from types import NoneType
from typing import Any, get_args

SQL = {int: "INTEGER", float: "REAL", str: "TEXT"}
PANDAS = {(int, False): "int64", (int, True): "Int64", (float, False): "float64", (float, True): "float64"}


def kind_of(field: Field) -> tuple[type, bool]:
    """The field's type (int, float, str, tuple), and whether it may be None."""
    kinds = get_args(field.type) if NoneType in get_args(field.type) else (field.type,)
    return next(kind for kind in kinds if kind is not NoneType), NoneType in kinds


def columns_of(record: type) -> tuple[str, ...]:
    """The fields that are columns, in the order of the table: the class's own before those that it inherits."""
    names = [field.name for field in fields(record) if kind_of(field)[0] in SQL]
    return tuple(sorted(names, key=lambda name: name not in record.__annotations__))


def declarations(record: type, constraints: dict[str, str] | None = None) -> str:
    """The columns of a record class as CREATE TABLE declares them, with further `constraints` of some by name."""
    by_name = {field.name: kind_of(field) for field in fields(record)}
    lines = []
    for name in columns_of(record):
        kind, optional = by_name[name]
        more = (constraints or {}).get(name, "")
        lines.append(" ".join(filter(None, (name, SQL[kind], "" if optional else "NOT NULL", more))))
    return ",\n    ".join(lines)


def frame_types(record: type, names: Iterable[str]) -> dict[Any, str]:
    """The types, in a data frame, of those of the columns `names` that hold numbers."""
    types = {field.name: PANDAS.get(kind_of(field)) for field in fields(record)}
    return {name: found for name in names if (found := types.get(name))}
