"""`arena report`: a stored run as one HTML file, or served live, alone or with all runs in a folder."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force, Trust, output_option, trust_run
from arena.commands.output import check_free, say, tell, write_whole
from arena.commands.progress import progress_line

PageFile = Annotated[Path | None, output_option("The page to write. Default: DIR/report.html.")]
Port = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=65535,
        metavar="PORT",
        help="Write nothing; show the report at this port of 127.0.0.1 until Ctrl-C. DIR may hold many runs.",
    ),
]


@command(
    Panel.READ,
    examples="arena report runs/first\narena report runs/first --output first.html\narena report runs --serve 8000",
)
def report(
    folder: Folder, output: PageFile = None, force: Force = False, serve: Port = None, trust: Trust = False
) -> None:
    """Write a run's report, or serve it, or those of many runs.

    The run may still be going on.  A report is one HTML file; its figures are also written beside it, as SVG and PNG.
    """
    from arena.report import write_report
    from arena.results.database.store import FILE_NAME
    from arena.results.shown.kinds import PLAN_OF_SCHEMES

    runs = [] if (folder / FILE_NAME).exists() else [path.parent for path in sorted(folder.glob(f"*/{FILE_NAME}"))]
    for run in runs or [folder]:
        trust_run(run, trust)
    if serve is not None:
        _serve(folder, serve, output)
        return
    if runs and not (folder / PLAN_OF_SCHEMES).exists():
        some = f"give one of them, such as {runs[0]}, or --serve PORT for all"
        raise typer.BadParameter(f"{folder} is no run, but holds some: {some}")
    check_free(output, force)
    files: dict[Path, bytes] = {}
    with progress_line("drawing the report"):
        page = write_report(folder, output, files.__setitem__)
    for path in files if output else ():  # all are checked before the first is written; files in DIR are our own
        check_free(path, force)
    for path, data in files.items():
        write_whole(path, data, force=True)
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures are in {page.parent / 'figures'}")


def _serve(folder: Path, port: int, output: Path | None) -> None:
    """Serve the run in the folder, or a list of all runs in it, until the user ends it."""
    import threading

    from arena.report.serve import serving
    from arena.results.database.store import FILE_NAME

    if output:
        raise typer.BadParameter("--serve writes no file: leave out --output, or --serve")
    if not folder.is_dir():
        raise typer.BadParameter(f"{folder} is not a folder")
    many = not (folder / FILE_NAME).exists()
    with serving(folder, port, many) as address:
        tell(f"{'The runs in ' if many else ''}{folder} {'are' if many else 'is'} shown at {address} until Ctrl-C.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return
