"""`arena cache`: the compiled kernels on disk."""

from functools import partial
from typing import Annotated

import typer

from arena.commands.application import Panel, command, group
from arena.commands.options import Json, agents_option, games_option, registered
from arena.commands.output import print_table
from arena.commands.progress import progress_line

cache = group("cache", Panel.MACHINE, "Inspect, clear or fill the cache of compiled kernels.")


@command(group=cache, examples="arena cache info")
def info(as_json: Json = False) -> None:
    """Show where compiled kernels are, how many and how large they are."""
    import pandas as pd

    from arena.study import kernel_cache

    print_table(pd.DataFrame(kernel_cache.info()), as_json)


@command(group=cache, examples="arena cache clear")
def clear() -> None:
    """Remove all compiled kernels.

    Each is compiled again when it is needed.
    """
    from arena.study import kernel_cache

    typer.echo(f"{kernel_cache.clear()} files removed")


@command(group=cache, examples='arena cache warm\narena cache warm --game "connect4(rows=6, columns=7)" --agent uct')
def warm(
    game: Annotated[list[str] | None, games_option("A game; may be repeated. Default: all.")] = None,
    agent: Annotated[list[str] | None, agents_option("An agent; may be repeated. Default: all.")] = None,
) -> None:
    """Compile kernels before they are needed."""
    from arena.study import kernel_cache

    for on in game or registered("games"):
        with progress_line() as show:
            kernel_cache.warm(on, agent or registered("agents"), partial(_begun, show, on), partial(_done, on))


def _begun(show, game: str, name: str) -> None:
    show(f"compiling {name} on {game}")


def _done(game: str, name: str, seconds: float, failure: str) -> None:
    typer.echo(f"{name} on {game}: {failure or f'{seconds:.1f} s'}")
