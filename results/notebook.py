"""Tables and tournaments as a notebook shows them."""

import html

import pandas as pd

from results.export import MISSING, display_columns

HEAT = "RdYlGn"


def styled(frame: pd.DataFrame):
    """A pandas Styler of a table of `Tournament.table`: rounded for readers, a crosstable's scores as a heat map."""
    cells = display_columns(frame)
    shown = pd.DataFrame({heading: strings for heading, (strings, _) in cells.items()})
    style = shown.style.hide(axis="index").format(escape="html").format_index(escape="html", axis="columns")
    style = style.set_properties(
        subset=[heading for heading, (_, right) in cells.items() if right], **{"text-align": "right"}
    )
    if frame.attrs.get("kind") == "crosstable":
        scores = frame.to_numpy(float)
        columns = list(shown.columns[1:])
        style = style.background_gradient(cmap=HEAT, vmin=0, vmax=1, subset=columns, gmap=scores, axis=None)
        style = style.map(lambda text: "background: none" if text == MISSING else "color: black", subset=columns)
    return style


def ratings_page(ratings) -> str:
    """`results.ratings.Ratings`, the best agent first, and what a reader must know of them, as HTML."""
    columns = {"agent": ratings.agents, "elo": ratings.elo, "error": ratings.error, "bound": ratings.bound}
    frame = pd.DataFrame(columns).sort_values("elo", ascending=False, kind="stable", ignore_index=True)
    notes = "".join(f"<p>{html.escape(note)}</p>" for note in ratings.notes)
    return f"{styled(frame).to_html()}{notes}"


def page(tournament) -> str:
    """The standings of a tournament, or its scores, and what a reader must know of them, as HTML."""
    style = styled(tournament.table())
    sentences = [*([] if tournament.single_player else tournament.summary()), *tournament.notes()]
    text = "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)
    return f"<p><b>{html.escape(str(tournament.folder))}</b></p>{style.to_html()}{text}"
