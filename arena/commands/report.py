"""`arena report`: a stored run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder
from arena.commands.output import say, write_whole


@command(Panel.READ, examples="arena report runs/first\narena report runs/first --output first.html")
def report(
    folder: Folder,
    output: Annotated[Path | None, typer.Option(help="The page to write. Default: DIR/report.html.")] = None,
) -> None:
    """Write the report of a run, which may still be played.

    It is one HTML file; its figures are written beside it, too, as SVG and PNG.
    """
    from arena.report import write_report

    page = write_report(folder, output, write_whole)
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures are in {page.parent / 'figures'}")
