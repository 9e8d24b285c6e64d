"""`arena scaling`: parallel searches against the serial one."""

import io
import json
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.application import BAD, INTERRUPTED, command, complain
from arena.commands.options import Json, free_folder
from arena.commands.output import print_table, tell, write_whole
from arena.commands.playing import use_fork_server

SCHEMES = ["root", "leaf", "tree", "tree(virtual_loss=0)", "tree(wu=true)", "pipeline"]


@command(
    examples='arena scaling --game "breakthrough(rows=6, columns=6)" --out runs/schemes\n'
    'arena scaling --game connect4 --scheme tree --scheme "tree(virtual_loss=0)" --workers 1,4,16 --playouts 100\n'
    "arena scaling --out runs/schemes --resume"
)
def scaling(
    game: Annotated[str | None, typer.Option(help='A game such as "breakthrough(rows=6, columns=6)".')] = None,
    scheme: Annotated[
        list[str] | None, typer.Option(help="A parallel search without workers and budget; six of them, when left out.")
    ] = None,
    workers: Annotated[str, typer.Option(help="How many workers the searches have, as a list.")] = "1,2,4,8,16",
    playouts: Annotated[int, typer.Option(help="Of each worker, for a move.")] = 100,
    games: Annotated[int, typer.Option(help="Of each match, an even number.")] = 200,
    opening_plies: Annotated[int, typer.Option(help="Random plies before the searches begin.")] = 2,
    seed: Annotated[int, typer.Option(help="Of openings and searches.")] = 0,
    serial: Annotated[str, typer.Option(help="The serial search to compare with, a form of uct.")] = "uct",
    threads: Annotated[
        bool, typer.Option("--threads", help="Play with real threads, not with simulated workers.")
    ] = False,
    speed_seconds: Annotated[
        float, typer.Option(help="Time of each measurement of speed on threads; 0 for none.")
    ] = 0.5,
    cores: Annotated[int | None, typer.Option(help="Cores to play on; all, when left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to store the run; runs/scaling-N when left out.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is there; needs nothing but --out.")] = False,
    as_json: Json = False,
) -> None:
    """Compare parallel searches with the serial one: Elo at equal time, search overhead, strength speed-up, speed.

    Simulated workers, in virtual time, make the same result on any machine.  Tables and a figure (scaling.csv,
    throughput.csv, scaling.svg, scaling.png) are written beside the games.
    """
    from arena.study import scaling as comparison
    from results.scaling import shown

    if cores is not None and cores < 1:
        raise typer.BadParameter(f"--cores {cores} is out of range: a run needs 1 or more")
    if not speed_seconds >= 0:
        raise typer.BadParameter(f"--speed-seconds {speed_seconds:g} is out of range: it can be 0 or more")
    if resume and (out is None or game or scheme):
        raise typer.BadParameter("--resume goes on with the run in --out, and needs nothing else")
    if not resume and game is None:
        raise typer.BadParameter("give a --game, or --resume with --out")
    plan = None
    if not resume:
        plan = comparison.Plan(
            game,
            tuple(scheme or SCHEMES),
            _whole_numbers(workers),
            playouts,
            games,
            opening_plies,
            seed,
            threads,
            serial,
        )
    out = out or free_folder("scaling")
    _play(plan, out, cores, resume)
    frame, speeds = comparison.load(out), _speeds(out, speed_seconds)
    _write(frame, speeds, out)
    if as_json:
        tables = {"points": frame, "throughput": speeds}
        typer.echo(json.dumps({key: json.loads(_rendered(table, "json")) for key, table in tables.items()}, indent=1))
    else:
        print_table(shown(frame), False, "Strength")
        if len(speeds):
            print_table(speeds, False, "Speed on threads")
        tell(
            f"\nThe run lies in {out}, the figure in {out / 'scaling.svg'}. The matches: arena table {out} --kind pairs"
        )


def _whole_numbers(text) -> tuple[int, ...]:
    """`1,2,4` -> (1, 2, 4)."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--workers {text!r} is not a list such as 1,2,4,8") from None


def _play(plan, out, cores, resume) -> None:
    """Play all rounds, with the display of a tournament."""
    from rich.console import Console

    from arena.runner.display import watch
    from arena.runner.tournament import Interrupted
    from arena.study import scaling as comparison
    from results.store import StoreExists

    use_fork_server()
    console = Console(stderr=True)
    try:
        comparison.run(plan, out, cores, resume, watch(console), lambda text: console.print(text, markup=False))
    except StoreExists:
        complain(f"{out} holds a run already. To go on with it: --resume. To keep it and start another: --out FOLDER")
        raise typer.Exit(BAD) from None
    except Interrupted as stop:
        complain(f"{stop.stored} of {stop.total} games are stored. To go on: arena scaling --out {out} --resume")
        raise typer.Exit(INTERRUPTED) from None


def _speeds(out, seconds):
    """The table of speeds on threads: measured once, then read."""
    import pandas as pd
    from rich.console import Console
    from rich.text import Text

    from arena.study import scaling as comparison

    path = out / "throughput.csv"
    if path.exists():
        return pd.read_csv(path)
    if not seconds:
        return pd.DataFrame()
    with Console(stderr=True).status("") as status:
        table = comparison.throughput(
            comparison.read_plan(out), seconds, lambda text: status.update(Text(f"measuring {text}"))
        )
    write_whole(path, _rendered(table, "csv"))
    return table


def _rendered(frame, format) -> bytes:
    from results.export import render

    return render(frame, format).encode()


def _write(frame, speeds, out) -> None:
    """The table and the figure, beside the games."""

    from arena.study import scaling as comparison
    from results.scaling import figure

    write_whole(out / "scaling.csv", _rendered(frame, "csv"))
    drawn = figure(frame, speeds, comparison.read_plan(out).game)
    for picture in ("svg", "png"):
        buffer = io.BytesIO()
        drawn.savefig(buffer, format=picture, dpi=150)
        write_whole(out / f"scaling.{picture}", buffer.getvalue())
