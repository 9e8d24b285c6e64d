"""Tables as a notebook shows them: rounded, with their notes; and as data frames, which they are."""

import math
import pickle
import re

import pandas as pd
import pytest

from arena import results
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.shown import frames
from arena.results.shown.column_forms import LEGENDS, column
from arena.results.shown.summary import certainty, side_by_side
from tests.results.sample import META, make_game

NAMES = ("standings", "ratings_by_condition", "crosstable", "pairs", "differences", "win_rates", "study")


@pytest.fixture
def tournament(folder):
    return results.load(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_shown_as_the_terminal_has_it(tournament, name):
    frame = getattr(tournament, name)()
    page = frame._repr_html_()
    assert "<table" in page and "bob_%&amp;" in page and "bob_%&<" not in page
    kind = frame.attrs["kind"]
    assert (LEGENDS.get(kind, "") in page) and ("1 of 9 games was void" in page) == (kind != "win_rates")
    if name in ("standings", "ratings_by_condition"):
        assert "±" in page and " %" in page and "95 % interval" in page


def test_what_follows_from_a_table_is_a_plain_frame(tournament):
    frame = tournament.standings()
    again = pickle.loads(pickle.dumps(frame))
    pd.testing.assert_frame_equal(again, frame)
    for other in (again, frame[["agent", "elo"]], frame.copy(), frame.assign(x=1), frame.set_index("agent")):
        assert type(frame) is type(other) is pd.DataFrame and "±" not in (other._repr_html_() or "")
    assert frame.equals(tournament.standings()) and repr(frame) == repr(frame.copy())


def test_intervals_side_by_side_are_told_of(tmp_path):
    names = [f"agent {number}" for number in range(12)]
    with Store.create(tmp_path, META, [{"name": name, "spec": name} for name in names]) as store:
        pairs = [(a, b) for a in names for b in names if a != b]
        for i, (a, b) in enumerate(pairs):
            store.add(make_game(str(i), i, a, b, float(i % 3 == 0), opening=i // 2, decisions=()))
    tournament = results.load(tmp_path)
    assert side_by_side(12) in tournament.standings()._repr_html_()
    assert side_by_side(12) in tournament._repr_html_()


def test_ten_intervals_are_many():
    """One in 0.95 ** 10 that all hold; each must be 1.43 times as wide: the quantiles of 0.9974 and of 0.975."""
    assert side_by_side(9) == "" and side_by_side(10).startswith("10 intervals of 95 % stand side by side")
    assert "probability 40 %" in side_by_side(10) and "1.43 times as wide" in side_by_side(10)


@pytest.mark.parametrize("los, words", [
    (math.nextafter(0.95, 0), "not yet (95.0 % "), (0.95, "with confidence (95.0 % "),
    (0.999, "with confidence (99.9 % "), (math.nextafter(0.999, 1), "beyond doubt (> 99.9 % "),
])  # fmt: skip
def test_agents_are_told_apart_from_95_percent_on_and_beyond_doubt_above_99_9(los, words):
    assert certainty(los).startswith(words)


def test_of_one_condition_the_notes_are_its_own(tmp_path):
    meta = {"config": META["config"] | {"instances": ["tictactoe", "nim"]}}
    with Store.create(tmp_path, meta, [{"name": name, "spec": name} for name in ("ann", "bob")]) as store:
        store.add(make_game("a", 0, "ann", "bob", 1.0))
        store.add(make_game("b", 1, "ann", "bob", None, condition=1, reason=Reason.CRASH))
    tournament = results.load(tmp_path)
    assert "void" in tournament.standings(1)._repr_html_().split("</table>")[1]
    assert "void" not in tournament.standings(0)._repr_html_().split("</table>")[1]


@pytest.mark.parametrize("value, text", [
    (0.9994, "99.9 %"), (0.9996, "> 99.9 %"), (0.0006, "0.1 %"), (0.0004, "< 0.1 %"), (1.0, "> 99.9 %"),
])  # fmt: skip
def test_a_likelihood_that_rounds_to_certainty_is_no_certainty(value, text):
    assert column("los").write(value) == text


def test_an_elo_that_rounds_to_0_has_no_sign():
    assert [column("elo").write(value) for value in (-0.4, 0.4, -0.6, 0.6)] == ["0", "0", "-1", "+1"]


def test_long_tables_are_left_to_pandas(tournament, monkeypatch):
    monkeypatch.setattr(frames, "MOST_ROWS", 2)
    frame = tournament.standings()
    assert frame._repr_html_() == frame.copy()._repr_html_()


def test_black_letters_can_be_read_on_every_score(tournament):
    """Contrast by WCAG 2, at least 4.5, for a score of 0 and of 1 too."""
    page = tournament.crosstable()._repr_html_()
    assert ">0.0 %<" in page and ">100.0 %<" in page
    for colour in set(re.findall("background-color: #([0-9a-f]{6})", page)) - {"000000"}:  # taken back, where none met
        parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        assert (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05) / 0.05 >= 4.5, colour


def test_counts_of_games_have_no_heat(tournament):
    assert "background-color" in tournament.crosstable()._repr_html_()
    assert "background-color" not in tournament.crosstable("games")._repr_html_()
