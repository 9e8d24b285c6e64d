"""arena study schemes: what is played, that it can be resumed and extended, equal time, and mistakes."""

import json
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import arena
from arena import results
from arena.cli import app
from arena.config.config import ConfigError
from arena.results.shown.kinds import OF_SCHEMES
from arena.runner.running import Playing
from arena.study import schemes, throughput
from arena.study.schemes import Point, SchemesStudy, spelled
from arena.study.throughput import undisturbed_rate

STUDY = SchemesStudy(("tictactoe",), ("tree", "root"), (1, 4), playouts=(8,), games=10, seed=3)


def call(*arguments):
    return CliRunner().invoke(app, ["study", "schemes", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schemes") / "run"
    return folder, schemes.run(STUDY, folder, playing=Playing(1))


def games_of(folder):
    return results.load(folder).games.drop(columns="seconds")


@pytest.mark.slow
def test_every_point_meets_the_serial_search_with_one_workers_and_with_all_playouts(finished):
    folder, table = finished
    assert table[["scheme", "workers"]].values.tolist() == [["tree", 1], ["tree", 4], ["root", 1], ["root", 4]]
    assert (table["time"] == 1.0).all()
    met = {(row.a, row.b) for row in results.load(folder).pairs().itertuples()}
    for point in STUDY.points():
        for factor in {1, point.workers}:
            assert (f"uct, {8 * factor} playouts", point.name) in met
    moves = results.load(folder).moves()
    spent = moves.groupby("agent")["playouts"].agg(["min", "max"])
    assert spent.loc["tree x4"].tolist() == [32, 32] and spent.loc["uct, 32 playouts"].tolist() == [32, 32]
    assert (moves[moves["agent"] == "root x4"]["playouts_each"] == 8).all()


def test_it_ends_when_every_speed_up_is_enclosed_or_a_bound(finished):
    folder, table = finished
    assert schemes._next_pairings(STUDY, folder, {}) == []
    known = table["speed_up_bound"] == ""
    assert known.any() and (table["speed_up"].notna() == known).all()
    assert not (table[known]["low"] > table[known]["speed_up"]).any()


@pytest.mark.slow
def test_a_killed_run_is_resumed_to_the_same_games(finished, tmp_path):
    folder = tmp_path / "run"
    script = f"from arena.study import schemes; schemes.run(schemes.{STUDY!r}, {str(folder)!r})"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 600
    while not (folder / "tournament.sqlite").exists() or not len(results.load(folder).games):
        assert process.poll() in (None, 0) and time.monotonic() < until  # it may be over before we look again
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    table = schemes.run(None, folder, playing=Playing(2), resume=True)
    pd.testing.assert_frame_equal(games_of(folder), games_of(finished[0]))
    pd.testing.assert_frame_equal(table, finished[1])


def test_speeds_are_those_of_decisions_that_nothing_disturbed():
    rate, share = undisturbed_rate([(100.0, 0.99), (10.0, 0.5), (120.0, 0.96), (90.0, 1.0)])
    assert (rate, share) == (100.0, 0.75)
    assert undisturbed_rate([(100.0, 0.6), (90.0, 0.5), (95.0, 0.1)]) == (95.0, 0.0)  # marked, and not left out


def test_what_a_study_has_more_of_is_measured_and_what_is_known_stays(monkeypatch):
    monkeypatch.setattr(throughput, "cores", lambda: 2)
    monkeypatch.setattr(throughput, "_decisions", lambda game, agent, threads, seconds: [(10.0 * threads, 1.0)])
    known = throughput.throughput(replace(STUDY, workers=(1, 2)), 0.01)
    assert throughput.missing(replace(STUDY, workers=(1, 2, 4)), known) == {}  # 4 are more than the cores
    known["playouts_per_second"] = 7.0
    more = replace(STUDY, instances=("nim(heaps=(1, 2))", "tictactoe"), schemes=("leaf", "tree", "root"), workers=(2,))
    assert throughput.missing(more, known) == {"nim(heaps=(1, 2))": ["leaf", "tree", "root"], "tictactoe": ["leaf"]}
    found = throughput.throughput(more, 0.01, known=known)
    assert found["game"].is_monotonic_decreasing and not found.duplicated(["game", "scheme", "threads"]).any()
    pd.testing.assert_frame_equal(found[found["playouts_per_second"] == 7.0].reset_index(drop=True), known)
    assert len(found) == 12 and throughput.missing(more, found) == {}


def test_a_scheme_that_a_study_gets_later_is_measured(finished, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(finished[0], folder)
    throughput.throughput(replace(STUDY, schemes=("tree",)), 0.01).to_csv(folder / throughput.FILE, index=False)
    kept = (folder / throughput.FILE).read_text()
    none = call("--out", folder, "--resume", "--speed-seconds", 0)
    assert "Not measured for all games and threads: root." in none.output
    done = call("--out", folder, "--resume", "--speed-seconds", 0.01)
    assert done.exit_code == 0 and "Not measured" not in done.output
    after = (folder / throughput.FILE).read_text()
    assert after.startswith(kept) and "tictactoe,root,1," in after


def test_the_command_writes_tables_and_figures(finished):
    folder, table = finished
    done = call("--out", folder, "--resume", "--speed-seconds", 0.01, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert len(told["points"]) == len(table) and {row["scheme"] for row in told["throughput"]} == {"tree", "root"}
    assert pd.read_csv(folder / "scaling.csv")["workers"].tolist() == table["workers"].tolist()
    assert "<svg" in (folder / "schemes.svg").read_text()
    assert (folder / "schemes.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "schemes.pdf").read_bytes().startswith(b"%PDF") and "tabular" in (
        folder / "scaling.tex"
    ).read_text()
    budgets = CliRunner().invoke(app, ["plot", str(folder), "budgets"])
    assert budgets.exit_code == 2 and "has one number of playouts" in budgets.output
    parameter = CliRunner().invoke(app, ["plot", str(folder), "parameter"])
    assert parameter.exit_code == 2 and "no number varies between its schemes" in " ".join(parameter.output.split())
    for kind in set(OF_SCHEMES) - {"budgets", "parameter"}:
        drawn = CliRunner().invoke(app, ["plot", str(folder), kind, "--format", "svg"])
        assert drawn.exit_code == 0, drawn.output
    former = CliRunner().invoke(app, ["scaling", "--out", str(folder.parent), "--resume"])  # its name
    assert former.exit_code == 2 and "holds no study of schemes" in former.output


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "give a --game"),
        (["--resume"], "--resume continues the study in --out"),
        (
            ["--out", "runs/a", "--resume", "--games", 10],
            "--resume continues the study in --out, and needs nothing else",
        ),
        (["--out", "runs/a", "--resume", "--threads"], "--resume continues the study in --out, and needs nothing else"),
        (["--game", "tictactoe", "--sizes", "two"], "--sizes 'two' is not a list such as 1,2,4,8"),
        (["--game", "tictactoe", "--workers", 0], "'-j': 0 is out of range"),
        (["--game", "tictactoe", "--workers", 0], "'-j': 0 is out of range"),
        (["--game", "tictactoe", "--speed-seconds", -1], "'--speed-seconds': -1 is out of range"),
        (["--game", "tictacto"], "unknown game 'tictacto' (did you mean 'tictactoe'?)"),
        (
            ["--game", "tictactoe", "--sizes", "0,2"],
            "--sizes '0,2' is out of range: searches can have 1 to 4096 workers",
        ),
        (["--game", "tictactoe", "--sizes", "2,1025"], "workers = 1025 is out of range: it can be 1 to 1024"),
        (["--game", "tictactoe", "--sizes", "65", "--threads"], "workers = 65 is out of range: it can be 1 to 64"),
        (["--game", "tictactoe", "--games", 5], "games = 5: Expected `int` that's a multiple of 2"),
        (["--game", "tictactoe", "--playouts", 2], "playouts = (2,): Expected `int` >= 4"),
        (["--game", "tictactoe", "--playouts", "few"], "--playouts 'few' is not a number, or a list such as 100,400"),
        (
            ["--game", "tictactoe", "--scheme", "uct"],
            "scheme uct: is not a parallel search; there are distributed, gscpm",
        ),
        (
            ["--game", "tictactoe", "--scheme", "tree(workers=3..1)"],
            "tree(workers=3..1): has a range that ends before it begins",
        ),
        (
            ["--game", "tictactoe", "--scheme", "tree(playouts=3)"],
            "playouts cannot be given in it; the study sets them",
        ),
        (["--game", "tictactoe", "--scheme", "tree(3)"], "scheme tree(3): 3 needs its parameter's name"),
        (["--game", "tictactoe", "--scheme", "tre"], "unknown agent 'tre' (did you mean 'tree'?)"),
        (["--game", "tictactoe", "--scheme", "distributed"], "the other schemes simulate workers; give --threads"),
        (["--game", "tictactoe", "--serial", "flat"], "serial flat: is not a search of one tree"),
        (["none.toml"], "none.toml: there is no such file"),
        (["none.toml", "--games", 4], "games cannot be added to a file: say it in none.toml"),
        (["--game", "tictactoe", "--serial", "uct(playouts=3)"], "a budget cannot be given in it"),
        (["--game", "samegame"], "is for one player"),
    ],
)
def test_mistakes(arguments, message, tmp_path):
    out = [] if "--resume" in arguments else ["--out", tmp_path / "run"]
    done = call(*arguments, *out)
    told = re.sub(r"[\s│]+", " ", done.output)
    assert done.exit_code == 2 and message in told, told
    assert not (tmp_path / "run").exists()


def test_a_run_that_is_there_is_kept(finished, tmp_path):
    folder = finished[0]
    before = games_of(folder)
    done = call("--game", "tictactoe", "--out", folder)
    assert done.exit_code == 2 and "holds a run already" in done.output
    with pytest.raises(ConfigError, match="begun with other values of playouts, seed"):
        schemes.run(SchemesStudy(("tictactoe",), ("tree", "root"), (1, 4), games=10), folder, resume=True)
    pd.testing.assert_frame_equal(games_of(folder), before)
    done = call("--out", tmp_path, "--resume")
    assert done.exit_code == 2 and "holds no study of schemes" in done.output
    (tmp_path / "plan.json").write_text("{")
    done = call("--out", tmp_path, "--resume")
    assert done.exit_code == 2 and "does not describe a study of schemes" in done.output


@pytest.mark.parametrize(
    "spec, schemes",
    [
        ("tree", {"tree": [None]}),
        ("tree(workers=1..3)", {"tree": [1, 2, 3]}),
        ("tree(workers=[1, 16], wu=true)", {"tree(wu=true)": [1, 16]}),
        ("root(search='grave', workers=4)", {"root(search='grave')": [4]}),
        (
            "leaf(search='grave(ref=3)', workers = 2..3, total=false)",
            {"leaf(search='grave(ref=3)', total=false)": [2, 3]},
        ),
        ("tree(virtual_loss=[0, 3])", {"tree(virtual_loss=0)": [None], "tree(virtual_loss=3)": [None]}),
    ],
)
def test_schemes_can_say_their_workers(spec, schemes):
    found = {}
    for bare, workers in spelled(spec):
        found.setdefault(bare, []).append(workers)
    assert found == schemes


def test_each_scheme_meets_its_own_search():
    study = SchemesStudy(("tictactoe",), ("root(search='grave(ref=7)')", "tree(exploration=0.7)", "pipeline"), (2,))
    assert [str(study.own_serial(spec)) for spec in study.schemes] == ["grave(ref=7)", "uct(exploration=0.7)", "uct"]
    entries = {entry["name"]: entry["agent"] for entry in study.config([], {})["agents"]}
    assert entries["grave(ref=7), 200 playouts"] == "grave(playouts=200, ref=7)"
    assert entries["root(search='grave(ref=7)') x2"].startswith("root(")
    assert str(SchemesStudy(("tictactoe",), serial="ppa").own_serial("root")) == "ppa"


@pytest.mark.slow
def test_equal_time_is_equal_time(tmp_path):
    """A pipeline takes longer than its playouts: the serial search gets as many as fit in that."""
    study = SchemesStudy(("tictactoe",), ("pipeline(workers=16)", "root(workers=4)"), (1,), (20,), 10)
    table = schemes.run(study, tmp_path / "run", playing=Playing(1)).set_index("scheme")
    assert table.loc["root", "time"] == 1.0 and table.loc["pipeline", "time"] > 1.1
    times = json.loads((tmp_path / "run" / "times.json").read_text())
    moves = results.load(tmp_path / "run").moves().groupby("agent")[["virtual_time", "playouts"]].mean()
    alone = schemes._typical(study.cells()[0], study.parallel(Point("pipeline(tokens=1)", 1)), "virtual_time") / 20
    opponent = f"uct, {round(times['pipeline x16'] * 20)} playouts"  # each of which takes the time of a pipeline of one
    assert moves.loc["pipeline x16", "virtual_time"] == pytest.approx(alone * moves.loc[opponent, "playouts"], rel=0.05)
    assert table.loc["pipeline", "score"] >= 0  # the match was played


def test_more_threads_than_cores_measure_no_time():
    cell = SchemesStudy(("tictactoe",), ("root",), (64,), (8,), threads=True).cells()[0]
    assert schemes.equal_factor(schemes._time(cell, Point("root", 64)), 8) is None
    assert cell.first_pairings({}) == [("root x64", "uct, 512 playouts")]


@pytest.mark.parametrize("time", [0.01, 0.3, 1.0, 1.7, 3.3, 7.7, 12.53, 200.0])
@pytest.mark.parametrize("strength", [0.001, 0.4, 1.5, 2.5, 5.0, 20.0, 1000.0])
def test_each_match_is_between_agents_of_the_tournament(time, strength):
    """Whatever time was measured and whoever wins, the matches that follow are among the factors that agents have."""
    study = SchemesStudy(("connect4",), ("tree",), (1, 2), threads=True)
    point = Point("tree", 2)
    times = {point.name: time}
    played, (won, lost) = {}, (np.array([0, 0, 0, 0, 9]), np.array([9, 0, 0, 0, 0]))
    known = study.factors(point, times)
    for pair, other in study.first_pairings(times):
        if pair == point.name:
            factor = next(one for one in known if study.serial_name("tree", one) == other)
            played[factor] = won if factor < strength else lost
    while (factor := schemes.next_factor(played, schemes.LEAST, schemes.MOST * 2, study.each)) is not None:
        assert factor in known and factor not in played
        played[factor] = won if factor < strength else lost
    names = {agent["name"] for agent in study.config([], times)["agents"]}
    assert {study.serial_name("tree", factor) for factor in played} <= names


@pytest.mark.slow
def test_a_file_describes_a_study_which_can_be_extended(tmp_path):
    path, out = tmp_path / "schemes.toml", tmp_path / "run"
    path.write_text('game = "tictactoe"\nschemes = ["root(workers=2)"]\nplayouts = 4\ngames = 4\n')
    said = call(path, "--out", out, "--speed-seconds", 0.01)
    assert said.exit_code == 0 and "Elo at equal time" in said.stdout and "Speed on threads" in said.stdout
    first = games_of(out)
    path.write_text('game = "tictactoe"\nschemes = ["root(workers=2)"]\nplayouts = 4\ngames = 6\n')
    done = call(path, "--out", out, "--resume", "--speed-seconds", 0, "--json")
    assert done.exit_code == 0, done.output
    again = games_of(out)
    assert len(again) > len(first) and set(first["id"]) < set(again["id"])
    path.write_text('game = "tictactoe"\nschemes = ["root(workers=3)"]\nplayouts = 4\ngames = 6\n')
    done = call(path, "--out", out, "--resume")
    assert done.exit_code == 2 and "begun with other values of schemes; add games" in " ".join(done.output.split())
    path.write_text('game = "tictactoe"\nscheme = ["root"]\n')
    done = call(path)
    assert done.exit_code == 2 and "scheme: is no key of a study of schemes; there are game, instances" in done.output


@pytest.mark.slow
def test_games_and_budgets_are_studies_of_their_own(tmp_path):
    study = SchemesStudy(("tictactoe", "nim(heaps=(1, 2))"), ("root(workers=2)",), (1,), (4, 6), 2)
    table = schemes.run(study, tmp_path / "run", playing=Playing(1))
    assert table[["game", "playouts"]].values.tolist() == [[game, n] for game in study.instances for n in (4, 6)]
    assert (tmp_path / "run" / "nim-heaps-1-2-6" / "tournament.sqlite").exists()
    assert len(schemes.load(tmp_path / "run" / "tictactoe-4")) == 1  # each can be read by itself
    before = games_of(tmp_path / "run" / "tictactoe-4")
    longer = replace(study, playouts=(4, 6, 8), games=4)
    assert len(schemes.run(longer, tmp_path / "run", playing=Playing(1), resume=True)) == 6
    assert set(before["id"]) < set(games_of(tmp_path / "run" / "tictactoe-4")["id"])


EXTENDED = {
    "a scheme": {"schemes": ("leaf", "tree", "root")},
    "workers": {"workers": (1, 2, 4)},
    "a scheme by its numbers": {"schemes": ("tree(wu=[false, true])", "tree", "root", "pipeline(workers=[2, 3])")},
    "a game": {"instances": ("nim(heaps=(1, 2))", "tictactoe")},
    "playouts": {"playouts": (4, 8)},
    "games": {"games": 12},
    "all": {
        "schemes": ("leaf", "root", "tree"),
        "workers": (1, 2, 4),
        "instances": ("tictactoe", "nim(heaps=(1, 2))"),
        "games": 14,
    },
}


def stored_games(folder):
    """{(game, playouts of a worker, id): all that is stored of a game}, over the runs of a study."""
    return {
        (cell.game, cell.each, row.id): (row.seconds, row.moves, row.first, row.second)
        for cell, place in schemes.places(SchemesStudy.read(folder), folder)
        if (place / "tournament.sqlite").exists()
        for row in results.load(place).games.itertuples()
    }


@pytest.mark.parametrize(
    "more", [more if more == "games" else pytest.param(more, marks=pytest.mark.slow) for more in EXTENDED]
)
def test_a_study_is_extended_and_plays_only_what_is_new(more, finished, tmp_path):
    """Games stored before are the same rows, their seconds included."""
    longer, folder = replace(STUDY, **EXTENDED[more]), tmp_path / "run"
    shutil.copytree(finished[0], folder)
    before = stored_games(folder)
    table = schemes.run(longer, folder, playing=Playing(1), resume=True)
    after = stored_games(folder)
    assert before.items() < after.items()
    found = table[["game", "playouts", "scheme", "workers"]].values.tolist()
    assert found == [[cell.game, cell.each, *point] for cell in longer.cells() for point in cell.points()]
    assert (table["games"] >= longer.games).all()
    if "games" not in EXTENDED[more]:
        old = table.merge(finished[1][["game", "playouts", "scheme", "workers"]])
        pd.testing.assert_frame_equal(old[finished[1].columns], finished[1])
    assert (folder / "tournament.sqlite").exists() == (len(longer.cells()) == 1)
    assert schemes.run(None, folder, playing=Playing(1), resume=True).equals(table) and stored_games(folder) == after


def test_a_study_does_not_lose_what_it_has(finished):
    for change in ({"workers": (1,)}, {"schemes": ("tree",)}, {"games": 8}, {"seed": 4}, {"instances": ("hex",)}):
        with pytest.raises(ConfigError, match=f"other values of {next(iter(change))}; add games, instances, schemes"):
            schemes.run(replace(STUDY, **change), finished[0], resume=True)


def test_a_kill_while_a_study_makes_room_loses_nothing(finished, tmp_path, monkeypatch):
    longer = replace(STUDY, instances=("tictactoe", "nim(heaps=(1, 2))"))
    moves = len([path for path in finished[0].iterdir() if path.is_file()]) - 1
    replaced = Path.replace
    for left in range(moves + 3):
        folder = tmp_path / str(left)
        shutil.copytree(finished[0], folder)
        before, count = stored_games(folder), iter(range(left))

        def killed(path, target, count=count):
            if next(count, None) is None:
                raise KeyboardInterrupt
            return replaced(path, target)

        with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(Path, "replace", killed)
            schemes.begun(longer, folder, True)
        assert len([*folder.rglob("tournament.sqlite")]) == 1
        schemes.begun(longer, folder, True)
        assert stored_games(folder) == before and [*folder.glob("*/tournament.sqlite")]


def test_the_report_begins_with_the_study(finished, tmp_path):
    done = CliRunner().invoke(app, ["report", str(finished[0]), "--output", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    text = (tmp_path / "page.html").read_text()
    assert re.findall("<h2>(.*?)</h2>", text)[:2] == ["Study", "Standings"] and "strength speed-up" in text
    assert "Crosstable" not in text and "told apart" not in text  # of agents that have met one or two others
    assert {path.stem for path in (tmp_path / "figures").glob("*.svg")} == {"study", "lengths"}


def test_budgets_too_small_for_the_searches_in_flight_are_told():
    study = SchemesStudy(("tictactoe",), ("distributed(workers=2)", "root"), (2,), (64, 500), threads=True)
    (note,) = study.notes()
    assert note.startswith("distributed: 10 searches of each worker are under way") and "500 playouts" in note
    assert replace(study, playouts=(500,)).notes() == []


def test_in_python(tmp_path):
    keys = {"game": "tictactoe", "schemes": ["root(workers=2)"], "playouts": 4, "games": 2}
    table = arena.schemes(**keys, out=tmp_path / "run")
    assert table[["scheme", "workers"]].values.tolist() == [["root", 2]] and table.attrs["kind"] == "scaling"
    again = arena.schemes(**keys | {"games": 4}, out=tmp_path / "run", resume=True)
    assert again["games"].item() > table["games"].item()
    with pytest.raises(ConfigError, match="scheme: is no key of a study of schemes"):
        arena.schemes(game="tictactoe", scheme="root")
    with pytest.raises(ConfigError, match="game or instances: is missing"):
        arena.schemes(playouts=5)


def test_what_reads_a_study_measures_nothing(finished, monkeypatch):
    """Times that were lost are not known; they are not measured again in passing, nor written."""
    folder, table = finished
    kept = (folder / "times.json").read_text()
    monkeypatch.setattr(schemes, "_time", lambda *_: pytest.fail("a reading command has measured"))
    (folder / "times.json").unlink()
    try:
        before = sorted(folder.iterdir())
        frame = schemes.load(folder)
        assert frame["time"].isna().all()
        assert frame["speed_up"].notna().tolist() == table["speed_up"].notna().tolist()
        picture = folder.parent / "a.svg"
        for words in (["table", folder, "--kind", "scaling"], ["plot", folder, "speedup", "--output", picture]):
            assert CliRunner().invoke(app, list(map(str, words))).exit_code == 0
        assert sorted(folder.iterdir()) == before
    finally:
        (folder / "times.json").write_text(kept)


def test_a_study_of_several_games_is_read_as_a_whole(tmp_path, undrawn):
    """One table, one page with all of them, and a report for each."""
    second = "mnk(rows=3, columns=3, k=3)"
    study = SchemesStudy(("tictactoe", second), ("root(workers=2)",), playouts=(4,), games=4)
    table = schemes.run(study, tmp_path / "run", playing=Playing(1))
    shown = CliRunner().invoke(app, ["table", str(tmp_path / "run")])
    assert shown.exit_code == 0 and "strength speed-up" in shown.stdout
    assert shown.stdout.count("tictactoe") == shown.stdout.count("mnk") == 1
    done = CliRunner().invoke(app, ["report", str(tmp_path / "run"), "--output", str(tmp_path / "page.html")])
    assert done.exit_code == 0, done.output
    page = (tmp_path / "page.html").read_text()
    assert re.findall("<h2>(.*?)</h2>", page) == [
        "tictactoe, 4 playouts of each worker", f"{second}, 4 playouts of each worker", "Figure",
    ]  # fmt: skip
    assert f"{table['games'].sum()} games" in page
    for link in re.findall('href="(run/.*?)"', page):
        assert "<h2>Standings</h2>" in (tmp_path / link).read_text()
    assert len(re.findall('href="run/', page)) == 2 and (tmp_path / "figures" / "study.svg").exists()


def test_agents_that_no_match_asked_for_do_not_stand_in_tables(finished):
    played = results.load(finished[0])
    met = set(played.games["first"]) | set(played.games["second"])
    assert set(played.standings()["agent"]) == met < {agent["name"] for agent in played.agents}


@pytest.mark.parametrize("words", [["table"], ["report"], ["plot", "speedup"]])
def test_a_study_without_a_match_is_told(words, tmp_path):
    SchemesStudy.begin(replace(STUDY, instances=("nim", "tictactoe")), tmp_path, False)
    done = CliRunner().invoke(app, [words[0], str(tmp_path), *words[1:]])
    assert done.exit_code == 2 and "the study holds no match yet" in " ".join(done.output.split())
