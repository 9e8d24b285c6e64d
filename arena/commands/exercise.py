"""`arena exercise`: what memory and symmetry save a depth-first search."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import games_option, positive
from arena.commands.output import print_table
from arena.commands.progress import progress_line

Games = Annotated[
    list[str] | None, games_option("A game; may be repeated. Default: tic-tac-toe and Connect 4 on two small boards.")
]
Seconds = Annotated[float, typer.Option(callback=positive, help="Stop a search that takes longer for a game.")]
TableSize = Annotated[float, typer.Option(help="The size of the table in MiB.")]


@command(Panel.STUDY, examples="arena exercise\narena exercise --game tictactoe --seconds 10 --json", as_json=True)
def exercise(game: Games = None, seconds: Seconds = 60.0, table: TableSize = 64.0) -> None:
    """Measure what memory and symmetry save.

    Minimax and alpha-beta each play a game against themselves; the table has their nodes and processor time.
    """
    from arena.study.exercise import GAMES, savings

    with progress_line("compiling") as show:
        rows = savings(game or GAMES, seconds, table, show)
    print_table(rows)
