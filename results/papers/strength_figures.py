"""Figures of a study of schemes, from the tables of `strength_scaling`: a line is a scheme.

Bars are 95 % intervals, arrows one-sided bounds.  Games and budgets stand side by side where the width gives each
`least` inches; a figure is no higher than a page, unless its panels would be too low to read.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from arena.results.papers.strength_scaling import by_definition, labels

WIDTH = 7.0  # inches of a page's two columns
LEAST, LOWEST, SHAPE = 2.3, 1.15, 0.72  # inches of a panel's width and height, at least; height / width
PAGE = 9.0  # inches of height
LINE = 0.2  # inches
LETTERS = 15  # of a title to an inch
ASIDE = 0.06  # doublings that schemes are drawn aside, at most
LEAST_SHOWN = 1e-6  # where bands end that are open
BEYOND = 8.0  # an axis of factors ends at this times the highest value
EVEN = {"color": "0.6", "linewidth": 0.8, "linestyle": "-", "marker": "", "zorder": 0}  # no scheme's line
DISTURBED = "disturbed, too low: measure again"
PANELS = {
    "equal_time": ("Elo at equal time", "Elo"),
    "equal_playouts": ("Elo at equal playouts", "Elo"),
    "speedup": ("strength speed-up", "times"),
    "throughput": ("playouts a second, by threads", "times one thread"),
}
"""What a figure shows: title, and label of the vertical axis."""
BUDGETS = "budgets"  # all budgets of a game
PARAMETER = "parameter"  # the horizontal axis of `parameter_axis.along`


class Layout(NamedTuple):
    """Cells, each a game and budget with its title; how many stand across, and how many panels within each."""

    cells: list[tuple[str, pd.DataFrame]]
    panels: list[str]
    across: int
    within: int
    titles: list[str]

    @property
    def lines(self) -> tuple[int, int]:
        """Lines of cells, and of panels within one."""
        return -(-len(self.cells) // self.across), -(-len(self.panels) // self.within)


def layout(frame, throughput, panels: Sequence[str], width: float, least: float) -> Layout:
    """How a figure of that width in inches is laid out."""
    shown = [name for name in panels if name != "throughput" or (throughput is not None and not throughput.empty)]
    cells = _cells(by_definition(frame), panels)
    fit = max(1, int(width / least))
    across = min(len(cells), fit)
    within = next(n for n in (len(shown), -(-len(shown) // 2), 1) if n <= fit) if across == 1 else 1
    titles = [_wrapped(title, width / across) for title, _ in cells] if len(cells) > 1 else []
    most = max((title.count("\n") for title in titles), default=0)  # so that panels stand at one height
    return Layout(cells, shown, across, within, ["\n" * (most - title.count("\n")) + title for title in titles])


def drawing(
    frame: pd.DataFrame,
    throughput: pd.DataFrame | None,
    panels: Sequence[str],
    width: float,
    least: float = LEAST,
    page: float = PAGE,
) -> tuple[Callable, float]:
    """The function that draws `panels` for each game and budget on an empty figure, and the height that suits it.

    least: inches of a game's width; page: the most inches of height; `frame` is from `strength_scaling.table`,
    `throughput` from `study.throughput`, or there is no such panel.
    """
    laid = layout(frame, throughput, panels, width, least)
    lines, rows = laid.lines
    titles = LINE * lines * (laid.titles[0].count("\n") + 1) if laid.titles else 0.0
    entries = frame["scheme"].nunique() + 1 + ("throughput" in laid.panels and _disturbed(throughput).any())
    around = titles + LINE * -(-entries // _legend_columns(laid))
    suits = around + lines * rows * (SHAPE * width / (laid.across * laid.within) + LINE)
    height = max(around + lines * rows * (LOWEST + LINE), min(suits, page))
    return lambda figure: _draw(figure, laid, frame["scheme"].unique().tolist(), throughput), height


def figure(
    frame: pd.DataFrame,
    throughput: pd.DataFrame | None = None,
    panels: Sequence[str] = tuple(PANELS),
    width: float = WIDTH,
):
    """A matplotlib figure, in the style that is set."""
    from matplotlib.figure import Figure

    draw, height = drawing(frame, throughput, panels, width)
    drawn = Figure(figsize=(width, height), layout="constrained")
    draw(drawn)
    return drawn


def _wrapped(title: str, width: float) -> str:
    """A title in lines that fit into that width; it breaks before the playouts first."""
    most = max(20, int(LETTERS * width))
    game, _, playouts = title.rpartition(", ")
    return title if len(title) <= most else "\n".join(textwrap.fill(line, most) for line in (f"{game},", playouts))


def _cells(frame, panels) -> list[tuple[str, pd.DataFrame]]:
    if BUDGETS in panels:
        return [(str(game), cell) for game, cell in frame.groupby("game", sort=False)]
    grouped = frame.groupby(["game", "playouts"], sort=False)
    return [(f"{game}, {playouts} playouts of each worker", cell) for (game, playouts), cell in grouped]


def _legend_columns(laid: Layout) -> int:
    return max(2, laid.across * laid.within)


def _draw(drawn, laid: Layout, schemes: list[str], throughput: pd.DataFrame | None) -> None:
    from arena.results.shown import plots

    aside = np.linspace(-ASIDE, ASIDE, len(schemes)) if len(schemes) > 1 else [0.0]
    names = plots.labels(labels(schemes))
    looks = {
        scheme: _look(i, name) | {"aside": float(aside[i])} for i, (scheme, name) in enumerate(zip(schemes, names))
    }
    lines, rows = laid.lines
    parts = drawn.subfigures(lines, laid.across, squeeze=False).ravel()
    for part, title, (_, cell) in zip(parts, laid.titles or [""], laid.cells):
        axes = part.subplots(rows, laid.within, squeeze=False).ravel()
        for ax, name in zip(axes, laid.panels):
            _draw_one(ax, cell, name, looks, throughput, several=len(laid.panels) > 1)
        for ax in axes[len(laid.panels) :]:
            ax.remove()
        if title:
            part.suptitle(title, fontsize="medium")
    found = {text: line for ax in drawn.axes for line, text in zip(*ax.get_legend_handles_labels())}
    drawn.legend(found.values(), found.keys(), loc="outside lower center", ncols=_legend_columns(laid), frameon=False)


def _draw_one(ax, cell, name: str, looks, throughput, several: bool) -> None:
    if name == "throughput" and throughput is not None:
        _draw_throughput(ax, throughput[throughput["game"].isin(cell["game"])], looks)
    elif name == BUDGETS:
        _draw_budgets(ax, cell, looks)
    elif name == PARAMETER:
        _draw_parameter(ax, cell, looks)
    else:
        _draw_panel(ax, cell, name, looks)
    if name in PANELS and several:
        ax.set_title(PANELS[name][0], fontsize="medium")
    elif name in PANELS:
        ax.set_ylabel(PANELS[name][0])


def _look(number: int, label: str) -> dict:
    from arena.results.shown import plots

    again = {"fillstyle": "left", "linestyle": "--"} if number >= plots.LINES else {}
    return plots.look(number % plots.LINES) | again | {"label": label}


def _draw_panel(ax, cell: pd.DataFrame, name: str, looks) -> None:
    prefix = {"equal_time": "", "equal_playouts": "total_"}.get(name)
    for scheme, rows in cell.groupby("scheme", sort=False):
        if prefix is None:
            _speed_line(ax, rows["workers"], rows, looks[scheme])
        else:
            elo, error = rows[prefix + "elo"], rows[prefix + "error"]
            _line(ax, rows["workers"], elo, elo - error, elo + error, rows[prefix + "bound"], looks[scheme])
    workers = sorted(cell["workers"].unique())
    if prefix is None:
        ax.plot(workers, workers, label="as many as workers", **EVEN)
        _speed_axis(ax, [*_limits(cell), *workers])
    else:
        ax.axhline(0, **EVEN)
    ax.set(xlabel="workers", ylabel=PANELS[name][1])
    count_axis(ax, workers)


def _draw_budgets(ax, cell: pd.DataFrame, looks) -> None:
    for scheme, rows in cell.groupby("scheme", sort=False):
        rows = rows[rows["workers"] == rows["workers"].max()].sort_values("playouts")
        look = looks[scheme] | {"label": f"{looks[scheme]['label']} x{rows['workers'].iloc[0]}"}
        _speed_line(ax, rows["playouts"], rows, look)
    _speed_axis(ax, _limits(cell))
    ax.set(xlabel="playouts of each worker", ylabel="strength speed-up")
    count_axis(ax, sorted(cell["playouts"].unique()))


def _draw_parameter(ax, cell: pd.DataFrame, looks) -> None:
    values = sorted(cell["value"].unique())
    for scheme, rows in cell.groupby("scheme", sort=False):
        _speed_line(ax, rows["value"], rows, looks[scheme])
    _speed_axis(ax, _limits(cell))
    ax.set(xlabel=cell["parameter"].iloc[0], ylabel="strength speed-up")
    if values[0] >= 0:  # logarithmic, with a place for 0
        least = next(value for value in values if value > 0)
        ax.set_xscale("symlog", linthresh=least)
        ax.set_xlim(-0.2 * least if values[0] == 0 else 0.8 * least, 1.25 * values[-1])
    ax.set_xticks(values, [f"{value:g}" for value in values])
    ax.minorticks_off()
    ax.grid(alpha=0.3)


def _speed_line(ax, across, rows: pd.DataFrame, look) -> None:
    ends = rows["low"].fillna(LEAST_SHOWN), rows["high"].fillna(1 / LEAST_SHOWN)
    _line(ax, across, _limits(rows), *ends, rows["speed_up_bound"], look)


def _limits(rows: pd.DataFrame) -> pd.Series:
    """The speed-ups; limits where matches do not enclose them, NaN where nothing is known."""
    limits = rows["low"].where(rows["speed_up_bound"] == ">", rows["high"])
    return rows["speed_up"].where(rows["speed_up_bound"] == "", limits)


def _speed_axis(ax, values) -> None:
    """A logarithmic axis of factors, which bands of too few games may leave."""
    ax.set_yscale("log", base=2)
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    if len(known := np.array([value for value in values if value > 0])):
        low, high = ax.get_ylim()
        ax.set_ylim(max(low, known.min() / BEYOND), min(high, known.max() * BEYOND))


def _line(ax, across, value, low, high, bound, look) -> None:
    """`value` is the limit where `bound` says that it is one; an interval that is open leaves the axis.

    Intervals are bars, each scheme's a little aside, since bands hide each other where they cross.
    """
    aside, look = look["aside"], {key: setting for key, setting in look.items() if key != "aside"}
    places, known = across.to_numpy() * 2.0**aside, (bound == "").to_numpy() & value.notna().to_numpy()
    ax.plot(places, value, **look, markevery=np.flatnonzero(known).tolist())
    ax.vlines(places[known], low.to_numpy()[known], high.to_numpy()[known], color=look["color"], linewidth=1, alpha=0.7)
    for mark, shape in ((">", r"$\uparrow$"), ("<", r"$\downarrow$")):
        beyond = (bound == mark).to_numpy()
        ax.plot(places[beyond], value.to_numpy()[beyond], marker=shape, linestyle="", markersize=8, color=look["color"])


def _disturbed(throughput) -> pd.Series:
    return throughput["undisturbed"] == 0


def _draw_throughput(ax, throughput, looks) -> None:
    threads = sorted(throughput["threads"].unique())
    for scheme, rows in throughput.groupby("scheme", sort=False):
        look, sure = {key: one for key, one in looks[scheme].items() if key != "aside"}, ~_disturbed(rows)
        ax.plot(rows["threads"], rows["speed_up"], **look, markevery=np.flatnonzero(sure).tolist())
        hollow = {"linestyle": "", "marker": look["marker"], "markerfacecolor": ax.get_facecolor()}
        ax.plot(rows["threads"][~sure], rows["speed_up"][~sure], color=look["color"], **hollow)
    if _disturbed(throughput).any():
        ax.plot([], [], color=EVEN["color"], label=DISTURBED, **hollow | {"marker": "o"})
    ax.plot(threads, threads, label="as many as workers", **EVEN)
    ax.set(xlabel="threads", ylabel=PANELS["throughput"][1])
    count_axis(ax, threads)


def count_axis(ax, counts) -> None:
    """A logarithmic axis with the counts that there are."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(count) for count in counts], minor=False)
    ax.grid(alpha=0.3)
