"""Tables that fit the terminal that they are printed in.

No cell is ever cut: names stay distinct.  A table too wide loses, in turn, the gaps between columns, columns that say
nothing, and spare digits (of a crosstable); then a row takes several lines: its names first, its numbers below.
"""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from rich import box
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from arena.results.printable import printable

MISSING = "-"
NEVER = {"void", "forfeits", "failed", "draws", "LD", "WD", "draw ratio"}  # say nothing where 0 in every row
NOTHING = {MISSING, ""}
NOUGHT = {"0", "0.0 %"}
WIDE, CLOSE = 3, 2  # blanks between columns
INDENT = 2  # blanks before the lines below a row's first
LEAST_OF_SENTENCES = 32  # columns of text that may break
SHORT = 8  # columns for a rank beside a folded name
LEADING = 3  # columns, among which those are that name a row
LONGEST_UNBROKEN = 1_000_000  # columns, wider than any table


@dataclass(frozen=True)
class Column:
    """A column of display strings."""

    heading: str
    cells: Sequence[str]
    right: bool  # aligned
    flows: bool = False  # sentences, which may break at blanks

    @cached_property
    def least(self) -> int:
        """The width that it takes at least where a row is a line of the table."""
        longest = max((cell_len(word) for cell in self.cells for word in cell.split()), default=0)
        return min(self.width, max(LEAST_OF_SENTENCES, longest)) if self.flows else self.width

    @cached_property
    def width(self) -> int:
        """The width of its widest line."""
        return max((cell_len(line) for cell in (self.heading, *self.cells) for line in cell.split("\n")), default=0)

    @cached_property
    def says_nothing(self) -> bool:
        found = {cell.strip() for cell in self.cells}
        return len(found) > 0 and (found <= NOTHING or (self.heading in NEVER and found <= NOUGHT | NOTHING))


def columns_of(cells: dict[str, list[str]], right: Iterable[bool]) -> list[Column]:
    """Columns from display strings by heading."""
    return [Column(heading, strings, to_right) for (heading, strings), to_right in zip(cells.items(), right)]


class Fitted:
    """For a rich console, laid out for its width.

    `narrow` are columns with fewer digits, for where the others do not fit.  With `wrap`, cells of numbers may break at
    blanks before rows are stacked.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        title: str | None = None,
        narrow: Sequence[Column] | None = None,
        wrap: bool = False,
    ):
        self.columns, self.title, self.narrow, self.wrap = list(columns), title, narrow, wrap

    @property
    def row_count(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = min(sum(column.width + WIDE for column in self.columns) + 2 - WIDE, options.max_width)
        return Measurement(width, width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.laid_out(console, options.max_width)

    def laid_out(self, console: Console, width: int) -> Table | Text:
        """The table laid out for `width` columns."""
        for columns, gap in self._layouts():
            if _width(columns, gap) <= width:
                return _table(columns, self.title, gap)
            if self.wrap:
                table = _table(columns, self.title, gap, wrap=True)
                if console.measure(table, options=console.options.update(width=LONGEST_UNBROKEN)).minimum <= width:
                    return table
        columns = [column for column in self.narrow or self.columns if not column.says_nothing]
        return Text("\n", no_wrap=True).join(_stacked(columns, self.title, width))

    def _layouts(self) -> Iterator[tuple[Sequence[Column], int]]:
        yield self.columns, WIDE
        yield self.columns, CLOSE
        yield [column for column in self.columns if not column.says_nothing], CLOSE
        if self.narrow:
            yield [column for column in self.narrow if not column.says_nothing], CLOSE


def _width(columns: Sequence[Column], gap: int) -> int:
    return sum(column.least for column in columns) + gap * (len(columns) - 1) + 2


def _table(columns: Sequence[Column], title: str | None, gap: int, wrap: bool = False) -> Table:
    table = Table(
        title=title and Text(printable(title)),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        header_style="bold",
        padding=(0, 1) if gap == WIDE else (0, 1, 0, 0),
        collapse_padding=gap == CLOSE,
    )
    for column in columns:
        if column.right and wrap:
            longest = max((cell_len(word) for cell in column.cells for word in cell.split()), default=1)
            table.add_column(Text(column.heading), justify="right", min_width=longest, overflow="fold")
        else:
            justify: Literal["left", "right"] = "right" if column.right else "left"
            table.add_column(Text(column.heading), justify=justify, no_wrap=not column.flows, min_width=column.least)
    for row in zip(*(column.cells for column in columns)):
        table.add_row(*map(Text, row))  # an agent's name may hold brackets, which are markup
    return table


def _stacked(columns: Sequence[Column], title: str | None, width: int) -> Iterator[Text]:
    lines = _balanced(columns, width)
    if title:
        yield from (Text(line, "bold") for line in _folded(printable(title), width))
    aligned = [column.right for column in columns]
    yield from (Text(text, "bold") for text in _row(lines, [column.heading for column in columns], aligned))
    widths = [_indent(number) + sum(own) + CLOSE * (len(own) - 1) for number, own in enumerate(lines)]
    yield Text("─" * min(width, max(widths, default=0)))
    for cells in zip(*(column.cells for column in columns)):
        yield from map(Text, _row(lines, cells, aligned))


def _indent(line: int) -> int:
    return INDENT if line else 0


def _balanced(columns: Sequence[Column], width: int) -> list[list[int]]:
    """`_packed` in the least width with no more lines, lest a line holds a last column alone."""
    lines = _packed(columns, width)
    while width > max((column.width + INDENT for column in columns), default=0):
        width -= 1
        narrower = _packed(columns, width)
        if len(narrower) > len(lines) or sum(narrower[0]) < sum(lines[0]):  # which would fold a name
            break
        lines = narrower
    return lines


def _packed(columns: Sequence[Column], width: int) -> list[list[int]]:
    """Widths by line: up to the last of the names that lead, then the others.

    A name too long stands beside what leads it, such as its rank, and is folded there.
    """
    named = max((i + 1 for i, column in enumerate(columns[:LEADING]) if not column.right), default=0)
    lines: list[list[int]] = [[]]
    for i, column in enumerate(columns):
        used = _indent(len(lines) - 1) + sum(lines[-1]) + CLOSE * len(lines[-1])
        folds = 0 < i < named and used <= SHORT and width - used >= LEAST_OF_SENTENCES
        if lines[-1] and (i == named or (used + column.width > width and not folds)):
            lines.append([])
            used = _indent(len(lines) - 1)
        lines[-1].append(max(1, min(column.width, width - used)))
    return lines


def _row(lines: list[list[int]], cells: Sequence[str], right: Sequence[bool]) -> Iterator[str]:
    place = 0
    for number, widths in enumerate(lines):
        own = cells[place : place + len(widths)]
        aligned = right[place : place + len(widths)]
        folded = [_folded(cell, width) for cell, width in zip(own, widths)]
        for level in range(max(map(len, folded))):
            parts = [chunks[level] if level < len(chunks) else "" for chunks in folded]
            placed = [_placed(part, width, to_right) for part, width, to_right in zip(parts, widths, aligned)]
            if any(parts):
                yield (" " * _indent(number) + (" " * CLOSE).join(placed)).rstrip()
        place += len(widths)


def _folded(cell: str, width: int) -> list[str]:
    words = textwrap.wrap(cell, width, break_on_hyphens=False, break_long_words=False)
    return [chunk for line in words for chunk in chop_cells(line, width)] or [""]


def _placed(text: str, width: int, right: bool) -> str:
    return " " * (width - cell_len(text)) + text if right else set_cell_size(text, width)
