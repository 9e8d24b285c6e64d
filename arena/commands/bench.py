"""`arena bench`: the speed of games and searches."""

import json
import os
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Json, registered
from arena.commands.output import print_table


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
