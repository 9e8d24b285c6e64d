"""Options and arguments that several commands share, and the parsing of their texts."""

import importlib
import itertools
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from arena.commands.completion import complete_agent, complete_game, complete_run
from arena.commands.output import wants_json
from arena.results.shown.kinds import FORMATS


def at_least(low: float, high: float | None = None) -> Callable:
    """A callback that refuses values out of range, with a message that not every version of typer gives."""

    def check(value):
        if value is not None and not (value >= low and (high is None or value <= high)):  # NaN is not, either
            most = "or more" if high is None else f"to {high:g}"
            raise typer.BadParameter(f"{value:g} is out of range: it can be {low:g} {most}")
        return value

    return check


def positive(value: float) -> float:
    """A callback that refuses values of 0 or less."""
    if not value > 0:
        raise typer.BadParameter(f"{value:g} is out of range: it must be more than 0")
    return value


def given(context: typer.Context, names: Iterable[str]) -> list[str]:
    """The parameters that the user typed."""
    sources = {name: context.get_parameter_source(name) for name in names}
    return [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]


def _import_named(context: typer.Context, modules: list[str] | None) -> list[str] | None:
    """A callback that imports modules, here and in worker processes, before the other options are read."""
    from arena.games.core.shared import plugins

    if modules:
        before = os.environ.get(plugins.VARIABLE)
        try:
            plugins.add_named(modules, ".")
        except (Exception, SystemExit) as error:  # whatever a user's module raises
            raise typer.BadParameter(f"{' '.join(modules)}: {type(error).__name__}: {error}") from None
        context.call_on_close(lambda: restore(plugins.VARIABLE, before))
    return modules


def restore(variable: str, value: str | None) -> None:
    """Set an environment variable as it was before, None where it was not."""
    os.environ.pop(variable, None)
    if value is not None:
        os.environ[variable] = value


def games_option(help: str):
    """--game, which may be repeated."""
    return typer.Option("--game", "-g", metavar="GAME", help=help, autocompletion=complete_game)


def agents_option(help: str):
    """--agent, which may be repeated."""
    return typer.Option("--agent", "-a", metavar="AGENT", help=help, autocompletion=complete_agent)


def output_option(help: str, ending: str = ""):
    """--output, a file, whose name may end only in `ending` if that is given, such as .svg."""

    def sound(path: Path | None) -> Path | None:
        if path is not None and ending and path.suffix and path.suffix.lower() != ending and not _is_device(path):
            raise typer.BadParameter(f"{path} would hold {ending[1:].upper()}: name it {path.with_suffix(ending).name}")
        return path

    return in_files("--output", "-o", help=help, callback=sound)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file()


def resume_option(help: str):
    """--resume."""
    return in_files("--resume", help=help)


def _folder_option(default: str):
    """--out, a run's folder."""
    help = f"The folder to store the run in. Default: {default}."
    return in_files("--out", "-o", help=help, autocompletion=complete_run)


MOST_WORKERS = 4096
RUNNING, FILES = "Where and how it runs", "Files and formats"  # headings of shared options in the help
running = partial(typer.Option, rich_help_panel=RUNNING)
in_files = partial(typer.Option, rich_help_panel=FILES)

Format = StrEnum("Format", FORMATS)  # type: ignore[misc]  # members known to results alone
TEXT = Format("text")

AgentArgument = Annotated[
    str, typer.Argument(help='An agent such as "uct(seconds=1)".', metavar="AGENT", autocompletion=complete_agent)
]
Cluster = Annotated[
    str | None,
    running(
        metavar="ADDRESS", help="Play on a Dask cluster: its scheduler's address or file; or local:4, four cores here."
    ),
]
Force = Annotated[bool, in_files("--force", help="Replace a file that exists.")]
Folder = Annotated[Path, typer.Argument(help="A run's folder.", metavar="DIR", autocompletion=complete_run)]
Game = Annotated[
    str,
    typer.Argument(help='A game such as "connect4(rows=6, columns=7)".', metavar="GAME", autocompletion=complete_game),
]
Json = Annotated[bool, in_files("--json", help="Print JSON.")]
Moves = Annotated[
    str,
    typer.Option(help="The moves to the position, separated by spaces or joined, such as 1-2-1 or 121. Default: none."),
]
Output = Annotated[Path | None, output_option("A file to write to, instead of the terminal.")]
OutputFile = Annotated[Path, output_option("The file to write.")]
OutFolder = Annotated[Path | None, _folder_option("runs/ and the file's name")]
RunFolder = Annotated[Path | None, _folder_option("a new one in runs")]
Resume = Annotated[bool, resume_option("Continue the run in --out.")]
Changed = Annotated[bool, in_files("--changed", help="Resume though code has changed; tables say so.")]
ResumeAlone = Annotated[bool, resume_option("Continue what --out holds; needs nothing else.")]
Plugin = Annotated[  # application.command adds it where there is a parameter `game` or `agent`
    list[str] | None,
    running(
        "--plugin",
        metavar="MODULE",
        callback=_import_named,
        is_eager=True,
        help="A module with games or agents of your own; may be repeated.",
    ),
]
Sizes = Annotated[str, typer.Option(help="Numbers of workers of the searches, separated by commas.")]
SolvingAgent = Annotated[
    str,
    typer.Option(
        "--agent",
        "-a",
        help='The solver: "dfpn(table=1024, seconds=60)", alphabeta and others.',
        autocompletion=complete_agent,
    ),
]
Trust = Annotated[bool, typer.Option("--trust", help="Run the plug-ins that the run names, now and later.")]
TableFormat = Annotated[Format, in_files("--format", "-f", help="The format of the table.")]
Workers = Annotated[
    int | None,
    running("--workers", "-j", callback=at_least(1, MOST_WORKERS), help="Processes to use. Default: one a core."),
]


def json_format(format: Format) -> Format:
    """The format of a table; --json is short for --format json."""
    if wants_json() and format not in (TEXT, "json"):
        raise typer.BadParameter(f"--json and --format {format.value} contradict each other: give one of them")
    return Format("json") if wants_json() else format


def trust_run(folder: Path, asked: bool) -> None:
    """Let the plug-ins of a run be imported if --trust is given, as long as their files stay as they are."""
    from arena.config.trust import trust
    from arena.results.database.store import Store

    if asked:
        with Store.open(folder) as store:
            trust(store.meta.get("config", {"plugins": []}))


def line_of(game, moves: str) -> tuple[list[int], Any]:
    """The moves of --moves and the position after them; BadParameter if one is illegal."""
    from arena.games.core.game import IllegalMove

    try:
        return game.read_line(moves)
    except IllegalMove as error:
        raise typer.BadParameter(f"--moves: {error}") from None


WITH_RESUME = {"out", "resume", "changed", "workers", "cluster", "verbose", "json", "speed_seconds"}


def check_resumed(context: typer.Context, out: Path | None, resume: bool) -> None:
    """BadParameter if there is no study to run, or if --resume comes with options that the stored study fixes."""
    if resume and (out is None or given(context, context.params.keys() - WITH_RESUME)):
        raise typer.BadParameter("--resume continues the study in --out, and needs nothing else")
    if not resume and "game" in context.params and context.params["game"] is None:
        raise typer.BadParameter("give a --game, or --resume with --out")


def sizes_of(text: str) -> tuple[int, ...]:
    """`1,2,4` -> (1, 2, 4), of --sizes."""
    try:
        numbers = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise typer.BadParameter(f"--sizes {text!r} is not a list such as 1,2,4,8") from None
    if not all(1 <= number <= MOST_WORKERS for number in numbers):
        raise typer.BadParameter(f"--sizes {text!r} is out of range: searches can have 1 to {MOST_WORKERS} workers")
    return numbers


def _verbose(count: int) -> int:
    """A callback that shows log messages on the error stream, below a display if there is one."""
    if count:
        import logging

        from rich.console import Console
        from rich.logging import RichHandler

        level = "INFO" if count == 1 else "DEBUG"
        log = logging.getLogger("arena")
        log.addHandler(RichHandler(level, Console(stderr=True), show_path=False, markup=False))
        log.setLevel(level)
    return count


Verbose = Annotated[
    int,
    running(
        "--verbose",
        "-v",
        count=True,
        callback=_verbose,
        show_default=False,
        help="Show log messages; -vv: all of them.",
    ),
]


def budget_of(texts: list[str]) -> dict[str, Any]:
    """`["playouts=1000"]` -> {"playouts": 1000}, as in a configuration's table."""
    if clock := next((text for text in texts if text.partition("=")[0].strip() == "clock"), None):
        raise typer.BadParameter(f"--budget {clock}: a clock is for a tournament: arena run --clock 10+0.1")
    return dict(map(_budget_entry, texts))


def _budget_entry(text: str) -> tuple[str, int | float]:
    """`playouts=1000` -> ("playouts", 1000)."""
    kind, _, amount = text.partition("=")
    for number in (int, float):
        try:
            return kind.strip(), number(amount)
        except ValueError:
            continue
    raise typer.BadParameter(f"--budget {text!r} is not of the form playouts=1000")


def registered(package: str) -> list[str]:
    """All names of the package "games" or "agents"."""
    return importlib.import_module(f"arena.{package}").names()


at_end: list[Callable[[], object]] = []  # what is to be done when the command that runs ends


def free_folder(name: str) -> Path:
    """The first folder runs/NAME-1, runs/NAME-2, ... that does not exist: made, so that no other command takes it, and
    removed when the command ends if nothing was stored there.
    """
    for number in itertools.count(1):
        place = Path("runs", f"{name}-{number}").absolute()
        with suppress(FileExistsError):
            place.parent.mkdir(exist_ok=True)
            place.mkdir()
            at_end.append(partial(_remove_empty, place))
            break
    return Path("runs", place.name)


def _remove_empty(place: Path) -> None:
    with suppress(OSError):
        place.rmdir()
        place.parent.rmdir()
