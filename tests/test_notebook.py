"""The example notebook runs from its first cell to its last, and its tables and figures are there."""

import ast
import json
import tempfile
from pathlib import Path

import pandas as pd
import pytest
from matplotlib.axes import Axes

from arena import results
from arena.agents.core.agent import Decision
from arena.agents.minimax.trace import Explored
from arena.games.core.boards.drawing import Picture

pytestmark = pytest.mark.slow
NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def execute(source, space):
    """Run a cell as a notebook does; returns the value of its last line, if that is an expression."""
    body = ast.parse(source).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), NOTEBOOK.name, "exec"), space)
    return None if last is None else eval(compile(ast.Expression(last.value), NOTEBOOK.name, "eval"), space)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What each cell shows, and the names that the notebook leaves."""
    import matplotlib

    matplotlib.use("agg")
    space = {"__name__": "__main__"}
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    with pytest.MonkeyPatch.context() as monkeypatch:  # its run names no folder
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("notebook")))
        yield [execute("".join(cell["source"]), space) for cell in cells if cell["cell_type"] == "code"], space


def test_every_cell_runs_and_shows_something(shown):
    values, space = shown
    kinds = {type(value) for value in values if value is not None}
    assert {results.Tournament, pd.DataFrame, Decision, Picture, Explored} <= kinds
    assert isinstance(space["axes"], Axes) and space["axes"].has_data()


def test_tables_show_themselves_with_their_notes(shown):
    pages = [value._repr_html_() for value in shown[0] if isinstance(value, pd.DataFrame)]
    assert any("background-color" in page for page in pages)  # the crosstable
    assert any("±" in page and "12 intervals" not in page and "95 % intervals" in page for page in pages)


def test_a_tournament_shows_itself(shown):
    text = shown[1]["tournament"]._repr_html_()
    assert "<table" in text and "uct(playouts=200)" in text and "is first, with" in text


def test_the_strongest_is_found(shown):
    tournament = shown[1]["tournament"]
    assert tournament.standings()["agent"][0] == "uct(playouts=200)" and len(tournament.games) == 240
