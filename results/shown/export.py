"""Tables as text for people (text, markdown, latex, html) and as data for programs (csv, json, parquet).

Data have every digit; what is missing is empty in csv and null in json.  The same frame gives the same bytes.
"""

import html
import importlib.util
import json
import math
import re
import textwrap
from collections.abc import Sequence
from operator import is_not

import pandas as pd
from rich.cells import cell_len

from arena.results.printable import JSON_ESCAPES, guarded, printable
from arena.results.shown.column_forms import MISSING, bare_percent, column, percent, points, signed, whole_percent
from arena.results.shown.fitting import LONGEST_UNBROKEN, Fitted, Shown
from arena.results.shown.kinds import FORMATS
from arena.results.shown.latex import latex

DATA = ("csv", "json", "parquet")  # formats for programs
WIDE_CROSSTABLE = 10  # columns, beyond which LaTeX has whole percents


class ColumnError(ValueError):
    """Columns asked for are missing; the message lists those there are."""


def render(
    frame: pd.DataFrame,
    format: str,
    title: str | None = None,
    times: bool = True,
    width: int | None = None,
    raw: bool = False,
    columns: Sequence[str] | None = None,
) -> str | bytes:
    """`frame` in one of FORMATS: str, or bytes for parquet, which needs pyarrow.

    `times` false leaves out columns of seconds, so that tables of equal runs are equal.  `width` is the most characters
    in a line of text (see `fitting`), None as many as needed.  `title` is for people; LaTeX refers to the table by
    `frame.attrs["label"]`, and has `frame.attrs["notes"]` with it.  Text and LaTeX leave out columns too wide for any
    terminal or page, such as seeds and moves.  `columns` are the ones to write, in this order: names in csv, or a
    study's headings; ValueError names missing ones.  In csv, text that a spreadsheet would take for a formula gets an
    apostrophe before it, unless `raw`.
    """
    if format not in FORMATS:
        raise ValueError(f"no format {format!r}; there are {', '.join(FORMATS)}")
    if format in DATA and columns:
        frame = _chosen(_flat(frame, times), columns, with_errors=False)
    if format == "csv":
        flat = _flat(frame, times)
        return (flat if raw else _guarded(flat)).to_csv(index=False, lineterminator="\n")
    if format == "json":
        return _json(_flat(frame, times))
    if format == "parquet":
        return _parquet(_flat(frame, times))
    return _rendered(frame, format, title, times, width, columns)


def _rendered(frame, format, title, times, width, columns) -> str:
    kind, about = frame.attrs.get("kind"), frame.attrs
    own = printable(frame.attrs.get("caption") or "") or None
    title = printable(title or "") or own
    frame = _for_people(frame, times, rare=bool(columns))
    if columns:
        frame = _chosen(frame, columns, with_errors=True)
    if format == "text":
        return _text(_fitted(frame if columns else _short(frame, kind), kind, None), title, width)
    if format == "latex":
        notes = [f"{own}.", *about.get("notes", ())] if own and own != title else about.get("notes", ())
        return _latex(frame if columns else _short(frame, kind), about | {"notes": notes}, title, not columns)
    shown = _display(frame, kind)
    return {"markdown": _markdown, "html": _html}[format](shown, title)


def _latex(frame, about, title, in_blocks: bool) -> str:
    """`about` are the table's attributes: label, notes, and blocks, of each row the headings that `headed` columns are
    replaced by.
    """
    kind, blocks = about.get("kind"), about.get("blocks", []) if in_blocks else []
    frame = frame.drop(columns=about["headed"]) if blocks else frame
    shown = _display(frame, kind, narrow=len(frame.columns) > WIDE_CROSSTABLE)
    percent = "" if kind == "crosstable" else " in %"
    return latex(shown, title, about.get("label"), percent, blocks, about.get("notes", ()))


def _parquet(frame) -> bytes:
    """ModuleNotFoundError says what to install without pyarrow."""
    if importlib.util.find_spec("pyarrow") is None:
        raise ModuleNotFoundError('parquet needs pyarrow: pip install "search-arena[parquet]"', name="pyarrow")
    return frame.to_parquet(None, index=False, engine="pyarrow")


def _chosen(frame, columns: Sequence[str], with_errors: bool) -> pd.DataFrame:
    """These columns, or texts of names with commas; Elo with its error and bound if people read them in one column."""
    known = [str(name) for name in frame.columns]
    wanted = [name for text in columns for name in ([text] if text in known else map(str.strip, text.split(",")))]
    if strange := [name for name in wanted if name not in known]:
        raise ColumnError(f"there is no column {', '.join(strange)}; there are {', '.join(known)}")
    errors = [name for name in ("error", "bound") if with_errors and "elo" in wanted and name in known]
    return frame[list(dict.fromkeys([*wanted, *errors]))]


def rich_table(frame: pd.DataFrame, title: str | None = None, times: bool = True) -> Fitted:
    """The table for a rich console, as `render` has it in text; fits the width it is printed in."""
    kind = frame.attrs.get("kind")
    return _fitted(_short(_for_people(frame, times), kind), kind, title or frame.attrs.get("caption"))


def display_columns(frame: pd.DataFrame) -> list[Shown]:
    """The columns as readers see them."""
    kind = frame.attrs.get("kind")
    flat = _for_people(frame, times=True)
    return _display(flat if kind == "crosstable" else _short(flat, kind), kind)


def _flat(frame, times) -> pd.DataFrame:
    """A named index as a column, no attributes, and no seconds if so asked."""
    if frame.index.name is not None:
        label = frame.index.name
        while label in frame.columns:
            label += "_"
        frame = frame.reset_index(names=label)
    else:
        frame = frame.copy()
    frame.attrs = {}
    return frame if times else frame[[name for name in frame.columns if name != "clock" and "seconds" not in name]]


def _guarded(frame) -> pd.DataFrame:
    """What no spreadsheet takes for formulas; numbers stay numbers."""
    for name in frame.columns[[not pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]]:
        cells = frame[name].tolist()
        safe = [guarded(cell) if isinstance(cell, str) else cell for cell in cells]
        if any(map(is_not, cells, safe)):
            frame[name] = safe
    return frame.set_axis([guarded(str(name)) for name in frame.columns], axis=1)


def _for_people(frame, times, rare=False) -> pd.DataFrame:
    """A study as papers print it; else Elo beside its bound, and no counts that are all 0 or missing, unless `rare`."""
    if frame.attrs.get("kind") == "study":
        return _study(frame, points if frame.attrs.get("points") else bare_percent)
    kind = frame.attrs.get("kind")
    frame = _flat(frame, times)
    if {"elo", "error", "bound"} <= set(frame):
        others = [name for name in frame.columns if name not in ("elo", "error")]
        place = others.index("bound")
        frame = frame[[*others[:place], "elo", "error", *others[place:]]]
    return frame[[name for name in frame if rare or not column(name, kind).rare or frame[name].any()]]


def _short(frame, kind) -> pd.DataFrame:
    """The frame without columns that no terminal has room for; opponents by number."""
    if kind == "crosstable":
        numbers = [str(number + 1) for number in range(len(frame))]
        frame = frame.set_axis([frame.columns[0], *numbers], axis=1)
        frame.insert(0, "#", numbers)
        return frame
    return frame[[name for name in frame.columns if not column(name, kind).long]]


def _json(frame) -> str:
    columns = [_plain(frame[name]) for name in frame.columns]
    names = list(frame.columns)
    lines = [json.dumps(dict(zip(names, row)), ensure_ascii=False, allow_nan=False) for row in zip(*columns)]
    return ("[\n" + ",\n".join(lines) + "\n]\n" if lines else "[]\n").translate(JSON_ESCAPES)


def _plain(column) -> list:
    return column.astype(object).where(column.notna(), None).tolist()


# -- For people ----------------------------------------------------------------------------------------------------


OF_NUMBERS = ("study", "scaling")  # whose columns of text are numbers
NAMES = ("game", "instance", "budget", "agent", "scheme", "serial", "95 %")  # but for these


def _display(frame, kind, narrow=False) -> list[Shown]:
    """The columns as readers see them; a `narrow` crosstable has whole percents without their sign."""
    shown = []
    rated = {"elo", "error", "bound"} <= set(frame.columns)
    for name in frame.columns:
        if rated and name in ("error", "bound"):
            continue
        values, form = _plain(frame[name]), column(name, kind)
        write = form.write
        if kind == "crosstable" and pd.api.types.is_float_dtype(frame[name]):
            write = whole_percent if narrow else percent
        if rated and name == "elo":
            strings = elo_with_error(values, _plain(frame["error"]), _plain(frame["bound"]))
        else:
            strings = [MISSING if value is None else write(value) for value in values]
        heading = printable(str(name))
        if kind not in ("crosstable", "study"):
            heading = form.heading or heading.replace("_", " ")
        right = pd.api.types.is_numeric_dtype(frame[name]) or (kind in OF_NUMBERS and name not in NAMES)
        shown.append(Shown(heading, list(map(printable, strings)), right, form=form))
    return shown


def _study_columns(frame) -> pd.Series:
    names = [name for name in ("agent", "budget") if frame[name].nunique() > 1] or ["agent"]
    return frame[names].agg(", ".join, axis=1)


def _study(frame, write) -> pd.DataFrame:
    """`61.5 (54.4–68.3)`, numbers as `write` has them; None where none is."""
    texts = [_study_cell(row.value, row.low, row.high, write) for row in frame.itertuples()]
    laid = frame.assign(column=_study_columns(frame) if len(frame) else "", text=pd.Series(texts, frame.index, object))
    rows, columns = (list(dict.fromkeys(laid[name])) for name in ("instance", "column"))
    table = laid.pivot(index="instance", columns="column", values="text").reindex(index=rows, columns=columns)
    return table.rename_axis(index="game", columns=None).reset_index()


def _study_cell(value, low, high, write) -> str | None:
    if math.isnan(value):
        return None
    return write(value) if math.isnan(low) else f"{write(value)} ({write(low)}–{write(high)})"


def elo_with_error(elo, error, bound) -> list[str]:
    """Elo in one column for people: `+104 ± 23`, or `> +183` for a bound; errors have one width: signs align."""
    errors = ["" if value is None else f"{value:.0f}" for value in error]
    widest = max(map(len, errors), default=0)
    strings = []
    for value, width, mark in zip(elo, errors, bound):
        if value is None:
            strings.append(MISSING)
        elif mark:
            strings.append(f"{mark} {signed(value)}")
        else:
            strings.append(f"{signed(value)} ± {width.rjust(widest)}" if width else signed(value))
    return strings


def _fitted(frame, kind, title) -> Fitted:
    narrow = _display(frame, kind, narrow=True) if kind == "crosstable" else None
    return Fitted(_display(frame, kind), title, narrow)


def _text(table: Fitted, title, width) -> str:
    above = (textwrap.fill(title, width) if title and width else title or "").strip("\n")
    lines = "\n".join(text for text, _ in table.lines(width or LONGEST_UNBROKEN))
    return (above + "\n\n" if above else "") + lines + "\n"


def _markdown(columns: Sequence[Shown], title) -> str:
    lines = (f"|{'|'.join(cells)}|\n" for cells in zip(*map(_markdown_column, columns)))
    return (f"**{_literally(title)}**\n\n" if title else "") + "".join(lines)


def _markdown_column(column: Shown) -> list[str]:
    """Heading, rule and cells, in one width."""
    heading, *cells = (_literally(" ".join(text.split())) for text in (column.heading, *column.cells))
    width = max(cell_len(heading) + 2, *map(cell_len, cells), 2)
    right = column.right and bool(cells)
    rule = "-" * (width + 1)
    padded = (" " * (width - cell_len(text)) for text in (heading, *cells))
    lines = [f" {blank}{text} " if right else f" {text}{blank} " for text, blank in zip((heading, *cells), padded)]
    return [lines[0], f"{rule}:" if right else f":{rule}", *lines[1:]]


def _literally(text) -> str:
    """The text without meaning in Markdown: no tags, links, code, entities or formulas of a stranger's names."""
    return re.sub(r"[\\`*_\[\]<|&~$]", r"\\\g<0>", text)


def _html(columns: Sequence[Shown], title) -> str:
    style = [' style="text-align: right;"' if column.right and column.cells else "" for column in columns]
    head = _html_row("th", style, [column.heading for column in columns])
    rows = [_html_row("td", style, cells) for cells in zip(*(column.cells for column in columns))]
    caption = [f"<caption>{html.escape(title)}</caption>"] if title else []
    lines = ["<table>", *caption, "<thead>", head, "</thead>", "<tbody>", *rows, "</tbody>", "</table>"]
    return "\n".join(lines) + "\n"


def _html_row(tag: str, style: Sequence[str], cells: Sequence[str]) -> str:
    texts = (html.escape(" ".join(text.split())) for text in cells)
    return f"<tr>{''.join(f'<{tag}{own}>{text}</{tag}>' for own, text in zip(style, texts))}</tr>"
