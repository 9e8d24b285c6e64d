"""Commands that play games: demo and run."""

from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from arena.commands.common import (
    BAD,
    INTERRUPTED,
    VOID,
    Json,
    Workers,
    budget_of,
    command,
    complain,
    free_folder,
    print_table,
    tell,
    use_fork_server,
)


@command(examples="arena demo\narena demo --out runs/try --workers 2")
def demo(
    out: Annotated[Path | None, typer.Option(help="Where to store the run.")] = None, workers: Workers = None
) -> None:
    """Play a tournament of six agents on Breakthrough 6x6, and say what to do with it."""
    from arena.demo import CONFIG

    _play(CONFIG, out or free_folder("demo"), workers, resume=False, as_json=False)


@command(
    examples="arena run tournament.toml\n"
    "arena run tournament.toml --out runs/first --workers 2\n"
    "arena run --out runs/first --resume\n"
    'arena run --game connect4 --agent "uct(playouts=1000)" --agent "alphabeta(depth=6)" --games 100'
)
def run(
    config: Annotated[Path | None, typer.Argument(help="A TOML file.", metavar="CONFIG.toml")] = None,
    out: Annotated[Path | None, typer.Option(help="Where to store the run; runs/NAME when left out.")] = None,
    workers: Workers = None,
    resume: Annotated[bool, typer.Option(help="Go on with the run that is there; needs no configuration.")] = False,
    game: Annotated[
        str | None,
        typer.Option(help='Instead of a file: a game such as "connect4(rows=6, columns=7)", or one for one player.'),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(help='An agent such as "uct(playouts=1000)"; give two or more, for one player one or more.'),
    ] = None,
    games: Annotated[
        int | None, typer.Option(help="Games for each pair of agents, or runs of each agent; 100 when left out.")
    ] = None,
    opening_plies: Annotated[int | None, typer.Option(help="Random plies before the agents begin.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of openings and agents.")] = None,
    budget: Annotated[
        list[str] | None,
        typer.Option(help="For agents without one of their own: playouts=1000, nodes=..., depth=..., seconds=..."),
    ] = None,
    serve: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Show the report at this port, while it is played; 0 is any.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a tournament from a configuration file, or a round robin from options, and store it in a folder."""
    flags = {
        "game": game,
        "agent": agent,
        "games": games,
        "opening-plies": opening_plies,
        "seed": seed,
        "budget": budget,
    }
    given = [f"--{name}" for name, value in flags.items() if value not in (None, [])]
    if config and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be added to a file: say it in {config}")
    if config:
        _play(config, out or Path("runs", config.stem), workers, resume, as_json, serve)
    elif given:
        values = _values_of_flags(flags)
        if resume and not out:
            raise typer.BadParameter("--resume needs --out, the folder of the run to go on with")
        from games.core.registry import parse_spec

        _play(values, out or free_folder(parse_spec(game)[0] if game else "run"), workers, resume, as_json, serve)
    elif resume and out:
        _play(_stored_config(out), out, workers, resume, as_json, serve)
    else:
        raise typer.BadParameter("give a configuration file, or --game and two or more --agent, or --resume with --out")


def _values_of_flags(flags) -> dict:
    """A configuration's keys from the options of `arena run`."""
    values = {"games": 100} | {
        name.replace("-", "_"): value
        for name, value in flags.items()
        if name not in ("agent", "budget") and value is not None
    }
    values["agents"] = [{"agent": spec} for spec in flags["agent"] or []]
    if flags["budget"]:
        values["budget"] = budget_of(flags["budget"])
    return values


def _stored_config(folder) -> dict:
    from results.store import Store

    with Store.open(folder) as store:
        return store.config


def _play(config, out, workers, resume, as_json, serve=None) -> None:
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
    from arena.formats.formats import Plan

    for note in [*Plan.of(played).lines(), *played.notes()]:
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
    return [
        f"arena table {out} --kind crosstable",
        f"arena table {out} --kind win_rates --format markdown",
        f"arena table {out} --kind moves --format csv --output moves.csv",
        f"arena show {out} {played.games['id'].iloc[0]}",
        f"arena report {out}",
    ]
