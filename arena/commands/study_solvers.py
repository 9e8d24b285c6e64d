"""`arena study solvers`: parallel solvers against one worker."""

from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import command
from arena.commands.progress import progress_line
from arena.commands.study import publish, studies

OneGame = Annotated[str | None, options.games_option('A game such as "breakthrough(rows=5, columns=4)".')]
Solvers = Annotated[
    list[str] | None,
    options.agents_option(
        "A solver without workers and budget; may be repeated. Default: all whose workers can be simulated."
    ),
]
Lines = Annotated[
    list[str] | None,
    typer.Option("--moves", help="The moves that lead to a position; may be repeated. Default: random positions."),
]
Positions = Annotated[int, typer.Option("--positions", "-n", help="Random positions, where no --moves are given.")]
OpeningPlies = Annotated[int, typer.Option(help="Random plies before a random position.")]
Nodes = Annotated[int | None, typer.Option(help="Nodes that a solver has for a position. Default: no limit.")]
Seed = Annotated[int, typer.Option(help="The seed of random positions.")]
Threads = Annotated[bool, typer.Option("--threads", help="Real threads and processes, timed by the wall.")]


@command(
    group=studies,
    examples='arena study solvers --game "breakthrough(rows=5, columns=4)" --agent jlpns --agent ppn2 --sizes 1,4,16\n'
    "arena study solvers --game tictactoe --positions 5 --out runs/solvers\n"
    "arena study solvers --out runs/solvers --resume",
    as_json=True,
)
def solvers(
    context: typer.Context,
    game: OneGame = None,
    agent: Solvers = None,
    sizes: options.Sizes = "1,2,4,8,16",
    moves: Lines = None,
    positions: Positions = 3,
    opening_plies: OpeningPlies = 2,
    seed: Seed = 0,
    nodes: Nodes = None,
    threads: Threads = False,
    out: options.RunFolder = None,
    resume: options.ResumeAlone = False,
) -> None:
    """Compare parallel solvers with one worker, by time and nodes.

    All solve the same positions with one worker and with more, in virtual time if their workers can be simulated, which
    gives speed-up and search overhead.  Results are stored one by one; --resume continues a stopped study.
    Tables and a figure (points.csv, points.tex, solving.csv, solving.tex, solving.svg, solving.png) are written beside
    them.
    """
    options.check_resumed(context, out, resume)
    from arena.results.papers.solver_scaling import figure, table
    from arena.study.solving import SolvingStudy

    study = None
    if not resume:
        several = tuple(agent or ()), options.sizes_of(sizes), tuple(moves or ())
        numbers = positions, opening_plies, seed
        study = SolvingStudy(str(game), *several, *numbers, nodes, threads)
    out = out or options.free_folder("solvers")
    with progress_line() as show:
        points = SolvingStudy.run(study, out, resume, show)
    totals = table(points)
    drawn = figure(totals, SolvingStudy.read(out).game)
    titles = {"solving": "Solving; time, nodes and speed-up over the common positions"}
    publish(out, {"points": points, "solving": totals}, ("solving", drawn), titles)
