"""Prints the reference of the commands in Markdown, from the commands themselves."""

import inspect
import textwrap

import typer

from arena.cli import app
from arena.commands.application import with_choices_in_words


def main() -> None:
    """A section for each command: what it does, how it is used, examples, arguments and options."""
    root = typer.main.get_command(app)
    print("# Commands\n\nEvery command, as `arena COMMAND --help` describes it.\n")
    print(inspect.cleandoc(root.help or "").split("\n\n", 1)[-1].strip() + "\n")
    for name, command in sorted(root.commands.items()):
        describe(command, f"arena {name}")


def describe(command, path: str) -> None:
    """The section of one command, or of all that a group holds."""
    if hasattr(command, "commands"):
        for name, one in sorted(command.commands.items()):
            describe(one, f"{path} {name}")
        return
    context = command.context_class(command, info_name=path)
    # a line of \b alone tells click to keep the lines of a paragraph
    text, _, examples = inspect.cleandoc(command.help or "").replace("\b\n", "").partition("Examples:\n")
    print(f"## {path}\n\n{text.strip()}\n")
    print(f"```text\n{' '.join([path, *command.collect_usage_pieces(context)])}\n```\n")
    if examples:
        print(f"For example:\n\n```sh\n{textwrap.dedent(examples).strip()}\n```\n")
    rows = [with_choices_in_words(one.get_help_record(context)) for one in command.get_params(context)]
    rows = [row for row in rows if row and row[0] != "-h, --help"]
    if rows:
        print("| option | meaning |\n|---|---|")
        for option, meaning in rows:
            print(f"| `{cell(option)}` | {cell(meaning)} |")
        print()


def cell(text: str) -> str:
    """The text in a cell of a table."""
    return text.replace("|", "\\|").replace("\n", " ").strip()


if __name__ == "__main__":
    main()
