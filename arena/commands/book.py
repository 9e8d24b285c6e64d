"""`arena book`: an opening book from a stored run."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.output import write_whole


@command(
    examples="arena book runs/first --out first.book\n"
    'arena run --game connect4 --agent "uct(playouts=1000)" --agent "uct(playouts=1000, book=\'first.book\')"'
)
def book(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    out: Annotated[Path, typer.Option(help="The file to write.")],
    plies: Annotated[int, typer.Option(min=1, help="How deep it goes.")] = 8,
    least: Annotated[int, typer.Option(min=1, help="Moves that were made in fewer games are left out.")] = 10,
) -> None:
    """Make an opening book of the moves that were made in a stored run, by what they came to.

    Agents use it as book='FILE'.
    """
    from arena.study.preparing import opening_book

    data, positions, games = opening_book(folder, plies, least)
    write_whole(out, data)
    typer.echo(f"{positions:,} positions from {games:,} games, in {out}")
