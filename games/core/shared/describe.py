"""Descriptions of registered games and agents and of their parameters: from docstrings, and from refusals."""

import inspect
import re
import sys
import types
import typing
from contextlib import suppress
from dataclasses import MISSING

from arena.games.core.shared.index import Parameter
from arena.games.core.shared.parameters import Registered, parameters_of, type_name

BUDGET = {
    "playouts": "budget of a move: random playouts",
    "nodes": "budget of a move: positions",
    "depth": "budget of a move: plies that are searched",
    "seconds": "budget of a move: wall time",
}
OF_TERMS = " | weights of terms"
FAR = 10**30  # beyond every range
NOBODY = "\0"  # a value that every parameter refuses
COMMON = {
    "rows": "rows of the board",
    "columns": "columns of the board",
    "size": "rows and columns of the board",
    "swap": "whether the second player's first move may be `swap`",
    "evaluation": "the name of an evaluation function of the game, file:PATH, or weights of terms; empty: its default",
}


def about(cls: type[Registered]) -> str:
    """The first paragraph of a class's module, which is empty if Python knows no such module.

    Of a module of several, those that it does not name are described by their own first sentence, unless that is about
    the state.
    """
    module = sys.modules.get(cls.__module__)
    text = ((module and module.__doc__) or "").split("\n\n")[0].replace("\n", " ")
    own = " ".join((cls.__doc__ or "").split()).split(". ")[0].split("; ")[0].rstrip(".")
    named = [one for one in vars(module).values() if isinstance(one, type) and "name" in vars(one)] if module else []
    several = sum(one.__module__ == cls.__module__ for one in named) > 1
    told = several and own and not own.startswith("state") and cls.name.lower() not in text.lower()
    return f"{own}." if told else text


def sizes(cls) -> str:
    """The sizes of a game, in words; of one that does not say them, the ranges of its whole numbers."""
    if cls.sizes:
        return cls.sizes
    with suppress(Exception):  # a plug-in's class may raise anything
        ranges = [f"{one.name} {one.range}" for one in parameters(cls) if one.type == "int" and one.range]
        return ", ".join(ranges) or "one size"
    return "unknown"


def parameters(cls: type[Registered]) -> list[Parameter]:
    """A registered class's parameters, those of its budget last."""
    hints, meanings = typing.get_type_hints(cls), _meanings(cls)
    found = [
        Parameter(
            field.name,
            None if field.default is MISSING else field.default,
            type_name(hints[field.name]),
            _range(cls, field.name, hints[field.name]) + (OF_TERMS if _takes_weights(cls, field.name) else ""),
            meanings.get(field.name, ""),
        )
        for field in parameters_of(cls)
    ]
    return sorted(found, key=lambda one: one.name in getattr(cls, "budgets", ()))


def _meanings(cls) -> dict[str, str]:
    """Meanings from docstrings of a class and its bases; the class's own come first.

    Lines are `name: meaning`, `name, name: meaning` and `name: meaning; name: meaning`.
    """
    names = {field.name for field in parameters_of(cls)}
    known = COMMON | {name: text for name, text in BUDGET.items() if name in getattr(cls, "budgets", ())}
    found = {name: text for name, text in known.items() if name in names}
    one = rf"(?:{'|'.join(names)})" if names else NOBODY
    several = re.compile(rf"({one}(?:, {one})*): (.+)")
    for base in reversed(cls.__mro__):
        for line in _lines(inspect.cleandoc(vars(base).get("__doc__") or "")):
            for part in re.split(rf"; (?={one}(?:, {one})*: )", line):
                if named := several.fullmatch(part):
                    found |= dict.fromkeys(named[1].split(", "), named[2])
    return found


def _lines(text: str) -> list[str]:
    return re.sub(r"\n +", " ", text).splitlines()


def _takes_weights(cls, name: str) -> bool:
    return name == "evaluation" and bool(getattr(cls, "term_weights", {}))


def _range(cls, name: str, hint) -> str:
    """What a parameter can be, taken from the class's error for a value out of range."""
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    if bool in options:
        return "true or false"
    for probe in _probes(options):
        try:
            cls(**{name: probe})
        except (ValueError, OverflowError, OSError, TypeError) as error:
            if known := re.search(r"(?:can be|it is|budget is|is not one of) (.+)", str(error)):
                return known[1].replace(", ", " | ") if "not one of" in known[0] else known[1]
    return ""


def _probes(options) -> list:
    """Values of a type, out of any range."""
    if float in options:
        return [-float(FAR), float(FAR)]
    if int in options:
        return [-FAR, FAR]
    if str in options:
        return [NOBODY]
    if any(typing.get_origin(option) is tuple for option in options):
        return [(NOBODY,), (-FAR,)]
    return []
