"""Figures of a tournament on matplotlib axes, from the tables of `tables` and `study_table`.

Each function draws on the given axes and returns them.  The look of an agent is from matplotlib's `axes.prop_cycle`,
the colours of a heat map from `image.cmap`, if a style has set them; the defaults suit light and dark backgrounds.
"""

import math
import textwrap
from collections.abc import Iterable
from typing import Any, Literal

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from arena.results.shown.scores import ALL as SUM
from arena.results.shown.study_table import MEAN

COLOURS = ("#3b82c4", "#e08214", "#2a9d6f", "#c44e8a", "#8a6fd1", "#9a7b4f", "#d1495b", "#4fa3b5")
OTHERS = "#888888"
MARKERS = "osD^v"
LINES = 8  # agents that lines can tell apart
NARROW = 5  # within this factor an axis is linear: a logarithmic one has too few round numbers
WIDEST = 0.95  # share of a figure's width for a legend
MARKED = 0.08  # share of a line's length between its markers
LETTER = 0.62  # width of a digit, over the letters' size
LABEL = 24  # characters of a name on an axis
XLABEL = 44  # characters of a line below an axis
LEAST_SHARE = 0.02  # of an agent's games that must reach a ply, to draw its mean
UNITS = {"seconds": "seconds a move", "playouts": "playouts a move", "nodes": "nodes a move", "depth": "depth"}


def look(number: int) -> dict[str, Any]:
    """How a plot draws an agent; from the ninth on, all are the same grey."""
    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if cycle == matplotlib.rcParamsDefault["axes.prop_cycle"]:
        cycle = [{"color": colour} for colour in COLOURS]
    known = list(cycle)
    given = {"color": OTHERS, "marker": "o"} if number >= min(LINES, len(known)) else known[number]
    return {"marker": MARKERS[number % len(MARKERS)], "linestyle": "-"} | given


def _colour(number: int) -> str:
    return look(number)["color"]


def _heat(share: float) -> tuple[Any, str]:
    """The colour map, and black or white to write on a share from 0 to 1."""
    name = matplotlib.rcParams["image.cmap"]
    chosen = matplotlib.colormaps["RdYlBu" if name == matplotlib.rcParamsDefault["image.cmap"] else name]
    red, green, blue, _ = chosen(share)
    return chosen, "#111111" if 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 else "#ffffff"


def ratings(ax: Axes, standings: pd.DataFrame) -> Axes:
    """Elo with 95 % errors, the best on top; arrows are one-sided bounds."""
    shown = standings[standings["elo"].notna()]
    for place, row in enumerate(shown.itertuples()):
        colour = _colour(0)
        if row.bound:
            ax.plot(row.elo, place, marker=">" if row.bound == ">" else "<", color=colour, linestyle="none")
        else:
            error = 0 if math.isnan(row.error) else row.error
            ax.errorbar(row.elo, place, xerr=error, fmt="o", color=colour, capsize=3)
    ax.set_yticks(range(len(shown)), labels(shown["agent"]))
    ax.invert_yaxis()
    return _finished(ax, "Elo, with 95 % errors", grid="x")


def crosstable(ax: Axes, scores: pd.DataFrame) -> Axes:
    """Rows against columns as a heat map; agents are numbered from the best."""
    return _squares(ax, scores, "score in % against agent number", (0.0, 1.0), "{:.0f}")


def cycles(ax: Axes, residuals: pd.DataFrame) -> Axes:
    """Scores less what Elo expects, rows against columns; agents are numbered from the best."""
    most = max(0.05, np.nanmax(np.abs(residuals.to_numpy(float)), initial=0.0))
    title = "score less what Elo expects,\nin % against agent number"
    return _squares(ax, residuals, title, (-most, most), "{:+.0f}")


def _squares(ax: Axes, scores: pd.DataFrame, title: str, ends: tuple[float, float], form: str) -> Axes:
    """A heat map of shares between `ends`: as percents, written by `form` in squares with room for it, or a scale."""
    values, (least, most) = 100 * scores.to_numpy(float), (100 * end for end in ends)
    picture = ax.imshow(values, vmin=least, vmax=most, cmap=_heat(0)[0], aspect="auto")
    numbers = [str(place + 1) for place in range(len(scores))]
    ax.set_yticks(range(len(scores)), [f"{name}  {number}" for name, number in zip(labels(scores.index), numbers)])
    ax.set_xlabel(title)
    ax.get_figure(root=True).draw_without_rendering()  # type: ignore[union-attr]  # axes have a figure
    letters = ax.get_window_extent().width / max(len(scores), 1) / (LETTER * _points(ax))  # of a square's width
    if letters >= len(form.format(most)):
        for row, column in zip(*np.nonzero(~np.isnan(values))):
            colour = _heat((values[row, column] - least) / (most - least))[1]
            text = form.format(values[row, column])
            ax.text(column, row, text, ha="center", va="center", color=colour, fontsize="small")
    else:
        ax.figure.colorbar(picture, ax=ax, location="top", shrink=0.6, aspect=30, pad=0.01)
    step = math.ceil((len(numbers[-1]) + 1) / letters) if numbers else 1
    shown = range(0, len(scores), step) if step == 1 else range(step - 1, len(scores), step)
    ax.set_xticks(shown, [numbers[place] for place in shown])
    return ax


def _points(ax: Axes) -> float:
    """The size of small letters in pixels."""
    small = FontProperties(size="small").get_size_in_points()
    return small * ax.figure.dpi / 72


def study(ax: Axes, frame: pd.DataFrame) -> Axes:
    """The cells of `Tournament.study()` with intervals: a block a game, a marker a column; means below a line.

    Scores between two players are in %, beside a line at one half.
    """
    points = frame.attrs["points"]
    games = list(dict.fromkeys(frame["instance"]))
    columns = list(frame.groupby(["agent", "budget"], sort=False)) if len(frame) else []
    agents, budgets = (list(dict.fromkeys(frame[name])) for name in ("agent", "budget"))
    step = 0.8 / max(len(columns), 1)
    for number, ((agent, budget), own) in enumerate(sorted(columns, key=lambda column: budgets.index(column[0][1]))):
        own = own[own["value"].notna()]
        value, low, high = ((1 if points else 100) * own[part].to_numpy(float) for part in ("value", "low", "high"))
        places = np.array([games.index(game) for game in own["instance"]]) + step * (number - (len(columns) - 1) / 2)
        by_agent, by_budget = agents.index(agent), budgets.index(budget)
        colour = by_agent if len(agents) > 1 else by_budget
        texts = dict(zip(agents, labels(agents)))[agent], budget.replace("$", r"\$")
        label = ", ".join(name for name, of in zip(texts, (agents, budgets)) if len(of) > 1)
        marker = MARKERS[by_budget % len(MARKERS)] if len(budgets) > 1 else look(colour)["marker"]
        ax.errorbar(
            value, places, xerr=np.nan_to_num([value - low, high - value]), label=label, linestyle="none",
            marker=marker, color=_colour(colour), markersize=4, capsize=2,
        )  # fmt: skip
    if not points:
        ax.axvline(50, color=OTHERS, linewidth=1, linestyle="--")
    if games and games[-1] in (MEAN, SUM):
        ax.axhline(len(games) - 1.5, color=OTHERS, linewidth=1)
    ax.set_yticks(range(len(games)), labels(games))
    ax.set_ylim(len(games) - 0.5, -0.5)
    ax.set_xlabel(textwrap.fill(frame.attrs["caption"].partition(";")[0].replace("$", r"\$"), XLABEL))
    if len(columns) > 1:
        _legend(ax)
    ax.grid(axis="x")
    return ax


def strength(ax: Axes, standings: pd.DataFrame, win_rates: pd.DataFrame, of: str = "seconds") -> Axes:
    """Elo against seconds, playouts or nodes per move (`of`), without bounds.

    Colours go by the place in the standings, here and in `by_ply`.
    """
    effort = win_rates.set_index("agent")[f"{of}_per_move"].astype(float)
    frame = standings.assign(effort=effort.reindex(standings["agent"]).to_numpy(), place=range(len(standings)))
    frame = frame[(frame["effort"] > 0) & frame["elo"].notna() & (frame["bound"] == "")]
    names = labels(standings["agent"])
    others = frame["place"][frame["place"] >= LINES]
    for row in frame.itertuples():
        label = names[row.place] if row.place < LINES else "others, by rank" if row.place == others.iloc[0] else None
        error = 0 if math.isnan(row.error) else row.error
        ax.errorbar(row.effort, row.elo, yerr=error, capsize=3, label=label, **look(row.place) | {"linestyle": "none"})
        if row.place >= LINES:
            place = str(row.place + 1)
            ax.annotate(place, (row.effort, row.elo), (3, 3), textcoords="offset points", fontsize="x-small")
    _logarithmic(ax, "x", frame["effort"])
    return _finished(ax, UNITS[of], "Elo")


def lengths(ax: Axes, games: pd.DataFrame) -> Axes:
    """A histogram of plies, by winner; without void games."""
    played = games[games["outcome"].notna()]
    parts = [(1.0, "first player won", _colour(0)), (0.5, "drawn", _colour(5)), (0.0, "second player won", _colour(1))]
    shortest, longest = (int(played["plies"].min()), int(played["plies"].max())) if len(played) else (0, 1)
    step = max(1, math.ceil((longest - shortest) / 40))
    edges = (np.arange(shortest, longest + step + 1, step) - 0.5).tolist()
    chosen = [(played.loc[played["outcome"] == outcome, "plies"], *rest) for outcome, *rest in parts]
    chosen = [part for part in chosen if len(part[0])]
    if chosen:
        plies, texts, colours = zip(*chosen)
        ax.hist(plies, bins=edges, stacked=True, label=texts, color=colours)
        for label, bars in zip(texts, ax.containers):
            for bar in bars if label == "drawn" else ():
                bar.set(hatch="/////", edgecolor="white", linewidth=0)  # grey print shows it, too
    return _finished(ax, "plies" if step == 1 else f"plies, in steps of {step}", "games", grid="y")


def sides(ax: Axes, win_rates: pd.DataFrame) -> Axes:
    """Each agent's score as first and as second player."""
    places = np.arange(len(win_rates))
    first, second = (100 * win_rates[f"score_{side}"].to_numpy(float) for side in ("first", "second"))
    ax.hlines(places, np.fmin(first, second), np.fmax(first, second), color=OTHERS, linewidth=1)
    ax.plot(first, places, "o", color=_colour(0), label="as first player")
    ax.plot(second, places, "s", color=_colour(1), label="as second player")
    ax.set_yticks(places, labels(win_rates["agent"]))
    ax.invert_yaxis()
    ax.set_xlim(-3, 103)
    return _finished(ax, "score in %", grid="x")


def by_ply(ax: Axes, effort: pd.DataFrame, of: str) -> Axes:
    """Means along the game of the statistic `of`, such as seconds or depth, of the first eight agents.

    `effort` has columns agent, ply, and of each statistic its sum and, as `..._given`, the decisions that count it.
    Plies that few games reached are left out.
    """
    given = f"{of}_given"
    frame = effort[effort[given] > 0]
    names = effort["agent"].unique().tolist()
    for number, (name, label) in enumerate(zip(names[:LINES], labels(names))):
        own = frame[frame["agent"] == name].sort_values("ply")
        if own.empty:
            continue
        own = own[own[given] >= LEAST_SHARE * own[given].max()]
        means = own[of].to_numpy(float) / own[given].to_numpy(float)
        ax.plot(own["ply"], means, label=label, markersize=3, linewidth=1, markevery=MARKED, **look(number))
    if of != "depth":
        _logarithmic(
            ax, "y", np.concatenate([np.zeros(0), *(np.asarray(line.get_ydata(), float) for line in ax.lines)])
        )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    x = "ply" if len(names) <= LINES else f"ply; the first {LINES} of {len(names)} agents"
    return _finished(ax, x, UNITS.get(of, of.replace("_", " ")))


def best_so_far(ax: Axes, curves: pd.DataFrame, instance: str) -> Axes:
    """The curves of one instance, from `scores.best_so_far`; of all together, from 0 to 1."""
    against, agents = curves.columns[2], curves["agent"].unique().tolist()
    shown = curves[curves["instance"] == instance]
    for number, (agent, label) in enumerate(zip(agents, labels(agents))):
        curve = shown[shown["agent"] == agent]
        if len(curve):
            line = look(number) | {"marker": ""}
            ax.plot(curve[against], curve["mean"], drawstyle="steps-post", label=label, **line)
            quartiles = curve["low"], curve["high"]
            ax.fill_between(curve[against], *quartiles, step="post", alpha=0.2, color=line["color"], lw=0)
    ax.set_xscale("log")
    ax.set_xlabel(f"{against} of a run")
    ax.set_ylabel(f"{'score, 0 to 1' if instance == SUM else 'best score so far'}\n(mean and quartiles of runs)")
    ax.set_title(short(instance), fontsize="medium")
    ax.grid(alpha=0.3)
    ax.legend(fontsize="small")
    return ax


def _finished(ax: Axes, x: str, y: str = "", grid: Literal["both", "x", "y"] = "both") -> Axes:
    """The axes with their labels, a grid, and a legend where lines have names."""
    ax.set(xlabel=x, ylabel=y)
    ax.grid(axis=grid)
    _legend(ax)
    return ax


def _legend(ax) -> None:
    """Put the legend above the axes, over names on the left; two columns where they fit."""
    names = ax.get_legend_handles_labels()[1]
    for columns in (2, 1) if names else ():
        legend = ax.legend(
            loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, frameon=False, fontsize="small", borderpad=0
        )
        if columns == 1 or max(map(len, names)) <= LABEL - 4:
            return
        ax.figure.draw_without_rendering()
        if legend.get_window_extent().width < WIDEST * ax.figure.bbox.width:
            return


def _logarithmic(ax, which, values) -> None:
    """Give an axis readable numbers, if values are positive and far enough apart."""
    values = np.asarray(values, float)
    if len(values) == 0 or not (values > 0).all():
        return
    axis = {"x": ax.xaxis, "y": ax.yaxis}[which]
    if values.max() / values.min() < NARROW:
        axis.set_major_locator(MaxNLocator(4))
        return
    ax.set(**{f"{which}scale": "log"})
    few = values.max() / values.min() < 100
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}" if value < 1e5 else f"{value:.0e}"))
    axis.set_minor_formatter(NullFormatter())


def labels(names: Iterable[str]) -> list[str]:
    """Names as long as an axis has room for, all different: cut at the end, or else in the middle."""
    names = list(names)
    for cut in (short, _cut_inside, _plain):
        cuts = [cut(name) for name in names]
        if len(set(cuts)) == len(set(names)):
            break
    return cuts


def short(name: str) -> str:
    """A name as long as an axis has room for; a dollar sign would begin a formula."""
    return _plain(name if len(name) <= LABEL else name[: LABEL - 1] + "…")


def _cut_inside(name: str) -> str:
    half = LABEL // 2
    return _plain(name if len(name) <= LABEL else f"{name[: half - 1]}…{name[-half:]}")


def _plain(name: str) -> str:
    return name.replace("$", r"\$")
