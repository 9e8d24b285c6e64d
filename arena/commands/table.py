"""`arena table`: a table of a stored run."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Format
from arena.commands.output import tell, terminal_width, write_whole

Kind = StrEnum(
    "Kind", ["standings", "crosstable", "pairs", "differences", "games", "moves", "win_rates", "scores", "improvements"]
)


@command(
    examples="arena table runs/first\n"
    "arena table runs/first --kind crosstable --format latex\n"
    "arena table runs/first --kind games --format parquet --output games.parquet"
)
def table(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    kind: Annotated[
        Kind | None, typer.Option(help="Which table; standings when left out, or scores of games for one player.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
    no_times: Annotated[
        bool, typer.Option("--no-times", help="Leave out seconds, so that equal runs give equal tables.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="A file to write to, instead of the terminal.")] = None,
) -> None:
    """Print a table of a stored run, finished or not."""
    import results
    from results.export import render

    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not text: give --output FILE, or redirect the output")
    tournament = results.load(folder)
    kind = kind or Kind(tournament.kinds[0])
    if kind not in tournament.kinds:
        raise typer.BadParameter(f"--kind {kind}: of this run there are {', '.join(tournament.kinds)}")
    text = render(tournament.table(kind.value), format.value, times=not no_times, width=terminal_width())
    data = text if isinstance(text, bytes) else text.encode()
    if output:
        write_whole(output, data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    noted = (Kind.standings, Kind.crosstable, Kind.pairs, Kind.differences, Kind.scores)
    if kind in noted and format is Format.text:
        for note in tournament.notes():
            tell(note)
