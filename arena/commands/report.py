"""`arena report`: a stored run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Folder
from arena.commands.output import write_whole


@command(examples="arena report runs/first\narena report runs/first --output first.html")
def report(
    folder: Folder, output: Annotated[Path | None, typer.Option(help="The page; DIR/report.html when left out.")] = None
) -> None:
    """Write a report of a stored run, finished or not: one HTML file, and its figures as SVG and PNG beside it."""
    from arena.report import write_report

    page = write_report(folder, output, write_whole)
    typer.echo(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures lie in {page.parent / 'figures'}")
