"""Tables and tournaments as a notebook shows them."""

import html

import pandas as pd

from results.export import MISSING, display_columns

HEAT = "RdYlGn"


def styled(frame: pd.DataFrame):
    """A pandas Styler of a table of `Tournament.table`: rounded for readers, a crosstable's scores as a heat map."""
    cells = display_columns(frame)
    shown = pd.DataFrame({heading: strings for heading, (strings, _) in cells.items()})
    style = shown.style.hide(axis="index").set_properties(
        subset=[heading for heading, (_, right) in cells.items() if right], **{"text-align": "right"}
    )
    if frame.attrs.get("kind") == "crosstable":
        scores = frame.to_numpy(float)
        columns = list(shown.columns[1:])
        style = style.background_gradient(cmap=HEAT, vmin=0, vmax=1, subset=columns, gmap=scores, axis=None)
        style = style.map(lambda text: "background: none" if text == MISSING else "color: black", subset=columns)
    return style


def page(tournament) -> str:
    """The standings of a tournament, or its scores, and what a reader must know of them, as HTML."""
    style = styled(tournament.table())
    sentences = [*([] if tournament.single_player else tournament.summary()), *tournament.notes()]
    text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    return f"<p><b>{html.escape(str(tournament.folder))}</b></p>{style.to_html()}{text}"
