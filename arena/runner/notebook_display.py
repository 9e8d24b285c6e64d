"""The display of a running tournament in a notebook, in the output of its cell."""

from html import escape
from typing import Protocol

from rich.console import Console

from arena.results.shown.notebook import styled
from arena.runner.display import Display
from arena.workers.worker import InPlay

MOST_LINES = 12


class Output(Protocol):
    """A cell's output, such as `IPython.display.DisplayHandle`."""

    def display(self, obj: object) -> None:
        """Show an object there."""

    def update(self, obj: object) -> None:
        """Replace the object."""


class Html(str):
    """Text that a notebook shows as HTML."""

    def _repr_html_(self) -> str:
        return str(self)


def notebook_display() -> "NotebookDisplay | None":
    """A display in the running cell's output; None outside a Jupyter kernel."""
    from IPython import get_ipython
    from IPython.display import DisplayHandle

    return NotebookDisplay(DisplayHandle()) if getattr(get_ipython(), "kernel", None) is not None else None


class NotebookDisplay(Display):
    """Lines, a bar with pace and time left, the games in play, and the standings."""

    def __init__(self, output: Output):
        super().__init__(Console(quiet=True))
        self.output, self.shown = output, False
        self.lines: list[str] = []
        self.in_play = list[InPlay]()
        self.table = ""  # the standings of `of` games
        self.of = 0

    def say(self, text):
        self.lines.append(text)
        self.changed()

    def playing(self, games):
        super().playing(games)
        if self.of != self.done:
            self.seldom(self.renew_standings)
        self.changed()

    def renew_standings(self):
        """Make the table anew."""
        lines = "".join(f"<div>{escape(line)}</div>" for line in self.schedule.lines())
        self.table, self.of = f"{lines}{styled(self.standings()).to_html()}", self.done

    def ended(self):
        self.compiled, self.in_play, self.table = [], [], ""  # the results display themselves
        self.changed()

    def changed(self):
        """Redraw."""
        page = Html(self.page())
        (self.output.update if self.shown else self.output.display)(page)
        self.shown = True

    def page(self) -> str:
        """The HTML."""
        lines = [f"<div>{escape(line)}</div>" for line in self.lines[-MOST_LINES:]]
        if self.compiled:
            lines.append(f"<div>compiling kernels of {escape(', '.join(self.compiled))}</div>")
        if self.total:
            bar = f'<progress value="{self.done}" max="{self.total}" aria-label="games"></progress>'
            pace = f", {self.pace()}" if self.pace() and self.done < self.total else ""
            lines.append(f"<div>{bar} {self.done:,} of {self.total:,} games{pace}</div>")
        if self.in_play:
            lines.append(styled(self.games_in_play()).to_html())
        if self.table:
            lines.append(f"<div>standings after {self.of:,} of the games</div>{self.table}")
        return f'<div class="arena-run">{"".join(lines)}</div>'
