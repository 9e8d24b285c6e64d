"""arena study solvers: its figures by hand, that it is resumed, and mistakes."""

import json
import math
import re

import pandas as pd
import pytest
from typer.testing import CliRunner

from arena import games
from arena.cli import app
from arena.config.config import ConfigError
from arena.results.papers.solver_scaling import figure, points, table
from arena.study.positions import random_position
from arena.study.solving import SolvingStudy

SOLVERS = ("jlpns(job='pns', job_nodes=20)", "ppn2(job_nodes=20, report=5)")
STUDY = SolvingStudy("tictactoe", SOLVERS, (4, 32), positions=2, plies=3)


def call(*arguments):
    return CliRunner().invoke(app, ["study", "solvers", *map(str, arguments)])


def rows_of(*lines):
    names = ("solver", "position", "workers", "value", "timing", "time", "nodes")
    return pd.DataFrame([dict(zip(names, line)) for line in lines])


def test_speed_up_and_search_overhead():
    found = points(
        rows_of(
            ("a", 0, 1, 1, "virtual", 100, 100), ("a", 0, 4, 1, "virtual", 40, 150),
            ("a", 1, 1, -1, "virtual", 300, 300), ("a", 1, 4, -1, "virtual", 60, 210),
            ("a", 2, 1, 1, "virtual", 900, 900), ("a", 2, 4, None, "virtual", 500, 2000),
            ("b", 0, 1, None, "wall", 2.0, 90), ("b", 0, 4, 1, "wall", 0.5, 90),
        )
    )  # fmt: skip
    assert found["speed_up"].tolist()[:5] == [1.0, 2.5, 1.0, 5.0, 1.0]
    assert found["search_overhead"].tolist()[:5] == pytest.approx([0.0, 0.5, 0.0, -0.3, 0.0])
    assert found["speed_up"][5:].isna().all()  # unsolved, or without an answer of one worker
    totals = table(found)
    assert totals[["solver", "workers", "positions", "solved", "common"]].values.tolist() == [
        ["a", 1, 3, 3, 2], ["a", 4, 3, 2, 2], ["b", 1, 1, 0, 0], ["b", 4, 1, 1, 0],
    ]  # fmt: skip
    assert totals["speed_up"][1] == 4.0 and totals["search_overhead"][1] == pytest.approx(-0.1)
    assert math.isnan(totals["speed_up"][3])
    drawn = figure(totals)
    assert [line.get_label() for line in drawn.axes[0].lines] == ["a", "b", "workers"]


@pytest.mark.slow
def test_a_study_that_was_stopped_goes_on(tmp_path):
    whole = SolvingStudy.run(STUDY, tmp_path / "whole")
    assert whole["workers"].tolist() == [1, 4, 32] * 4 and whole["solved"].all()
    assert (whole["timing"] == "virtual").all()
    assert whole[whole["workers"] == 1]["time"].tolist() == whole[whole["workers"] == 1]["nodes"].tolist()
    assert (whole[whole["workers"] == 32]["speed_up"] > 1).all()
    part = tmp_path / "part"
    part.mkdir()
    for name in ("solving.json", "solving.jsonl"):
        (part / name).write_text((tmp_path / "whole" / name).read_text())
    lines = (part / "solving.jsonl").read_text().splitlines(keepends=True)
    (part / "solving.jsonl").write_text("".join(lines[:5]) + lines[5][:20])  # killed while it wrote
    told = []
    pd.testing.assert_frame_equal(SolvingStudy.run(None, part, True, told.append), whole)
    assert len(told) == 7 and "with workers = 32, position 2" in told[0]
    with pytest.raises(ConfigError, match="holds a study already; to continue it: --resume"):
        SolvingStudy.run(STUDY, part)
    (part / "solving.jsonl").write_text(lines[0].replace("virtual", "wall") + "".join(lines[1:]))
    with pytest.raises(ConfigError, match=r"jlpns\(.* has virtual and wall times; begin a new study"):
        SolvingStudy.load(part)


@pytest.mark.slow
@pytest.mark.plain
def test_the_command_writes_tables_and_a_figure(tmp_path):
    words = ["--game", "tictactoe", "--agent", SOLVERS[0], "--sizes", "1,8", "--out", tmp_path / "run"]
    done = call(*words, "--moves", "2b 1a 2c", "--json")
    assert done.exit_code == 0, done.output
    tables = json.loads(done.stdout)
    assert [row["workers"] for row in tables["solving"]] == [1, 8]
    assert {row["moves"] for row in tables["points"]} == {"2b 1a 2c"}
    kinds = {path.name for path in (tmp_path / "run").iterdir()}
    assert kinds >= {"points.csv", "points.tex", "solving.csv", "solving.tex", "solving.svg", "solving.png"}
    again = call("--out", tmp_path / "run", "--resume")
    assert again.exit_code == 0 and "speed up" in again.stdout


@pytest.mark.plain
@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "give a --game"),
        (["--game", "tictactoe", "--sizes", "2,1025"], "workers = 1025 is out of range: it can be 1 to 1024"),
        (["--game", "tictactoe", "--sizes", "65", "--threads"], "workers = 65 is out of range: it can be 1 to 64"),
        (["--game", "tictactoe", "--agent", "pns"], "agent pns: does not solve by several workers; agents that do:"),
        (["--game", "tictactoe", "--agent", "uct"], "agent uct: does not solve by several workers"),
        (["--game", "tictactoe", "--agent", "ppn2(nodes=9)"], "a budget cannot be given in it; the study sets it"),
        (["--game", "tictactoe", "--positions", 0], "positions = 0: Expected `int` >= 1"),
        (["--game", "tictactoe", "--opening-plies", 9], "no position after 9 plies"),
        (["--game", "tictactoe", "--moves", "1a 1b 2a 2b 3a"], "the game is over after them"),
        (["--game", "tictactoe", "--moves", "9z"], "9z"),
        (["--game", "samegame"], "plays games"),
        (["--game", "hexx"], "game hexx: unknown game 'hexx'"),
    ],
)
def test_mistakes(arguments, message, tmp_path):
    done = call(*arguments, "--out", tmp_path / "run")
    told = re.sub(r"[\s│]+", " ", done.output)
    assert done.exit_code == 2 and message in told, told
    assert told.count("unknown game") <= 1  # and not for every solver
    assert not (tmp_path / "run").exists()


@pytest.mark.plain
def test_values_that_differ_are_an_error(tmp_path):
    SolvingStudy.run(STUDY, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "solving.jsonl").read_text().splitlines()]
    lines[1]["value"] = {1: 0, 0: -1, -1: 1}[lines[0]["value"]]
    (tmp_path / "solving.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ConfigError, match="searches found different values of position 1"):
        SolvingStudy.load(tmp_path)


def test_random_positions_follow_the_seed():
    game = games.make("tictactoe")
    one, state = random_position(game, 3, 0, 4)
    assert one == random_position(game, 3, 0, 4)[0] != random_position(game, 3, 1, 4)[0]
    assert len(one) == 4 and not game.is_over(state)
