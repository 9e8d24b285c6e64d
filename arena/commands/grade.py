"""`arena grade`: the moves of a stored run against solved values."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import command
from arena.commands.options import Format, SolvingAgent
from arena.commands.output import terminal_width, write_whole
from arena.commands.progress import solver_progress

Grades = StrEnum("Grades", ["by_agent", "by_ply", "moves"])


@command(
    examples="arena grade runs/first\n"
    'arena grade runs/first --agent "dfpn(table=512, seconds=5)" --kind by_ply --format csv --output plies.csv'
)
def grade(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    agent: SolvingAgent = "dfpn",
    kind: Annotated[Grades, typer.Option(help="Which table.")] = Grades.by_agent,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
    output: Annotated[Path | None, typer.Option(help="A file to write to, instead of the terminal.")] = None,
) -> None:
    """Compare every move of a stored run with the solved value of its position.

    For games small enough to be solved.  A blunder is a move after which the value is less; the rate is of the moves
    that had something to lose.  Positions that the agent does not solve within its budget are not graded.
    """
    import agents
    import results
    from agents.core.solve import solver_of
    from arena.study.grading import Oracle
    from arena.study.grading import grade as grade_run
    from arena.study.preparing import game_of
    from results import grading
    from results.export import render

    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not text: give --output FILE, or redirect the output")
    run = results.load(folder)
    solver = solver_of(agents.make(agent), game_of(run))
    with solver_progress(solver) as status:
        moves = grade_run(run, Oracle(solver), lambda done, total: status.update(f"{done} of {total} games graded"))
    table = grading.losses(moves) if kind is Grades.moves else getattr(grading, kind.value)(moves)
    table.attrs["kind"] = "grades"
    text = render(table, format.value, width=terminal_width())
    data = text if isinstance(text, bytes) else text.encode()
    if output:
        write_whole(output, data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
