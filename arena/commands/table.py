"""`arena table`: a table of a stored run."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import TEXT, Folder, Force, Json, TableFormat, json_format
from arena.commands.output import check_free, check_printable, picture_format, tell, write_picture, write_table
from results import kinds

Kind = StrEnum(  # type: ignore[misc]  # its members are what results has
    "Kind", list(dict.fromkeys((*kinds.SEVERAL_KINDS, *kinds.KINDS, *kinds.SINGLE_PLAYER_KINDS)))
)


@command(
    Panel.READ,
    examples="arena table runs/first\n"
    "arena table runs/first --kind crosstable --format latex\n"
    "arena table runs/first --kind games --format parquet --output games.parquet\n"
    "arena table runs/first --kind standings --output ratings.svg",
)
def table(
    folder: Folder,
    kind: Annotated[
        Kind | None,
        typer.Option(
            "--kind",
            "-k",
            help="Which table. Default: standings; study, of several games or budgets; scores, of one player.",
        ),
    ] = None,
    format: TableFormat = TEXT,
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Leave out seconds, so that equal runs give equal tables.")
    ] = False,
    raw: Annotated[
        bool, typer.Option("--raw", help="In csv, leave text as it is that a spreadsheet takes for a formula.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help=f"A file to write to, instead of the terminal; .{', .'.join(kinds.PICTURES)} draws the table.",
        ),
    ] = None,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Print a table of a run, which may still be played.

    Some kinds are drawn, too, if the name of --output is that of a picture.
    """
    import results

    format = json_format(format, as_json)
    check_printable(format, output)
    check_free(output, force)
    run = results.load(folder)
    chosen = kind.value if kind else run.kinds[0]
    if chosen not in run.kinds:
        raise typer.BadParameter(f"--kind {chosen}: this run has {', '.join(run.kinds)}")
    if output and picture_format(output):
        _draw(run, chosen, output, force)
        return
    write_table(run.table(chosen), format.value, output, times=not no_times, raw=raw, force=force)
    if chosen in kinds.NOTED and format is TEXT:
        for note in run.notes():
            tell(note)


def _draw(run, kind: str, output: Path, force: bool) -> None:
    """Write the picture of a table."""
    if kind not in kinds.PLOTS:
        drawn = [name for name in run.kinds if name in kinds.PLOTS]
        raise typer.BadParameter(
            f"--output {output}: {kind} is not drawn; of this run, {', '.join(drawn) or 'no table'} is"
        )
    axes = getattr(run, kinds.PLOTS[kind])()
    write_picture(output, axes.figure, force)
    tell(f"{output}: {kind}")
