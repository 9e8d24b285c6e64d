"""`arena table`: a table of a stored run."""

import re
from enum import StrEnum
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import TEXT, Folder, Force, Output, TableFormat, json_format
from arena.commands.output import check_free, check_printable, tell, write_csv, write_table
from arena.results.shown import kinds

Kind = StrEnum("Kind", kinds.TABLES)  # type: ignore[misc]  # members known to results alone


KindOfTable = Annotated[
    Kind | None,
    typer.Option(
        "--kind",
        "-k",
        help="Which table. Default: standings; study, of several games or budgets; scores, of one player; scaling, of "
        "a study of schemes.",
    ),
]
NoTimes = Annotated[bool, typer.Option("--no-times", help="Leave out seconds, so that equal runs give equal tables.")]
Raw = Annotated[bool, typer.Option("--raw", help="In csv, keep text that spreadsheets would take for a formula.")]
Columns = Annotated[
    list[str] | None,
    typer.Option(metavar="NAMES", help="Which columns, separated by commas, as csv names them. Default: all."),
]
Caption = Annotated[str | None, typer.Option(help="A caption above the table; in latex, of a table environment.")]
Label = Annotated[str | None, typer.Option(help="In latex, the label to refer to the table by.")]


@command(
    Panel.READ,
    examples="arena table runs/first\n"
    "arena table runs/first --kind crosstable --format latex\n"
    'arena table runs/first --format latex --columns agent,score,elo --caption "Who won" --label tab:first\n'
    "arena table runs/first --kind games --format parquet --output games.parquet",
    as_json=True,
)
def table(
    folder: Folder,
    kind: KindOfTable = None,
    format: TableFormat = TEXT,
    no_times: NoTimes = False,
    raw: Raw = False,
    columns: Columns = None,
    caption: Caption = None,
    label: Label = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Print a table of a run, even one still being played."""
    from arena.report import pieces
    from arena.results.shown.export import ColumnError

    format = json_format(format)
    check_printable(format, output)
    check_free(output, force)
    if output and output.suffix.lower().removeprefix(".") in kinds.PICTURES:
        raise typer.BadParameter(f"--output {output}: a table is text; arena plot draws figures")
    _check_label(label, format)
    options = {"times": not no_times, "raw": raw, "columns": columns, "title": caption}
    in_parts = kind and kind.value == "games" and format.value == "csv"
    found = pieces.games(folder) if in_parts else pieces.pieces_of(folder).table(kind and kind.value, format.value)
    try:
        if isinstance(found, pieces.Games):
            write_csv(found.frames, output, force, **options)
        else:
            found.frame.attrs |= {"label": label, "notes": found.notes}
            write_table(found.frame, format.value, output, force, **options)
    except ColumnError as error:
        raise typer.BadParameter(f"--columns: {error}") from None
    tell(*(found.notes if format is TEXT else found.warnings))


def _check_label(label: str | None, format) -> None:
    """BadParameter if the label is not valid in LaTeX or the table is in another format."""
    if label is not None and format.value != "latex":
        raise typer.BadParameter("--label is for --format latex")
    if label is not None and not re.fullmatch(r"[\w:.+/-]+", label, re.ASCII):
        raise typer.BadParameter(f"--label {label!r} can have letters, digits and :.+/-_")
