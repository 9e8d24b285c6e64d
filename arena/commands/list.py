"""`arena list`: the games and the agents there are."""

import json
import sys

import typer

from arena.commands.application import app, command
from arena.commands.options import Json

listing = typer.Typer(help="The games and the agents there are.", no_args_is_help=True)
app.add_typer(listing, name="list")


@command(listing, examples="arena list games\narena list games --json")
def games_(as_json: Json = False) -> None:
    """The games, with their parameters."""
    from games.core.game import registry

    rows = [
        _class_row(cls)
        | {"players": cls.players, "chance": cls.has_chance, "sizes": cls.sizes, "status": cls.status}
        | {"evaluations": cls.evaluations()}
        for cls in registry.classes().values()
    ]
    _print_list(rows, as_json, ("signature", "players", "sizes", "about"))


@command(listing, examples="arena list agents\narena list agents --json")
def agents_(as_json: Json = False) -> None:
    """The agents, with their parameters and the budgets they can use."""
    from agents.core.agent import registry

    rows = [_class_row(cls) | {"budgets": list(cls.budgets)} for cls in registry.classes().values()]
    _print_list(rows, as_json, ("signature", "budgets", "about"))


def _class_row(cls) -> dict:
    """What `arena list` says of a registered game or agent."""
    import dataclasses

    from games.core.registry import signature

    parameters = {field.name: field.default for field in dataclasses.fields(cls)}
    about = sys.modules[cls.__module__].__doc__.split("\n\n")[0].replace("\n", " ")
    return {"name": cls.name, "signature": signature(cls), "parameters": parameters, "about": about}


def _print_list(rows, as_json, columns) -> None:
    """The rows as JSON, or some of their columns as a table."""
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
