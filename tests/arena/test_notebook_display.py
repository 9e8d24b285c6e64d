"""What a notebook shows: a run while it lasts, and games, decisions, trees and ratings by themselves."""

import sys
import types
from xml.etree import ElementTree

import numpy as np
import pytest

import arena
from arena import agents, games
from arena.agents.minimax.trace import Explored, explore
from arena.config.loading import from_values
from arena.formats.schedule import Schedule
from arena.play.match import play_fixture
from arena.results.database.store import Store
from arena.runner.notebook_display import NotebookDisplay
from arena.workers.worker import InPlay
from tests.arena.fixtures import every_fixture

CONFIG = {
    "game": "tictactoe",
    "games": 4,
    "agents": [{"agent": "random", "name": "<one>"}, {"agent": "random", "name": "two"}],
}


class Handle:
    """Keeps what a cell shows, one after the other."""

    pages: list

    def __init__(self):
        Handle.pages = self.pages = []

    def display(self, page):
        assert not self.pages
        self.pages.append(page._repr_html_())

    def update(self, page):
        assert self.pages
        self.pages.append(page._repr_html_())


@pytest.fixture
def notebook(monkeypatch):
    """IPython as code in a notebook finds it, as far as we ask it."""
    shell = types.SimpleNamespace(kernel=object())
    main, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    main.get_ipython, main.display, display.DisplayHandle = lambda: shell, display, Handle
    monkeypatch.setitem(sys.modules, "IPython", main)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return shell


def test_a_run_shows_itself_in_a_notebook(notebook, tmp_path):
    arena.run(CONFIG, tmp_path / "run", workers=1)
    first, last = Handle.pages[0], Handle.pages[-1]
    assert "2 agents, 4 games for each pair" in first and str(tmp_path / "run") in first
    assert any('<progress value="0" max="4"' in page for page in Handle.pages)
    assert '<progress value="4" max="4"' in last and "4 of 4 games" in last and "<table" not in last
    for page in Handle.pages:
        assert "<one>" not in page


def test_elsewhere_it_shows_nothing(notebook, tmp_path):
    """A terminal's IPython has no kernel."""
    Handle.pages, notebook.kernel = [], None
    arena.run(CONFIG, tmp_path / "run", workers=1)
    assert Handle.pages == []


def test_standings_and_games_in_play_are_shown_as_they_are(tmp_path):
    shown = NotebookDisplay(Handle())
    made = from_values(CONFIG)
    first, second = every_fixture(Schedule(made.values))[:2]
    with Store.create(tmp_path / "run", {"config": made.resolved()}, []):
        shown.opened(made.resolved(), tmp_path / "run")
    shown.planned(Schedule(made.values))
    shown.started(4, 0)
    shown.playing([InPlay(first, 3, 1.5)])
    assert first.id in shown.page() and "&lt;one&gt;" in shown.page() and "standings after" not in shown.page()
    shown.finished(play_fixture(made, first))
    shown.playing([InPlay(second, 2, 0.5)])
    assert "standings after 1 of the games" in Handle.pages[-1] and "1 of 4 games" in Handle.pages[-1]
    assert Handle.pages[-1].count("<table") == 2 and first.id not in Handle.pages[-1]


def test_compiling_and_warnings_are_shown():
    display = NotebookDisplay(Handle())
    display.warming("uct & co")
    assert "compiling kernels of uct &amp; co" in display.page()
    display.warmed("uct & co", 2.5)
    display.trouble("the disk is slow")
    assert "compiling" not in display.page() and "kernels of uct &amp; co: 2.5 s" in Handle.pages[-1]
    assert "warning: the disk is slow" in Handle.pages[-1]


# -- What shows itself ----------------------------------------------------------------------------------------------


def test_games_and_pictures_show_themselves():
    game = games.make("connect4(rows=4, columns=5)")
    root = ElementTree.fromstring(game._repr_svg_())
    assert root.tag.endswith("svg") and root.get("aria-label") == str(game)
    picture = games.svg(game, game.read_line("3 3")[1], ["3", "3"])
    assert picture._repr_svg_() == picture and picture.startswith("<svg") and "a picture" in repr(picture)


def test_a_decision_shows_its_move_board_and_table():
    game = games.make("tictactoe")
    moves, state = game.read_line("2b 1a")
    decision = agents.make("flat(playouts=70)").choose(game, state, seed=1, moves=moves)
    page, name = decision._repr_html_(), game.move_name(state, decision.move)
    assert page.startswith(f"<p><b>{name}</b>, value {decision.value:+.3f}, playouts 70, ")
    assert page.count("<svg") == 1 and f"after {name}" in page
    rows = page.split("<tr>")[2:]
    assert len(rows) == 7 and all("<td>10</td>" in row for row in rows)
    assert sorted(row[4:6] for row in rows) == sorted(game.move_name(state, move) for move in game.moves(state))
    assert np.array_equal(state, game.read_line("2b 1a")[1]) and "game" not in repr(decision)


def test_a_decision_shows_its_line_as_far_as_it_is_legal():
    game = games.make("tictactoe")
    line = game.read_line("2b 1a 3c")[0]
    decision = agents.Decision(line[0], principal_variation=(*line, line[0]), game=game, state=game.initial())
    assert "<p>expects 2b 1a 3c</p>" in decision._repr_html_()


def test_a_decision_of_a_player_shows_numbers():
    page = agents.Decision(4, value=-0.5, principal_variation=(4, 7))._repr_html_()
    assert page == "<p><b>4</b>, value -0.500, 0 s</p><p>expects 4 7</p>"


def test_a_tree_shows_itself():
    leaves = [Explored("a", None, "end", value=1.0), Explored("<b>", None, "end", value=-1.0)]
    tree = Explored("", 0, "open", value=1.0, children=leaves, pruned=["c"])
    root = ElementTree.fromstring(tree._repr_svg_())
    assert {"3 nodes", "a", "<b>", "c", "-1"} <= set(root.itertext()) and agents.explore is explore
    assert len([one for one in root.iter() if one.tag.endswith("polygon")]) == 3


def test_ratings_show_themselves():
    counts = np.zeros((2, 2, 3))
    counts[0, 1] = 6, 2, 2
    counts[1, 0] = 3, 2, 5
    page = arena.results.rate(["<strong>", "weak"], counts)._repr_html_()
    assert page.index("&lt;strong&gt;") < page.index("weak") and "<table" in page and "±" in page
