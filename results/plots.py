"""Figures of a tournament, on matplotlib axes: they draw the tables of `results.tables` and `results.study`.

Every function draws on the axes that it is given and returns them.  The colours differ clearly on light and on dark
backgrounds.
"""

import math
import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from results.scores import ALL as SUM
from results.study import MEAN

COLOURS = ("#3b82c4", "#e08214", "#2a9d6f", "#c44e8a", "#8a6fd1", "#9a7b4f", "#d1495b", "#4fa3b5")
OTHERS = "#888888"
MARKERS = "osD^v"
LINES = 8  # agents that a figure of lines can tell apart
NARROW = 5  # values that differ by a smaller factor get a linear axis: a logarithmic one has too few round numbers
LABEL = 24  # characters of a name on an axis
XLABEL = 44  # characters of a line below an axis
LEAST_SHARE = 0.02  # of an agent's games that must have reached a ply for its mean to be drawn
UNITS = {"seconds": "seconds a move", "playouts": "playouts a move", "nodes": "nodes a move", "depth": "depth"}


def ratings(ax: Axes, standings: pd.DataFrame) -> Axes:
    """Elo with 95 % errors, the best agent on top; arrows are one-sided bounds."""
    shown = standings[standings["elo"].notna()]
    for place, row in enumerate(shown.itertuples()):
        colour = COLOURS[0]
        if row.bound:
            ax.plot(row.elo, place, marker=">" if row.bound == ">" else "<", color=colour, linestyle="none")
        else:
            error = 0 if math.isnan(row.error) else row.error
            ax.errorbar(row.elo, place, xerr=error, fmt="o", color=colour, capsize=3)
    ax.set_yticks(range(len(shown)), [short(name) for name in shown["agent"]])
    ax.invert_yaxis()
    ax.set_xlabel("Elo, with 95 % errors")
    ax.grid(axis="x")
    return ax


def crosstable(ax: Axes, scores: pd.DataFrame) -> Axes:
    """Scores of rows against columns as a heat map; agents are numbered from the best."""
    values = scores.to_numpy(float)
    ax.imshow(values, vmin=0, vmax=1, cmap="RdYlGn", aspect="auto")
    for row, column in zip(*np.nonzero(~np.isnan(values))):
        percent = f"{100 * values[row, column]:.0f}"
        ax.text(column, row, percent, ha="center", va="center", color="#111111", fontsize="small")
    numbers = [str(place + 1) for place in range(len(scores))]
    ax.set_xticks(range(len(scores)), numbers)
    ax.set_yticks(range(len(scores)), [f"{short(name)}  {number}" for name, number in zip(scores.index, numbers)])
    ax.set_xlabel("score in % against agent number")
    return ax


def study(ax: Axes, frame: pd.DataFrame) -> Axes:
    """The cells of a study with their intervals: a block a game, a marker a column of the table; means below a line.

    `frame` is `Tournament.study()`.  Scores between two players are in %, beside a line at one half.
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
        label = ", ".join(short(name) for name, of in ((agent, agents), (budget, budgets)) if len(of) > 1)
        ax.errorbar(
            value, places, xerr=np.nan_to_num([value - low, high - value]), label=label, linestyle="none",
            marker=MARKERS[by_budget % len(MARKERS)], color=COLOURS[colour] if colour < LINES else OTHERS,
            markersize=4, capsize=2,
        )  # fmt: skip
    if not points:
        ax.axvline(50, color=OTHERS, linewidth=1, linestyle="--")
    if games and games[-1] in (MEAN, SUM):
        ax.axhline(len(games) - 1.5, color=OTHERS, linewidth=1)
    ax.set_yticks(range(len(games)), [short(game) for game in games])
    ax.set_ylim(len(games) - 0.5, -0.5)
    ax.set_xlabel(textwrap.fill(frame.attrs["caption"].partition(";")[0].replace("$", r"\$"), XLABEL))
    if len(columns) > 1:
        _legend(ax)
    ax.grid(axis="x")
    return ax


def strength(ax: Axes, standings: pd.DataFrame, win_rates: pd.DataFrame, of: str = "seconds") -> Axes:
    """Elo against what an agent spends on a move: `of` is seconds, playouts or nodes.  Bounds are left out.

    An agent's colour is that of its place in the standings, here and in `by_ply`; from the ninth on all share one.
    """
    effort = win_rates.set_index("agent")[f"{of}_per_move"].astype(float)
    frame = standings.assign(effort=effort.reindex(standings["agent"]).to_numpy(), place=range(len(standings)))
    frame = frame[(frame["effort"] > 0) & frame["elo"].notna() & (frame["bound"] == "")]
    for row in frame.itertuples():
        colour, label = (COLOURS[row.place], short(row.agent)) if row.place < LINES else (OTHERS, None)
        error = 0 if math.isnan(row.error) else row.error
        ax.errorbar(row.effort, row.elo, yerr=error, fmt="o", capsize=3, color=colour, label=label)
    _legend(ax)
    _logarithmic(ax, "x", frame["effort"])
    ax.set_xlabel(UNITS[of])
    ax.set_ylabel("Elo")
    ax.grid()
    return ax


def lengths(ax: Axes, games: pd.DataFrame) -> Axes:
    """How many games had how many plies, by who won; void games are left out."""
    played = games[games["outcome"].notna()]
    parts = [(1.0, "first player won", COLOURS[0]), (0.5, "drawn", COLOURS[5]), (0.0, "second player won", COLOURS[1])]
    shortest, longest = (int(played["plies"].min()), int(played["plies"].max())) if len(played) else (0, 1)
    step = max(1, math.ceil((longest - shortest) / 40))
    edges = (np.arange(shortest, longest + step + 1, step) - 0.5).tolist()
    chosen = [(played.loc[played["outcome"] == outcome, "plies"], *rest) for outcome, *rest in parts]
    chosen = [part for part in chosen if len(part[0])]
    if chosen:
        plies, labels, colours = zip(*chosen)
        ax.hist(plies, bins=edges, stacked=True, label=labels, color=colours)
    _legend(ax)
    ax.set_xlabel("plies" if step == 1 else f"plies, in steps of {step}")
    ax.set_ylabel("games")
    ax.grid(axis="y")
    return ax


def sides(ax: Axes, win_rates: pd.DataFrame) -> Axes:
    """Each agent's score as first and as second player."""
    places = np.arange(len(win_rates))
    first, second = (100 * win_rates[f"score_{side}"].to_numpy(float) for side in ("first", "second"))
    ax.hlines(places, np.fmin(first, second), np.fmax(first, second), color=OTHERS, linewidth=1)
    ax.plot(first, places, "o", color=COLOURS[0], label="as first player")
    ax.plot(second, places, "s", color=COLOURS[1], label="as second player")
    ax.set_yticks(places, [short(name) for name in win_rates["agent"]])
    ax.invert_yaxis()
    ax.set_xlim(-3, 103)
    ax.set_xlabel("score in %")
    _legend(ax)
    ax.grid(axis="x")
    return ax


def by_ply(ax: Axes, effort: pd.DataFrame, of: str) -> Axes:
    """Means along the game of the statistic `of` of a decision, such as seconds or depth.

    `effort` has columns agent, ply, and of each statistic its sum and, as `..._given`, the decisions that count it.
    The first eight agents are drawn; plies that few games reached are left out.
    """
    given = f"{of}_given"
    frame = effort[effort[given] > 0]
    for number, name in enumerate(effort["agent"].unique()[:LINES]):
        own = frame[frame["agent"] == name].sort_values("ply")
        if own.empty:
            continue
        own = own[own[given] >= LEAST_SHARE * own[given].max()]
        means = own[of].to_numpy(float) / own[given].to_numpy(float)
        ax.plot(own["ply"], means, color=COLOURS[number], label=short(name), marker=".", markersize=3, linewidth=1)
    _legend(ax)
    if of != "depth":
        _logarithmic(
            ax, "y", np.concatenate([np.zeros(0), *(np.asarray(line.get_ydata(), float) for line in ax.lines)])
        )
    ax.set_xlabel("ply")
    ax.set_ylabel(UNITS.get(of, of.replace("_", " ")))
    ax.grid()
    return ax


def _legend(ax) -> None:
    """Above the axes, where it hides nothing, and ends with them, so that it may reach over names on the left."""
    labels = ax.get_legend_handles_labels()[1]
    if labels:
        columns = 2 if max(map(len, labels)) <= LABEL - 4 else 1
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns, frameon=False, fontsize="small", borderpad=0)


def _logarithmic(ax, which, values) -> None:
    """A logarithmic axis x or y, if the values are positive and far enough apart, with numbers that can be read."""
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


def short(name: str) -> str:
    """A name as long as an axis has room for; a dollar sign would begin a formula."""
    return (name if len(name) <= LABEL else name[: LABEL - 1] + "…").replace("$", r"\$")
