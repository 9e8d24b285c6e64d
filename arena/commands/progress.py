"""How far a command is: a line in the terminal, and nothing where there is no terminal."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PAUSE = 0.1  # seconds


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Within it, a line is shown; the function that it gives sets the line's text, at most ten times a second."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        due = 0.0

        def show(text):
            nonlocal due
            if (now := time.monotonic()) >= due:
                status.update(Text(text))
                due = now + PAUSE

        yield show


@contextmanager
def solver_progress(solver) -> Iterator[Callable[[str], None]]:
    """A `progress_line` that tells how far the solver is while it works."""
    with progress_line() as show:

        def report(progress):
            if progress.seconds < PAUSE:  # of many short searches, each would be told
                return
            numbers = "" if progress.proof is None else f"proof {progress.proof:,}, disproof {progress.disproof:,}, "
            show(f"{numbers}{progress.nodes:,} nodes, {progress.seconds:.1f} s")

        solver.progress = report
        yield show
