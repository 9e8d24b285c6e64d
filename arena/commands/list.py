"""`arena list`: the games and the agents there are, and the parameters of one."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from arena.commands.application import Panel, command, complain, group
from arena.commands.completion import complete_agent, complete_game
from arena.commands.options import Json
from arena.commands.output import print_fitted, print_flowing, tell

listing = group("list", Panel.MACHINE, "List the games or the agents, or the parameters of one.")


@command(group=listing, examples="arena list games\narena list games connect4\narena list games --json")
def games_(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="One game, with its parameters.", autocompletion=complete_game)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the games; or the parameters of one, with default, range and meaning."""
    from games.core.game import registry

    if name is not None:
        cls = _found(registry, name)
        facts = {"players": cls.players, "chance": cls.has_chance, "sizes": cls.sizes, "status": cls.status}
        _print_one(cls, facts | {"evaluations": cls.evaluations()}, as_json)
        return
    rows = [
        _class_row(cls)
        | {"players": cls.players, "chance": cls.has_chance, "sizes": cls.sizes, "status": cls.status}
        | {"evaluations": cls.evaluations()}
        for cls in registry.classes().values()
    ]
    _print_list(rows, as_json, ("signature", "players", "sizes", "about"))
    _tell_broken(registry)


@command(group=listing, examples="arena list agents\narena list agents uct\narena list agents --json")
def agents_(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="One agent, with its parameters.", autocompletion=complete_agent),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the agents; or the parameters of one, with default, range and meaning."""
    from agents.core.agent import registry

    if name is not None:
        cls = _found(registry, name)
        _print_one(cls, {"budgets": list(cls.budgets)}, as_json)
        return
    rows = [_class_row(cls) | {"budgets": list(cls.budgets)} for cls in registry.classes().values()]
    _print_list(rows, as_json, ("name", "budgets", "about"))
    _tell_broken(registry)
    if not as_json:
        tell("\nThe parameters of one: arena list agents NAME")


def _tell_broken(registry) -> None:
    """Complain of installed plug-ins that cannot be used."""
    for text in registry.broken:
        complain(f"plug-in {text}")


def _found(registry, name: str):
    """The class of that name; SpecError says what is known."""
    from games.core.registry import SpecError, parse_spec

    word = parse_spec(name)[0]
    classes = registry.classes()
    if word not in classes:
        raise SpecError(registry.unknown(word))
    return classes[word]


def _class_row(cls) -> dict:
    """What is listed of a registered game or agent."""
    from games.core.describe import about
    from games.core.registry import parameters_of, signature

    listed = [field for field in parameters_of(cls) if field.metadata.get("listed", True)]
    parameters = {field.name: field.default for field in listed}
    return {"name": cls.name, "signature": signature(cls), "parameters": parameters, "about": about(cls)}


def _print_one(cls, facts: dict, as_json: bool) -> None:
    """Print what a game or an agent is, and a line for each parameter."""
    from games.core.describe import about, parameters
    from results.fitting import Column, Fitted

    found = parameters(cls)
    if as_json:
        told = {"name": cls.name, "about": about(cls)} | facts | {"parameters": [asdict(one) for one in found]}
        typer.echo(json.dumps(told, indent=1))
        return
    print_flowing(f"{cls.name}: {about(cls)}\n")
    for what, value in facts.items():
        if value not in ("", None, [], ()):
            words = (
                ", ".join(value) if isinstance(value, list | tuple) else {True: "yes", False: "no"}.get(value, value)
            )
            print_flowing(f"{what}: {words}")
    if found:
        print_fitted(
            Fitted(
                [
                    Column("parameter", [one.name for one in found], False),
                    Column("default", [_written(one.default) for one in found], False, flows=True),
                    Column("range", [one.range or _kind(one.type) for one in found], False),
                    Column("meaning", [one.meaning for one in found], False, flows=True),
                ]
            )
        )


def _kind(type: str) -> str:
    """The type of a parameter that refuses no value of it, in words."""
    return " or ".join(
        {"str": "text", "float": "a number", "int": "a whole number"}.get(one, one) for one in type.split(" or ")
    )


def _written(default) -> str:
    """A default as it is typed."""
    if isinstance(default, tuple):
        return f"[{', '.join(map(_written, default))}]"
    return "none" if default is None else str(default).lower() if isinstance(default, bool) else repr(default)


def _print_list(rows: list[dict], as_json: bool, columns: tuple[str, ...]) -> None:
    """Print the rows as JSON, or some of their columns as a table."""
    from results.fitting import Column, Fitted

    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    cells = {
        heading: [", ".join(row[heading]) if isinstance(row[heading], list) else str(row[heading]) for row in rows]
        for heading in columns
    }
    print_fitted(
        Fitted([Column(heading, cells[heading], False, heading in ("signature", "about")) for heading in columns])
    )
