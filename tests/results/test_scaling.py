"""Strength speed-ups from matches of known strength, and the matches that are asked for."""

import math

import numpy as np
import pandas as pd
import pytest

from arena.results.papers import strength_figures, strength_scaling
from arena.results.papers.parameter_axis import along
from arena.results.shown.export import render
from arena.results.statistics.elo import pentanomial

WIN, EVEN = np.array([0, 0, 0, 0, 10]), np.array([0, 0, 10, 0, 0])


def pairs_at(true_factor, factor, slope, pairs, rng):
    """Pairs of games of a parallel search as strong as the serial one with `true_factor` times the playouts."""
    p = 1 / (1 + math.exp(slope * (math.log2(factor) - math.log2(true_factor))))
    return np.bincount(2 * rng.binomial(2, p, pairs), minlength=5)


def test_pairs_in_both_orders():
    row = {"a": "x", "b": "y", "LL": 1, "LD": 2, "WL_DD": 3, "WD": 4, "WW": 5}
    counts = strength_scaling.counts_by_pair(pd.DataFrame([row]))
    assert counts["x", "y"].tolist() == [1, 2, 3, 4, 5] and counts["y", "x"].tolist() == [5, 4, 3, 2, 1]


ABOUT = {"game": "go", "playouts": 9, "serial": "uct", "is_serial": False, "equal": 1.0}


def table():
    rng = np.random.default_rng(2)
    return strength_scaling.table(
        [
            ABOUT
            | {
                "scheme": "tree",
                "workers": n,
                "time": 1.0,
                "matches": {x: pairs_at(0.8 * n, x, 0.8, 50, rng) for x in {1.0, n / 2, float(n)}},
            }
            for n in (1, 4, 16)
        ]
        + [ABOUT | {"scheme": "leaf", "workers": 4, "time": math.nan, "matches": {1.0: WIN, 4.0: WIN}}]
    )


def test_the_table():
    frame = table()
    assert frame["games"].tolist() == [200, 300, 300, 40]
    assert frame.loc[0, "elo"] == frame.loc[0, "total_elo"] and (frame["low"][:3] <= frame["speed_up"][:3]).all()
    assert frame.loc[3, ["bound", "total_bound", "speed_up_bound"]].tolist() == [">", ">", ">"]
    assert math.isnan(frame.loc[3, "speed_up"]) and 1 < frame.loc[3, "low"] <= 4
    shown = strength_scaling.shown(frame)
    assert shown["strength speed-up"].tolist()[3] == f"> {frame.loc[3, 'low']:.2f}" and shown["time"].tolist() == [
        "1.0"
    ] * 3 + ["-"]
    assert "nan" not in shown.to_string() and shown["95 %"].tolist()[3] == "-"


def test_what_is_not_enclosed_is_said_and_not_drawn():
    point = ABOUT | {"scheme": "leaf", "workers": 2, "time": 1.0, "matches": {1.0: EVEN, 2.0: EVEN}}
    open_above = {1.0: WIN, 4.0: np.array([1, 0, 9, 0, 0])}
    frame = strength_scaling.table([point, point | {"workers": 4, "matches": open_above}])
    shown = strength_scaling.shown(frame)
    assert shown["strength speed-up"].tolist()[0] == "not enclosed" and shown["95 %"].tolist()[0] == "-"
    assert shown["95 %"].tolist()[1].endswith(" to open")
    (ax,) = strength_figures.figure(frame, None, ["speedup"]).axes
    (line,) = [line for line in ax.get_lines() if line.get_label() == "leaf"]
    assert math.isnan(line.get_ydata()[0]) and line.get_ydata()[1] == frame.loc[1, "speed_up"]
    assert np.isfinite(ax.get_ylim()).all()


def test_one_worker_is_the_serial_search():
    """By definition, in tables and figures; what its matches say is a check of the intervals."""
    counts = {0.5: np.array([0, 1, 2, 8, 9]), 1.0: np.array([5, 5, 10, 3, 2]), 2.0: np.array([9, 8, 2, 1, 0])}
    own = {"workers": 1, "is_serial": True, "time": 1.0, "matches": counts}
    points = [ABOUT | own | {"scheme": name} for name in ("root", "tree")]
    points += [ABOUT | {"scheme": "tree", "workers": 4, "time": 1.0, "matches": {1.0: WIN, 4.0: EVEN, 8.0: WIN[::-1]}}]
    frame = strength_scaling.table(points)
    assert (frame["elo"][:2] < 0).all() and (frame["speed_up"][:2] < 1).all()  # what was measured is kept
    shown = strength_scaling.shown(frame)
    columns = ["Elo at equal time", "Elo at equal playouts", "strength speed-up", "95 %"]
    assert shown[columns].values.tolist()[:2] == [["0", "0", "1", "by definition"]] * 2
    check, bounds = strength_scaling.notes(frame)
    one = pentanomial(counts[1.0].tolist())
    pooled = f"{one.elo:+.0f} ± {one.error / math.sqrt(2):.0f} together"
    assert "2 of 2 hold 0 Elo" in check and pooled in check and check.endswith("2 of 2 a speed-up of 1.")
    assert bounds.startswith("> and <")
    assert strength_scaling.notes(frame[:1].assign(total_error=math.nan)) == [
        "One worker is the serial search: its speed-up is 1."
    ]
    (ax,) = strength_figures.figure(frame, None, ["speedup"]).axes
    (line,) = [line for line in ax.get_lines() if line.get_label() == "root"]
    assert line.get_ydata().tolist() == [1.0]


def test_games_stand_side_by_side_and_a_figure_fits_its_page():
    games = [table().assign(game=f"game {n}") for n in range(4)]
    for count, width, columns in [(1, 3.4, 1), (2, 3.4, 1), (2, 7.0, 2), (4, 7.0, 3)]:
        drawn = strength_figures.figure(pd.concat(games[:count]), None, width=width)
        drawn.canvas.draw()
        boxes = [part.get_window_extent() for part in drawn.subfigs]
        assert len({round(box.x0) for box in boxes}) == columns
        assert drawn.get_figheight() <= 9.0 or (count, width) == (2, 3.4)
        lefts = {round(ax.get_window_extent().y0, 2) for part in drawn.subfigs[:columns] for ax in part.axes[:1]}
        assert len(lefts) == 1 or columns == 1


def test_what_is_not_the_same_in_all_rows_is_shown():
    one, other = table(), table().assign(game="hex", playouts=20, serial="grave")
    shown = strength_scaling.shown(one)
    assert shown.columns[:3].tolist() == ["scheme", "workers", "time"]
    assert shown.attrs["caption"] == "go, 9 playouts of each worker, against uct"
    timed = strength_scaling.shown(one.dropna(subset="time"))
    assert "time" not in timed and timed.attrs["caption"].endswith("against uct; time 1.0")
    several = strength_scaling.shown(pd.concat([one, other]))
    assert several.columns[:5].tolist() == ["game", "playouts", "scheme", "workers", "time"]
    assert several.attrs["caption"] == "Parallel schemes, each scheme against its own search"


def test_latex_has_games_and_schemes_as_headings_and_fits_a_column():
    several = pd.concat([table(), table().assign(game="hex", playouts=20, serial="grave")])
    text = render(strength_scaling.shown(several), "latex")
    outer = [r"\textit{go, 9 playouts of each worker}", r"\textit{hex, 20 playouts of each worker}"]
    assert [name for line in text.splitlines() for name in (*outer, "{tree}", "{leaf}") if name in line] == [
        *(outer[0], "{tree}", "{leaf}"),
        *(outer[1], "{tree}", "{leaf}"),
    ]
    assert "\\footnotesize" in text and "Parallel schemes, each scheme against its own search" in text
    assert "stand before one-sided 95 \\% bounds" in text
    titled = render(strength_scaling.shown(table()), "latex", title="Of mine")
    assert "{Of mine}" in titled and "go, 9 playouts of each worker, against uct." in titled
    once = render(strength_scaling.shown(table()[3:]), "latex")
    assert "leaf & 4" in once and "textit" not in once


def test_the_efficiency_is_the_speed_up_of_a_worker():
    frame = table()
    assert frame["efficiency"].tolist() == pytest.approx((frame["speed_up"] / frame["workers"]).tolist(), nan_ok=True)


def test_without_a_time_there_is_no_elo_at_equal_time():
    point = ABOUT | {"scheme": "leaf", "workers": 4, "time": math.nan, "matches": {1.0: WIN, 4.0: WIN}, "equal": None}
    assert strength_scaling.table([point])[["score", "elo", "error"]].isna().all(axis=None)


SPEEDS = {"game": "go", "scheme": "tree", "threads": [1, 2], "speed_up": [1.0, 1.7], "over_serial": [0.9, 1.5]}
SPEEDS["undisturbed"] = [1.0, 1.0]


def test_the_figure():
    drawn = strength_figures.figure(table(), pd.DataFrame(SPEEDS))
    assert [ax.get_xlabel() for ax in drawn.axes] == ["workers"] * 3 + ["threads"]
    lines = {line.get_label() for line in drawn.axes[2].get_lines()}
    assert {"tree", "leaf", "as many as workers"} <= lines
    assert len(strength_figures.figure(table(), None).axes) == 3


def test_long_titles_break_and_fit():
    """At the width of a column, however long a game's name is."""
    several = pd.concat([table(), table().assign(game="breakthrough(rows=5, columns=5)", playouts=1_000_000)])
    drawn = strength_figures.figure(several, None, ["speedup"], 3.4)
    drawn.canvas.draw()
    for part in drawn.subfigs:
        box = part._suptitle.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= drawn.bbox.width
    assert drawn.subfigs[1].get_suptitle() == "breakthrough(rows=5, columns=5),\n1000000 playouts of each worker"


def test_intervals_of_schemes_stand_side_by_side():
    both = pd.concat([table().assign(scheme="tree"), table().assign(scheme="root")]).query("workers != 4")
    (ax,) = strength_figures.figure(both, None, ["speedup"]).axes
    one, other = [{round(float(bar[0][0]), 6) for bar in bars.get_segments()} for bars in ax.collections]
    assert len(one) == len(other) == 2 and not one & other


def test_each_game_and_budget_has_its_panels():
    several = pd.concat([table(), table().assign(game="hex"), table().assign(playouts=20)])
    drawn = strength_figures.figure(several, None, ["speedup"])
    titles = [part.get_suptitle() for part in drawn.subfigs]
    assert titles == [f"{name} playouts of each worker" for name in ("go, 9", "hex, 9", "go, 20")][: len(titles)]
    assert len(drawn.axes) == 3


def test_speed_ups_against_budgets():
    several = pd.concat([table(), table().assign(playouts=20), table().assign(game="hex")])
    drawn = strength_figures.figure(several, None, ["budgets"])
    assert [part.get_suptitle() for part in drawn.subfigs] == ["go", "hex"]
    assert [ax.get_xlabel() for ax in drawn.axes] == ["playouts of each worker"] * 2
    most = table()["workers"].max()
    line = next(line for line in drawn.axes[0].lines if line.get_label() == f"tree x{most}")
    assert line.get_xdata().tolist() == pytest.approx([9, 20], rel=0.05)  # schemes stand a little aside
    own = table().set_index(["scheme", "workers"]).loc[("tree", most), "speed_up"]
    assert line.get_ydata().tolist() == [own, own]


def of_schemes(*schemes):
    tree = table()[table()["scheme"] == "tree"]
    return pd.concat([tree.assign(scheme=scheme) for scheme in schemes])


def test_speed_ups_along_a_parameter():
    frame = along(of_schemes("tree(virtual_loss=3)", "root", "tree", "tree(virtual_loss=0)", "tree(wu=true)"))
    assert frame["value"].tolist() == 3 * [0] + 3 * [1] + 3 * [3] and set(frame["parameter"]) == {"virtual_loss"}
    assert frame["scheme"].tolist() == 3 * ["tree x1", "tree x4", "tree x16"]
    [axes] = strength_figures.figure(frame, None, ["parameter"]).axes
    assert axes.get_xlabel() == "virtual_loss" and axes.get_xticks().tolist() == [0, 1, 3]
    assert [len(line.get_xdata()) for line in axes.lines if line.get_label() in set(frame["scheme"])] == [3, 3, 3]


@pytest.mark.parametrize(
    "schemes, reason",
    [
        (["tree", "root", "tree(wu=true)", "tree(lock='local')"], "no number varies between its schemes"),
        (["tree", "tree(virtual_loss=3)", "tree(exploration=1)"], "several parameters vary: exploration, virtual_loss"),
    ],
)
def test_schemes_that_do_not_differ_in_one_parameter(schemes, reason):
    with pytest.raises(ValueError, match=reason):
        along(of_schemes(*schemes))


def test_bands_do_not_squeeze_the_lines():
    wide = table()[table()["speed_up_bound"] == ""].assign(low=1e-9, high=1e9)
    low, high = strength_figures.figure(wide, None, ["speedup"]).axes[0].get_ylim()
    values = [*wide["speed_up"].dropna(), *wide["workers"]]
    assert low >= min(values) / 8 and high <= max(values) * 8


def test_schemes_are_named_by_what_differs():
    assert strength_scaling.labels(["root", "root(search='grave')"]) == ["root", "root(grave)"]
    assert strength_scaling.labels(['tree(search="grave")']) == ["tree(grave)"]
    odd = ["root(search='uct(methods=1)')", "tree(search='a', search='b')"]
    assert strength_scaling.labels(odd)[0] == odd[0]
    assert strength_scaling.labels(["root(search='a')", "root(a)"]) == ["root(search='a')", "root(a)"]


def test_a_disturbed_speed_is_marked():
    frame = pd.DataFrame(SPEEDS | {"playouts_per_second": [1e6, 2e6], "undisturbed": [0.5, 0.0]})
    assert strength_scaling.shown_speeds(frame)["playouts a second"].tolist() == ["1,000,000", "2,000,000 *"]


def test_a_disturbed_speed_is_hollow():
    for undisturbed in ([0.5, 0.0], [0.5, 1.0]):
        speeds = pd.DataFrame(SPEEDS | {"undisturbed": undisturbed})
        figure = strength_figures.figure(table(), speeds, ["throughput"])
        (ax,) = figure.axes
        points = [
            (place, line.get_markerfacecolor() == ax.get_facecolor())
            for line in ax.get_lines()
            if line.get_color() != strength_figures.EVEN["color"]
            for place in line.get_xdata()[line.get_markevery() if line.get_markevery() is not None else slice(None)]
        ]
        assert sorted(points) == [(threads, share == 0) for threads, share in zip(SPEEDS["threads"], undisturbed)]
        (legend,) = figure.legends
        said = strength_figures.DISTURBED in [text.get_text() for text in legend.get_texts()]
        assert said == (0.0 in undisturbed)


def test_ten_schemes_are_told_apart_and_named():
    point = ABOUT | {"workers": 2, "time": 1.0, "matches": {1.0: WIN, 2.0: WIN}}
    frame = strength_scaling.table([point | {"scheme": f"tree(virtual_loss={n})"} for n in range(10)])
    (ax,) = strength_figures.figure(frame, None, ["speedup"]).axes
    lines = [line for line in ax.get_lines() if str(line.get_label()).startswith("tree")]
    looks = {(line.get_color(), line.get_linestyle(), line.get_markerfacecolor()) for line in lines}
    assert len(looks) == len({line.get_label() for line in lines}) == 10
