"""Playing a tournament with its display: shared by run, demo, sprt and scaling."""

from contextlib import contextmanager

import typer

from arena.commands.application import BAD, INTERRUPTED, VOID, complain
from arena.commands.output import print_table, tell


def play_shown(config, out, workers, resume, as_json, serve=None) -> None:
    """Run a tournament with its display, then print the standings and what to do next."""
    played = run_shown(config, out, workers, resume, serve)
    print_table(played.table(), as_json)
    tell_notes(played)
    tell(f"\nThe run lies in {out}. Some things to do with it:")
    for hint in _hints(played, out):
        tell(f"  {hint}")
    exit_if_void(played)


def run_shown(config, out, workers, resume, serve=None):
    """Run a tournament with its display; its results.  What keeps it from its end is told, and ends the command."""
    from rich.console import Console

    if workers is not None and workers < 1:
        raise typer.BadParameter(f"--workers {workers} is out of range: a run needs 1 or more")
    from arena.config.config import from_values
    from arena.runner import tournament
    from arena.runner.display import watch
    from results.store import StoreExists

    if isinstance(config, dict):
        config = from_values(config, str(out) if resume else "the command line")
    console = Console(stderr=True)
    use_fork_server()
    try:
        with _served(out, serve):
            return tournament.run(config, out, workers, resume, watch(console))
    except StoreExists:
        complain(f"{out} holds a run already. To go on with it: --resume. To keep it and start another: --out FOLDER")
        raise typer.Exit(BAD) from None
    except tournament.Interrupted as stop:
        complain(f"{stop.stored} of {stop.total} games are stored. To play the rest: arena run --out {out} --resume")
        raise typer.Exit(INTERRUPTED) from None


def tell_notes(played) -> None:
    """How the format stands, and what a reader of the tables must know."""
    from arena.formats.schedule import Schedule

    for note in [*Schedule.of(played).lines(), *played.notes()]:
        tell(note)


def exit_if_void(played) -> None:
    """The exit code that void games ask for."""
    from results.record import Reason

    if played.games["reason"].isin(Reason.VOIDS).any():
        raise typer.Exit(VOID)


@contextmanager
def _served(out, port):
    """Within it the report is served, if a port is given."""
    if port is None:
        yield
        return
    from arena.report.serve import serving

    with serving(out, port) as address:
        typer.echo(f"The report is shown at {address} while the games are played.", err=True)
        yield


def _hints(played, out) -> list[str]:
    if played.single_player:
        best = played.games.sort_values("score", ascending=False)["id"].iloc[0]
        return [
            f"arena table {out} --format markdown",
            f"arena table {out} --kind improvements --format csv --output improvements.csv",
            f"arena curve {out} --output curve.svg",
            f"arena show {out} {best}",
        ]
    study = [f"arena table {out} --kind study --format latex"] if played.kinds[0] == "study" else []
    return [
        *study,
        f"arena table {out} --kind crosstable",
        f"arena table {out} --kind win_rates --format markdown",
        f"arena table {out} --kind moves --format csv --output moves.csv",
        f"arena show {out} {played.games['id'].iloc[0]}",
        f"arena report {out}",
    ]


def use_fork_server() -> None:
    """Workers must not be forked from a process with threads; where there is no fork server they are spawned."""
    import multiprocessing

    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)
        multiprocessing.set_forkserver_preload(["arena.runner.worker"])
    else:
        multiprocessing.set_start_method("spawn", force=True)
