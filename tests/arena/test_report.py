"""The report: what the page says, that it needs nothing else, and that its browser of games steps."""

import html
import json
import re
import tomllib
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from arena import games, results
from arena.cli import app
from arena.config.loading import from_values
from arena.games.core.boards.drawing import Drawing
from arena.report import replay, show, write_report
from arena.report.figures import draw
from arena.results.database.record import Reason
from arena.results.database.store import Store
from arena.results.shown.export import display_columns
from tests.arena.stored import CONFIG, store_run, store_runs_alone

EVIL = "<script>alert(1)</script>$x_{"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    agents = [
        {"agent": "uct(playouts=10)", "name": "strong"},
        {"agent": "random", "name": EVIL},
        {"agent": "flat(playouts=5)", "name": "weak"},
    ]
    return store_run(tmp_path_factory.mktemp("report") / "run", CONFIG | {"agents": agents}, void=("1v2-0001",))


@pytest.fixture(scope="module")
def page(run):
    return write_report(run)


@pytest.fixture(scope="module")
def data(page):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text())[1])


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_who_won_by_how_much_how_sure(run, page):
    text, tournament = page.read_text(), results.load(run)
    standings = tournament.standings()
    tiles = re.search(r'<dl class="tiles">(.*?)</dl>', text, re.DOTALL)[1]
    assert standings["agent"][0] in tiles.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "<script>alert(1)</script>")
    assert " Elo over " in tiles and "likely to be stronger" in tiles
    assert "1 of 18 games was void" in text
    for score in standings["score"]:
        assert f"{100 * score:.1f} %" in text


def test_the_page_needs_no_other_file(page):
    text = page.read_text()
    assert not re.search(r'(?:src|href)\s*=\s*"(?!#|data:,")', text.replace("xlink:href", "href"))
    assert "@import" not in text and not re.search(r"url\((?!#)", text)
    assert set(re.findall(r'https?://[^"\s<]+', text)) <= {"http://www.w3.org/1999/xlink"}
    assert "prefers-color-scheme: dark" in text and "width=device-width" in text
    assert text.count(EVIL) == 0 and "&lt;script&gt;alert(1)" in text


def test_a_notebook_shows_the_whole_page_in_a_frame(run, undrawn):
    shown = show(results.load(run), height=300)
    frame = shown._repr_html_()
    assert "height: 300px" in frame and frame.count("<") == 2  # the frame's own: all of the page is escaped
    found = re.search(r'srcdoc="([^"]*)"', frame)[1]
    assert html.unescape(found) == shown and "<h1" in shown and "</html>" in shown


def test_figures_lie_beside_it(page):
    names = {path.name for path in (page.parent / "figures").iterdir()}
    wanted = (
        "ratings",
        "crosstable",
        "strength_seconds",
        "strength_playouts",
        "lengths",
        "sides",
        "moves_seconds",
        "moves_depth",
    )
    assert names == {f"{name}.{kind}" for name in wanted for kind in ("svg", "png")}
    assert (page.parent / "figures" / "ratings.png").read_bytes().startswith(b"\x89PNG")
    assert page.read_text().count("<figure>") == len(wanted) - 2


def board(data, entry, ply):
    """The picture of a board, put together as the page's script does."""
    width, height, *numbers = entry["boards"][ply]
    return width, height, "".join(data["shapes"][number] for number in numbers)


def picture(game, names):
    drawing = game.drawing(game.read_line(" ".join(names))[1], names)
    return drawing.width, drawing.height, drawing.ground + "".join(drawing.parts)


def test_boards_are_the_games_own(run, data):
    game, shown = games.make(CONFIG["game"]), data["games"]
    assert len(shown) == 18 and [each["id"] for each in shown[:2]] == ["1v2-0000", "2v1-0000"]
    with Store.open(run) as store:
        record = store.record(shown[3]["id"])
    line = f"{record.opening_moves} {record.moves}".split()
    assert shown[3]["moves"] == line and len(shown[3]["boards"]) == record.plies + 1
    for ply in (0, 1, len(line)):
        assert board(data, shown[3], ply) == picture(game, line[:ply])
        ElementTree.fromstring(f"<svg>{board(data, shown[3], ply)[2]}</svg>")
    assert shown[3]["thoughts"][:2] == [None, None]
    known = {"candidates": [["<i>", 20, 0.5, -0.25], [line[2], 10, 0.25, None]]}
    assert shown[3]["thoughts"][2] == {"side": 0, "value": 0.0, "playouts": 12, "depth": 3, "seconds": 0.01} | known
    assert len(data["shapes"]) == len(set(data["shapes"]))


def test_a_large_run_is_sampled(run, monkeypatch):
    tournament = results.load(run)
    shown = replay.sample(tournament, 4)
    assert len(shown["games"]) == 4 and shown == replay.sample(tournament, 4)
    monkeypatch.setattr(replay, "MOST_CHARACTERS", 0)
    assert replay.sample(tournament)["games"] == []


def test_the_configuration_can_be_run_again(run, page):
    code = re.search(r'<pre class="code" id="configuration" tabindex="0">(.*?)</pre>', page.read_text(), re.DOTALL)[1]
    text = html.unescape(code)
    with Store.open(run) as store:
        assert from_values(tomllib.loads(text)).resolved() == store.meta["config"]


def test_the_machine_is_told_in_readers_units(page):
    text = page.read_text()
    assert re.search(r"<dt>memory</dt><dd>[\d.]+ GiB</dd>", text) and "bytes" not in re.findall(r"<dt>(.*?)</dt>", text)


def test_the_command_writes_the_same_page(run, tmp_path, undrawn):
    result = call("report", run, "--output", tmp_path / "x.html")
    assert result.exit_code == 0 and str(tmp_path / "x.html") in result.stdout
    assert (tmp_path / "x.html").read_text().startswith("<!doctype html>")
    assert (tmp_path / "x.html").read_bytes() == write_report(run, tmp_path / "y.html").read_bytes()


@pytest.fixture(scope="module")
def unplayed(tmp_path_factory):
    """A run without games."""
    resolved = from_values(CONFIG).resolved()
    agents = [{"name": entry["name"], "spec": entry["agent"]} for entry in resolved["agents"]]
    Store.create(folder := tmp_path_factory.mktemp("report") / "unplayed", {"config": resolved}, agents).close()
    return folder


def test_nothing_played_and_unfinished_runs(unplayed, tmp_path):
    text = write_report(unplayed, tmp_path / "x.html").read_text()
    assert (
        "No results are stored yet" in text
        and "0 of 18 games so far" in " ".join(text.split())
        and "No game can be shown" in text
    )


def test_games_that_the_rules_do_not_allow(run, tmp_path, undrawn):
    with Store.open(run) as source, Store.create(tmp_path, source.meta, source.agents) as store:
        store.add(replace(source.record("1v2-0000"), moves="9 9 9"))
    result = call("report", tmp_path)
    assert result.exit_code == 2 and "game 1v2-0000 was not played by the rules as they are now" in result.stderr
    assert not (tmp_path / "report.html").exists()


def test_games_lost_before_their_first_move(run, tmp_path, undrawn):
    """They stand in a column of their own, with their reason at the board, and shorten no mean."""
    lost = {"reason": Reason.EXCLUDED, "detail": "it hung its process", "moves": "", "opening_moves": "", "plies": 0}
    with Store.open(run) as source, Store.create(tmp_path, source.meta, source.agents) as store:
        records = [record for record in source.records() if record.outcome is not None]
        forfeits = [record for record in records if "weak" in (record.first, record.second)]
        for record in records:
            more = lost | {"decisions": (), "score": None, "outcome": float(record.second == "weak")}
            store.add(replace(record, **more) if record in forfeits else record)
    text = write_report(tmp_path).read_text()
    whole = [record.plies for record in records if record not in forfeits]
    assert f"one without a forfeit took {sum(whole) / len(whole):.1f} plies on average" in text
    headings, *rows = re.findall(
        r"<tr>(.*?)</tr>", text.split('<section id="standings">')[1].split("</table>")[0], re.S
    )
    assert re.findall(r">([a-z]+)</th>", headings)[-1] == "forfeits"
    told = {re.search(r'class="name">(.*?)<', row)[1]: re.findall(r">(\d+)</td>", row)[-1] for row in rows}
    assert told["weak"] == str(len(forfeits)) and sorted(told.values()) == ["0", "0", told["weak"]]


@pytest.mark.slow
def test_many_agents(tmp_path):
    """Names have room, and legends name no more than eight."""
    agents = [{"agent": f"uct(playouts={number})"} for number in range(1, 21)]
    tournament = results.load(store_run(tmp_path, CONFIG | {"games": 2, "agents": agents}))
    figures = {figure.name: figure.inline for figure in draw(tournament, None)}
    assert all(f"uct(playouts={number})" in figures["sides"] for number in range(1, 21))
    assert (
        figures["strength_playouts"].count("uct(playouts=") <= 8 and "others, by rank" in figures["strength_playouts"]
    )
    height = {name: float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', text)[1]) for name, text in figures.items()}
    assert height["sides"] > 1.5 * height["lengths"]


def test_mistakes(tmp_path, unplayed, undrawn):
    for arguments, message in (
        (["report", tmp_path / "none"], "no tournament in"),
        (["report", unplayed.parent], "is no run, but holds some"),
        (["report", unplayed, "--output", tmp_path], "cannot be written"),
        (["report", unplayed, "--output", "/proc/none/x.html"], "/proc/none"),
    ):
        result = call(*arguments)
        told = " ".join(result.stderr.split())
        assert result.exit_code == 2 and message in told and "Traceback" not in told, told
    (tmp_path / "tournament.sqlite").write_bytes(b"not a database, but long enough to look at" * 100)
    result = call("report", tmp_path)
    assert result.exit_code == 2 and "damaged or not a SQLite file" in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tournament.sqlite"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A run of two games at two budgets."""
    several = {
        "instances": [CONFIG["game"], "tictactoe"],
        "budgets": [{"playouts": 10}, {"playouts": 20}],
        "games": 4,
        "opening_plies": 2,
        "agents": [{"agent": "uct", "name": "strong"}, {"agent": "flat", "name": "weak"}],
    }
    return store_run(tmp_path_factory.mktemp("report") / "study", several)


def test_a_study_comes_first(study, undrawn):
    undrawn.add("study")
    page, tournament = write_report(study), results.load(study)
    text = page.read_text()
    assert text.index('id="study"') < text.index('id="standings"') and 'href="#study"' in text
    assert "<h1>connect4(rows=4, columns=5), tictactoe</h1>" in text
    section = re.search(r'<section id="study">(.*?)</section>', text, re.DOTALL)[1]
    assert "Score of strong against weak in %, with 95 % intervals; 4 games a cell" in section
    columns = display_columns(tournament.table("study"))
    cells = [cell for column in columns for cell in column.cells]
    assert len(cells) == 9 and all(f">{cell}</td>" in section for cell in cells)
    assert section.count("<figure>") == 1 and section.count("<svg") == 1
    assert section.count('<td class="name">strong</td>') == 5  # all games, and four conditions
    assert {"study.svg", "study.png"} <= {path.name for path in (page.parent / "figures").iterdir()}


def test_boards_are_of_their_own_game(study):
    data = replay.sample(results.load(study))
    rules = [games.make(spec) for spec in (CONFIG["game"], "tictactoe")]
    assert len(data["games"]) == 16
    for entry in data["games"]:
        game = rules[entry["condition"].startswith("tictactoe")]
        assert board(data, entry, 0) == picture(game, []) and entry["condition"].endswith("0 playouts")
        assert entry["game"] == str(game)
    assert {entry["condition"] for entry in replay.sample(results.load(study), 3)["games"]} <= {
        condition.label for condition in results.load(study).conditions
    }


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Runs of two games for one player."""
    return store_runs_alone(tmp_path_factory.mktemp("report") / "alone")


@pytest.fixture(scope="module")
def alone_page(alone):
    return write_report(alone)


def test_runs_for_one_player(alone, alone_page):
    """The study, the scores, curves of all instances and of each, and no table that is of games between two."""
    page, tournament = alone_page, results.load(alone)
    text = page.read_text()
    assert "2 agents,\n8 runs" in text and 'id="standings"' not in text and 'id="crosstable"' not in text
    assert text.index('id="study"') < text.index('id="scores"') < text.index('id="figures"')
    section = re.search(r'<section id="scores">(.*?)</section>', text, re.DOTALL)[1]
    columns = display_columns(tournament.table("scores"))
    assert all(f">{html.escape(cell)}</td>" in section for column in columns for cell in column.cells)
    names = {path.name for path in (page.parent / "figures").iterdir()}
    wanted = ("study", "curve_0", "curve_1", "curve_2")
    assert names == {f"{name}.{kind}" for name in wanted for kind in ("svg", "png")}


def test_the_best_runs_are_replayed(alone, alone_page):
    """Of each agent in each condition, the best of a condition first; the rules give the score that is told."""
    data, runs = replay.sample(results.load(alone)), results.load(alone).games
    best = runs.groupby(["condition", "first"])["score"].max()
    assert sorted(entry["score"] for entry in data["games"]) == sorted(best)
    assert [entry["score"] for entry in data["games"]] == [
        score for _, group in best.groupby("condition") for score in sorted(group, reverse=True)
    ]
    for entry in data["games"]:
        game = games.make(entry["game"])
        assert game.score(game.read_line(" ".join(entry["moves"]))[1]) == entry["score"]
        assert board(data, entry, -1) == picture(game, entry["moves"]) and entry["second"] is None
    assert f"the best score is {data['games'][0]['score']:g}, by " in alone_page.read_text()


def test_no_runs_for_one_player_yet(alone, tmp_path):
    with Store.open(alone) as source:
        Store.create(tmp_path, source.meta, source.agents).close()
    text = write_report(tmp_path).read_text()
    assert "No results are stored yet" in text and "0 of 8 runs so far" in " ".join(text.split())
    assert "No run can be shown" in text


def test_shapes_are_kept_once():
    shapes = replay.Shapes()
    frames = [shapes.frame(Drawing(10, 20, "<g/>", parts)) for parts in (("<a/>", "<b/>"), ("<b/>", "<c/>"), ())]
    assert frames == [[10, 20, 0, 1, 2], [10, 20, 0, 2, 3], [10, 20, 0]]
    assert shapes.listed == ["<g/>", "<a/>", "<b/>", "<c/>"] and shapes.characters == 16


def test_hundreds_of_agents_have_no_row_each(tmp_path):
    """A crosstable of a thousand has a million cells."""
    rows = "".join(f"p{number},p{(7 * number + 1) % 120},1\n" for number in range(120))
    (tmp_path / "many.csv").write_text("first,second,outcome\n" + rows)
    assert CliRunner().invoke(app, ["import", str(tmp_path / "many.csv"), "--out", str(tmp_path / "run")]).exit_code < 2
    text = write_report(tmp_path / "run").read_text()
    assert 'id="crosstable"' not in text and 'href="#crosstable"' not in text and 'id="standings"' in text
    assert {path.stem for path in (tmp_path / "run" / "figures").glob("*.svg")} == {"lengths"}
