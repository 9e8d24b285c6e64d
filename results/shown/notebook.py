"""Tables and tournaments as a notebook shows them."""

import html
from collections.abc import Iterable

import pandas as pd

from arena.results.printable import printable
from arena.results.shown.export import MISSING, display_columns
from arena.results.shown.kinds import NOTED

HEAT = "RdYlBu"
FADED = 0.25, 0.25  # how far colours go on beyond 0 and 1; their ends are too dark for black letters
ELO = "Elo is counted from the mean of the pool, with its 95 % interval"
LOS = "LOS is how likely an agent is stronger than the next one"
LEGENDS = {  # of the columns of a kind of table
    "standings": f"{ELO}; {LOS}.",
    "ratings": f"{ELO}; {LOS}.",
    "pairs": "LL to WW are pairs of games with one opening, by what the first agent made of the two; Elo is from them.",
    "differences": "Differences of ratings in the whole pool, with their 95 % intervals.",
    "scores": "low and high are the 95 % interval of the mean.",
}


def styled(frame: pd.DataFrame):
    """A pandas Styler of a table of `Tournament.table`: rounded for readers, a crosstable's scores as a heat map."""
    cells = display_columns(frame)
    shown = pd.DataFrame({heading: strings for heading, (strings, _) in cells.items()})
    style = shown.style.hide(axis="index").format(escape="html").format_index(escape="html", axis="columns")
    style = style.set_properties(
        subset=[heading for heading, (_, right) in cells.items() if right], **{"text-align": "right"}
    )
    if caption := frame.attrs.get("caption"):
        style = style.set_caption(html.escape(printable(caption)))
    if frame.attrs.get("kind") == "crosstable" and all(map(pd.api.types.is_float_dtype, frame.dtypes)):
        scores = frame.to_numpy(float)
        columns = list(shown.columns[1:])
        style = style.background_gradient(HEAT, *FADED, subset=columns, gmap=scores, axis=None, vmin=0, vmax=1)
        style = style.map(lambda text: "background: none" if text == MISSING else "color: black", subset=columns)
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
