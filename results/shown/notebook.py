"""Tables and tournaments as a notebook shows them."""

import html
from collections.abc import Iterable

import pandas as pd

from arena.results.printable import printable
from arena.results.shown.column_forms import LEGENDS, MISSING
from arena.results.shown.export import display_columns
from arena.results.shown.kinds import NOTED

HEAT = "RdYlBu"
FADED = 0.25, 0.25  # how far colours go on beyond 0 and 1; their ends are too dark for black letters


def styled(frame: pd.DataFrame):
    """A pandas Styler of a table of `Tournament.table`: rounded for readers, a crosstable's scores as a heat map."""
    columns = display_columns(frame)
    shown = pd.DataFrame({column.heading: column.cells for column in columns})
    style = shown.style.hide(axis="index").format(escape="html").format_index(escape="html", axis="columns")
    right = [column.heading for column in columns if column.right]
    style = style.set_properties(subset=right, **{"text-align": "right"})
    if caption := frame.attrs.get("caption"):
        style = style.set_caption(html.escape(printable(caption)))
    if frame.attrs.get("kind") == "crosstable" and all(map(pd.api.types.is_float_dtype, frame.dtypes)):
        scores = frame.to_numpy(float)
        others = list(shown.columns[1:])
        style = style.background_gradient(HEAT, *FADED, subset=others, gmap=scores, axis=None, vmin=0, vmax=1)
        style = style.map(lambda text: "background: none" if text == MISSING else "color: black", subset=others)
    return style


def page(tournament) -> str:
    """Main table, summary and notes, as HTML."""
    summary = [] if tournament.single_player else tournament.summary()
    return f"<p><b>{html.escape(str(tournament.folder))}</b></p>{table_page(tournament.table(), tournament, summary)}"


def table_page(frame: pd.DataFrame, tournament, sentences: Iterable[str] = ()) -> str:
    """A table of a tournament, sentences, explanations of its columns, and notes, as HTML."""
    kind = frame.attrs["kind"]
    notes = tournament.notes_on(frame) if kind in NOTED else []
    legend = [LEGENDS[kind]] if kind in LEGENDS and len(frame) else []
    return styled(frame).to_html() + _paragraphs([*sentences, *legend, *notes])


def _paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
