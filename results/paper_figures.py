"""Figures for papers: one kind of figure of a run, in the size of a column and in a style that users can replace."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from arena.results import plots, strength_scaling
from arena.results.scores import ALL

STYLE = Path(__file__).with_name("paper.mplstyle")
WIDTH = 3.4  # inches: a column
SHAPE = 0.68  # height over width, where rows do not say it
ROW, AROUND = 0.17, 0.55  # inches that a row takes, and what is around rows
LEGEND = 0.14  # inches of a line of the legend, which has two agents
GAME = 0.13  # inches for each game in a cell of a study
IN_ROWS = ("ratings", "crosstable", "sides", "study")
FONTS = {"sans": "sans-serif"}
UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def kinds(run) -> tuple[str, ...]:
    """The kinds of figures of a tournament (`results.Tournament`)."""
    several = ("study",) if "study" in run.kinds else ()
    if run.single_player:
        return ("curves", *several)
    return (*several, "ratings", "crosstable", "strength", "sides", "lengths", "time", "depth")


def draw(run, kind: str, options: dict[str, Any]) -> Callable[[Figure], None]:
    """The function that draws a kind of figure of a run on an empty figure.

    `options` are against ("playouts", "seconds" or "nodes", of strength and curves), instance (a name, or None for all)
    and panels (a panel for each instance instead of their mean), of curves.
    """
    if kind == "curves":
        return lambda figure: _curves(figure, run, **options)
    special = {
        "strength": ("strength", options.get("against")),
        "time": ("moves", "seconds"),
        "depth": ("moves", "depth"),
    }
    name, *of = special.get(kind, (kind,))
    return lambda figure: getattr(run.plot, name)(*of, ax=figure.subplots()) and None


def of_schemes(frame, throughput, kind: str, width: float) -> tuple[Callable[[Figure], None], float]:
    """The function that draws a study of schemes, one kind of panel or all, and the height that suits it."""
    panels = tuple(strength_scaling.PANELS) if kind == "schemes" else (kind,)
    suits = strength_scaling.height(frame, throughput, panels, width)
    return lambda figure: strength_scaling.draw(figure, frame, throughput, panels), suits


def height(run, kind: str, width: float) -> float:
    """The height in inches that suits a figure: by its rows, or by the width and the legend."""
    if kind not in IN_ROWS:
        entries = 0 if kind in ("lengths", "curves") else min(len(run.names), plots.LINES)
        return SHAPE * width + LEGEND * -(-entries // 2)
    if kind == "study":
        frame = run.study()
        return AROUND + GAME * len(frame) + ROW * frame["instance"].nunique()
    return AROUND + ROW * len(run.names)


def _curves(figure: Figure, run, against: str, instance: str | None, panels: bool) -> None:
    """The best score so far: of an instance, of all in panels, or their mean."""
    if instance or len(run.instances) == 1 or not panels:
        only = run.instances[0] if len(run.instances) == 1 else ALL
        run.plot.best_so_far(instance or only, against, figure.subplots())
        return
    columns = 2 if len(run.instances) <= 4 else 3
    lines = -(-len(run.instances) // columns)
    figure.set_figheight(figure.get_figheight() * lines / columns + 0.2)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, name in zip(axes, run.instances):
        run.plot.best_so_far(name, against, ax)
        ax.set(xlabel="", ylabel="")
        ax.get_legend().remove()
    for ax in axes[len(run.instances) :]:
        ax.remove()
    # an agent may have no score in some of the games
    drawn = {label: line for ax in axes for line, label in zip(*ax.get_legend_handles_labels())}
    figure.legend(drawn.values(), drawn.keys(), loc="outside upper center", ncols=2, frameon=False, fontsize="small")
    figure.supxlabel(f"{against} of a run", fontsize="medium")
    figure.supylabel("best score so far", fontsize="medium")


def picture(
    drawing: Callable[[Figure], None],
    size: tuple[float, float],
    format: str,
    style: str | Path = STYLE,
    font: str | None = None,
) -> bytes:
    """A figure of a size in inches, in svg, png or pdf, drawn in a style: a file, or a name that matplotlib knows.

    `font` is serif, sans, or a family's name.  The same figure gives the same bytes.  OSError: there is no such style.
    """
    family: dict[Any, Any] = {"font.family": FONTS.get(font, font)} if font else {}
    undated: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    target = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "arena"}), matplotlib.style.context([str(style), family]):
        figure = Figure(figsize=size, layout="constrained")
        drawing(figure)
        figure.savefig(target, format=format, dpi=300, metadata=undated.get(format))
    return target.getvalue()


def inches(text: str) -> float:
    """`3.4in`, `86mm`, `8.6cm`, `246pt` (of TeX), or a number of inches; ValueError for other text."""
    unit = next((unit for unit in UNITS if text.endswith(unit)), "")
    value = float(text.removesuffix(unit)) * UNITS.get(unit, 1.0)
    if not 0.5 <= value <= 60:
        raise ValueError(f"{text} is out of range: a figure can be 0.5 to 60 inches wide and high")
    return value
