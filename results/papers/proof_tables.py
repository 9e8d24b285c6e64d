"""Tables and figures of a study of proofs (arena/study/proof_study.py), from its rows.

rows: a data frame with the columns game, search, position, memory (MiB), solved, nodes, seconds, bytes
"""

import numpy as np
import pandas as pd

ORDER = ["search", "memory"]


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each search and size of memory.

    solved of positions; MiB, the most that the search used; nodes and seconds are totals over the `common` positions,
    those that all searches solved with that memory.
    """
    marked = rows.assign(place=rows["game"] + " " + rows["position"].astype(str))
    lines = []
    for memory, part in marked.groupby("memory", sort=True):
        common = solved_by_all(part, "place")
        for search, own in part.groupby("search", sort=False):
            shared = common[common["search"] == search]
            spent = {"nodes": int(shared["nodes"].sum()), "seconds": float(shared["seconds"].sum())}
            room = {"MiB": float(own["bytes"].max() / 2**20)}
            lines.append({"search": search, "memory": memory, **counts(own, shared), **spent, **room})
    return pd.DataFrame(lines)


def counts(own: pd.DataFrame, shared: pd.DataFrame) -> dict[str, int]:
    """Positions of a search, those solved, and the `common` ones, which are `shared`."""
    return {"positions": len(own), "solved": int(own["solved"].sum()), "common": len(shared)}


def solved_by_all(rows: pd.DataFrame, place: str) -> pd.DataFrame:
    """The positions (column `place`) that are `solved` in every one of their rows."""
    return rows[rows.groupby(place)["solved"].transform("all")]


def by_game(rows: pd.DataFrame) -> pd.DataFrame:
    """A row for each search and memory, a column for each game: the positions solved."""
    counts = rows.pivot_table("solved", ORDER, "game", "sum", sort=False).astype(int)
    return counts.reset_index().rename_axis(columns=None)


def figure(rows: pd.DataFrame, title: str = ""):
    """Positions that a search solves, against nodes and seconds; a column for each memory."""
    from matplotlib.figure import Figure

    sizes = sorted(rows["memory"].unique())
    drawn = Figure(figsize=(4.6 * len(sizes), 7.6), layout="constrained")
    axes = drawn.subplots(2, len(sizes), sharex="row", sharey=True, squeeze=False)
    for column, memory in enumerate(sizes):
        part = rows[rows["memory"] == memory]
        for row, what in enumerate(("nodes", "seconds")):
            ax = axes[row, column]
            draw_solved(ax, part, what)
            ax.set_xlabel(what)
            ax.set_title(f"{memory:g} MiB")
    for row in range(2):
        axes[row, 0].set_ylabel("positions solved")
    drawn.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    drawn.suptitle(title)
    return drawn


def draw_solved(ax, rows: pd.DataFrame, what: str):
    """Positions that each search solved, against nodes or seconds."""
    from matplotlib.ticker import MaxNLocator, NullFormatter

    from arena.results.shown import plots

    for number, (search, own) in enumerate(rows.groupby("search", sort=False)):
        spent = np.sort(own.loc[own["solved"], what].to_numpy(float))
        spent = np.maximum(spent, 1.0 if what == "nodes" else 1e-4)
        style = plots.look(number % plots.LINES) | {"linestyle": "-" if number < plots.LINES else "--"}
        ax.step(spent, np.arange(1, len(spent) + 1), where="post", **style | {"markersize": 3, "label": search})
    ax.set_xscale("log")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(alpha=0.3)
    return ax
