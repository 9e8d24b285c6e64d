"""arena scaling: what is played, that it can be resumed, and mistakes."""

import json
import math
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from typer.testing import CliRunner

from arena import results
from arena.cli import app
from arena.config.config import ConfigError
from arena.study import scaling
from arena.study.throughput import undisturbed_rate

STUDY = scaling.ScalingStudy("tictactoe", ("tree", "root"), (1, 4), playouts=8, games=10, seed=3)


def call(*arguments):
    return CliRunner().invoke(app, ["scaling", *map(str, arguments)])


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scaling") / "run"
    return folder, scaling.run(STUDY, folder, workers=1)


def games_of(folder):
    return results.load(folder).games.drop(columns="seconds")


@pytest.mark.slow
def test_every_point_meets_the_serial_search_with_one_workers_and_with_all_playouts(finished):
    folder, table = finished
    assert table[["scheme", "workers"]].values.tolist() == [["tree", 1], ["tree", 4], ["root", 1], ["root", 4]]
    assert (table["time"] == 1.0).all()
    met = {(row.a, row.b) for row in results.load(folder).pairs().itertuples()}
    for scheme, workers in STUDY.points():
        for factor in {1, workers}:
            assert (f"serial {factor}", f"{scheme} x{workers}") in met
    moves = results.load(folder).moves()
    spent = moves.groupby("agent")["playouts"].agg(["min", "max"])
    assert spent.loc["tree x4"].tolist() == [32, 32] and spent.loc["serial 4"].tolist() == [32, 32]
    assert (moves[moves["agent"] == "root x4"]["playouts_each"] == 8).all()


def test_it_ends_when_every_speed_up_is_enclosed_or_a_bound(finished):
    folder, table = finished
    assert scaling._next_pairings(STUDY, folder) == []
    known = table["speed_up_bound"] == ""
    assert (table[known]["low"] <= table[known]["speed_up"]).all() and table["speed_up"].notna().any()


@pytest.mark.slow
def test_a_killed_run_is_resumed_to_the_same_games(finished, tmp_path):
    folder = tmp_path / "run"
    script = f"from arena.study import scaling; scaling.run(scaling.{STUDY!r}, {str(folder)!r}, workers=2)"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 600
    while not (folder / "tournament.sqlite").exists() or not len(results.load(folder).games):
        assert process.poll() in (None, 0) and time.monotonic() < until  # it may be over before we look again
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    table = scaling.run(None, folder, workers=2, resume=True)
    pd.testing.assert_frame_equal(games_of(folder), games_of(finished[0]))
    pd.testing.assert_frame_equal(table, finished[1])


def test_speeds_are_those_of_decisions_that_nothing_disturbed():
    rate, share = undisturbed_rate([(100.0, 0.99), (10.0, 0.5), (120.0, 0.96), (90.0, 1.0)])
    assert (rate, share) == (100.0, 0.75)
    rate, share = undisturbed_rate([(100.0, 0.6)])
    assert math.isnan(rate) and share == 0.0


def test_the_command_writes_tables_and_figures(finished):
    folder, table = finished
    done = call("--out", folder, "--resume", "--speed-seconds", 0.01, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert len(told["points"]) == len(table) and {row["scheme"] for row in told["throughput"]} == {"tree", "root"}
    assert pd.read_csv(folder / "scaling.csv")["workers"].tolist() == table["workers"].tolist()
    assert "<svg" in (folder / "scaling.svg").read_text()
    assert (folder / "scaling.png").read_bytes().startswith(b"\x89PNG")
    again = call("--out", folder, "--resume")
    assert again.exit_code == 0 and "Elo at equal time" in again.stdout and "Speed on threads" in again.stdout


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
        (["--game", "tictactoe", "--games", 5], "games = 5: is odd"),
        (["--game", "tictactoe", "--playouts", 2], "playouts = 2: is out of range; it can be 4 or more"),
        (
            ["--game", "tictactoe", "--scheme", "uct"],
            "scheme uct: is not a parallel search; there are distributed, gscpm",
        ),
        (
            ["--game", "tictactoe", "--scheme", "tree(workers=3)"],
            "scheme tree(workers=3): workers cannot be given in it",
        ),
        (["--game", "tictactoe", "--scheme", "tree(3)"], "scheme tree(3): 3 needs its parameter's name"),
        (["--game", "tictactoe", "--scheme", "tre"], "unknown agent 'tre' (did you mean 'tree'?)"),
        (["--game", "tictactoe", "--scheme", "distributed"], "distributed runs on processes only"),
        (["--game", "tictactoe", "--serial", "flat"], "serial flat: is not a form of uct"),
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
        scaling.run(scaling.ScalingStudy("tictactoe", ("tree", "root"), (1, 4), games=10), folder, resume=True)
    pd.testing.assert_frame_equal(games_of(folder), before)
    done = call("--out", tmp_path, "--resume")
    assert done.exit_code == 2 and "holds no study of scaling" in done.output
    (tmp_path / "plan.json").write_text("{")
    done = call("--out", tmp_path, "--resume")
    assert done.exit_code == 2 and "does not describe a study of scaling" in done.output
