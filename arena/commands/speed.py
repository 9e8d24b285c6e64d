"""Commands that measure speed, and those of the compiled kernels on disk."""

import json
from typing import Annotated

import typer

from arena.commands.common import Json, app, command, print_table, registered

cache = typer.Typer(help="The compiled kernels on disk.", no_args_is_help=True)
app.add_typer(cache, name="cache")


@command(
    examples='arena bench\narena bench --game connect4 --agent "uct(playouts=10000)" --seconds 5\narena bench --json'
)
def bench(
    game: Annotated[list[str] | None, typer.Option(help="A game to measure; all, when left out.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent with its budget; all serial searches, when left out.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 0.5,
    as_json: Json = False,
) -> None:
    """Measure random playouts and searches on one core, and the time to compile them from nothing.

    All games with all serial searches take several minutes, most of them the compiler's.
    """
    import os
    import tempfile

    from rich.console import Console
    from rich.text import Text

    if not seconds > 0:
        raise typer.BadParameter(f"--seconds {seconds:g} is out of range: it can be more than 0")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # read when Numba is first imported, which is below
        from arena.study import bench as benchmark

        console = Console(stderr=True)
        with console.status("") as status:
            report = benchmark.bench(
                game or registered("games"),
                agent or benchmark.search_agents(),
                seconds,
                lambda text: status.update(Text(f"measuring {text}")),
            )
    if as_json:
        typer.echo(json.dumps(report, indent=1))
        return
    _print_bench(report)


def _print_bench(report) -> None:
    import pandas as pd

    for rows, title in ((report["games"], "Random playouts"), (report["agents"], "Searches")):
        if rows:
            print_table(pd.DataFrame(rows), as_json=False, title=title)
    typer.echo(f"signature {report['signature']}")


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
