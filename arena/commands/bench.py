"""`arena bench`: the speed of games and searches."""

import json
import os
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Json, positive, registered
from arena.commands.output import print_table


@command(
    Panel.MACHINE,
    examples='arena bench\narena bench --game connect4 --agent "uct(playouts=10000)" --seconds 5\narena bench --json',
)
def bench(
    game: Annotated[list[str] | None, typer.Option(help="A game to measure; all, when left out.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent with its budget; all serial searches, when left out.")
    ] = None,
    seconds: Annotated[float, typer.Option(callback=positive, help="How long each measurement takes.")] = 0.5,
    as_json: Json = False,
) -> None:
    """Measure the speed of random playouts and searches on one core.

    The time to compile them is measured, too; it makes all games with all serial searches take many minutes.
    """
    import tempfile

    from rich.console import Console
    from rich.text import Text

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
