"""Every format: data read back equal, text for people is escaped, and equal frames give equal bytes."""

import csv
import io
import json
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arena import results
from arena.results.database.store import FILE_NAME, Store
from arena.results.shown.export import FORMATS, render, rich_table
from arena.results.shown.kinds import KINDS
from tests.results.sample import AGENTS, META


@pytest.fixture
def tournament(folder):
    return results.load(folder)


def same(frame, other):
    pd.testing.assert_frame_equal(frame, other, check_dtype=False, check_exact=True)


@pytest.mark.parametrize("kind", ["standings", "pairs", "win_rates"])
def test_data_reads_back_digit_for_digit(tournament, kind):
    frame = tournament.table(kind)
    rows = list(csv.DictReader(io.StringIO(render(frame, "csv"))))
    for name in frame.columns:
        expected = ["" if pd.isna(value) else str(value) for value in frame[name].tolist()]
        assert [row[name] for row in rows] == expected, name
    assert pd.read_csv(io.StringIO(render(frame, "csv"))).columns.tolist() == frame.columns.tolist()
    same(pd.DataFrame(json.loads(render(frame, "json"))).astype(frame.dtypes), frame)
    same(pd.read_parquet(io.BytesIO(render(frame, "parquet"))), frame)


def test_parquet_says_what_it_needs(tournament, monkeypatch):
    frame = tournament.table("pairs")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ModuleNotFoundError, match=r'parquet needs pyarrow: pip install "search-arena\[parquet\]"'):
        render(frame, "parquet")


def test_games_and_moves_read_back(tournament):
    for kind in ("games", "moves"):
        frame = tournament.table(kind)
        back = pd.read_parquet(io.BytesIO(render(frame, "parquet")))
        same(back, frame)
        records = json.loads(render(frame, "json"))
        assert [record["id"] for record in records] == frame["id"].tolist()
    assert json.loads(render(tournament.table("games"), "json"))[0]["seed"] == 2**64 - 1


def test_missing_is_null_and_empty_and_never_nan(tournament):
    for kind in KINDS:
        frame = tournament.table(kind)
        for format in ("json", "csv", "text", "markdown", "latex", "html"):
            assert "nan" not in render(frame, format).lower().replace("ann", ""), (kind, format)
    assert json.loads(render(tournament.table("standings"), "json"))[-1]["los"] is None


def test_whole_numbers_that_may_be_missing_stay_whole(tournament):
    lines = render(tournament.table("moves"), "csv").splitlines()
    assert lines[2].split(",")[8:13] == ["100", "50", "50.0", "", ""]


def test_people_read_percents_and_errors(tournament):
    text = render(tournament.table("standings"), "text", title="Standings")
    assert text.startswith("Standings\n") and "75.0 %" in text and " ± " in text and "\x1b" not in text
    assert "> -512" in render(tournament.table("pairs"), "text")  # one win: a score over 5 %
    assert "70.0 %" in render(tournament.table("crosstable"), "text")
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_text_fits_the_width_it_is_given(tournament):
    assert max(map(len, render(tournament.table("standings"), "text", width=60).splitlines())) <= 60


def test_long_text(tournament):
    frame = pd.concat([tournament.games] * 112)
    lines = render(frame, "text").splitlines()
    assert len(lines) == len(frame) + 2


def test_markup_in_names_is_text():
    frame = pd.DataFrame({"agent": ["[bold]x[/bold]", "a|b_c", "<i>"], "games": [1, 2, 3]})
    assert "[bold]x[/bold]" in render(frame, "text")
    assert "a\\|b\\_c" in render(frame, "markdown") and "&lt;i&gt;" in render(frame, "html")


NAMES = st.text(r"ab1 \`*_[]()<>|&~$!#+-.:/@={}^", min_size=1).filter(str.strip)


@settings(deadline=None)
@given(st.lists(NAMES, min_size=1, max_size=3), NAMES)
@example(["<script>alert(1)</script>", "[b](http://x)", "&lt;", "`a`", "~~a~~"], "# a *title* <b>")
def test_markdown_shows_names_as_they_are(names, title):
    """To a parser of GitHub's kind."""
    names, title = [" ".join(name.split()) for name in names], " ".join(title.split())
    page = render(pd.DataFrame({"agent": names}), "markdown", title=title)
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(page)
    shown = [token for token in tokens if token.type == "inline"]
    assert {child.type for token in shown for child in token.children} <= {
        "text",
        "text_special",
        "strong_open",
        "strong_close",
    }
    texts = ["".join(child.content for child in token.children) for token in shown]
    assert texts == [title, "agent", *names]


def test_latex_is_escaped(tournament):
    latex = render(tournament.table("standings"), "latex", title="50 % of_all")
    assert r"bob\_\%\&" in latex and r"\caption{50 \% of\_all}" in latex and " 75.0 " in latex
    assert r"\toprule" in latex and latex.count(r"\begin") == latex.count(r"\end") == 2
    assert "±" not in latex and r"\ensuremath{{}\pm 274}" in latex


def test_html_and_markdown_read_back(tournament):
    frame = tournament.table("standings")
    page = render(frame, "html", title="A <b>")
    assert page.count("<tr>") == len(frame) + 1 and "<caption>A &lt;b&gt;</caption>" in page
    assert "bob_%&amp;" in page
    header, rule, *rows = render(frame, "markdown").splitlines()
    assert len(rows) == len(frame) and all(row.count("|") == header.count("|") == rule.count("|") for row in rows)


def test_line_breaks_in_details_do_not_break_rows():
    frame = pd.DataFrame({"id": ["a"], "detail": ["first\nsecond"]})
    assert "first second" in render(frame, "markdown") and "first second" in render(frame, "latex")
    assert json.loads(render(frame, "json"))[0]["detail"] == "first\nsecond"


@pytest.mark.slow
def test_runs_that_differ_in_times_and_arrival_are_equal_without_times(tournament, folder, games, tmp_path):
    other = tmp_path / "other"
    with Store.create(other, META, AGENTS) as store:
        for game in games:
            slower = tuple(replace(move, seconds=move.seconds * 3) for move in game.decisions)
            store.add(replace(game, seconds=9.5, decisions=slower))
    assert (other / FILE_NAME).is_file()
    loaded = results.load(other)
    for kind in KINDS:
        one, two = tournament.table(kind), loaded.table(kind)
        for format in FORMATS if kind == "moves" else ("csv",):
            assert render(one, format, times=False) == render(two, format, times=False), format
            assert kind != "moves" or render(one, format) != render(two, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", KINDS)
def test_nothing_played_can_be_rendered(tmp_path, kind, format):
    Store.create(tmp_path, {}, AGENTS).close()
    assert len(render(results.load(tmp_path).table(kind), format)) > 0


def test_an_agent_may_be_called_agent():
    frame = pd.DataFrame([[np.nan]], columns=["agent"], index=pd.Index(["agent"], name="agent"))
    assert render(frame, "csv") == "agent_,agent\nagent,\n"


def test_rich_table_for_live_displays(tournament):
    table = rich_table(tournament.table("standings"))
    assert table.row_count == 3 and table.columns[1].heading == "agent"


def test_unknown_format_names_the_known(tournament):
    with pytest.raises(ValueError, match=r"'xls'.*text, csv, markdown"):
        render(tournament.games, "xls")
