"""What is wrong with a configuration, in words: the key, the value, and what would be right."""

import difflib

_FAULTS = {
    "missing": "is missing",
    "int_type": "is not a whole number",
    "float_type": "is not a number",
    "finite_number": "is not a finite number",
    "string_type": "is not text",
    "tuple_type": "is not a list",
    "model_type": "is not a table",
    **dict.fromkeys(("greater_than", "greater_than_equal", "less_than", "less_than_equal"), "is out of range"),
}


def describe(fault, model, parts) -> str:
    """One problem that pydantic found in a table, in our words; `parts` are the tables that keys hold."""
    kind, place = fault["type"], fault["loc"]
    field = None
    for part in place:
        if isinstance(part, str):
            table, field = model, model.model_fields.get(part)
            model = parts.get(part, model)
    key = key_of(place)
    if kind == "missing":
        return f"{key}: is missing; {field.description}"
    value = shown(fault["input"])
    if kind == "extra_forbidden":
        close = difflib.get_close_matches(str(place[-1]), table.model_fields, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        return f"{key} = {value}: unknown key{hint}; known: {', '.join(table.model_fields)}"
    text = str(fault["ctx"]["error"]) if kind == "value_error" else _FAULTS.get(kind, fault["msg"])
    return f"{key} = {value}: {text}" + (f"; {field.description}" if field else "")


def key_of(place) -> str:
    """`agents[2].agent` for ("agents", 2, "agent")."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place).lstrip(".")


def shown(value) -> str:
    """A value as Python writes it, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or of tables in tables
        text = f"(a very long {type(value).__name__})"
    return text if len(text) <= 60 else text[:57] + "..."
