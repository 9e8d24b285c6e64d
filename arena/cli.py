"""The command `arena`.  Numba, pandas and SciPy are imported by the commands that need them, so that help is quick."""

import functools
import json
import sys
import textwrap
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

EXIT_CODES = "Exit codes: 0 done; 1 finished, with void games; 2 bad input or usage; 130 interrupted, can be resumed."
VOID, BAD, INTERRUPTED = 1, 2, 130

app = typer.Typer(
    name="arena",
    help="Reproducible tournaments of game-tree search agents, across cores.\n\n" + EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
listing = typer.Typer(help="The games and the agents there are.", no_args_is_help=True)
cache = typer.Typer(help="The compiled kernels on disk.", no_args_is_help=True)
app.add_typer(listing, name="list")
app.add_typer(cache, name="cache")

Kind = StrEnum("Kind", ["standings", "crosstable", "pairs", "games", "moves", "win_rates"])
Format = StrEnum("Format", ["text", "csv", "markdown", "latex", "html", "json", "parquet"])
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Workers = Annotated[int | None, typer.Option(help="Cores to use; all, when left out.")]


def main() -> None:
    """Entry point of the console command."""
    app()


def command(group: typer.Typer = app, examples: str = ""):
    """A command whose errors a user can mend are told in a line and end it with the documented exit code."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*arguments, **options):
            try:
                function(*arguments, **options)
            except KeyboardInterrupt:
                _complain("interrupted")
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                sys.stderr.close()  # the reader of our output has gone: nothing is left to say
                raise typer.Exit(0) from None
            except _mendable() as error:
                _complain(_worded(error))
                raise typer.Exit(BAD) from None

        name = function.__name__.strip("_").replace("_", "-")
        # \b keeps the lines as they are
        text = function.__doc__ + (f"\n\n\b\nExamples:\n{textwrap.indent(examples, '  ')}" if examples else "")
        return group.command(name, help=text)(wrapped)

    return decorate


def _mendable():
    """The exceptions that say what the user can do; looked up when one is raised, since their modules are slow."""
    modules = {"arena.schedule": "OpeningError", "arena.supervisor": "WorkerStartError", "results.store": "StoreError",
               "agents.core.agent": "Unsuited", "arena.config": "ConfigError", "games.core.registry": "SpecError"}
    loaded = [getattr(sys.modules[module], name) for module, name in modules.items() if module in sys.modules]
    return (OSError, ImportError, *loaded)


def _worded(error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _complain(text) -> None:
    for line in text.splitlines():
        typer.secho(f"arena: {line}", err=True, fg="red" if sys.stderr.isatty() else None)


def _print_table(frame, as_json, title=None) -> None:
    """A frame as JSON, or as wide as the terminal."""
    from rich.console import Console

    from results.export import render, rich_table

    console = Console()
    if as_json:
        typer.echo(render(frame, "json"), nl=False)
    elif console.is_terminal:
        console.print(rich_table(frame, title))
    else:
        typer.echo(render(frame, "text", title), nl=False)


# -- Playing --------------------------------------------------------------------------------------------------------


@command(examples="arena demo\narena demo --out runs/try --workers 2")
def demo(out: Annotated[Path | None, typer.Option(help="Where to store the run.")] = None, workers: Workers = None) -> None:
    """Play a tournament of six agents on Breakthrough 6x6, and say what to do with it."""
    from arena.demo import CONFIG

    _play(CONFIG, out or _free_folder("demo"), workers, resume=False, as_json=False)


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
    game: Annotated[str | None, typer.Option(help='Instead of a file: a game such as "connect4(rows=6, columns=7)".')] = None,
    agent: Annotated[list[str] | None, typer.Option(help='An agent such as "uct(playouts=1000)"; give two or more.')] = None,
    games: Annotated[int | None, typer.Option(help="Games for each pair of agents; 100 when left out.")] = None,
    opening_plies: Annotated[int | None, typer.Option(help="Random plies before the agents begin.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of openings and agents.")] = None,
    budget: Annotated[
        list[str] | None, typer.Option(help="For agents without one of their own: playouts=1000, nodes=..., depth=..., seconds=...")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a round robin, from a configuration file or from options, and store it in a folder."""
    flags = {"game": game, "agent": agent, "games": games, "opening-plies": opening_plies, "seed": seed, "budget": budget}
    given = [f"--{name}" for name, value in flags.items() if value not in (None, [])]
    if config and given:
        raise typer.BadParameter(f"{', '.join(given)} cannot be added to a file: say it in {config}")
    if config:
        _play(config, out or Path("runs", config.stem), workers, resume, as_json)
    elif given:
        values = _values_of_flags(flags)
        if resume and not out:
            raise typer.BadParameter("--resume needs --out, the folder of the run to go on with")
        from games.core.registry import parse_spec

        _play(values, out or _free_folder(parse_spec(game)[0] if game else "run"), workers, resume, as_json)
    elif resume and out:
        _play(_stored_config(out), out, workers, resume, as_json)
    else:
        raise typer.BadParameter("give a configuration file, or --game and two or more --agent, or --resume with --out")


def _values_of_flags(flags) -> dict:
    """A configuration's keys from the options of `arena run`."""
    values = {"games": 100} | {
        name.replace("-", "_"): value for name, value in flags.items() if name not in ("agent", "budget") and value is not None
    }
    values["agents"] = [{"agent": spec} for spec in flags["agent"] or []]
    if flags["budget"]:
        values["budget"] = dict(_budget_entry(text) for text in flags["budget"])
    return values


def _budget_entry(text):
    """`playouts=1000` -> ("playouts", 1000)."""
    kind, _, amount = text.partition("=")
    for number in (int, float):
        try:
            return kind.strip(), number(amount)
        except ValueError:
            continue
    raise typer.BadParameter(f"--budget {text!r} is not of the form playouts=1000")


def _stored_config(folder) -> dict:
    from results.store import Store

    with Store.open(folder) as store:
        return store.meta["config"]


def _free_folder(name) -> Path:
    """runs/NAME-1, or the first such that does not exist."""
    number = 1
    while Path("runs", f"{name}-{number}").exists():
        number += 1
    return Path("runs", f"{name}-{number}")


def _play(config, out, workers, resume, as_json) -> None:
    """Run a tournament with its display, then print the standings and what to do next."""
    import multiprocessing

    from rich.console import Console

    if workers is not None and workers < 1:
        raise typer.BadParameter(f"--workers {workers} is out of range: a run needs 1 or more")
    from arena import tournament
    from arena.config import from_values
    from arena.display import watch
    from results.store import StoreExists

    if isinstance(config, dict):
        config = from_values(config, str(out) if resume else "the command line")
    console = Console(stderr=True)
    _use_fork_server(multiprocessing)
    try:
        played = tournament.run(config, out, workers, resume, watch(console))
    except StoreExists:
        _complain(f"{out} holds a run already. To go on with it: --resume. To keep it and start another: --out FOLDER")
        raise typer.Exit(BAD) from None
    except tournament.Interrupted as stop:
        _complain(f"{stop.stored} of {stop.total} games are stored. To play the rest: arena run --out {out} --resume")
        raise typer.Exit(INTERRUPTED) from None
    _print_table(played.table("standings"), as_json)
    for note in played.notes():
        _tell(note)
    _tell(f"\nThe run lies in {out}. Some things to do with it:")
    for hint in _hints(played, out):
        _tell(f"  {hint}")
    if played.games["outcome"].isna().any():
        raise typer.Exit(VOID)


def _tell(text) -> None:
    """A line that is not the table: to where it does not disturb who reads the table with a program."""
    typer.echo(text, err=sys.stdout is None or not sys.stdout.isatty())


def _hints(played, out) -> list[str]:
    return [
        f"arena table {out} --kind crosstable",
        f"arena table {out} --kind win_rates --format markdown",
        f"arena table {out} --kind moves --format csv --output moves.csv",
        f"arena show {out} {played.games['id'].iloc[0]}",
    ]


def _use_fork_server(multiprocessing) -> None:
    """Workers must not be forked from a process with threads; where there is no fork server they are spawned."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)
        multiprocessing.set_forkserver_preload(["arena.worker"])
    else:
        multiprocessing.set_start_method("spawn", force=True)


# -- Reading --------------------------------------------------------------------------------------------------------


@command(
    examples="arena table runs/first\n"
    "arena table runs/first --kind crosstable --format latex\n"
    "arena table runs/first --kind games --format parquet --output games.parquet"
)
def table(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    kind: Annotated[Kind, typer.Option(help="Which table.")] = Kind.standings,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
    no_times: Annotated[bool, typer.Option("--no-times", help="Leave out seconds, so that equal runs give equal tables.")] = False,
    output: Annotated[Path | None, typer.Option(help="A file to write to, instead of the terminal.")] = None,
) -> None:
    """Print a table of a stored run, finished or not."""
    import results
    from results.export import render

    if format is Format.parquet and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not text: give --output FILE, or redirect the output")
    tournament = results.load(folder)
    text = render(tournament.table(kind.value), format.value, times=not no_times, width=_terminal_width())
    data = text if isinstance(text, bytes) else text.encode()
    if output:
        _write_whole(output, data)
    else:
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    if kind in (Kind.standings, Kind.crosstable, Kind.pairs) and format is Format.text:
        for note in tournament.notes():
            _tell(note)


def _terminal_width() -> int | None:
    """Columns of the terminal that is written to; None where it is none, and lines may be as long as they are."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is there in full or not at all."""
    import os
    import tempfile

    target, part = path.resolve(), None
    try:
        if target.exists() and not target.is_file():  # a device, or a pipe: there is nothing to put in its place
            path.write_bytes(data)
            return
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        os.close(handle)
        Path(part).write_bytes(data)
        os.chmod(part, target.stat().st_mode & 0o777 if target.exists() else 0o644)
        os.replace(part, target)
    except OSError as error:
        if part:
            Path(part).unlink(missing_ok=True)
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error


@command(examples="arena show runs/first 2v1-0007\narena show runs/first 2v1-0007 --ply 12")
def show(
    folder: Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR")],
    id: Annotated[str, typer.Argument(help="A game's id, as `arena table DIR --kind games` lists it.", metavar="ID")],
    ply: Annotated[int | None, typer.Option(help="Draw the board after this many plies; the last one when left out.")] = None,
    as_json: Json = False,
) -> None:
    """Show one game: its moves, what the agents thought of them, and the board."""
    from dataclasses import asdict

    from results.store import Store

    with Store.open(folder) as store:
        record, config = store.record(id), store.meta["config"]
    if as_json:
        typer.echo(json.dumps(asdict(record), indent=1))
        return
    if ply is not None and not 0 <= ply <= record.plies:
        raise typer.BadParameter(f"--ply {ply} is out of range: the game has 0 to {record.plies} plies")
    from arena.config import make_all

    game, _ = make_all(config["plugins"], config["game"], [], config["plugin_path"])
    line = [*record.opening_moves.split(), *record.moves.split()][: record.plies if ply is None else ply]
    typer.echo(f"Game {record.id} of {game}, opening {record.opening}, seed {record.seed}")
    typer.echo(f"First: {record.first}\nSecond: {record.second}\nOpening: {record.opening_moves or 'none'}\n")
    if record.decisions:
        _print_table(_decisions_frame(record), as_json=False)
    typer.echo(f"\nAfter {len(line)} of {record.plies} plies:\n\n{game.render(game.after_all(' '.join(line)))}\n")
    typer.echo(_result_in_words(record))


def _decisions_frame(record):
    """The decisions of a game as a table of moves, side by name."""
    from dataclasses import asdict

    import pandas as pd

    frame = pd.DataFrame([asdict(decision) for decision in record.decisions])
    frame["side"] = frame["side"].map({0: record.first, 1: record.second})
    counts = [name for name in ("playouts", "nodes", "depth") if frame[name].notna().any()]
    frame = frame.astype(dict.fromkeys(counts, "Int64")).rename(columns={"side": "agent"})
    frame = frame[["ply", "agent", "move", "value", *counts, "seconds"]]
    frame.attrs["kind"] = "moves"
    return frame


def _result_in_words(record) -> str:
    if record.outcome is None:
        return f"Void ({record.reason}): {record.detail}"
    winner = {1.0: f"{record.first} wins", 0.5: "Draw", 0.0: f"{record.second} wins"}[record.outcome]
    return f"{winner} ({record.reason}{': ' + record.detail if record.detail else ''}), after {record.plies} plies."


@command(listing, examples="arena list games\narena list games --json")
def games_(as_json: Json = False) -> None:
    """The games, with their parameters."""
    from games.core.game import registry

    rows = [
        _class_row(cls)
        | {"players": cls.players, "chance": cls.has_chance, "sizes": cls.sizes, "status": cls.status}
        | {"evaluations": cls.evaluations()}
        for cls in registry.classes().values()
    ]
    _print_list(rows, as_json, ("signature", "players", "sizes", "about"))


@command(listing, examples="arena list agents\narena list agents --json")
def agents_(as_json: Json = False) -> None:
    """The agents, with their parameters and the budgets they can use."""
    from agents.core.agent import registry

    rows = [_class_row(cls) | {"budgets": list(cls.budgets)} for cls in registry.classes().values()]
    _print_list(rows, as_json, ("signature", "budgets", "about"))


def _class_row(cls) -> dict:
    """What `arena list` says of a registered game or agent."""
    import dataclasses

    from games.core.registry import signature

    parameters = {field.name: field.default for field in dataclasses.fields(cls)}
    about = sys.modules[cls.__module__].__doc__.split("\n\n")[0].replace("\n", " ")
    return {"name": cls.name, "signature": signature(cls), "parameters": parameters, "about": about}


def _print_list(rows, as_json, columns) -> None:
    """The rows as JSON, or some of their columns as a table."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if as_json:
        typer.echo(json.dumps(rows, indent=1))
        return
    table = Table(box=None, pad_edge=False)
    for heading in columns:
        table.add_column(heading)
    for row in rows:
        cells = (", ".join(row[name]) if isinstance(row[name], list) else str(row[name]) for name in columns)
        table.add_row(*map(Text, cells))
    Console().print(table)


# -- Speed ----------------------------------------------------------------------------------------------------------


@command(examples='arena bench\narena bench --game connect4 --agent "uct(playouts=10000)" --seconds 5\narena bench --json')
def bench(
    game: Annotated[list[str] | None, typer.Option(help="A game to measure; all, when left out.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="An agent with its budget; all serial searches, when left out.")] = None,
    seconds: Annotated[float, typer.Option(help="How long each measurement takes.")] = 0.5,
    as_json: Json = False,
) -> None:
    """Measure random playouts and searches on one core, and the time to compile them from nothing.

    All games with all serial searches take several minutes, most of them the compiler's.
    """
    import os
    import tempfile

    from rich.console import Console
    from rich.text import Text

    if not seconds > 0:
        raise typer.BadParameter(f"--seconds {seconds:g} is out of range: it can be more than 0")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder  # read when Numba is first imported, which is below
        from arena import bench as benchmark

        console = Console(stderr=True)
        with console.status("") as status:
            report = benchmark.bench(
                game or _names("games"), agent or benchmark.search_agents(), seconds,
                lambda text: status.update(Text(f"measuring {text}")),
            )
    if as_json:
        typer.echo(json.dumps(report, indent=1))
        return
    _print_bench(report)


def _names(package) -> list[str]:
    import importlib

    return importlib.import_module(package).names()


def _print_bench(report) -> None:
    import pandas as pd

    for rows, title in ((report["games"], "Random playouts"), (report["agents"], "Searches")):
        if rows:
            _print_table(pd.DataFrame(rows), as_json=False, title=title)
    typer.echo(f"signature {report['signature']}")


@command(cache, examples="arena cache info")
def info(as_json: Json = False) -> None:
    """Where compiled kernels lie, how many there are and how large they are."""
    import pandas as pd

    from arena import kernels

    _print_table(pd.DataFrame(kernels.info()), as_json)


@command(cache, examples="arena cache clear")
def clear() -> None:
    """Remove every compiled kernel; each is compiled again when it is next needed."""
    from arena import kernels

    typer.echo(f"{kernels.clear()} files removed")


@command(cache, examples='arena cache warm\narena cache warm --game "connect4(rows=6, columns=7)" --agent uct')
def warm(
    game: Annotated[list[str] | None, typer.Option(help="A game; all, when left out.")] = None,
    agent: Annotated[list[str] | None, typer.Option(help="An agent; all, when left out.")] = None,
) -> None:
    """Compile kernels before they are needed."""
    from arena import kernels

    for game_spec in game or _names("games"):
        kernels.warm(
            game_spec,
            agent or _names("agents"),
            lambda name: None,
            lambda name, seconds, failure, on=game_spec: typer.echo(f"{name} on {on}: {failure or f'{seconds:.1f} s'}"),
        )


if __name__ == "__main__":
    main()
