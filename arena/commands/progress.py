"""The progress of a command: a line that is redrawn in a terminal, and a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from arena.results.printable import printable
from arena.runner.ticker import Ticker
from arena.runner.undisturbed import undisturbed

FIRST, PAUSE = 1.0, 10.0  # seconds to the first line, and from line to line, where there is no terminal
REDRAWN = 0.1  # seconds between changes of a line in a terminal; some callers count thousands a second


@contextmanager
def progress_line(text: str = "compiling") -> Iterator[Callable[[str], None]]:
    """A context that shows progress and time on the error stream; it gives the function that sets the text."""
    from rich.console import Console

    console = Console(stderr=True)
    redraws = console.is_terminal and not console.is_dumb_terminal
    with _in_a_terminal(console, text) if redraws else _elsewhere(text) as show:
        yield show


@contextmanager
def _in_a_terminal(console, text: str) -> Iterator[Callable[[str], None]]:
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    progress = Progress(*columns, console=console, transient=True)
    task, due = progress.add_task(printable(text)), 0.0

    def show(text):
        nonlocal due
        if (now := time.monotonic()) >= due:
            progress.update(task, description=printable(text))
            due = now + REDRAWN

    try:
        progress.start()
        yield show
    finally:
        with undisturbed():
            progress.stop()


@contextmanager
def _elsewhere(text: str) -> Iterator[Callable[[str], None]]:
    """Lines printed by a thread, so that they come even while a kernel is compiled or runs for long."""
    newest, began = [text], time.monotonic()

    def tell() -> None:
        seconds = int(time.monotonic() - began)
        print(f"{seconds // 60}:{seconds % 60:02d}  {printable(newest[0])}", file=sys.stderr, flush=True)

    ticker = Ticker(tell, PAUSE, FIRST)
    ticker.start()
    try:
        yield lambda text: newest.__setitem__(0, text)
    finally:
        with undisturbed():
            ticker.stop()


@contextmanager
def solver_progress(solver) -> Iterator[Callable[[str], None]]:
    """A `progress_line` that shows the numbers of a working solver."""
    with progress_line() as show:

        def report(progress):
            numbers = "" if progress.proof is None else f"proof {progress.proof:,}, disproof {progress.disproof:,}, "
            show(f"{numbers}{progress.nodes:,} nodes, {progress.seconds:.1f} s")

        solver.progress = report
        yield show
