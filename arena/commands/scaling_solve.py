"""`arena scaling --solve`: parallel solvers against one worker."""

import json
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.options import free_folder
from arena.commands.output import print_table, tell, write_picture, write_whole
from arena.commands.progress import progress_line

Solve = Annotated[
    bool, typer.Option("--solve", help="Compare solvers: time, nodes and speed-up of finding a position's value.")
]
Lines = Annotated[
    list[str] | None,
    typer.Option(
        "--moves", help="With --solve: the moves that lead to a position; may be repeated. Default: random positions."
    ),
]
Positions = Annotated[
    int, typer.Option("--positions", help="With --solve: random positions, after --opening-plies plies.")
]
Nodes = Annotated[int | None, typer.Option("--nodes", help="With --solve: nodes that a solver has for a position.")]


def holds_solvers(out: Path | None) -> bool:
    """Whether a folder holds a study of solvers."""
    from arena.study.solving import FILE

    return out is not None and (out / FILE).exists()


def scale_solvers(values: dict | None, out: Path | None, as_json: bool) -> None:
    """Run a study of solvers, or with None for its values go on with the one in the folder, and show what it found."""
    from arena.study.solving import FILE, SolvingStudy, kept, run
    from results.solver_scaling import figure, table

    study = None if values is None else SolvingStudy(**values)
    out = out or free_folder("scaling")
    with progress_line() as show:
        found = run(study, out, values is None, show)
    totals = table(found)
    for name, frame in (("points", found), ("solving", totals)):
        for format, suffix in (("csv", "csv"), ("latex", "tex")):
            write_whole(out / f"{name}.{suffix}", _rendered(frame, format).encode(), force=True)
    drawn = figure(totals, kept.plan(out / FILE, SolvingStudy, "solvers").game)
    for format in ("svg", "png"):
        write_picture(out / f"solving.{format}", drawn, force=True)
    if as_json:
        tables = {"points": found, "solving": totals}
        typer.echo(json.dumps({name: json.loads(_rendered(frame, "json")) for name, frame in tables.items()}, indent=1))
        return
    print_table(totals, False, "Solving; time, nodes and speed-up over the common positions")
    tell(f"\nThe study is stored in {out}, the figure in {out / 'solving.svg'}")


def _rendered(frame, format: str) -> str:
    from results.export import render

    return str(render(frame, format))
