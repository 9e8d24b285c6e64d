"""What commands print and write: tables, remarks, pictures, and files written in full or not at all."""

import errno
import io
import json
import os
import shlex
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import typer

from arena.games.core.shared import files
from arena.results.printable import JSON_ESCAPES, printable

LONGEST_LINE = 100_000  # characters, where the output is no terminal


_json = ContextVar("_json", default=False)  # whether the command that runs was given --json


@contextmanager
def answering(as_json: bool) -> Iterator[None]:
    """A context in which a command answers in JSON, or in words."""
    token = _json.set(as_json)
    try:
        yield
    finally:
        _json.reset(token)


def wants_json() -> bool:
    """Whether the command was given --json."""
    return _json.get()


def answered(data: dict | list) -> bool:
    """Print plain values if --json asks for them: the whole answer; else False, and the command answers in words."""
    if wants_json():
        typer.echo(json.dumps(data, indent=1, ensure_ascii=False).translate(JSON_ESCAPES))
    return wants_json()


def records_of(frame) -> list[dict]:
    """The rows of a data frame as plain values; None where one is missing."""
    from arena.results.shown.export import render

    return json.loads(render(frame, "json"))


def print_table(rows, title: str | None = None, kind: str = "") -> None:
    """Print a data frame, or rows as dicts, as JSON, or as a table of a kind as wide as the terminal."""
    import pandas as pd

    from arena.results.shown.export import render, rich_table

    frame = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows)
    frame.attrs |= {"kind": kind} if kind else {}
    if wants_json():
        typer.echo(render(frame, "json"), nl=False)
    elif (console := _console()).is_terminal:
        console.print(rich_table(frame, title))
    else:
        typer.echo(render(frame, "text", title), nl=False)


def print_fitted(table) -> None:
    """Print a `results.shown.fitting.Fitted`; without a terminal, each row is one line."""
    console = _console()
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    typer.echo("\n".join(lines).strip("\n"))


def _console():
    """The standard output, as wide as the terminal, or without one as wide as needed."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=LONGEST_LINE)


def check_printable(format: str, output: Path | None) -> None:
    """BadParameter if binary output would go to a terminal."""
    if format == "parquet" and output is None and sys.stdout.isatty():
        raise typer.BadParameter("parquet is not text: give --output FILE, or redirect the output")


def write_table(frame, format: str, output: Path | None, force: bool = False, **options) -> None:
    """Write a data frame in a format of `results.shown.export`, with its options, to a file or standard output."""
    from arena.results.shown.export import render

    # None where lines may be long: in a file or a pipe
    width = shutil.get_terminal_size().columns if output is None and sys.stdout.isatty() else None
    write_text(render(frame, format, width=width, **options), output, force)


def write_csv(frames: Iterable, output: Path | None, force: bool = False, **options) -> None:
    """Write the parts of one table in csv, each before the next is made."""
    from arena.results.shown.export import render

    texts = (str(render(frame, "csv", **options)) for frame in frames)
    write_parts((text if number == 0 else text.partition("\n")[2] for number, text in enumerate(texts)), output, force)


def write_text(text: str | bytes, output: Path | None, force: bool = False) -> None:
    """Write text or bytes to a file, or to the standard output, made safe if that is a terminal."""
    write_parts([text], output, force)


def write_parts(parts: Iterable[str | bytes], output: Path | None, force: bool = False) -> None:
    """Write parts of a text as `write_text` writes it."""
    safe = output is None and sys.stdout.isatty()
    data = (
        (printable(part) if safe else part).encode(errors="replace") if isinstance(part, str) else part
        for part in parts
    )
    if output:
        _write_whole(output, data, force)
        say_written(output)
    else:
        for part in data:
            sys.stdout.buffer.write(part)
        sys.stdout.flush()


def say(*texts: str) -> None:
    """Print lines without anything that a terminal would obey, wrapped as `wrapped` has it."""
    for text in texts:
        typer.echo(wrapped(text, sys.stdout))


def tell(*texts: str) -> None:
    """Print remarks: on the error stream if a program may read the table."""
    err = sys.stdout is None or not sys.stdout.isatty()
    for text in texts:
        typer.echo(wrapped(text, sys.stderr if err else sys.stdout), err=err)


def wrapped(text: str, stream, before: str = "") -> str:
    """Text as a stream shows it: in a terminal its sentences wrap between words, the first one after `before`.

    Indented lines, which are commands or boards, are left whole for copying.
    """
    text = printable(text)
    if stream is None or not stream.isatty():
        return text
    width = shutil.get_terminal_size().columns
    filled = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False).fill
    lines = (before + text).split("\n")
    kept = (line if line[:1] in ("", " ") or len(line) <= width else filled(line) for line in lines)
    return "\n".join(kept).removeprefix(before)


def say_written(path: Path) -> None:
    """Say that a file has been written, on the error stream, which no program reads as a table."""
    if path.is_file():  # and no device or pipe
        typer.echo(wrapped(f"written: {path} ({path.stat().st_size:,} bytes)", sys.stderr), err=True)


def quoted(path: str | Path) -> str:
    """A path as a shell takes it, for a command to type."""
    return shlex.quote(str(path))


def as_picture(figure, format: str) -> bytes:
    """A Matplotlib figure as a file; equal figures give equal SVG, which bears no date."""
    drawing = io.BytesIO()
    metadata = {"metadata": {"Date": None}} if format == "svg" else {}
    figure.savefig(drawing, format=format, dpi=150, **metadata)
    return drawing.getvalue()


def check_free(path: Path | None, force: bool) -> None:
    """BadParameter if a file would be replaced without --force, whatever is in it: text does not say who wrote it.

    Commands also call it before their work, which would be lost otherwise.  Devices and pipes are written to.
    """
    if path is not None and not force and path.is_file():
        raise typer.BadParameter(f"{path} exists already; to replace it: --force")


def check_writable(path: Path, option: str) -> None:
    """BadParameter if the file that an option names cannot be written."""
    if not path.parent.is_dir():
        raise typer.BadParameter(f"{option} {path}: there is no folder {path.parent}")
    if (path.exists() and not path.is_file()) or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise typer.BadParameter(f"{option} {path}: cannot be written")


@contextmanager
def or_elsewhere() -> Iterator[None]:
    """A context in which a folder that cannot be written is told with the option that names another file."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise OSError(error.errno, f"{error.strerror}; to write elsewhere: --output", error.filename) from None
        raise


def write_whole(path: Path, data: bytes, force: bool = False) -> None:
    """Write a file in full or not at all; BadParameter if it exists and `force` is false."""
    _write_whole(path, [data], force)


def _write_whole(path: Path, parts: Iterable[bytes], force: bool) -> None:
    check_free(path, force)
    target = path.resolve()
    try:
        if target.exists() and not target.is_file():  # a device or a pipe cannot be replaced
            with path.open("wb") as file:
                file.writelines(parts)
        else:
            files.write_whole(target, parts)
    except OSError as error:
        raise OSError(error.errno, f"cannot be written: {error.strerror}", str(path)) from error
