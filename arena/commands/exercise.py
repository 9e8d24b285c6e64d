"""`arena exercise`: what memory and symmetry save."""

import json
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Json
from arena.commands.output import print_table


@command(examples="arena exercise\narena exercise --game tictactoe --seconds 10 --json")
def exercise(
    game: Annotated[list[str] | None, typer.Option(help="A game; tic-tac-toe and two Connect 4, if left out.")] = None,
    seconds: Annotated[float, typer.Option(help="A search that takes longer for a game is stopped.")] = 60.0,
    table: Annotated[float, typer.Option(help="The table's size in MiB.")] = 64.0,
    as_json: Json = False,
) -> None:
    """Measure what memory and symmetry save minimax and alpha-beta: nodes and processor time of a game with itself."""
    from rich.console import Console
    from rich.text import Text

    from arena.study import exercise as study

    if not seconds > 0:
        raise typer.BadParameter(f"--seconds {seconds:g} is out of range: it can be more than 0")
    console = Console(stderr=True)
    with console.status("") as status:
        rows = study.exercise(game or study.GAMES, seconds, table, lambda text: status.update(Text(text)))
    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    import pandas as pd

    print_table(pd.DataFrame(rows), as_json=False)
