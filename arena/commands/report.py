"""`arena report`: a stored run as one HTML file."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Folder, Force, Trust, output_option, trust_run
from arena.commands.output import check_free, or_elsewhere, quoted, say, write_whole
from arena.commands.progress import progress_line

PageFile = Annotated[Path | None, output_option("The page to write. Default: DIR/report.html.", ".html")]


@command(Panel.READ, examples="arena report runs/first\narena report runs/first --output first.html")
def report(folder: Folder, output: PageFile = None, force: Force = False, trust: Trust = False) -> None:
    """Write a run's report.

    The run may still be going on.  A report is one HTML file; its figures are also written beside it, as SVG and PNG.
    """
    from arena.games.core.shared.files import make_folder
    from arena.games.core.shared.files import write_whole as in_folder
    from arena.report import write_report
    from arena.runner.study_kinds import has_parts, runs_in

    runs = runs_in(folder)
    for run in runs or [folder]:
        trust_run(run, trust)
    if runs and folder not in runs and not has_parts(folder):
        some = f"give one of them, such as {runs[0]}; arena lab {quoted(folder)} shows all"
        raise typer.BadParameter(f"{folder} is no run, but holds some: {some}")
    check_free(output, force)
    files: list[tuple[Path, bytes, Path]] = []
    with progress_line("drawing the report"):
        page = write_report(folder, output, lambda *file: files.append(file))
    for path, *_ in files if output else ():  # all are checked before the first is written; files in DIR are our own
        check_free(path, force)
    for path, data, home in files:
        if output:  # which may be a device
            make_folder(path.parent, home)
            write_whole(path, data, force=True)
        else:
            with or_elsewhere():
                in_folder(path, data, home)
    say(f"{page}: {page.stat().st_size / 1e6:.1f} MB; its figures are in {page.parent / 'figures'}")
