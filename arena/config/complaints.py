"""Error messages of a configuration: the key, the value, and what would be right."""

import difflib
from collections.abc import Mapping

from pydantic.fields import FieldInfo

from arena.config.keys import CommonKeys, table_of

_FAULTS = {
    "missing": "is missing",
    "int_type": "is not a whole number",
    "bool_type": "is neither true nor false",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "string_type": "is not text",
    "tuple_type": "is not a list",
    "model_type": "is not a table",
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "is out of range"),
}


def in_words(fault, known: Mapping[str, FieldInfo]) -> str:
    """The message for a problem that pydantic found; `known` are the existing keys."""
    kind, place = fault["type"], fault["loc"]
    keys, field = known, None
    for part in place:
        if isinstance(part, str):
            table, field = keys, keys.get(part)
            inner = field and table_of(field)
            keys = inner.model_fields if inner else keys
    key = key_of(place)
    if kind == "missing":
        return f"{key}: is missing; {field.description}" if field else f"{key}: is missing"
    if kind == "extra_forbidden":
        text = unknown_key(str(place[-1]), table)
        if place[0] == "agents" and place[-1] in CommonKeys.model_fields:
            text = f"is a key of the tournament: it stands above the first [[agents]]; here are {', '.join(table)}"
        return complaint(place, fault["input"], text)
    text = str(fault["ctx"]["error"]) if kind == "value_error" else _FAULTS.get(kind, fault["msg"])
    return complaint(place, fault["input"], text + (f"; {field.description}" if field else ""))


def unknown_key(key: str, known: Mapping[str, FieldInfo]) -> str:
    """The message for an unknown key."""
    close = difflib.get_close_matches(key, list(known), 1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"unknown key{hint}; known: {', '.join(known)}"


def complaint(place, value, text) -> str:
    """`agents[2].name = 'x': what is wrong`."""
    return f"{key_of(place)} = {shown(value)}: {text}"


def key_of(place) -> str:
    """`agents[2].agent` for ("agents", 2, "agent")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def shown(value) -> str:
    """The repr of a value, shortened if it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of tables in tables
        text = f"(a very long {type(value).__name__})"
    return text if len(text) <= 60 else text[:57] + "..."
