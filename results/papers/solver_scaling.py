"""How parallel solvers scale: time and nodes of several workers beside those of one (arena/study/solving.py).

    speed-up           time of one worker / time
    search overhead    nodes / nodes of one worker - 1

Time is virtual, in nodes, where workers are simulated; else of the wall, in seconds.
"""

import math

import pandas as pd

from arena.results.papers.proof_tables import counts, solved_by_all


def points(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each search: the columns of `rows`, and solved, speed_up and search_overhead; NaN where unsolved.

    rows: columns solver, position, workers, value, clock, time, nodes and others
    """
    rows = rows.assign(solved=rows["value"].notna())
    return _compared(rows, ["solver", "position"])


def table(found: pd.DataFrame) -> pd.DataFrame:
    """A row for each solver and number of workers, over the positions that it solved with every number of them.

    solved of positions; timing, virtual or wall; of the `common` positions total time and nodes, speed_up and
    search_overhead.
    """
    lines = []
    for solver, own in found.groupby("solver", sort=False):
        common = solved_by_all(own, "position")
        for workers, part in own.groupby("workers", sort=True):
            shared = common[common["workers"] == workers]
            spent = {"time": float(shared["time"].sum()), "nodes": int(shared["nodes"].sum())}
            about = {**counts(part, shared), "timing": part["timing"].iloc[0]}
            lines.append({"solver": solver, "workers": workers, **about, **spent})
    return _compared(pd.DataFrame(lines).assign(known=lambda frame: frame["common"] > 0), ["solver"], "known").drop(
        columns="known"
    )


def _compared(rows: pd.DataFrame, keys: list[str], known: str = "solved") -> pd.DataFrame:
    single = rows[(rows["workers"] == 1) & rows[known]].set_index(keys)[["time", "nodes"]]
    base = single.reindex(pd.MultiIndex.from_frame(rows[keys]) if len(keys) > 1 else rows[keys[0]])
    speed_up = base["time"].to_numpy(float) / rows["time"].where(rows["time"] > 0, math.nan).to_numpy(float)
    overhead = rows["nodes"].to_numpy(float) / base["nodes"].where(base["nodes"] > 0, math.nan).to_numpy(float) - 1
    found = rows.assign(speed_up=speed_up, search_overhead=overhead)
    found.loc[~found[known], ["speed_up", "search_overhead"]] = math.nan
    return found


def figure(found: pd.DataFrame, title: str = ""):
    """Speed-up and search overhead against workers; a line is a solver of `table`."""
    from matplotlib.figure import Figure

    from arena.results.papers.strength_figures import count_axis
    from arena.results.shown import plots

    drawn = Figure(figsize=(9.2, 4.4), layout="constrained")
    axes = drawn.subplots(1, 2)
    workers = sorted(found["workers"].unique())
    for number, (solver, own) in enumerate(found.groupby("solver", sort=False)):
        style = plots.look(number) | {"markersize": 4, "label": solver}
        axes[0].plot(own["workers"], own["speed_up"], **style)
        axes[1].plot(own["workers"], own["search_overhead"], **style)
    axes[0].plot(workers, workers, color="grey", linestyle=":", label="workers")
    axes[0].set_yscale("log", base=2)
    axes[0].set(title="speed-up", xlabel="workers", ylabel="time of one worker / time")
    axes[1].set(title="search overhead", xlabel="workers", ylabel="nodes / nodes of one worker - 1")
    for ax in axes:
        count_axis(ax, workers)
    drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    drawn.suptitle(title)
    return drawn
