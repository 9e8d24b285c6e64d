"""Figures for papers: one kind of figure of a run, in the size of a column, in a style that users can replace."""

import io
import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.style
from matplotlib.figure import Figure

from arena.results.papers import strength_figures
from arena.results.shown import plots
from arena.results.shown.kinds import AGAINST, FIGURES, SINGLE_PLAYER_FIGURES
from arena.results.shown.scores import ALL

STYLE = Path(__file__).with_name("paper.mplstyle")
WIDTH = 3.4  # inches: a column
SHAPE = 0.68  # height over width, unless rows say it
ROW, AROUND = 0.17, 0.55  # inches of a row, and around rows
LEGEND = 0.14  # inches of a line of the legend, for two agents
GAME = 0.13  # inches of a game in a cell of a study
THREE = 5.0  # inches of width that give three panels beside each other
LETTER, TITLE = 0.55 / 72, 1.05 / 72  # inches of a letter, and of a line, of a panel's name, for each point of the font
FONTS = {"sans": "sans-serif"}
UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}


def kinds(run) -> tuple[str, ...]:
    """The kinds of figures of a tournament (`results.Tournament`)."""
    if run.single_player:
        every: Iterable[str] = SINGLE_PLAYER_FIGURES
    else:  # a study, if there is one, is what a page shows first
        every = ("study", *(kind for kind, one in FIGURES.items() if one.method and kind not in SINGLE_PLAYER_FIGURES))
    return tuple(kind for kind in every if kind != "study" or kind in run.kinds)


def draw(run, kind: str, options: dict[str, Any]) -> Callable[[Figure], None]:
    """The function that draws a kind of figure of a run on an empty figure, with a panel for each game and budget.

    `options` are against ("playouts", "seconds" or "nodes", of strength and curves), instance (a name, or None for all)
    and panels (one for each instance instead of their mean), of curves.
    """
    if kind == "curves":
        return lambda figure: _curves(figure, run, **options)
    one = FIGURES[kind]
    of = [options.get(AGAINST) if one.of == AGAINST else one.of] if one.of else []
    parts: dict[str, Any] = {} if kind == "study" else parts_of(run)
    if len(parts) <= 1:
        return lambda figure: getattr(run.plot, one.method)(*of, ax=figure.subplots()) and None
    parts = {"all": run} | parts if one.with_all else parts
    columns = 1 if one.rows else None
    return lambda figure: _panels(figure, parts, lambda part, ax: getattr(part.plot, one.method)(*of, ax=ax), columns)


def parts_of(run) -> dict[str, Any]:
    """The conditions of a run as runs, by their labels."""
    return {one.label: run.part(one.number) for one in run.conditions}


def of_schemes(frame, throughput, kind: str, width: float) -> tuple[Callable[[Figure], None], float]:
    """What draws a study of schemes, one kind of panel or all; and its height."""
    return strength_figures.drawing(
        frame, throughput, tuple(strength_figures.PANELS) if kind == "schemes" else (kind,), width
    )


def height(run, kind: str, width: float) -> float:
    """The height in inches: by the rows, or by the width and the legend."""
    one = FIGURES[kind]
    if not one.rows:
        entries = min(len(run.names), plots.LINES) if one.legend else 0
        return SHAPE * width + LEGEND * -(-entries // 2)
    if kind == "study":
        frame = run.study()
        return AROUND + GAME * len(frame) + ROW * frame["instance"].nunique()
    return AROUND + ROW * len(run.names)


def _curves(figure: Figure, run, against: str, instance: str | None, panels: bool) -> None:
    if instance or len(run.instances) == 1 or not panels:
        only = run.instances[0] if len(run.instances) == 1 else ALL
        run.plot.best_so_far(instance or only, against, figure.subplots())
        return
    parts = {name: name for name in run.instances}
    _panels(figure, parts, lambda name, ax: run.plot.best_so_far(name, against, ax))


def _panels(figure: Figure, parts: dict[str, Any], plot: Callable[[Any, Any], Any], columns: int | None = None) -> None:
    columns = columns or (3 if figure.get_figwidth() >= THREE and len(parts) > 4 else 2)
    font = matplotlib.rcParams["font.size"]
    letters = int(figure.get_figwidth() / columns / (LETTER * font))
    lines, names = -(-len(parts) // columns), [textwrap.wrap(name.replace("$", r"\$"), letters) for name in parts]
    figure.set_figheight(lines * (figure.get_figheight() / columns + TITLE * font * max(map(len, names))) + 0.2)
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for ax, name, part in zip(axes, names, parts.values()):
        plot(part, ax)
        ax.set_title("\n".join(name), fontsize="small")
    for ax in axes[len(parts) :]:
        ax.remove()
    drawn = figure.axes[: len(parts)]
    # an agent may have no line in some panels
    lines_of = {label: line for ax in drawn for line, label in zip(*ax.get_legend_handles_labels())}
    if lines_of:
        figure.legend(lines_of.values(), lines_of.keys(), loc="outside upper center", ncols=2, frameon=False)
    figure.supxlabel(next(filter(None, (ax.get_xlabel().partition(",")[0] for ax in drawn)), ""), fontsize="medium")
    figure.supylabel(next(filter(None, (ax.get_ylabel().partition("\n")[0] for ax in drawn)), ""), fontsize="medium")
    for ax in drawn:
        ax.set(xlabel="", ylabel="")
        if legend := ax.get_legend():
            legend.remove()


def picture(
    drawing: Callable[[Figure], None],
    size: tuple[float, float],
    format: str,
    style: str | Path = STYLE,
    font: str | None = None,
) -> bytes:
    """A figure of a size in inches, in svg, png or pdf, in a style: a file, or a name that matplotlib knows.

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
