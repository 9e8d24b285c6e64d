"""`arena list`: the games and the agents there are."""

import json
import sys

import typer

from arena.commands.application import Panel, command, group
from arena.commands.options import Json

listing = group("list", Panel.MACHINE, "List the games or the agents, with their parameters.")


@command(group=listing, examples="arena list games\narena list games --json")
def games_(as_json: Json = False) -> None:
    """List the games, with their parameters."""
    from games.core.game import Game, registry

    classes: list[type[Game]] = list(registry.classes().values())
    rows = [
        _class_row(cls)
        | {"players": cls.players, "chance": cls.has_chance, "sizes": cls.sizes, "status": cls.status}
        | {"evaluations": cls.evaluations()}
        for cls in classes
    ]
    _print_list(rows, as_json, ("signature", "players", "sizes", "about"))


@command(group=listing, examples="arena list agents\narena list agents --json")
def agents_(as_json: Json = False) -> None:
    """List the agents, with their parameters and budgets."""
    from agents.core.agent import Agent, registry

    classes: list[type[Agent]] = list(registry.classes().values())
    rows = [_class_row(cls) | {"budgets": list(cls.budgets)} for cls in classes]
    _print_list(rows, as_json, ("signature", "budgets", "about"))


def _class_row(cls) -> dict:
    """What is listed of a registered game or agent."""
    from games.core.registry import parameters_of, signature

    listed = [field for field in parameters_of(cls) if field.metadata.get("listed", True)]
    parameters = {field.name: field.default for field in listed}
    about = (sys.modules[cls.__module__].__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return {"name": cls.name, "signature": signature(cls), "parameters": parameters, "about": about}


def _print_list(rows: list[dict], as_json: bool, columns: tuple[str, ...]) -> None:
    """Print the rows as JSON, or some of their columns as a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table(box=None, pad_edge=False)
    for heading in columns:
        table.add_column(heading)
    for row in rows:
        cells = (", ".join(row[name]) if isinstance(row[name], list) else str(row[name]) for name in columns)
        table.add_row(*map(Text, cells))
    Console().print(table)
