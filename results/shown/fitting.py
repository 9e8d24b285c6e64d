"""Tables that fit the terminal that they are printed in, with one line a row.

A table too wide loses, in turn: the gaps between columns; columns that say nothing, and spare digits (of a crosstable);
headings of one line; columns that the rest tells; parts of names, which stay distinct; spare columns.  What
is left out is said below it.  A table still too wide is printed in several, each with the names.
"""

import itertools
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

from arena.results.printable import printable
from arena.results.shown.column_forms import MISSING, Column
from arena.results.shown.short_names import short_names

GENERAL = Column("")
NOTHING = {MISSING, ""}
NOUGHT = {"0", "0.0 %"}
WIDE, CLOSE = 3, 2  # blanks between columns
LEAST_OF_SENTENCES = 16  # columns of text that may break
READABLE, LEAST_OF_NAMES = 20, 12  # columns
LEADING = 3  # columns, among which those are that name a row
LONGEST_UNBROKEN = 1_000_000  # columns, wider than any table


@dataclass(frozen=True)
class Shown:
    """A column as it is shown: display strings below a heading."""

    heading: str
    cells: Sequence[str]
    right: bool = False  # aligned
    flows: bool = False  # sentences, which may break at blanks
    form: Column = GENERAL

    @cached_property
    def least(self) -> int:
        """The width that it takes at least."""
        if not self.flows:
            return self.width
        longest = max((cell_len(word) for cell in (self.heading, *self.cells) for word in cell.split()), default=0)
        return min(self.width, max(LEAST_OF_SENTENCES, longest))

    @cached_property
    def width(self) -> int:
        """The width of its widest line."""
        return max((cell_len(line) for cell in (self.heading, *self.cells) for line in cell.split("\n")), default=0)

    @cached_property
    def says_nothing(self) -> bool:
        found = {cell.strip() for cell in self.cells}
        return len(found) > 0 and found <= (NOUGHT | NOTHING if self.form.quiet else NOTHING)

    @property
    def broken(self) -> "Shown":
        """The column with its heading in lines as short as its cells."""
        width = max(map(cell_len, (*self.cells, *self.heading.split())), default=1)
        return replace(self, heading="\n".join(textwrap.wrap(self.heading, width, break_on_hyphens=False)))

    @property
    def always(self) -> str:
        """The cell that all rows have, if several have the same number; else nothing."""
        return self.cells[0] if self.right and len(set(self.cells)) == 1 < len(self.cells) else ""


@dataclass(frozen=True)
class Layout:
    """Tables below each other, of these columns, and what is said of those left out."""

    tables: Sequence[Sequence[Shown]]
    gap: int = CLOSE
    below: str = ""

    @property
    def width(self) -> int:
        return max(_width(columns, self.gap) for columns in self.tables)


@dataclass(frozen=True)
class Fitted:
    """A table for a rich console, laid out for its width; `narrow` are its columns with fewer digits."""

    columns: Sequence[Shown]
    title: str | None = None
    narrow: Sequence[Shown] | None = None

    @property
    def row_count(self) -> int:
        return len(self.columns[0].cells) if self.columns else 0

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        width = min(_width(self.columns, WIDE), options.max_width)
        return Measurement(width, width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from (Text(text, style, no_wrap=True) for text, style in self.lines(options.max_width))

    def lines(self, width: int) -> Iterator[tuple[str, str]]:
        """Each line in `width` columns, and its style."""
        layout = self.laid_out(width)
        if self.title:
            yield from ((line, "bold") for line in textwrap.wrap(printable(self.title), width))
        for number, columns in enumerate(layout.tables):
            if number:
                yield "", ""
            yield from _lines(columns, layout.gap, width)
        yield from ((line, "dim") for line in textwrap.wrap(layout.below, width))

    def laid_out(self, width: int) -> Layout:
        """The first layout of at most `width` columns; the last, where there is none."""
        for layout in self._layouts(width):
            if layout.width <= width:
                break
        return layout

    def _layouts(self, width: int) -> Iterator[Layout]:
        yield Layout([self.columns], WIDE)
        yield Layout([self.columns])
        columns = [column for column in self.columns if not column.says_nothing]
        yield Layout([columns])
        if self.narrow:
            columns = [column for column in self.narrow if not column.says_nothing]
            yield Layout([columns])
        columns = [column.broken for column in columns]
        yield Layout([columns])
        told, spare = _told(columns), _spare(columns)
        gone, below = list[Shown](), ""
        for number, group in enumerate([*told, [], *spare]):
            gone += [column for column in group if column not in gone]
            kept = [column for column in columns if column not in gone]
            below = _below([column for column in gone if not column.form.implied])
            yield Layout([kept], CLOSE, below)
            if number >= len(told):
                yield Layout([_with_short_names(kept, width, READABLE)], CLOSE, below)
        yield Layout([_with_short_names(kept, width, LEAST_OF_NAMES)], CLOSE, below)
        yield Layout(_in_blocks([column for column in columns if not column.form.implied], width))


def _told(columns: Sequence[Shown]) -> list[list[Shown]]:
    """What the rest of a table tells, or a line below it can, one by one."""
    implied = [column for column in columns if column.form.implied]
    return [[column] for column in (*implied[:1], *(column for column in columns if column.always), *implied)]


def _spare(columns: Sequence[Shown]) -> list[list[Shown]]:
    """The spare columns, in the groups that they leave in."""
    steps = sorted({column.form.spare for column in columns} - {0})
    return [[column for column in columns if column.form.spare == step] for step in steps]


def _below(gone: Sequence[Shown]) -> str:
    alike = [f"{column.heading} {column.always}" for column in gone if column.always]
    others = [column.heading for column in gone if not column.always]
    said = [f"in every row: {', '.join(alike)}"] if alike else []
    return "; ".join([*said, f"left out: {', '.join(others)}"] if others else said)


def _with_short_names(columns: Sequence[Shown], width: int, least: int) -> list[Shown]:
    """Shorten names to fit `width`, unless that leaves fewer than `least` letters."""
    named = _named(columns)
    taken = _width([column for place, column in enumerate(columns) if place not in named], CLOSE) + CLOSE * len(named)
    room = width - taken
    longest = next(
        (
            most
            for most in range(max((columns[place].width for place in named), default=0), least - 1, -1)
            if sum(min(most, columns[place].width) for place in named) <= room
        ),
        None,
    )
    return list(columns) if longest is None else _shortened(columns, named, longest)


def _shortened(columns: Sequence[Shown], named: Sequence[int], longest: int) -> list[Shown]:
    short = short_names((name for place in named for name in columns[place].cells), longest)
    return [
        replace(column, cells=[short[name] for name in column.cells]) if place in named else column
        for place, column in enumerate(columns)
    ]


def _named(columns: Sequence[Shown]) -> list[int]:
    """The places of the columns that name a row: the leading ones of text."""
    return [place for place, column in enumerate(columns[:LEADING]) if not column.right and not column.flows]


def _in_blocks(columns: Sequence[Shown], width: int) -> list[list[Shown]]:
    """Tables, each with the names, of as many columns as fit beside them."""
    named = _named(columns)
    most = max([1, *named]) + 1 if named else 0
    if named:
        columns = _shortened(columns, named, max(LEAST_OF_NAMES, width // 2 // len(named)))
    names, others = list(columns[:most]), columns[most:]
    blocks = [list(names)]
    for column in others:
        if _width([*blocks[-1], column], CLOSE) > width and len(blocks[-1]) > len(names):
            blocks.append(list(names))
        blocks[-1].append(column)
    return blocks


def _width(columns: Sequence[Shown], gap: int) -> int:
    return sum(column.least for column in columns) + gap * (len(columns) - 1)


def _lines(columns: Sequence[Shown], gap: int, width: int) -> Iterator[tuple[str, str]]:
    """Each line of a table, and its style; cells break only where they flow, or where the terminal has no room."""
    widths = _widths(columns, width - gap * (len(columns) - 1))
    headings = [_broken(column.heading, wide) for column, wide in zip(columns, widths)]
    most = max(map(len, headings), default=0)
    for line in zip(*([""] * (most - len(heading)) + heading for heading in headings)):
        yield _line(line, columns, widths, gap), "bold"
    yield "─" * min(width, sum(widths) + gap * (len(columns) - 1)), ""
    for row in zip(*(column.cells for column in columns)):
        parts = [_broken(cell, wide) for cell, wide in zip(row, widths)]
        for line in itertools.zip_longest(*parts, fillvalue=""):
            yield _line(line, columns, widths, gap), ""


def _line(cells: Iterable[str], columns: Sequence[Shown], widths: Sequence[int], gap: int) -> str:
    placed = (
        " " * (wide - cell_len(cell)) + cell if column.right else cell + " " * (wide - cell_len(cell))
        for cell, column, wide in zip(cells, columns, widths)
    )
    return (" " * gap).join(placed).rstrip()


def _broken(text: str, width: int) -> list[str]:
    if cell_len(text) <= width and "\n" not in text:
        return [text]
    words = (line for own in text.split("\n") for line in textwrap.wrap(own, width, break_on_hyphens=False))
    return [chunk for line in words for chunk in chop_cells(line, width)] or [""]


def _widths(columns: Sequence[Shown], width: int) -> list[int]:
    """The widths of columns in `width`: those that flow share what is left, and all give where there is not enough."""
    widths = [column.least for column in columns]
    flowing = sorted((column.width, place) for place, column in enumerate(columns) if column.flows)
    for number, (wanted, place) in enumerate(flowing):
        share = (width - sum(widths)) // (len(flowing) - number)
        widths[place] += max(0, min(wanted - widths[place], share))
    while sum(widths) > max(width, len(widths)):
        widths[widths.index(max(widths))] -= 1
    return widths
