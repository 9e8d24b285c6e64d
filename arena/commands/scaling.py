"""`arena scaling`: parallel searches against the serial search."""

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from arena.commands import options
from arena.commands.application import Panel, command
from arena.commands.completion import complete_agent
from arena.commands.output import print_table, quoted, tell, write_whole
from arena.commands.playing import Where, reporting_end
from arena.commands.progress import progress_line
from arena.commands.study import print_json, rendered, write_files

SCHEMES = ["root", "leaf", "tree", "tree(virtual_loss=0)", "tree(wu=true)", "pipeline"]

OneGame = Annotated[str | None, options.games_option('A game such as "breakthrough(rows=6, columns=6)".')]
Schemes = Annotated[
    list[str] | None,
    typer.Option(
        metavar="AGENT",
        help="A parallel search without workers and budget; may be repeated. Default: six searches.",
        autocompletion=complete_agent,
    ),
]
Playouts = Annotated[int, typer.Option(help="Playouts of each worker for a move.")]
Games = Annotated[int, typer.Option("--games", "-n", help="Games of each match, an even number.")]
OpeningPlies = Annotated[int, typer.Option(help="Random plies before the searches begin.")]
Seed = Annotated[int, typer.Option(help="The seed of openings and searches.")]
Serial = Annotated[
    str, typer.Option(help="The serial search to compare with, a form of uct.", autocompletion=complete_agent)
]
Threads = Annotated[bool, typer.Option("--threads", help="Play with real threads instead of simulated workers.")]
SpeedSeconds = Annotated[
    float,
    typer.Option(
        callback=options.at_least(0), help="The time of each measurement of speed on threads; 0: measure none."
    ),
]


@command(
    Panel.STUDY,
    examples='arena scaling --game "breakthrough(rows=6, columns=6)" --out runs/schemes\n'
    'arena scaling --game connect4 --scheme tree --scheme "tree(virtual_loss=0)" --sizes 1,4,16 --playouts 100\n'
    "arena scaling --out runs/schemes --resume",
)
def scaling(
    context: typer.Context,
    game: OneGame = None,
    scheme: Schemes = None,
    sizes: options.Sizes = "1,2,4,8,16",
    playouts: Playouts = 100,
    games: Games = 200,
    opening_plies: OpeningPlies = 2,
    seed: Seed = 0,
    serial: Serial = "uct",
    threads: Threads = False,
    speed_seconds: SpeedSeconds = 0.5,
    workers: options.Workers = None,
    cluster: options.Cluster = None,
    out: options.RunFolder = None,
    resume: options.ResumeAlone = False,
    verbose: options.Verbose = 0,
    as_json: options.Json = False,
) -> None:
    """Compare parallel searches with the serial search.

    Measures: Elo at equal time, search overhead, strength speed-up, and speed.  Simulated workers, in virtual time,
    give the same result on any machine.  Tables and a figure (scaling.csv, throughput.csv, scaling.svg, scaling.png)
    are written beside the games.
    """
    where = Where(workers, cluster)
    where.check()
    options.check_resumed(context, out, resume)
    from arena.study.scaling import ScalingStudy

    study = None
    if not resume:
        numbers = options.sizes_of(sizes), playouts, games, opening_plies, seed
        study = ScalingStudy(str(game), tuple(scheme or SCHEMES), *numbers, threads, serial)
    out = out or options.free_folder("scaling")
    _play(study, out, where, resume)
    _publish(out, speed_seconds, as_json)


def _publish(out: Path, speed_seconds: float, as_json: bool) -> None:
    """Measure the speed on threads; write and print the results."""
    from arena.results.strength_scaling import figure
    from arena.study.scaling import load, read_study

    study = read_study(out)
    frame, speeds = load(out), _speeds(study, out, speed_seconds)
    write_files(out, {"scaling": frame}, "scaling", figure(frame, speeds, study.game), ["csv"])
    if as_json:
        print_json({"points": frame, "throughput": speeds})
    else:
        _print(frame, speeds, out)


def _play(study, out: Path, where: Where, resume: bool) -> None:
    from rich.console import Console

    from arena.cluster.link import connected
    from arena.runner.display import watch
    from arena.study.scaling import run
    from arena.workers.starting import use_fork_server

    use_fork_server()
    console = Console(stderr=True)
    with reporting_end(out, "scaling", where.cluster), ExitStack() as stack:
        cluster = stack.enter_context(connected(where.cluster)) if where.cluster else None  # once for all rounds
        run(study, out, where.workers, resume, watch(console), lambda text: console.print(text, markup=False), cluster)


def _speeds(study, out: Path, seconds: float):
    """The table of speeds on threads, measured once and stored."""
    import pandas as pd

    from arena.study.throughput import throughput

    path = out / "throughput.csv"
    if path.exists():
        return pd.read_csv(path)
    if not seconds:
        return pd.DataFrame()
    with progress_line() as show:
        table = throughput(study, seconds, lambda text: show(f"measuring {text}"))
    write_whole(path, rendered(table, "csv").encode(), force=True)
    return table


def _print(frame, speeds, out: Path) -> None:
    from arena.results.strength_scaling import shown
    from arena.results.summary import side_by_side

    print_table(shown(frame), False, "Strength")
    if len(speeds):
        print_table(speeds, False, "Speed on threads")
    if note := side_by_side(int(frame[["error", "total_error", "low"]].notna().sum().sum())):
        tell(note)
    tell(
        f"\nThe run is stored in {out}, the figure in {out / 'scaling.svg'}. "
        f"The matches: arena table {quoted(out)} --kind pairs"
    )
