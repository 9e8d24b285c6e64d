"""What commands share: the application itself, errors told in a line, tables, and files written whole."""

import functools
import inspect
import sys
import textwrap
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

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Workers = Annotated[int | None, typer.Option(help="Cores to use; all, when left out.")]


def command(group: typer.Typer = app, examples: str = ""):
    """A command whose errors a user can mend are told in a line and end it with the documented exit code."""

    def decorate(function):
        @functools.wraps(function)
        def wrapped(*arguments, **options):
            try:
                function(*arguments, **options)
            except KeyboardInterrupt:
                complain("interrupted")
                raise typer.Exit(INTERRUPTED) from None
            except BrokenPipeError:
                sys.stderr.close()  # the reader of our output has gone: nothing is left to say
                raise typer.Exit(0) from None
            except _mendable() as error:
                complain(_worded(error))
                raise typer.Exit(BAD) from None

        name = function.__name__.strip("_").replace("_", "-")
        # \b keeps the lines as they are
        text = inspect.cleandoc(function.__doc__) + (
            f"\n\n\b\nExamples:\n{textwrap.indent(examples, '  ')}" if examples else ""
        )
        return group.command(name, help=text)(wrapped)

    return decorate


def _mendable():
    """The exceptions that say what the user can do; looked up when one is raised, since their modules are slow."""
    modules = {
        "arena.formats.schedule": "OpeningError",
        "arena.runner.supervisor": "WorkerStartError",
        "results.store": "StoreError",
        "agents.core.agent": "Unsuited",
        "arena.config.config": "ConfigError",
        "games.core.registry": "SpecError",
        "games.core.game": "IllegalMove",
        "arena.study.solving": "PositionError",
        "agents.knowledge.tablebase": "TablebaseError",
        "agents.knowledge.files": "PreparedFileError",
    }
    loaded = [getattr(sys.modules[module], name) for module, name in modules.items() if module in sys.modules]
    return (OSError, ImportError, *loaded)


def _worded(error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def complain(text) -> None:
    """An error, on the error stream, red in a terminal."""
    for line in text.splitlines():
        typer.secho(f"arena: {line}", err=True, fg="red" if sys.stderr.isatty() else None)


def print_table(frame, as_json, title=None) -> None:
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


def tell(text) -> None:
    """A line that is not the table: to where it does not disturb who reads the table with a program."""
    typer.echo(text, err=sys.stdout is None or not sys.stdout.isatty())


def terminal_width() -> int | None:
    """Columns of the terminal that is written to; None where it is none, and lines may be as long as they are."""
    import shutil

    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def write_whole(path: Path, data: bytes) -> None:
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


def budget_of(texts: list[str]) -> dict:
    """`["playouts=1000"]` -> {"playouts": 1000}, as a budget's table in a configuration."""
    return dict(map(_budget_entry, texts))


def _budget_entry(text):
    """`playouts=1000` -> ("playouts", 1000)."""
    kind, _, amount = text.partition("=")
    for number in (int, float):
        try:
            return kind.strip(), number(amount)
        except ValueError:
            continue
    raise typer.BadParameter(f"--budget {text!r} is not of the form playouts=1000")


def registered(package) -> list[str]:
    """The names of all "games" or "agents"."""
    import importlib

    return importlib.import_module(package).names()


def free_folder(name) -> Path:
    """runs/NAME-1, or the first such that does not exist."""
    number = 1
    while Path("runs", f"{name}-{number}").exists():
        number += 1
    return Path("runs", f"{name}-{number}")


def use_fork_server() -> None:
    """Workers must not be forked from a process with threads; where there is no fork server they are spawned."""
    import multiprocessing

    if "forkserver" in multiprocessing.get_all_start_methods():
        multiprocessing.set_start_method("forkserver", force=True)
        multiprocessing.set_forkserver_preload(["arena.runner.worker"])
    else:
        multiprocessing.set_start_method("spawn", force=True)
