"""Tables in terminals of any width: no line is too long, no name is cut, and what says nothing goes first."""

import pandas as pd
import pytest
from rich.cells import cell_len
from rich.console import Console

from arena import results
from arena.results.shown.export import render, rich_table
from arena.results.shown.fitting import Fitted, columns_of
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
def test_every_table_fits_and_names_are_whole(runs, width):
    for kind, frame in (item for run in runs for item in run.items()):
        text = lines(frame, width)
        assert max(map(cell_len, text)) <= width, kind
        if kind == "study":  # whose headings may break at blanks
            assert sum(line.count("exploration=0.3)") + line.count("exploration=0.4)") for line in text) == 2
        elif "agent" in frame or kind == "crosstable":
            assert all(any(name in line for line in text) for name in NAMES), kind + "\n" + "\n".join(text)


def test_columns_that_say_nothing_go_first_then_rows_are_stacked(runs):
    frame = runs[0]["standings"]
    wide, narrow, stacked = (lines(frame, width) for width in (120, 91, 80))
    assert len(wide) == len(narrow) == len(NAMES) + 2 and len(stacked) == 2 * len(NAMES) + 3
    assert "draws" in wide[0] and "draws" not in narrow[0] and "draws" not in "".join(stacked)
    assert stacked[0].split() == ["rank", "agent"] and stacked[1].split()[:3] == ["games", "wins", "losses"]
    assert [" ".join(line.split()[1:]) for line in stacked[3::2]] == frame["agent"].tolist()
    assert [line.split()[0] for line in stacked[4::2]] == [str(games) for games in frame["games"]]


def test_a_name_that_is_too_long_is_folded_beside_its_rank(runs):
    """At its blanks, and a title at its own."""
    long = "alphabeta(depth=2, table=0.0, order=('killers',), scout=False, evaluation='material')"
    for kind, rank in (("standings", "rank"), ("crosstable", "#")):
        frame = runs[0][kind].replace({NAMES[0]: long}).rename(columns={NAMES[0]: long}, index={NAMES[0]: long})
        caption = "A caption of more words than the sixty columns of a line can hold"
        frame.attrs = runs[0][kind].attrs | {"caption": caption}
        text = render(frame, "text", width=60).splitlines()
        assert max(map(cell_len, text)) <= 60 and text[:2] == [
            "A caption of more words than the sixty columns of a line can",
            "hold",
        ]
        assert any(line.split() == [rank, "agent"] for line in text), "\n".join(text)
        number = next(i for i, line in enumerate(text) if "alphabeta" in line)
        indent = text[number].index("alphabeta")
        assert text[number].split()[0].isdigit() and text[number].endswith("order=('killers',),")
        assert text[number + 1] == " " * indent + "scout=False, evaluation='material')"


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


def test_what_is_wider_than_a_line_is_folded():
    name = "x" * 70 + "y" * 30
    text = lines(pd.DataFrame({"agent": [name, "z"], "games": [1, 22], "字": ["漢字", "-"]}), 40)
    assert max(map(cell_len, text)) <= 40
    assert "".join(line.strip() for line in text).count(name) == 1 and "22" in "".join(text)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_terminal_may_have_a_column_or_two(width):
    frame = pd.DataFrame({"agent": ["xyz", "字"], "games": [1, 22], "mean": [0.5, 1.5]})
    assert "".join(lines(frame, width)).replace(" ", "").count("xyz") == 1


def test_a_table_knows_what_it_takes():
    table = Fitted(columns_of({"agent": ["a" * 30], "games": ["1"], "draws": ["0"]}, [False, True, True]), "Title")
    console = Console(width=80)
    assert console.measure(table).maximum == 30 + 3 + 5 + 3 + 5 + 2 and table.row_count == 1
    for width, headings in ((48, 3), (47, 3), (46, 3), (45, 2), (39, 2)):  # as rich measures what is chosen
        chosen = table.laid_out(console, width)
        assert console.measure(chosen).maximum <= width and len(chosen.columns) == headings


def test_the_same_table_in_a_live_display(runs):
    console = Console(width=60)
    with console.capture() as shown:
        console.print(rich_table(runs[0]["standings"], "Standings"))
    text = shown.get()
    assert text.lstrip().startswith("Standings") and all(name in text for name in NAMES)
