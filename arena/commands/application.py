"""The application `arena`: the decorator of its commands, which tells errors that a user can mend in a line."""

import functools
import inspect
import sys
import textwrap

import typer

from games.core.errors import UserError

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
            except (UserError, OSError, ImportError) as error:
                complain(_worded(error))
                raise typer.Exit(BAD) from None

        name = function.__name__.strip("_").replace("_", "-")
        # \b keeps the lines as they are
        text = inspect.cleandoc(function.__doc__) + (
            f"\n\n\b\nExamples:\n{textwrap.indent(examples, '  ')}" if examples else ""
        )
        return group.command(name, help=text)(wrapped)

    return decorate


def _worded(error) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def complain(text) -> None:
    """An error, on the error stream, red in a terminal."""
    for line in text.splitlines():
        typer.secho(f"arena: {line}", err=True, fg="red" if sys.stderr.isatty() else None)
