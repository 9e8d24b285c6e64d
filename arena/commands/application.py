"""The application `arena`: the decorator that makes a function a command, the panels of its help, and its errors."""

import functools
import inspect
import os
import re
import signal
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from arena.commands.hints import hint_for
from arena.commands.options import FILES, RUNNING, Json, Plugin, at_end
from arena.commands.output import answering, wrapped
from arena.games.core.shared.errors import UserError
from arena.results.printable import printable

EXIT_CODES = (
    "Exit codes: 0 done; 1 done, with games void, damaged or lost without a move, unsolved positions or failures; "
    "2 bad input or usage; 130 interrupted, can be resumed."
)
VOID, BAD, INTERRUPTED = 1, 2, 130
UsageError: Any = typer.BadParameter.__base__  # any error in what was typed; typer does not export it


class Panel(StrEnum):
    """The headings of `arena --help`, in its order."""

    PLAY = "Play"
    READ = "Read stored runs"
    STUDY = "Solve and study"
    MACHINE = "Games, agents and speed"


ONE_OF = ("game", "agent")


class Grouped(TyperCommand):
    """A command whose help lists its own options first, then the shared ones under headings.

    Two games where one is wanted are an error, and likewise two agents; click would keep the last.  Of other options
    the last one holds, so that a line can be typed again with a change at its end.
    """

    def parse_args(self, ctx, args):
        if not ctx.resilient_parsing:
            given = Counter(self.make_parser(ctx).parse_args(args=list(args))[2])
            for parameter, times in given.items():
                if times > 1 and parameter.name in ONE_OF and not parameter.multiple:
                    raise typer.BadParameter(f"--{parameter.name} is given {times} times; it takes one value", ctx)
        return super().parse_args(ctx, args)

    def format_options(self, ctx, formatter) -> None:
        rows: dict[str, list] = {"Arguments": [], "Options": [], RUNNING: [], FILES: []}
        for parameter in self.get_params(ctx):
            if record := with_choices_in_words(parameter.get_help_record(ctx)):
                own = "Arguments" if parameter.param_type_name == "argument" else "Options"
                rows[getattr(parameter, "rich_help_panel", None) or own].append(record)
        for heading, records in rows.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


LONG_CHOICE = 50  # columns


def with_choices_in_words(record: tuple[str, str] | None) -> tuple[str, str] | None:
    """A line of help; many choices, which a terminal would break anywhere, follow the sentence as a list."""
    if record is None or not (found := re.search(r"<(\w+(?:\|\w+)+)>", record[0])) or len(found[0]) <= LONG_CHOICE:
        return record
    choices = found[1].replace("|", ", ")
    sentence, _, end = record[1].partition("  [")
    return record[0].replace(found[0], "<choice>"), f"{sentence} One of {choices}." + (f"  [{end}" if end else "")


FORMER = {"scaling": ("study", "schemes")}  # names that commands had, and have now


class Panels(TyperGroup):
    """A group whose help lists its commands by panel, in alphabetical order; former names still lead to them."""

    def resolve_command(self, ctx, args):
        return super().resolve_command(ctx, [*FORMER.get(args[0], args[:1]), *args[1:]])

    def invoke(self, ctx):
        """Run the command; usage errors, which may quote file names, are made safe for a terminal."""
        try:
            return super().invoke(ctx)
        except UsageError as error:
            # typer's pydantic puts this before its messages
            error.message = printable(error.message).removeprefix("Value error, ")
            text, hint = re.sub(r"\s+", " ", error.format_message().replace("Choose from:", "One of")), hint_for(error)
            shown = wrapped(f"{text.rstrip('.')}. {hint}" if hint else text, sys.stderr, "Error: ")
            error.format_message = lambda: shown
            raise

    def format_commands(self, ctx, formatter) -> None:
        width = max(map(len, self.commands))
        for panel in Panel:
            with formatter.section(panel.value):
                formatter.write_dl(
                    (name.ljust(width), command.get_short_help_str(formatter.width - width - 6))
                    for name, command in sorted(self.commands.items())
                    if getattr(command, "rich_help_panel", None) == panel.value
                )


app = typer.Typer(
    name="arena",
    cls=Panels,
    help="Reproducible tournaments of game-tree search agents, across cores.\n\n" + EXIT_CODES,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(asked: bool) -> None:
    if asked:
        import importlib.metadata
        import platform

        versions = {"Python": platform.python_version()}
        for name in ("search-arena", "numba"):
            try:
                versions[name] = importlib.metadata.version(name)
            except importlib.metadata.PackageNotFoundError:  # run from a source folder
                versions[name] = "not installed"
        typer.echo(f"arena {versions['search-arena']} (Python {versions['Python']}, Numba {versions['numba']})")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


def group(name: str, panel: Panel, help: str) -> typer.Typer:
    """A command with subcommands, such as `arena list`."""
    made = typer.Typer(help=help, no_args_is_help=True)
    app.add_typer(made, name=name, rich_help_panel=panel.value)
    return made


def command(panel: Panel | None = None, examples: str = "", group: typer.Typer = app, as_json: bool = False):
    """Make a function a command of `arena`, in a panel of its help, or of a group.

    The command has the function's name, without trailing underscores; `examples` are lines as a user types them.  An
    error that the user can correct is one line, and ends the command with the documented exit code.  A command with a
    parameter `game`, `agent` or `problem`, or a list of `names`, also has the option --plugin; with `as_json`, the
    option --json (see `output.answered`).  A NamedTuple of options is a group: the function has it as one parameter.
    """

    def decorate(function: Callable) -> Callable:
        name = function.__name__.rstrip("_").replace("_", "-")
        text = inspect.cleandoc(function.__doc__ or "")
        if examples:
            text += f"\n\n\b\nExamples:\n{textwrap.indent(examples, '  ')}"  # \b keeps the lines as they are
        reporting = _as_typed(_reporting_errors(function), as_json)
        return group.command(name, cls=Grouped, help=text, rich_help_panel=panel and panel.value)(reporting)

    return decorate


def _as_typed(function: Callable, as_json: bool) -> Callable:
    """The function as typer reads it: with --json if so asked, with --plugin, whose callback does the work, if it takes
    a game or an agent, and each group of options, a NamedTuple, spread out.
    """
    parameters, groups = dict[str, tuple[Any, Any]](), dict[str, Any]()
    for parameter in inspect.signature(function).parameters.values():
        kind: Any = parameter.annotation
        if hasattr(kind, "_field_defaults"):  # of a NamedTuple
            groups[parameter.name] = kind
            types = get_type_hints(kind, include_extras=True)
            parameters |= {name: (types[name], default) for name, default in kind._field_defaults.items()}
        else:
            parameters[parameter.name] = kind, parameter.default
    if as_json:
        parameters["json"] = Json, False
    if {"game", "agent", "names", "problem"} & parameters.keys():
        parameters["plugin"] = Plugin, None

    @functools.wraps(function)
    def typed(json=False, plugin=None, **options):
        for name, kind in groups.items():
            options[name] = kind(*(options.pop(field) for field in kind._fields))
        with answering(json):
            function(**options)

    typed.__annotations__ = {name: kind for name, (kind, _) in parameters.items()}
    vars(typed)["__signature__"] = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in parameters.items()
        ]
    )
    return typed


def _reporting_errors(function: Callable) -> Callable:
    """The function, ending with an exit code when it is interrupted or raises an error that the user can correct."""

    @functools.wraps(function)
    def wrapped(*arguments, **options):
        try:
            if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # set while modules were imported
                signal.signal(signal.SIGINT, signal.default_int_handler)
            function(*arguments, **options)
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            sys.stderr.close()  # nobody reads our output any more
            raise typer.Exit(0) from None
        except (UserError, OSError, ImportError) as error:
            complain(_worded(error))
            raise typer.Exit(BAD) from None
        finally:
            while at_end:
                at_end.pop()()

    return wrapped


def _worded(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        if not os.path.isabs(error.filename or "") and not _in_a_folder():
            return "the folder that this is typed in has been removed: go to another one (cd)"
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _in_a_folder() -> bool:
    try:
        return bool(os.getcwd())
    except OSError:
        return False


def complain(text: str) -> None:
    """Print an error to the error stream, red in a terminal."""
    for line in text.split("\n"):
        shown = wrapped(f"arena: {line}", sys.stderr)
        typer.secho(shown, err=True, fg="red" if sys.stderr.isatty() else None)
