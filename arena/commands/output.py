"""What commands print and write: tables, lines beside them, and files that are there in full or not at all."""

import os
import sys
from pathlib import Path

import typer


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
