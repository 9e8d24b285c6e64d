"""`arena cache`: the compiled kernels on disk."""

from typing import Annotated

import typer

from arena.commands.application import app, command
from arena.commands.options import Json, registered
from arena.commands.output import print_table

cache = typer.Typer(help="The compiled kernels on disk.", no_args_is_help=True)
app.add_typer(cache, name="cache")


@command(cache, examples="arena cache info")
def info(as_json: Json = False) -> None:
    """Where compiled kernels lie, how many there are and how large they are."""
    import pandas as pd

    from arena.study import kernels

    print_table(pd.DataFrame(kernels.info()), as_json)


@command(cache, examples="arena cache clear")
def clear() -> None:
    """Remove every compiled kernel; each is compiled again when it is next needed."""
    from arena.study import kernels

    typer.echo(f"{kernels.clear()} files removed")


@command(cache, examples='arena cache warm\narena cache warm --game "connect4(rows=6, columns=7)" --agent uct')
def warm(
    game: Annotated[list[str] | None, typer.Option(help="A game; all, when left out.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="An agent; all, when left out.")] = None,
) -> None:
    """Compile kernels before they are needed."""
    from arena.study import kernels

    for game_spec in game or registered("games"):
        kernels.warm(
            game_spec,
            agent or registered("agents"),
            lambda name: None,
            lambda name, seconds, failure, on=game_spec: typer.echo(f"{name} on {on}: {failure or f'{seconds:.1f} s'}"),
        )
