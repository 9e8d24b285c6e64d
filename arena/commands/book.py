"""`arena book`: an opening book from a stored run."""

from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force, OutputFile, Trust, at_least, trust_run
from arena.commands.output import check_free, say, write_whole
from arena.commands.progress import progress_line


@command(
    Panel.STUDY,
    examples="arena book runs/first --output first.book\n"
    'arena run --game connect4 --agent "uct(playouts=1000)" --agent "uct(playouts=1000, book=\'first.book\')"',
)
def book(
    folder: Folder,
    output: OutputFile,
    plies: Annotated[
        int, typer.Option(callback=at_least(1), help="The plies from the start that the book covers.")
    ] = 8,
    least: Annotated[
        int, typer.Option(callback=at_least(1), help="Leave out moves that were made in fewer games.")
    ] = 10,
    force: Force = False,
    trust: Trust = False,
) -> None:
    """Write an opening book from a run's moves and results.

    Agents use it as book='FILE'.
    """
    check_free(output, force)
    trust_run(folder, trust)
    from arena.study.preparing import opening_book

    with progress_line("counting moves"):
        data, positions, games = opening_book(folder, plies, least)
    write_whole(output, data, force)
    say(f"{positions:,} positions from {games:,} games, in {output}")
