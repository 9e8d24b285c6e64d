"""Tables in terminals of any width: no line is too long, a row is a line, and what says least goes first."""

import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

from arena import results
from arena.results.shown import short_names as module
from arena.results.shown.column_forms import column
from arena.results.shown.export import render, rich_table
from arena.results.shown.fitting import Fitted, Shown
from arena.results.shown.short_names import short_names
from tests.arena.stored import CONFIG, store_run

NAMES = ["uct(playouts=200, exploration=0.3)", "uct(playouts=200, exploration=0.4)", "uct(playouts=2000)", "random"]
WIDTHS = (60, 80, 120, 200)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run without draws of agents with long names alike, and a study."""
    folder, agents = tmp_path_factory.mktemp("fitting"), [{"agent": "random", "name": name} for name in NAMES]
    breakthrough = CONFIG | {"game": "breakthrough(rows=4, columns=4)", "agents": agents}
    several = {key: value for key, value in breakthrough.items() if key != "game"} | {
        "instances": ["tictactoe", "breakthrough(rows=4, columns=4)"]
    }
    runs = [results.load(store_run(folder / name, keys)) for name, keys in (("run", breakthrough), ("of", several))]
    return [{kind: run.table(kind) for kind in run.kinds} for run in runs]


def lines(frame, width):
    return render(frame, "text", width=width).splitlines()


@pytest.mark.parametrize("width", WIDTHS)
def test_every_table_fits_with_one_line_a_row(runs, width):
    for kind, frame in (item for run in runs for item in run.items()):
        text = lines(frame, width)
        assert max(map(cell_len, text)) <= width, kind
        tables = sum(set(line) == {"─"} for line in text)
        rows = tables * len(rich_table(frame).columns[0].cells)
        begin = [number for number, line in enumerate(text) if set(line) == {"─"}]
        shown = [line for number in begin for line in text[number + 1 : number + 1 + rows // tables]]
        assert len(shown) == rows and all(shown), kind


def test_what_says_nothing_goes_first_then_what_is_told_and_then_parts_of_names(runs):
    frame = runs[0]["standings"]
    wide, narrow, told, short = (lines(frame, width) for width in (120, 91, 80, 60))
    assert len(wide) == len(narrow) == len(NAMES) + 2 and len(told) == len(short) == len(NAMES) + 3
    assert "draws" in wide[0] and "draws" not in narrow[0] and "losses" in narrow[0] and "rank" in narrow[0]
    assert told[0].split() == ["agent", "wins", "losses", "score", "Elo", "LOS"]
    assert told[-1] == f"in every row: games {frame['games'].iloc[0]}"
    assert [line[:34].strip() for line in told[2:-1]] == frame["agent"].tolist()
    assert short[0].split() == ["agent", "wins", "score", "Elo", "LOS"]
    assert {line[:23] for line in short[2:-1]} >= {"uct(…, exploration=0.3)", "uct(…, exploration=0.4)"}


def test_too_wide_a_table_is_printed_in_several_each_with_the_names(runs):
    text = lines(runs[0]["win_rates"], 40)
    headings = [number - 1 for number, line in enumerate(text) if set(line) == {"─"}]
    assert len(headings) > 1 and all(text[number].startswith("agent") for number in headings)
    for number in headings:
        assert [line.split()[0] for line in text[number + 2 : number + 2 + len(NAMES)]].count("random") == 1
    assert all(heading in " ".join(" ".join(text).split()) for heading in ("first", "second", "game"))


def test_what_all_rows_have_is_said_below_and_what_is_spare(runs):
    frame = runs[0]["pairs"]
    text = " ".join(lines(frame, 80))
    assert f"in every row: games {frame['games'].iloc[0]}" in text and "left out: LL, WL+DD, WW" in text
    assert "left out" not in " ".join(lines(frame, 200)) and "WL+DD" in lines(frame, 200)[0]


def test_yes_and_no():
    text = render(pd.DataFrame({"search": ["a", "b"], "finished": [True, False]}), "text").splitlines()
    assert [line.split() for line in text[2:]] == [["a", "yes"], ["b", "no"]]


def test_without_a_terminal_a_row_is_a_line(runs):
    text = render(runs[0]["pairs"], "text").splitlines()
    assert len(text) == 6 + 2 and max(map(len, text)) > 120 and "draws" in text[0]


def test_a_crosstable_spares_its_digits(runs):
    crosstable = runs[0]["crosstable"]
    assert " %" in "".join(lines(crosstable, 200)) and "%" not in "".join(lines(crosstable, 60))
    assert len(lines(crosstable, 60)) == len(NAMES) + 2


def test_names_alike_are_shortened_where_they_agree():
    """A name that is short enough stays; two never become one."""
    first, second, third = NAMES[0], NAMES[1], "tree(lock='global', workers=8)"
    assert short_names([first, second, "random"], 24) == {
        first: "uct(…, exploration=0.3)",
        second: "uct(…, exploration=0.4)",
        "random": "random",
    }
    assert short_names([first, third], 24) == {first: "uct(playouts=200, …)", third: "tree(lock='global', …)"}
    assert short_names([first, third], 8) == {first: "uct(…)", third: "tree(…)"}
    for width in range(5, 40):
        assert len(set(short_names([*NAMES, third, "an agent (1)", "an agent (2)"], width).values())) == 7
    assert short_names(["same beginning, 1, same end", "same beginning, 2, same end"], 9) == {
        name: name for name in ("same beginning, 1, same end", "same beginning, 2, same end")
    }


def test_only_names_of_a_kind_that_is_too_long_are_taken_apart(monkeypatch):
    """Or tables of many games, each with an id, would take hours."""
    taken = []
    whole = module._split
    monkeypatch.setattr(module, "_split", lambda name: taken.append(name) or whole(name))
    assert len(set(short_names([*(f"1v2-{k}" for k in range(1000)), *NAMES], 24).values())) == 1000 + len(NAMES)
    assert set(taken) == set(NAMES[:3])


@pytest.mark.parametrize("width", [1, 2, 3, 9])
def test_a_terminal_may_have_few_columns(width):
    """Then cells are broken, and nothing of them is lost but letters of names."""
    frame = pd.DataFrame({"agent": ["xyz", "字"], "games": [1, 22], "mean": [0.5, 1.5]})
    text = lines(frame, width)
    assert max(map(cell_len, text)) <= max(width, 3 * 2 + 4)
    assert all("".join(text).count(sign) == count for sign, count in {"字": 1, "x": 1, "y": 1, "z": 1, "2": 2}.items())


def test_a_table_knows_what_it_takes():
    columns = [Shown("agent", ["a" * 30]), Shown("games", ["1"], right=True)]
    table = Fitted([*columns, Shown("draws", ["0"], right=True, form=column("draws"))], "Title")
    assert Console(width=80).measure(table).maximum == 30 + 3 + 5 + 3 + 5 and table.row_count == 1
    for width, headings in ((46, 3), (45, 3), (44, 3), (43, 2), (37, 2)):
        chosen = table.laid_out(width)
        assert chosen.width <= width and [len(columns) for columns in chosen.tables] == [headings]


def test_the_same_table_in_a_live_display(runs):
    console = Console(width=80)
    with console.capture() as shown:
        console.print(rich_table(runs[0]["standings"], "Standings"))
    text = shown.get()
    assert text.startswith("Standings") and all(name in text for name in NAMES)
