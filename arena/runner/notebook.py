"""What a run shows in a notebook while it lasts: how far it is and how the agents stand, in the output of its cell."""

import time
from html import escape
from typing import Protocol

from rich.console import Console

from arena.runner.display import Display
from results.notebook import styled

PAUSE = 0.25  # seconds between updates
SHARE_OF_TIME = 0.02  # of the run that computing the standings may take
MOST_LINES = 12


class Output(Protocol):
    """A place in a cell's output: what `IPython.display.DisplayHandle` is."""

    def display(self, obj: object) -> None:
        """Show an object there."""

    def update(self, obj: object) -> None:
        """Show another one in its place."""


class Html(str):
    """Text that a notebook shows as the HTML that it is."""

    def _repr_html_(self) -> str:
        return str(self)


def notebook_display() -> "NotebookDisplay | None":
    """A display in the output of the cell that runs; None if no kernel of Jupyter runs this code."""
    from IPython import get_ipython
    from IPython.display import DisplayHandle

    return NotebookDisplay(DisplayHandle()) if getattr(get_ipython(), "kernel", None) is not None else None


class NotebookDisplay(Display):
    """Lines for the reader, a bar with the rate and the time left, and the standings below it."""

    def __init__(self, output: Output):
        super().__init__(Console(quiet=True))
        self.output, self.shown = output, False
        self.lines: list[str] = []
        self.compiled: list[str] = []  # the agents whose kernels are being compiled
        self.table = ""
        self.next_update = self.next_table = 0.0

    def say(self, text):
        self.lines.append(text)
        self.update()

    def warming(self, name):
        self.compiled.append(name)
        self.update()

    def warmed(self, name, seconds, failure=""):
        self.compiled.remove(name)
        super().warmed(name, seconds, failure)
        self.update()

    def started(self, total, done):
        super().started(total, done)
        self.update()

    def finished(self, record):
        super().finished(record)
        now = time.monotonic()
        if now >= self.next_table:
            self.table = styled(self.standings()).to_html()
            self.next_table = now + max(1.0, (time.monotonic() - now) / SHARE_OF_TIME)
        if now >= self.next_update:
            self.next_update = now + PAUSE
            self.update()

    def ended(self):
        self.compiled, self.table = [], ""  # the results show themselves
        self.update()

    def update(self):
        """Show it as it is now."""
        page = Html(self.page())
        (self.output.update if self.shown else self.output.display)(page)
        self.shown = True

    def page(self) -> str:
        """All of it as HTML."""
        lines = [f"<div>{escape(line)}</div>" for line in self.lines[-MOST_LINES:]]
        if self.compiled:
            lines.append(f"<div>compiling kernels of {escape(', '.join(self.compiled))}</div>")
        if self.total:
            bar = f'<progress value="{self.done}" max="{self.total}" aria-label="games"></progress>'
            pace = f", {self.pace()}" if self.pace() and self.done < self.total else ""
            lines.append(f"<div>{bar} {self.done:,} of {self.total:,} games{pace}</div>")
        return f'<div class="arena-run">{"".join(lines)}{self.table}</div>'
