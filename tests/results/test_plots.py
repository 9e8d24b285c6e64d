"""Figures and styled tables: what is drawn is what the tables say, whatever was played."""

from itertools import pairwise

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from arena import results
from arena.results.database.store import Store
from arena.results.shown import plots
from arena.results.shown.kinds import KINDS
from arena.results.shown.plots import LABEL, short
from arena.results.shown.summary import certainty, summary, verdict
from arena.results.shown.tables import standings
from arena.results.statistics.ratings import count_results, rate
from tests.results.sample import AGENTS, META

matplotlib.use("agg")
PLOTS = ("ratings", "crosstable", "strength", "lengths", "sides", "moves")


@pytest.fixture
def tournament(folder):
    return results.load(folder)


@pytest.fixture
def ax():
    return Figure().subplots()


def labels(texts):
    return [text.get_text() for text in texts]


def test_ratings_are_the_standings(tournament, ax):
    assert tournament.plot.ratings(ax) is ax
    standings = tournament.standings()
    assert labels(ax.get_yticklabels()) == standings["agent"].tolist()
    drawn = [container.lines[0].get_xdata()[0] for container in ax.containers]
    assert drawn == standings["elo"].tolist()


def test_crosstable_is_the_table(tournament, ax):
    tournament.plot.crosstable(ax)
    scores = tournament.crosstable().to_numpy().ravel()
    assert labels(ax.texts) == [f"{100 * score:.0f}" for score in scores if not np.isnan(score)]


def test_thirty_agents_are_read_at_the_width_of_a_column():
    """Squares without room for numbers have a scale, axes numbers with room between them, and everybody a name."""
    names = [f"student {n}" for n in range(30)]
    scores = pd.DataFrame(np.full((30, 30), 0.5), names, names)
    for draw, text in ((plots.crosstable, ["50"]), (plots.cycles, ["+50"])):
        for count, numbered in ((5, True), (30, False)):
            figure = Figure((3.4, 6.0), layout="constrained")
            ax = draw(figure.subplots(), scores.iloc[:count, :count])
            assert labels(ax.texts) == text * (count**2 if numbered else 0) and len(figure.axes) == 2 - numbered
            figure.draw_without_rendering()
            boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
            assert all(one.x1 < other.x0 for one, other in pairwise(boxes)) and labels(ax.get_xticklabels())[-1] == str(
                count
            )
    standings = pd.DataFrame({"agent": names, "elo": np.arange(30.0), "error": 9.0, "bound": ""})
    spent = pd.DataFrame({"agent": names, "seconds_per_move": 1.0 + np.arange(30)})
    ax = plots.strength(Figure().subplots(), standings, spent)
    named = ax.get_legend_handles_labels()[1]
    assert named == [*names[:8], "others, by rank"] and labels(ax.texts) == [str(n) for n in range(9, 31)]


def test_lengths_hold_every_game_with_a_result(tournament, ax):
    tournament.plot.lengths(ax)
    assert sum(patch.get_height() for patch in ax.patches) == tournament.games["outcome"].notna().sum()
    drawn = sum(patch.get_height() for patch in ax.patches if patch.get_hatch())
    assert drawn == (tournament.games["outcome"] == 0.5).sum() > 0


def test_moves_are_means_by_ply(tournament, ax):
    tournament.plot.moves("playouts", ax)
    assert all(tick == int(tick) for tick in ax.get_xticks())
    assert [line.get_label() for line in ax.lines] == tournament.standings()["agent"].tolist()
    moves = tournament.moves()
    for line in ax.lines:
        own = moves[(moves["agent"] == line.get_label()) & moves["playouts"].notna()]
        expected = own.groupby("ply")["playouts"].mean()
        assert line.get_xdata().tolist() == expected.index.tolist()
        assert line.get_ydata().tolist() == pytest.approx(expected.tolist())


def test_unknown_quantities_name_the_known(tournament):
    with pytest.raises(ValueError, match=r"of = 'volts' is not one of playouts, playouts_each, .*, seconds"):
        tournament.plot.moves("volts")
    with pytest.raises(ValueError, match="of = 'depth' is not one of seconds, playouts, nodes"):
        tournament.plot.strength("depth")


@pytest.mark.parametrize("name", PLOTS)
def test_nothing_played_can_be_drawn(tmp_path, ax, name):
    Store.create(tmp_path, {}, AGENTS).close()
    getattr(results.load(tmp_path).plot, name)(ax=ax)
    ax.figure.canvas.draw()


def test_a_new_figure_where_none_is_given(tournament):
    assert tournament.plot.sides().get_xlabel() == "score in %"


def test_names_on_axes():
    assert short("a" * 50) == "a" * (LABEL - 1) + "…" and short("$x$") == r"\$x\$"


@pytest.mark.parametrize("kind", KINDS)
def test_styled_tables(tournament, kind):
    text = tournament.styled(kind).to_html()
    assert "ann" in text and "nan" not in text.lower().replace("ann", "")
    assert ("background-color" in text) == (kind == "crosstable")


def test_summary(tournament, tmp_path):
    found = verdict(tournament.standings(), tournament.ratings)
    assert found["who"] == tournament.standings()["agent"][0] and " Elo over " in found["how_much"]
    assert any("Not told apart with confidence" in sentence for sentence in tournament.summary())
    Store.create(tmp_path / "none", META, AGENTS).close()
    empty = results.load(tmp_path / "none")
    assert empty.summary() == ["No results are stored yet."]
    assert summary(empty.standings(), empty.games, empty.ratings) == empty.summary()


def test_agents_that_no_results_compare_are_not_told_apart():
    """Two pools of two: a and c lead, and have met nobody of the other pool."""
    names, rows = list("abcd"), [(*pair, outcome) for pair in ("ab", "cd") for outcome in [1.0] * 35 + [0.0] * 5]
    games = pd.DataFrame(rows, columns=["first", "second", "outcome"]).assign(reason="played out", plies=9)
    ratings = rate(names, count_results(names, games))
    frame = standings(names, games, ratings)
    assert frame["agent"].tolist() == list("acbd") and frame["los"].isna().all()
    assert summary(frame, games, ratings)[1] == "Not told apart with confidence: a to d, each from the next."
    told = [summary(frame, one, ratings)[-1] for one in (games, games.assign(outcome=[0.5] * 8 + [1.0] * 72))]
    end = "a game took 9.0 plies on average."
    assert told == [f"No game was drawn; {end}", f"10.0 % of the games were drawn; {end}"]


def test_certainty_is_never_complete():
    assert certainty(1.0).startswith("beyond doubt (> 99.9 %") and certainty(0.97).startswith("with confidence (97.0 %")
    assert certainty(0.6).startswith("not yet (60.0 %") and certainty(float("nan")) == "unknown"
