"""How a parallel search compares with the serial one: Elo against workers, and the strength speed-up.

A search with `workers` workers meets its serial search with `factor` times each worker's playouts: at equal time as
many as fit in the scheme's; at factor = workers the same in all (search overhead).  The **strength speed-up** (Chaslot,
Winands & van den Herik, "Parallel Monte-Carlo tree search", 2008) is the factor at which the two are even.
"""

import math
import re
import textwrap
from collections.abc import Sequence

import numpy as np
import pandas as pd

from arena.results.shown.column_forms import MISSING
from arena.results.shown.export import elo_with_error
from arena.results.shown.tables import PAIR_SCORES
from arena.results.statistics.elo import pentanomial
from arena.results.statistics.even_factor import even_factor

PANEL, LEAST, SHAPE = 3.4, 2.3, 0.72  # inches of a panel's width, and the least; height / width
LINE = 0.2  # inches
LETTERS = 12  # of a title to an inch
ASIDE = 0.06  # doublings that schemes are drawn aside, at most
LEAST_SHOWN = 1e-6  # where bands end that are open
OPEN = "open"  # an end of an interval
BEYOND = 8.0  # an axis of factors ends at this times the highest value


def counts_by_pair(pairs: pd.DataFrame) -> dict[tuple[str, str], np.ndarray]:
    """int[5] for each two agents in both orders: pairs of games by the first one's score, LL to WW.

    pairs: that table of `shown.tables`
    """
    found = {}
    for row in pairs.itertuples():
        counts = np.array([getattr(row, name) for name in PAIR_SCORES])
        found[row.a, row.b], found[row.b, row.a] = counts, counts[::-1]
    return found


def table(points: list[dict]) -> pd.DataFrame:
    """One row a game, number of playouts, scheme and number of workers.

    `points` hold game, playouts (of each worker), scheme, workers, serial (the search compared with), matches (counts
    by factor), time (of a move, over the serial search's with the playouts of one worker; NaN if not known), equal (the
    factor of equal time; None if not known) and nodes_per_playout (of the scheme: new positions in a playout).
    Columns: those but matches and equal, then games; score, elo, error, bound at equal time; those with `total_` for
    the same playouts in all; speed_up, low, high, speed_up_bound, as of `even_factor`, with NaN for open ends;
    efficiency: speed_up over workers.
    """
    rows = []
    for point in points:
        matches = point["matches"]
        row = {key: value for key, value in point.items() if key not in ("matches", "equal")}
        row["games"] = 2 * int(sum(np.sum(counts) for counts in matches.values()))
        for prefix, factor in (("", point["equal"]), ("total_", float(point["workers"]))):
            estimate = pentanomial([int(n) for n in matches.get(factor, np.zeros(5))])
            for name in ("score", "elo", "error"):
                value = getattr(estimate, name)
                row[prefix + name] = math.nan if value is None else value
            row[prefix + "bound"] = estimate.bound
        found = even_factor(matches)
        row |= {"speed_up": found.value, "low": found.low, "high": found.high, "speed_up_bound": found.bound}
        row |= {end: row[end] if 0 < row[end] < math.inf else math.nan for end in ("low", "high")}
        rows.append(row | {"efficiency": found.value / point["workers"]})
    frame = pd.DataFrame(rows)
    frame.attrs["kind"] = "scaling"
    return frame


def shown(frame: pd.DataFrame) -> pd.DataFrame:
    """A table of `table` for people: strings, with errors beside their values, without what is the same in all rows."""
    names = ["game", "playouts", "scheme", "workers", "serial"]
    columns = frame[[name for name in names if name in ("scheme", "workers") or frame[name].nunique() > 1]].copy()
    columns["scheme"] = labels(frame["scheme"])
    columns["time"] = [_rounded(value, 1) for value in frame["time"]]
    for heading, prefix in (("Elo at equal time", ""), ("Elo at equal playouts", "total_")):
        rated = frame[[prefix + name for name in ("elo", "error", "bound")]]
        columns[heading] = elo_with_error(*(_or_none(rated[name]) for name in rated))
    found = list(zip(frame["speed_up"], frame["low"], frame["high"], frame["speed_up_bound"]))
    columns["strength speed-up"] = [_speed_up(*each) for each in found]
    columns["95 %"] = [_range(*each) for each in found]
    columns.attrs["kind"] = "scaling"
    return columns


def _speed_up(value, low, high, bound) -> str:
    """The value, or the bound that its 95 % interval gives."""
    limit = low if bound == ">" else high
    if not bound:
        return _rounded(value, 2)
    return "not enclosed" if math.isnan(limit) else f"{bound} {limit:.2f}"


def _range(value, low, high, bound) -> str:
    """The interval; `0.40 to open`."""
    if bound or math.isnan(value):
        return MISSING
    return "open" if math.isnan(low) and math.isnan(high) else f"{_rounded(low, 2, OPEN)} to {_rounded(high, 2, OPEN)}"


def labels(schemes: Sequence[str]) -> list[str]:
    """`root(search='grave')` as `root(grave)`, with either quotes; unchanged if two became one."""
    short = [re.sub(r"search=(['\"])(\w+)\1", r"\2", scheme) for scheme in schemes]
    return short if len(set(short)) == len(set(schemes)) else list(schemes)


def shown_speeds(frame: pd.DataFrame) -> pd.DataFrame:
    """`study.throughput` for people; * where other programs disturbed every measurement."""
    columns = frame[[name for name in ("game", "scheme", "threads") if name != "game" or frame[name].nunique() > 1]]
    columns = columns.assign(scheme=labels(frame["scheme"]))
    marks = ["" if share else " *" for share in frame["undisturbed"]]
    columns["playouts a second"] = [f"{rate:,.0f}{mark}" for rate, mark in zip(frame["playouts_per_second"], marks)]
    for heading, name in (("times one thread", "speed_up"), ("times serial", "over_serial")):
        columns[heading] = [_rounded(value, 2) for value in frame[name]]
    columns.attrs["kind"] = "throughput"
    return columns


def _or_none(column) -> list:
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column]


def _rounded(value, digits, missing=MISSING) -> str:
    return missing if math.isnan(value) else f"{value:.{digits}f}"


PANELS = {
    "equal_time": ("Elo at equal time", "Elo"),
    "equal_playouts": ("Elo at equal playouts", "Elo"),
    "speedup": ("strength speed-up", "times"),
    "throughput": ("playouts a second, by threads", "times one thread"),
}
"""What a figure shows: title, and label of the vertical axis."""
BUDGETS = "budgets"  # all budgets of a game
PARAMETER = "parameter"  # the horizontal axis of `parameter_axis.along`


def figure(frame: pd.DataFrame, throughput: pd.DataFrame | None = None, panels: Sequence[str] = tuple(PANELS)):
    """A matplotlib figure with `panels` for each game and budget."""
    from matplotlib.figure import Figure

    width = PANEL * len(_shown(panels, throughput))
    drawn = Figure(figsize=(width, height(frame, throughput, panels, width)), layout="constrained")
    draw(drawn, frame, throughput, panels)
    return drawn


def height(frame: pd.DataFrame, throughput: pd.DataFrame | None, panels: Sequence[str], width: float) -> float:
    """The height in inches that suits a figure of that width."""
    found, shown = _cells(frame, panels), _shown(panels, throughput)
    columns = _columns(shown, width)
    rows = -(-len(shown) // columns)
    legend = LINE * -(-(frame["scheme"].nunique() + 1) // max(2, columns))
    titles = sum(_wrapped(title, width).count("\n") + 1 for title, _ in found) if len(found) > 1 else 0
    return len(found) * rows * (SHAPE * width / columns + LINE) + titles * LINE + legend


def _wrapped(title: str, width: float) -> str:
    """A title in lines that fit into a figure of that width; it breaks before the playouts first."""
    most = max(20, int(LETTERS * width))
    game, _, playouts = title.rpartition(", ")
    return title if len(title) <= most else "\n".join(textwrap.fill(line, most) for line in (f"{game},", playouts))


def _shown(panels, throughput) -> list[str]:
    return [name for name in panels if name != "throughput" or (throughput is not None and not throughput.empty)]


def _cells(frame, panels) -> list[tuple[str, pd.DataFrame]]:
    if BUDGETS in panels:
        return [(str(game), cell) for game, cell in frame.groupby("game", sort=False)]
    grouped = frame.groupby(["game", "playouts"], sort=False)
    return [(f"{game}, {playouts} playouts of each worker", cell) for (game, playouts), cell in grouped]


def _columns(shown, width: float) -> int:
    return next((n for n in (len(shown), -(-len(shown) // 2)) if width / n >= LEAST), 1)


def draw(drawn, frame: pd.DataFrame, throughput: pd.DataFrame | None, panels: Sequence[str]) -> None:
    """A line is a scheme, its bars 95 % intervals, a triangle a one-sided bound.

    `frame` is from `table`, `throughput` from `study.throughput`, or there is no such panel.
    """
    from arena.results.shown import plots

    cells, shown = _cells(frame, panels), _shown(panels, throughput)
    columns, schemes = _columns(shown, drawn.get_figwidth()), frame["scheme"].unique().tolist()
    aside = np.linspace(-ASIDE, ASIDE, len(schemes)) if len(schemes) > 1 else [0.0]
    names = plots.labels(labels(schemes))
    looks = {
        scheme: _look(i, name) | {"aside": float(aside[i])} for i, (scheme, name) in enumerate(zip(schemes, names))
    }
    parts = drawn.subfigures(len(cells), 1, squeeze=False).ravel()
    for part, (title, cell) in zip(parts, cells):
        axes = part.subplots(-(-len(shown) // columns), columns, squeeze=False).ravel()
        for ax, name in zip(axes, shown):
            if name == "throughput" and throughput is not None:
                _draw_throughput(ax, throughput[throughput["game"].isin(cell["game"])], looks)
            elif name == BUDGETS:
                _draw_budgets(ax, cell, looks)
            elif name == PARAMETER:
                _draw_parameter(ax, cell, looks)
            else:
                _draw_panel(ax, cell, name, looks)
            if name in PANELS:
                ax.set_title(PANELS[name][0], fontsize="medium")
        for ax in axes[len(shown) :]:
            ax.remove()
        if len(cells) > 1:
            part.suptitle(_wrapped(title, drawn.get_figwidth()), fontsize="medium")
    found = {text: line for ax in drawn.axes for line, text in zip(*ax.get_legend_handles_labels())}
    drawn.legend(found.values(), found.keys(), loc="outside lower center", ncols=max(2, columns), frameon=False)


def _look(number: int, label: str) -> dict:
    from arena.results.shown import plots

    again = {"markerfacecolor": "none", "linestyle": "--"} if number >= plots.LINES else {}
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
        ax.plot(workers, workers, color="grey", linestyle=":", marker="", label="as many as workers")
        _speed_axis(ax, [*_limits(cell), *workers])
    else:
        ax.axhline(0, color="grey", linewidth=0.8)
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
    ax.plot(places, value, **{"marker": "."} | look)
    ax.vlines(places[known], low.to_numpy()[known], high.to_numpy()[known], color=look["color"], linewidth=1, alpha=0.7)
    for mark, shape in ((">", "^"), ("<", "v")):
        beyond = (bound == mark).to_numpy()
        ax.plot(places[beyond], value.to_numpy()[beyond], marker=shape, linestyle="none", color=look["color"])


def _draw_throughput(ax, throughput, looks) -> None:
    threads = sorted(throughput["threads"].unique())
    for scheme, rows in throughput.groupby("scheme", sort=False):
        ax.plot(rows["threads"], rows["speed_up"], **{key: one for key, one in looks[scheme].items() if key != "aside"})
    ax.plot(threads, threads, color="grey", linestyle=":", marker="", label="as many as workers")
    ax.set(xlabel="threads", ylabel=PANELS["throughput"][1])
    count_axis(ax, threads)


def count_axis(ax, counts) -> None:
    """A logarithmic axis with the counts that there are."""
    ax.set_xscale("log", base=2)
    ax.set_xticks(counts, [str(count) for count in counts], minor=False)
    ax.grid(alpha=0.3)
