"""Parameters of a registered class: its fields, and their types in words."""

import types
import typing
from dataclasses import Field, fields
from typing import ClassVar, Protocol


class Registered(Protocol):
    """A frozen dataclass of parameters, with the name that specs call it by."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field]]

    def prepare(self) -> None:
        """Read files named by parameters, unless their first use does so; ValueError if one is bad."""


def parameters_of(cls: type[Registered]) -> list[Field]:
    """The fields that a class is made with, those given by name alone last."""
    return sorted((f for f in fields(cls) if f.init), key=lambda f: bool(f.kw_only))


def type_name(hint) -> str:
    """The type in a user's words: `int`, `float or none`, `list of int`."""
    if isinstance(hint, types.UnionType):
        return " or ".join(type_name(option) for option in typing.get_args(hint))
    if typing.get_origin(hint) is tuple:
        return f"list of {type_name(typing.get_args(hint)[0])}"
    return "none" if hint is type(None) else hint.__name__
