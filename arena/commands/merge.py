"""`arena merge`: one run of several."""

from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import Trust, trust_run
from arena.commands.output import print_table, quoted, tell

Runs = Annotated[list[Path], typer.Argument(help="The runs' folders, two or more.", metavar="DIR...")]
Changed = Annotated[
    bool, typer.Option("--changed", help="This package's agents and games are the same, though their code has changed.")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="The folder of the new run.")]


@command(Panel.READ, examples="arena merge runs/a runs/b --out runs/both\narena join runs/both random", as_json=True)
def merge(folders: Runs, out: Out, trust: Trust = False, changed: Changed = False) -> None:
    """Make one run of several with the same games and openings.

    Agents of the same name, text and code are one, and all are rated together; games that two runs share are there
    once. What differs, such as the machine, is told and kept. An agent may join the run that is made.
    """
    from arena.study.pools import merge as merged

    if len(folders) < 2:
        raise typer.BadParameter(f"{folders[0]} is one run; give two or more")
    for folder in folders:
        trust_run(folder, trust)
    run, told = merged(folders, out, changed)
    table = run.table("standings")
    print_table(table)
    tell(*told, *run.notes_on(table))
    tell(f"\n{len(run):,} games of {len(folders)} runs are stored in {out}: arena report {quoted(out)}")
