"""How far a command is: a line in the terminal, and nothing where there is no terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Within it, a line is shown; the function that it gives sets the line's text."""
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("") as status:
        yield lambda text: status.update(Text(text))


@contextmanager
def solver_progress(solver) -> Iterator[Callable[[str], None]]:
    """A `progress_line` that tells how far the solver is while it works."""
    with progress_line() as show:

        def report(progress):
            numbers = "" if progress.proof is None else f"proof {progress.proof:,}, disproof {progress.disproof:,}, "
            show(f"{numbers}{progress.nodes:,} nodes, {progress.seconds:.1f} s")

        solver.progress = report
        yield show
