"""`arena grade`: the moves of a stored run, compared with solved values."""

from enum import StrEnum
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.options import TEXT, Folder, Force, Output, SolvingAgent, TableFormat, Trust, json_format, trust_run
from arena.commands.output import check_free, check_printable, write_table
from arena.commands.progress import solver_progress

Grades = StrEnum("Grades", ["by_agent", "by_ply", "moves"])


@command(
    Panel.STUDY,
    examples="arena grade runs/first\n"
    'arena grade runs/first --agent "dfpn(table=512, seconds=5)" --kind by_ply --format csv --output plies.csv',
    as_json=True,
)
def grade(
    folder: Folder,
    agent: SolvingAgent = "dfpn",
    kind: Annotated[Grades, typer.Option("--kind", "-k", help="Which table.")] = Grades.by_agent,
    format: TableFormat = TEXT,
    output: Output = None,
    force: Force = False,
    trust: Trust = False,
) -> None:
    """Compare the moves of a run with the solved values.

    For games small enough to solve.  A blunder is a move that lowers the value of the position; the blunder rate is a
    share of the moves that had something to lose.  Positions that the agent cannot solve within its budget are not
    graded.
    """
    from arena import agents, results
    from arena.agents.core.solve import solver_of
    from arena.results.shown import graded_moves
    from arena.study.grading import Oracle, grade_run
    from arena.study.preparing import game_of

    format = json_format(format)
    check_printable(format, output)
    check_free(output, force)
    trust_run(folder, trust)
    run = results.load(folder)
    solver = solver_of(agents.make(agent), game_of(run))
    with solver_progress(solver) as show:
        moves = grade_run(run, Oracle(solver), lambda done, total: show(f"{done} of {total} games graded"))
    table = graded_moves.losses(moves) if kind is Grades.moves else getattr(graded_moves, kind.value)(moves)
    table.attrs["kind"] = "grades"
    write_table(table, format.value, output, force=force)
