"""Figures for papers: their size, their style, and that agents are told apart in grey print."""

import io
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from arena import results
from arena.results.papers import paper_figures, strength_scaling
from arena.results.papers.paper_figures import inches, picture
from arena.results.shown import plots
from arena.results.shown.scores import ALL, normalised
from tests.arena.stored import CONFIG, store_run
from tests.typed import call

NAMES = ["uct(playouts=200, exploration=0.3)", "uct(playouts=200, exploration=0.4)", "random"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    agents = [{"agent": "random", "name": name} for name in NAMES]
    return store_run(tmp_path_factory.mktemp("figures") / "run", CONFIG | {"agents": agents})


def test_every_kind_in_the_size_asked_for(folder, tmp_path):
    run = results.load(folder)
    kinds = ("ratings", "crosstable", "cycles", "strength", "sides", "lengths", "time", "depth")
    assert paper_figures.kinds(run) == kinds
    for kind in paper_figures.kinds(run):
        drawing = paper_figures.draw(run, kind, {"against": "playouts"})
        image = Image.open(io.BytesIO(picture(drawing, (3.0, 2.0), "png")))
        assert image.size == (900, 600), kind
        assert image.convert("L").getextrema()[0] < 90, f"{kind} is blank"
    assert paper_figures.height(run, "ratings", 3.4) < paper_figures.height(run, "time", 3.4)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """A run of two games at two budgets."""
    keys = {key: value for key, value in CONFIG.items() if key != "game"}
    keys |= {"instances": ["tictactoe", "connect4(rows=4, columns=5)"], "budgets": [{"playouts": 5}, {"playouts": 9}]}
    agents = [{"agent": "uct", "name": "one"}, {"agent": "flat", "name": "two"}]
    return results.load(store_run(tmp_path_factory.mktemp("figures") / "several", keys | {"agents": agents}))


@pytest.mark.parametrize("kind", ["ratings", "crosstable", "strength", "sides", "lengths", "time", "depth"])
def test_games_and_budgets_have_panels_of_their_own(kind, several):
    figure = Figure(figsize=(3.4, 2.0), layout="constrained")
    paper_figures.draw(several, kind, {"against": "playouts"})(figure)
    titles = [ax.get_title().replace("\n", " ") for ax in figure.axes]
    together = ["all"] if kind in ("ratings", "crosstable") else []
    assert titles == together + [one.label for one in several.conditions] and len(titles) >= 4
    assert not any(ax.get_legend() or ax.get_xlabel() for ax in figure.axes) and figure.get_figheight() > 2
    if kind == "lengths":
        drawn = [sum(bar.get_height() for bars in ax.containers for bar in bars) for ax in figure.axes]
        games = several.games["outcome"].notna()
        assert drawn == games.groupby(several.games["condition"]).sum().tolist()


def test_an_agent_has_one_colour_in_all_panels(several):
    figure = Figure()
    paper_figures.draw(several, "time", {})(figure)
    colours = {(line.get_label(), line.get_color()) for ax in figure.axes for line in ax.lines}
    assert len(colours) == 2


def test_the_command(folder, tmp_path):
    done = call("plot", folder, "ratings", "--width", "86mm", "--font", "serif", "--format", "pdf")
    data = (folder / "plots" / "ratings.pdf").read_bytes()
    assert done.exit_code == 0 and data.startswith(b"%PDF") and b"CreationDate" not in data, done.output
    assert call("plot", folder, "ratings", "--width", "86mm", "--font", "serif").exit_code == 0  # its own folder
    assert (folder / "plots" / "ratings.pdf").read_bytes() == data
    assert b"STIX" in data and b"/Type3" not in data
    path = tmp_path / "x.svg"
    assert call("plot", folder, "crosstable", "-o", path).exit_code == 0 and path.read_text().startswith("<?xml")


@pytest.mark.parametrize("arguments, message", [
    (["curves"], "curves is not drawn of this run; there are ratings, crosstable"),
    (["ratings", "--width", "3furlongs"], "could not convert"),
    (["ratings", "--width", "300in"], "300in is out of range"),
    (["ratings", "--style", "none.mplstyle"], "--style none.mplstyle"),
    (["ratings", "--format", "png", "--output", "x.svg"], "contradict each other"),
    (["ratings", "--output", "x.txt"], "a picture is one of .svg, .png, .pdf"),
    (["strength", "--against", "nodes"], "no agent of this run has counted them"),
    (["speedup"], "speedup is not drawn of this run"),
])  # fmt: skip
def test_mistakes(folder, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = call("plot", folder, *arguments)
    assert refused.exit_code == 2 and message in " ".join(refused.stderr.split()), refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_style_of_ones_own(folder, tmp_path):
    (tmp_path / "mine.mplstyle").write_text("axes.prop_cycle: cycler('color', ['ff00ff'])\n")
    drawing = paper_figures.draw(results.load(folder), "ratings", {})
    mine, ours = (picture(drawing, (3, 2), "svg", *style) for style in ((tmp_path / "mine.mplstyle",), ()))
    assert b"#ff00ff" in mine and b"#ff00ff" not in ours and b"#0072b2" in ours


def test_agents_are_told_apart_without_colours():
    with matplotlib.style.context([str(paper_figures.STYLE)]):
        looks = [plots.look(number) for number in range(plots.LINES)]
        assert plots.look(plots.LINES)["color"] == plots.OTHERS
    assert len({look["marker"] for look in looks}) == plots.LINES
    assert len({(look["color"], look["linestyle"]) for look in looks}) == plots.LINES
    red, green, blue = np.array([matplotlib.colors.to_rgb(look["color"]) for look in looks[:4]]).T
    grey = np.sort(0.299 * red + 0.587 * green + 0.114 * blue)
    assert np.diff(grey).min() > 0.04 and grey[0] == 0
    assert len({plots.look(number)["color"] for number in range(9)}) == 9  # in no style of ours


def test_no_two_names_are_cut_to_the_same():
    cut = plots.labels(NAMES)
    assert len(set(cut)) == 3 and max(map(len, cut)) <= plots.LABEL and cut[2] == "random"
    assert plots.labels(["x" * 30 + "1" + "y" * 30, "x" * 30 + "2" + "y" * 30])[0] == "x" * 30 + "1" + "y" * 30
    assert plots.labels(["a", "b$"]) == ["a", r"b\$"]


def test_heat_can_be_read():
    with matplotlib.style.context([str(paper_figures.STYLE)]):
        assert plots._heat(0.0)[1] == "#ffffff" and plots._heat(1.0)[1] == "#111111"


def improvements():
    rows = [("1", "x", "a", 1, 0.0), ("1", "x", "a", 10, 5.0), ("2", "x", "b", 1, 1.0), ("2", "x", "b", 5, 10.0)]
    rows += [("3", "y", "a", 1, 200.0), ("3", "y", "a", 4, 400.0), ("4", "y", "b", 1, 300.0), ("5", "z", "a", 1, 7.0)]
    return pd.DataFrame(rows, columns=["id", "instance", "agent", "playouts", "score"]).assign(seconds=0.0)


def test_scores_of_all_instances_are_from_0_to_1():
    found = normalised(improvements())
    assert found["score"].tolist() == [0, 0.5, 0.1, 1, 0, 1, 0.5] and set(found["instance"]) == {ALL}


class Run:
    """As much of a tournament as curves are made of."""

    instances = ("x", "y", "z")

    @property
    def plot(self):
        return self

    def best_so_far(self, instance, against, ax):
        ax.plot([1, 2], [1, 2], label=instance)
        ax.legend()
        self.drawn = [*getattr(self, "drawn", []), instance]


def test_curves_are_of_all_instances_or_in_panels():
    run = Run()
    for panels, instance, expected in ((False, None, [ALL]), (True, None, ["x", "y", "z"]), (True, "y", ["y"])):
        run.drawn = []
        figure = Figure(figsize=(3, 2), layout="constrained")
        paper_figures._curves(figure, run, "playouts", instance, panels)
        assert run.drawn == expected and len(figure.axes) == len(expected)


def test_the_speed_up_is_drawn():
    counts = {1.0: np.array([1, 2, 3, 4, 9]), 4.0: np.array([9, 4, 3, 2, 1])}
    about = {"game": "go", "playouts": 9, "scheme": "tree", "serial": "uct", "is_serial": False}
    about |= {"time": 1.0, "equal": 1.0}
    frame = strength_scaling.table([about | {"workers": n, "matches": counts} for n in (2, 4)])
    figure = Figure()
    drawing, _ = paper_figures.of_schemes(frame, None, "speedup", 3.4)
    drawing(figure)
    assert figure.axes[0].get_ylabel() == "strength speed-up" and len(figure.axes[0].lines) >= 2


@pytest.mark.parametrize("text, value", [("3.4in", 3.4), ("3.4", 3.4), ("25.4mm", 1), ("2.54cm", 1), ("72.27pt", 1)])
def test_inches(text, value):
    assert inches(text) == pytest.approx(value)


def test_the_legend_of_panels_has_who_has_no_score_in_the_first():
    """As where all runs of an agent in one game fail."""
    frame = pd.DataFrame(
        [("one", "b", 1, 5.0), ("one", "b", 9, 6.0), ("two", "a", 1, 3.0), ("two", "b", 1, 3.0), ("two", "a", 5, 4.0)],
        columns=["instance", "agent", "playouts", "mean"],
    ).assign(low=1.0, high=9.0)

    def plot(name, against, ax):
        return plots.best_so_far(ax, frame, name)

    figure = Figure(layout="constrained")
    paper_figures._curves(
        figure,
        SimpleNamespace(instances=["one", "two"], plot=SimpleNamespace(best_so_far=plot)),
        "playouts",
        None,
        True,
    )
    assert sorted(text.get_text() for text in figure.legends[0].get_texts()) == ["a", "b"]
