"""Options and arguments that several commands share, and what their texts mean."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]

Workers = Annotated[int | None, typer.Option(help="Cores to use; all, when left out.")]

Folder = Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")]

Moves = Annotated[
    str, typer.Option(help="The moves before the position, parted by blanks; none: the initial position.")
]

SolvingAgent = Annotated[str, typer.Option(help='Who solves: "dfpn(table=1024, seconds=60)", alphabeta and others.')]

Format = StrEnum("Format", ["text", "csv", "markdown", "latex", "html", "json", "parquet"])


def budget_of(texts: list[str]) -> dict:
    """`["playouts=1000"]` -> {"playouts": 1000}, as a budget's table in a configuration."""
    return dict(map(_budget_entry, texts))


def _budget_entry(text):
    """`playouts=1000` -> ("playouts", 1000)."""
    kind, _, amount = text.partition("=")
    for number in (int, float):
        try:
            return kind.strip(), number(amount)
        except ValueError:
            continue
    raise typer.BadParameter(f"--budget {text!r} is not of the form playouts=1000")


def registered(package) -> list[str]:
    """The names of all "games" or "agents"."""
    import importlib

    return importlib.import_module(package).names()


def free_folder(name) -> Path:
    """runs/NAME-1, or the first such that does not exist."""
    number = 1
    while Path("runs", f"{name}-{number}").exists():
        number += 1
    return Path("runs", f"{name}-{number}")
