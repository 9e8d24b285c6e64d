"""`arena report`: a stored run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force
from arena.commands.output import check_free, say, write_whole
from arena.commands.progress import progress_line


@command(Panel.READ, examples="arena report runs/first\narena report runs/first --output first.html")
def report(
    folder: Folder,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The page to write. Default: DIR/report.html.")
    ] = None,
    force: Force = False,
) -> None:
    """Write the report of a run, which may still be played.

    It is one HTML file; its figures are written beside it, too, as SVG and PNG.
    """
    from arena.report import write_report

    check_free(output, force)
    files: dict[Path, bytes] = {}
    with progress_line("drawing the report"):
        page = write_report(folder, output, files.__setitem__)
    for path in files if output else ():  # all of them, before the first is written; those in DIR are our own
        check_free(path, force)
    for path, data in files.items():
        write_whole(path, data, force=True)
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures are in {page.parent / 'figures'}")
