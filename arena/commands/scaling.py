"""`arena scaling`: parallel searches against the serial search."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import Panel, command
from arena.commands.completion import complete_agent
from arena.commands.options import (
    MOST_WORKERS,
    Cluster,
    Json,
    LogLevel,
    RunFolder,
    Specialize,
    Verbose,
    Workers,
    at_least,
    free_folder,
    games_option,
    given,
)
from arena.commands.output import print_table, tell, write_picture, write_whole
from arena.commands.playing import Where, end_told
from arena.commands.progress import progress_line
from arena.commands.scaling_solve import Lines, Nodes, Positions, Solve, holds_solvers, scale_solvers

OF_BOTH = ("game", "scheme", "sizes", "opening_plies", "seed", "threads", "solve")  # what a study is made of
OF_SCHEMES = ("playouts", "games", "serial")
OF_SOLVERS = ("moves", "positions", "nodes")
SCHEMES = ["root", "leaf", "tree", "tree(virtual_loss=0)", "tree(wu=true)", "pipeline"]

OneGame = Annotated[str | None, games_option('A game such as "breakthrough(rows=6, columns=6)".')]
Schemes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AGENT",
        help="A parallel search without workers and budget; may be repeated. Default: six searches.",
        autocompletion=complete_agent,
    ),
]
Sizes = Annotated[str, typer.Option(help="How many workers the searches have: several numbers, separated by commas.")]
Playouts = Annotated[int, typer.Option(help="Playouts of each worker for a move.")]
Games = Annotated[int, typer.Option("--games", "-n", help="Games of each match, an even number.")]
OpeningPlies = Annotated[int, typer.Option(help="Random plies before the searches begin.")]
Seed = Annotated[int, typer.Option(help="The seed of openings and searches.")]
Serial = Annotated[
    str, typer.Option(help="The serial search to compare with, a form of uct.", autocompletion=complete_agent)
]
Threads = Annotated[bool, typer.Option("--threads", help="Play with real threads instead of simulated workers.")]
SpeedSeconds = Annotated[
    float, typer.Option(callback=at_least(0), help="The time of each measurement of speed on threads; 0: measure none.")
]
ResumeAlone = Annotated[bool, typer.Option("--resume", help="Continue the run in --out; needs nothing else.")]


@command(
    Panel.STUDY,
    examples='arena scaling --game "breakthrough(rows=6, columns=6)" --out runs/schemes\n'
    'arena scaling --game connect4 --scheme tree --scheme "tree(virtual_loss=0)" --sizes 1,4,16 --playouts 100\n'
    'arena scaling --solve --game "breakthrough(rows=5, columns=4)" --scheme jlpns --scheme ppn2 --sizes 1,4,16,64\n'
    "arena scaling --out runs/schemes --resume",
)
def scaling(
    context: typer.Context,
    game: OneGame = None,
    scheme: Schemes = None,
    sizes: Sizes = "1,2,4,8,16",
    playouts: Playouts = 100,
    games: Games = 200,
    opening_plies: OpeningPlies = 2,
    seed: Seed = 0,
    serial: Serial = "uct",
    threads: Threads = False,
    speed_seconds: SpeedSeconds = 0.5,
    workers: Workers = None,
    cluster: Cluster = None,
    out: RunFolder = None,
    resume: ResumeAlone = False,
    verbose: Verbose = 0,
    log_level: LogLevel = None,
    specialize: Specialize = None,
    as_json: Json = False,
    solve: Solve = False,
    moves: Lines = None,
    positions: Positions = 3,
    nodes: Nodes = None,
) -> None:
    """Compare parallel searches with the serial search.

    They are compared by Elo at equal time, search overhead, strength speed-up, and speed.  Simulated workers, in
    virtual time, give the same result on any machine.  Tables and a figure (scaling.csv, throughput.csv, scaling.svg,
    scaling.png) are written beside the games.

    With --solve, parallel solvers find the values of positions, with one worker and with more: by default all whose
    workers can be simulated.  Tables and a figure (points.csv, points.tex, solving.csv, solving.tex, solving.svg,
    solving.png) have virtual time (with --threads, wall-clock time), nodes, speed-up and search overhead.
    """
    where = Where(workers, cluster)
    where.check()
    _check(context, solve, out, resume)
    asked = {"workers": _whole_numbers(sizes), "seed": seed, "game": game}
    if solve or (resume and holds_solvers(out)):
        asked |= {"solvers": tuple(scheme or ()), "moves": tuple(moves or ()), "positions": positions}
        asked |= {"plies": opening_plies, "nodes": nodes, "real": threads}
        scale_solvers(None if resume else asked, out, as_json)
        return
    asked |= {"schemes": tuple(scheme or SCHEMES), "playouts": playouts, "games": games, "serial": serial}
    asked |= {"opening_plies": opening_plies, "threads": threads}
    _scale_schemes(None if resume else asked, out, where, speed_seconds, as_json)


def _check(context: typer.Context, solve: bool, out: Path | None, resume: bool) -> None:
    """BadParameter if there is nothing to do, or an option that has nothing to say."""
    if resume and (out is None or given(context, (*OF_BOTH, *OF_SCHEMES, *OF_SOLVERS))):
        raise typer.BadParameter("--resume continues the run in --out, and needs nothing else")
    if not resume and context.params["game"] is None:
        raise typer.BadParameter("give a --game, or --resume with --out")
    if stray := given(context, OF_SCHEMES if solve else OF_SOLVERS):
        option = f"--{stray[0].replace('_', '-')}"
        raise typer.BadParameter(f"{option} goes {'without' if solve else 'with'} --solve")


def _scale_schemes(values: dict | None, out: Path | None, where: Where, speed_seconds: float, as_json: bool) -> None:
    """Run a study of schemes, or with None for its values go on with the one in the folder, and show what it found."""
    from arena.study.scaling import ScalingStudy, load, read_study

    study = None if values is None else ScalingStudy(**values)
    out = out or free_folder("scaling")
    _play(study, out, where, study is None)
    study = read_study(out)
    frame, speeds = load(out), _speeds(study, out, speed_seconds)
    _write(study, frame, speeds, out)
    _print(frame, speeds, out, as_json)


def _whole_numbers(text: str) -> tuple[int, ...]:
    """`1,2,4` -> (1, 2, 4)."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--sizes {text!r} is not a list such as 1,2,4,8") from None
    if not all(1 <= number <= MOST_WORKERS for number in numbers):
        raise typer.BadParameter(f"--sizes {text!r} is out of range: searches can have 1 to {MOST_WORKERS} workers")
    return numbers


def _play(study, out: Path, where: Where, resume: bool) -> None:
    """Play all rounds, with the display of a tournament."""
    from rich.console import Console

    from arena.cluster.link import connected
    from arena.runner.display import watch
    from arena.study.scaling import run
    from arena.workers.starting import use_fork_server

    use_fork_server()
    console = Console(stderr=True)
    with end_told(out, "scaling", where.cluster), ExitStack() as stack:
        cluster = stack.enter_context(connected(where.cluster)) if where.cluster else None  # once for all rounds
        run(study, out, where.workers, resume, watch(console), lambda text: console.print(text, markup=False), cluster)


def _speeds(study, out: Path, seconds: float):
    """The table of speeds on threads: measured once, then read."""
    import pandas as pd

    from arena.study.throughput import throughput

    path = out / "throughput.csv"
    if path.exists():
        return pd.read_csv(path)
    if not seconds:
        return pd.DataFrame()
    with progress_line() as show:
        table = throughput(study, seconds, lambda text: show(f"measuring {text}"))
    write_whole(path, _rendered(table, "csv").encode(), force=True)
    return table


def _rendered(frame, format: str) -> str:
    from results.export import render

    return str(render(frame, format))


def _write(study, frame, speeds, out: Path) -> None:
    """Write the table and the figure beside the games."""
    from results.strength_scaling import figure

    write_whole(out / "scaling.csv", _rendered(frame, "csv").encode(), force=True)
    drawn = figure(frame, speeds, study.game)
    for format in ("svg", "png"):
        write_picture(out / f"scaling.{format}", drawn, force=True)


def _print(frame, speeds, out: Path, as_json: bool) -> None:
    """Print both tables."""
    from results.strength_scaling import shown
    from results.summary import side_by_side

    if as_json:
        tables = {"points": frame, "throughput": speeds}
        typer.echo(json.dumps({key: json.loads(_rendered(table, "json")) for key, table in tables.items()}, indent=1))
        return
    print_table(shown(frame), False, "Strength")
    if len(speeds):
        print_table(speeds, False, "Speed on threads")
    if note := side_by_side(int(frame[["error", "total_error", "low"]].notna().sum().sum())):
        tell(note)
    tell(
        f"\nThe run is stored in {out}, the figure in {out / 'scaling.svg'}. "
        f"The matches: arena table {out} --kind pairs"
    )
