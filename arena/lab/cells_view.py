"""A table of a run on a page: sorted by a click, with the columns that are wanted, and links in cells."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import ui

from arena.lab.reading import Cells

PAGE = 50  # rows at once
# by the first number of a cell, where the column has numbers; what has none comes first
NUMBERS = (
    "(a, b) => { const n = t => { "
    "const f = /[-+]?[0-9][0-9,]*([.][0-9]+)?(e[-+]?[0-9]+)?/.exec(t.replace('1/2', '0.5')); "
    "return f ? parseFloat(f[0].replaceAll(',', '')) : -Infinity; }; const x = n(a), y = n(b); "
    "return x === y ? 0 : x < y ? -1 : 1; }"
)
WORDS = "(a, b) => a.localeCompare(b)"
CELL = """
<q-td :props="props"><a v-if="props.row.links && props.row.links[props.col.name]" class="underline"
 :href="props.row.links[props.col.name]">{{ props.value }}</a><template v-else>{{ props.value }}</template></q-td>
"""
TICK = '<q-checkbox dense v-model="props.selected" :aria-label="`choose WHOM`" />'


class CellsView:
    """A table; `chosen` is called when rows are ticked, where they can be."""

    def __init__(self, chosen: Callable[[list[dict]], object] | None = None):
        more: dict[str, Any] = {}
        if chosen is not None:
            more = {"selection": "multiple", "on_select": lambda _: chosen(self.ticked)}
        with ui.element("div").classes("arena-lab-wide max-w-full").props('tabindex=0 role=group aria-label="table"'):
            self.table = ui.table(columns=[], rows=[], row_key="row", **more).props("dense flat")
        self.table.props["no-data-label"] = "reading ..."
        for where, whom in (("header", "all"), ("body", "${props.row.row}")) if chosen else ():
            self.table.add_slot(f"{where}-selection", TICK.replace("WHOM", whom))
        self.table.add_slot("body-cell", CELL)
        self.shown: tuple | None = None
        self.long: bool | None = None  # more rows than a page has
        self.below = ui.column().classes("gap-0 text-sm max-w-3xl")

    @property
    def ticked(self) -> list[dict]:
        """The rows that are ticked."""
        return list(self.table.selected)

    def untick(self) -> None:
        """Tick no row."""
        self.table.selected.clear()
        self.table.update()

    def show(self, cells: Cells, links: Mapping[tuple[int, str], str] | None = None, key: str = "") -> None:
        """Show a table; `links` are addresses by number of the row and name of the column.

        key: the column by which a row is the same when the table is shown again; else its number
        """
        if self.shown == (cells, links):
            return
        self.shown = cells, links
        addresses: dict[int, dict[str, str]] = {}
        for (number, name), address in (links or {}).items():
            addresses.setdefault(number, {})[name] = address
        names = [name for name, _, _ in cells.columns]
        columns = [_column(*column) for column in cells.columns]
        rows = list[dict[str, Any]]()
        for number, cells_of_row in enumerate(cells.rows):
            row = dict[str, Any](zip(names, cells_of_row))
            rows.append(row | {"row": row[key] if key else number, "links": addresses.get(number)})
        if columns != self.table.columns:
            self.table.columns = columns
        if self.long != (len(rows) > PAGE):
            self.long = len(rows) > PAGE
            self.table.pagination = {"rowsPerPage": PAGE if self.long else 0}
        self.table.rows = rows
        self.table.props["no-data-label"] = "There is nothing yet."
        self.table.props["hide-pagination"] = not self.long
        self.table.update()
        self.below.clear()
        with self.below:
            if cells.size > len(cells.rows):
                ui.label(f"The first {len(cells.rows):,} of {cells.size:,} rows; a file has all.")
            for sentence in cells.below:
                ui.label(sentence)

    def only(self, names: list[str]) -> None:
        """Show these columns alone; all, where there are none."""
        self.table.props["visible-columns"] = names or [column["name"] for column in self.table.columns]
        self.table.update()


def _column(name: str, heading: str, right: bool) -> dict[str, Any]:
    align = "right" if right else "left"
    about = {"name": name, "label": heading, "field": name, "align": align, "sortable": True}
    if name == "agent":  # a long one leaves room for the next columns on a phone
        about["classes"] = "max-sm:!whitespace-normal max-sm:!min-w-36 max-sm:break-all"
    return about | {":sort": NUMBERS if right else WORDS}
