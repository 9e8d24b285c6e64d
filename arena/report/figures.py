"""The report's figures: as files, and as SVG in the colours of the page."""

import functools
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import quoteattr

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure

from arena.report.pieces import First
from arena.results.papers import paper_figures
from arena.results.shown.kinds import AGAINST, FIGURES, FigureKind
from arena.results.shown.plots import COLOURS
from arena.results.shown.scores import ALL
from arena.results.shown.tournament import Tournament

# only here in a figure; they become the page's own
INK, GRID, GROUND = "#1a1b1c", "#d8d9da", "#fefefe"
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # text in the page's font
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.prop_cycle": cycler(color=COLOURS),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor", "savefig.facecolor"), GROUND),
    "legend.edgecolor": GRID,
}
WIDTH, HEIGHT = 4.8, 3.6  # inches; shown at four fifths on a phone
MOST_CURVES = 12  # instances with own figures
MOST_ROWS = 100  # agents, of whom figures and a crosstable have a row each
MOST_PANELS = 12  # games and budgets with a panel in every figure
ROW = 0.27  # inches of a row


Plot = tuple[str, str, str, Callable[[Figure], object]]  # name, title, caption, function that draws


@dataclass(frozen=True)
class Drawn:
    """A figure: name (of its files), title, caption, bytes."""

    name: str
    title: str
    caption: str
    svg: str
    png: bytes

    @property
    def inline(self) -> str:
        """The SVG element in the page's colours."""
        element = self.svg[self.svg.index("<svg") :]
        # its style would apply to the whole page
        element = re.sub(r"<(metadata|style)\b[^>]*>.*?</\1>", "", element, flags=re.DOTALL)
        about = f'role="img" aria-label={quoteattr(self.title)} xmlns:xlink="http://www.w3.org/1999/xlink"'
        box = re.search(r'viewBox="[^"]*"', element)
        assert box
        element = f"<svg {box[0]} {about}>{element[element.index('>') + 1 :]}"
        return element.replace(INK, "var(--ink)").replace(GRID, "var(--line)").replace(GROUND, "var(--ground)")


def draw(tournament: Tournament, first: First | None) -> list[Drawn]:
    """The figures that the tournament has data for: a study first, then ratings and crosstable, or curves.

    first: of the study whose run it is
    """
    rows: dict[str, int] = {}
    plots: list[Plot] = _curves(tournament) if tournament.single_player else _between_two(tournament, rows)
    if first is not None:
        return [of_study(first), *(_saved(*plot) for plot in plots if plot[0] == "lengths")]
    if "study" in tournament.kinds:
        rows["study"] = len(tournament.study())
        study = FIGURES["study"]
        plots.insert(0, ("study", study.title, study.below, paper_figures.draw(tournament, "study", {})))
    return [_saved(*plot, max(HEIGHT, HEIGHT / 4 + ROW * rows.get(plot[0], 0))) for plot in plots]


def of_study(first: First) -> Drawn:
    """The figure of a study."""
    return _saved("study", "Strength", first.below, first.draw, first.height)


def _curves(tournament) -> list[Plot]:
    if tournament.improvements().empty:
        return []
    several = len(tournament.instances) > 1
    plots: list[Plot] = []
    for number, instance in enumerate([*([ALL] if several else []), *tournament.instances[:MOST_CURVES]]):
        caption = "Best score so far against playouts: mean of the runs, and their quartiles."
        if instance == ALL:
            caption = "Best score so far of all instances, 0 for the worst and 1 for the best of each: mean, quartiles."
        plot = functools.partial(_curve, tournament, instance)
        title = "All instances" if instance == ALL else instance
        plots.append((f"curve_{number}" if several else "curve", title, caption, plot))
    return plots


def _curve(tournament, instance, figure) -> None:
    tournament.plot.best_so_far(instance, "playouts", figure.subplots()).set_title("")


def _between_two(tournament, rows: dict[str, int]) -> list[Plot]:
    """The figures of two-player runs; adds to `rows` the number of rows of figures that have any."""
    rows |= {kind: len(tournament.names) for kind, one in FIGURES.items() if one.rows}
    several, many = len(tournament.conditions) > MOST_PANELS, len(tournament.names) > MOST_ROWS
    found = [
        (f"{one.method}_{of}" if of else kind, kind, one.title.format(of=of), _below(tournament, one).format(of=of))
        for kind, one in FIGURES.items()
        if one.title and kind != "study" and not (one.rows and many)
        for of in (("seconds", "playouts") if one.of == AGAINST else (one.of,))
        if _counted(tournament, one, of)
    ]
    if several:
        return [
            (name, title, caption, functools.partial(_on_axes, getattr(tournament.plot, name)))
            for name, kind, title, caption in found
            if FIGURES[kind].with_all
        ]
    return [
        (name, title, caption, paper_figures.draw(tournament, kind, {AGAINST: name.removeprefix("strength_")}))
        for name, kind, title, caption in found
    ]


def _counted(tournament, one: FigureKind, of: str) -> bool:
    """Whether there is something to draw: agents that have counted it."""
    if one.of == AGAINST:
        return bool((tournament.win_rates()[f"{of}_per_move"] > 0).sum() > 1)
    return not of or bool((tournament.effort[f"{of}_given"] > 0).any())


def _below(tournament, one: FigureKind) -> str:
    bounded = one.of == AGAINST and any(tournament.ratings.bound)
    return one.below + (" Agents with a bound instead of an estimate are left out." if bounded else "")


def _on_axes(plot, figure) -> None:
    plot(ax=figure.subplots())


def _saved(name, title, caption, draw, height=HEIGHT) -> Drawn:
    # ids differ within a page, and agree between drawings
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH, height), layout="constrained")
        draw(figure)
        svg, png = io.StringIO(), io.BytesIO()
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.set_layout_engine("none")  # what has its place stays there
        figure.savefig(png, format="png", dpi=150)
    return Drawn(name, title, caption, svg.getvalue(), png.getvalue())
