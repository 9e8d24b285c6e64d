"""Draws the pictures of the studies from their tables: python docs/studies/pictures.py

A table is what `arena table RUN --kind pairs --format csv` writes, and of schemes `--kind scaling`.
"""

from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure

from arena.results.papers import strength_figures
from arena.results.statistics.elo import score_interval

SCHEMES = ["root", "leaf", "tree", "pipeline", "tree(virtual_loss=0)", "root(search='grave')", "tree(search='grave')"]
HERE = Path(__file__).parent
STYLE = HERE.parents[1] / "arena" / "results" / "papers" / "paper.mplstyle"
COUNTS = ["LL", "LD", "WL_DD", "WD", "WW"]  # pairs of games of the first agent, by their points
PICTURES = {
    "pn": [(name, "uct", name) for name in ("PN-MCTS", "without the term", "without the solver", "the term alone")],
    "gumbel": [
        ("gumbel", "puct", "Gumbel against PUCT"),
        ("gumbel", "uct, prior", "Gumbel against UCT with the prior"),
        ("gumbel", "the prior alone", "Gumbel against the prior alone"),
        ("puct", "the prior alone", "PUCT against the prior alone"),
    ],
}


def scores(table: pd.DataFrame, agent: str, other: str) -> pd.DataFrame:
    """The agent's scores against the other: columns instance, playouts, games, score, low, high."""
    rows = []
    for turn, (first, second) in enumerate(((agent, other), (other, agent))):
        for row in table[(table.a == first) & (table.b == second) & (table.instance != "all")].to_dict("records"):
            counts = [row[name] for name in COUNTS][:: -1 if turn else 1]
            score = 1.0 - row["score"] if turn else row["score"]
            rows.append([row["instance"], int(row["budget"].split()[0]), row["games"], score, *score_interval(counts)])
    return pd.DataFrame(rows, columns=["instance", "playouts", "games", "score", "low", "high"])


def drawn(table: pd.DataFrame, lines: list[tuple[str, str, str]]) -> Figure:
    """A panel for each game: scores by playouts, with 95 % intervals."""
    instances = [name for name in table.instance.unique() if name != "all"]
    budgets = sorted({int(budget.split()[0]) for budget in table.budget})
    figure = Figure((7.0, 4.2), layout="constrained")
    panels = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for panel, instance in zip(panels, instances):
        for agent, other, label in lines:
            rows = scores(table, agent, other)
            rows = rows[rows.instance == instance].sort_values("playouts")
            spread = [rows.score - rows.low, rows.high - rows.score]
            panel.errorbar(rows.playouts, 100 * rows.score, [100 * each for each in spread], label=label)
        panel.set(title=instance.replace("rows=", "").replace("columns=", ""), xscale="log", ylim=(0, 100))
        panel.axhline(50, color="0.5", lw=0.6, zorder=0)
        panel.grid(axis="y")
        panel.set_xticks(budgets, [f"{budget:,}" for budget in budgets])
        panel.minorticks_off()
    panels = list(figure.axes)
    panels[len(instances)].set_axis_off()
    panels[len(instances)].legend(*panels[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("playouts a move", fontsize=8)
    figure.supylabel("score, %", fontsize=8)
    return figure


def of_schemes(table: pd.DataFrame) -> Figure:
    """Elo at equal playouts and strength speed-ups of SCHEMES with the fewest playouts of each worker."""
    shown = table[table.scheme.isin(SCHEMES) & (table.playouts == table.playouts.min())]
    shown = shown.fillna(dict.fromkeys(("total_bound", "speed_up_bound"), ""))
    return strength_figures.figure(shown, None, ("equal_playouts", "speedup"))


def main() -> None:
    """Draw all pictures whose tables are there."""
    with rc_context(fname=STYLE, rc={"svg.hashsalt": "studies", "svg.fonttype": "none"}):
        for name in sorted(PICTURES.keys() & {path.stem for path in HERE.glob("*.csv")}):
            picture = drawn(pd.read_csv(HERE / f"{name}.csv"), PICTURES[name])
            picture.savefig(HERE / f"{name}.svg", metadata={"Date": None})
        picture = of_schemes(pd.read_csv(HERE / "workers.csv"))
        picture.savefig(HERE / "workers.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
