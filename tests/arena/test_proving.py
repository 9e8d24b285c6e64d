"""The command study proof: what is solved, stored, resumed, and put into tables."""

import fcntl
import json
import os
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from arena import agents, games
from arena.agents.core.tree_node import uncompiled
from arena.agents.proof import transpositions
from arena.agents.proof.bestfirst import new_proof_tree, tree_bytes
from arena.config.config import ConfigError
from arena.results.papers.proof_tables import by_game, draw_solved, table
from arena.study import cells
from arena.study.positions import random_position
from arena.study.proof_study import GAMES, GRAPH_ROW, LEAST_ROWS, SEARCHES, ProofStudy, with_memory
from tests.agents import naive_proof as naive
from tests.typed import call

SMALL = ProofStudy(("tictactoe",), ("pns", "dfpn"), (0.125, 1.0), positions=3, nodes=50_000)


@pytest.mark.plain
def test_what_is_stored_is_what_minimax_finds(tmp_path):
    rows, game = ProofStudy.run(SMALL, tmp_path / "study"), games.make("tictactoe")
    assert len(rows) == 12 and rows["solved"].all() and (rows["nodes"] > 0).all() and (rows["bytes"] > 0).all()
    for _, row in rows.iterrows():
        state = game.read_line(row["moves"])[1]
        assert row["value"] == naive.exact(game, state)[0] and row["plies"] == len(row["moves"].split())
    assert rows["moves"].nunique() == 3  # the same positions for all


@pytest.mark.slow
def test_a_study_that_was_killed_goes_on(tmp_path):
    """From the middle of a line, with the same rows as if nothing had happened, and nothing is solved twice."""
    whole, told = ProofStudy.run(SMALL, tmp_path / "whole"), []
    ProofStudy.run(SMALL, tmp_path / "cut")
    path = tmp_path / "cut" / "solved.jsonl"
    text = path.read_bytes()
    path.write_bytes(text[: text.index(b"\n", len(text) // 2) + 30])
    count = path.read_bytes().count(b"\n")
    again = ProofStudy.run(None, tmp_path / "cut", True, told.append)
    assert len(told) == 12 - count > 0 and "of 12: " in told[-1]
    timeless = [column for column in whole if column != "seconds"]
    pd.testing.assert_frame_equal(again[timeless], whole[timeless])
    with pytest.raises(ConfigError, match="was begun with other values of positions, seed"):
        ProofStudy.run(replace(SMALL, seed=1, positions=4), tmp_path / "cut", True)
    with pytest.raises(ConfigError, match="holds a study already; to continue it: --resume"):
        ProofStudy.run(SMALL, tmp_path / "cut")
    with open(path, "a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(ConfigError, match="another process is at work on this study"):
            ProofStudy.run(None, tmp_path / "cut", True)


def test_a_reader_leaves_the_line_that_is_being_written(tmp_path):
    """Only a writer, which has the lock, cuts off what a kill has left of one."""
    path, seen = tmp_path / "found.jsonl", []

    @dataclass(frozen=True)
    class Counting(cells.Cells):
        FILE, WHAT, FOUND, TYPES, KEYS = "plan.json", "cells", path.name, {"position": int}, ("position",)

        def cells(self):
            yield from ((0,), (1,), (2,))

        def words(self, cell):
            return str(cell)

        def find(self, cell):
            with open(path, "ab") as other:
                other.write(b'{"cell": ')
            text = path.read_bytes()
            seen.append(cells.table(path, self.TYPES)["position"].tolist())
            assert path.read_bytes() == text
            os.truncate(path, text.rindex(b"\n") + 1)
            return {"position": cell, "value": None}

    path.write_text('{"position": 0, "value": null}\n{"position": 1')
    assert Counting.run(Counting(), tmp_path)["position"].tolist() == [0, 1, 2]
    assert seen == [[0], [0, 1]]
    assert path.read_text() == "".join(f'{{"position": {n}, "value": null}}\n' for n in range(3))


DAMAGED = [
    ("{}\n[\n", "is damaged: "),
    ("{}\n", "line 1 lacks game, or it is of the wrong type"),
    ("[]\n", "line 1 is not an object"),
    ('{"game": []}\n', "line 1 lacks game, or it is of the wrong type"),
]


@pytest.mark.parametrize("text, message", DAMAGED)
def test_rows_that_are_damaged(text, message, tmp_path):
    (tmp_path / "solved.jsonl").write_text(text)
    with pytest.raises(ConfigError, match=message):
        ProofStudy.load(tmp_path)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[]", "does not describe a study of proofs: it is not an object"),
        ('{"positions": "2"}', "positions = '2': Expected `int`, got `str`"),
        ('{"games": "hex"}', "games = 'hex': Expected `array`, got `str`"),
        ('{"games": ["tictactoe", 3]}', "Expected `str`, got `int` - at `$[1]`"),
        ('{"memory": [Infinity]}', "memory = [inf]: Expected `float` <"),
        (f'{{"memory": [{10**400}]}}', "memory = [1000"),
        ('{"part": [0.5]}', "part = [0.5]: Expected `array` of length 2, got 1"),
    ],
)
def test_a_stored_study_is_checked(text, message, tmp_path):
    (tmp_path / "proving.json").write_text(text)
    with pytest.raises(ConfigError, match=f"proving.json: .*{re.escape(message)}"):
        ProofStudy.run(None, tmp_path, True)
    assert [path.name for path in tmp_path.iterdir()] == ["proving.json"]


def test_a_study_that_goes_on_is_told_nothing_else(tmp_path):
    """Also an option whose value is the default."""
    for option, value in (("--positions", 5), ("--memory", "2"), ("--seed", 0), ("--nodes", 9), ("--part", "0.1,0.5")):
        result = call("study", "proof", "--out", tmp_path, "--resume", option, value)
        assert result.exit_code == 2 and "--resume continues the study in --out" in result.stderr


def test_a_row_of_a_graph_takes_no_more_than_is_said(monkeypatch):
    """Every position is new, so that each row is in a slot."""
    graph, took = new_proof_tree(5000, True), []
    for name in ("is_graph", "new_row", "joined", "slot_of", "double"):
        monkeypatch.setattr(transpositions, name, uncompiled(getattr(transpositions, name)))
    monkeypatch.setattr(transpositions, "salted", lambda game, goal, key, ply: key)
    game, task = SimpleNamespace(key=np.uint64), SimpleNamespace(goal=None)
    with np.errstate(over="ignore"):
        for row in range(1, 3000):
            transpositions.new_row(graph.positions, row)
            assert transpositions.joined(game, task, graph.positions, row, row, 1) == row
            took.append(tree_bytes(graph, row + 1) / (row + 1))
    assert 63 < max(took[LEAST_ROWS - 2 :]) <= GRAPH_ROW


@pytest.mark.plain
def test_values_that_differ_are_an_error(tmp_path):
    ProofStudy.run(SMALL, tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "solved.jsonl").read_text().splitlines()]
    lines[0]["value"] = -lines[0]["value"] or 1
    (tmp_path / "solved.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with pytest.raises(ConfigError, match=r"searches found different values of tictactoe, position 1"):
        ProofStudy.load(tmp_path)


def rows_of(*lines):
    columns = ["game", "search", "position", "memory", "solved", "nodes", "seconds", "bytes"]
    return pd.DataFrame(lines, columns=columns)


ROWS = rows_of(
    ("g", "a", 0, 1.0, True, 10, 0.5, 2**20),
    ("g", "a", 1, 1.0, True, 30, 1.5, 2**19),
    ("h", "a", 0, 1.0, False, 99, 9.0, 2**18),
    ("g", "b", 0, 1.0, True, 20, 0.25, 2**10),
    ("g", "b", 1, 1.0, False, 99, 9.0, 2**10),
    ("h", "b", 0, 1.0, True, 40, 1.0, 2**21),
)


def test_tables():
    """Nodes and seconds are of the one position that both have solved."""
    assert table(ROWS).to_dict("records") == [
        {"search": "a", "memory": 1, "positions": 3, "solved": 2, "common": 1, "nodes": 10, "seconds": 0.5, "MiB": 1},
        {"search": "b", "memory": 1, "positions": 3, "solved": 2, "common": 1, "nodes": 20, "seconds": 0.25, "MiB": 2},
    ]
    assert by_game(ROWS).to_dict("records") == [
        {"search": "a", "memory": 1, "g": 2, "h": 0},
        {"search": "b", "memory": 1, "g": 1, "h": 1},
    ]


def test_a_line_of_the_figure_rises_where_a_position_was_solved():
    from matplotlib.figure import Figure

    a, b = draw_solved(Figure().subplots(), ROWS, "nodes").get_lines()
    assert (list(a.get_xdata()), list(a.get_ydata())) == ([10, 30], [1, 2])
    assert list(b.get_xdata()) == [20, 40] and b.get_label() == "b"


def test_memory_is_shared_by_the_trees_of_a_search():
    def rows(spec):
        return with_memory(agents.make(spec), 6).max_nodes

    assert rows("pns") == rows("pns(graph=true)") == 6 * 2**20 // 64 and rows("pns(graph=false)") == 6 * 2**20 // 28
    assert rows("pn2") == 3 * 2**20 // 64 and rows("rppns(workers=3)") == 6 * 2**20 // 4 // 64
    assert with_memory(agents.make("pdspn"), 6).table == 6


def test_positions_are_drawn_by_seed_from_the_part_asked_for():
    game = games.make("connect4(rows=4, columns=5)")
    lines = [random_position(game, 1, number, (0.25, 0.5))[0] for number in range(20)]
    assert lines == [random_position(game, 1, number, (0.25, 0.5))[0] for number in range(20)]
    assert len({tuple(line) for line in lines}) > 10 and all(1 <= len(line) <= 10 for line in lines)


def test_defaults_are_as_the_study_asks_for():
    ProofStudy().check()
    assert len(GAMES) == 8 and len(ProofStudy().memory) == 3
    assert {agents.make(spec).name for spec in SEARCHES} == {"pns", "pn2", "dfpn", "pnstar", "pds", "pdspn"}


@pytest.mark.plain
def test_the_command_writes_tables_and_figures(tmp_path):
    words = ["study", "proof", "--game", "tictactoe", "-a", "pns", "--positions", "2", "--memory", "1", "--json"]
    out = tmp_path / "study"
    told = json.loads(call(*words, "--out", out).stdout)
    assert told["solved"][0]["solved"] == 2 and told["games"] == [{"search": "pns", "memory": 1.0, "tictactoe": 2}]
    files = {"solved.csv", "solved.tex", "games.csv", "games.tex", "solved.svg", "solved.png"}
    assert files < {path.name for path in out.iterdir()}
    assert r"\toprule" in (out / "solved.tex").read_text() and "<svg" in (out / "solved.svg").read_text()
    assert "pns" in call("study", "proof", "--out", out, "--resume").stdout


@pytest.mark.plain
@pytest.mark.parametrize(
    "words, message",
    [
        (["-a", "pns", "--memory", "0.01"], "pns with 0.01 MiB: its memory is too small: it can be 0.062 MiB or more"),
        (["-a", "alphabeta(nodes=5)"], "a budget cannot be given in it"),
        (["-a", "uct"], "uct has neither a table nor trees whose size can be set"),
        (["-a", "dfpn", "--game", "pig"], "dfpn plays games without chance"),
        (["-a", "dfpn", "-a", "dfpn"], "has an entry twice"),
        (["--game", "nosuch"], "game nosuch: unknown game 'nosuch'"),
        (["--memory", "1,x"], "--memory '1,x' is not a list of numbers"),
        (["--part", "0.5"], "part = (0.5,): Expected `array` of length 2, got 1"),
        (
            ["--part", "0.99,0.99", "-a", "dfpn", "--game", "breakthrough(rows=4, columns=4)"],
            "no position in the part (0.99, 0.99) of a thousand random games",
        ),
        (["--memory", "inf"], "memory = (inf,): Expected `float` < 9"),
        (["--memory", "1,nan"], "memory = (1.0, nan): Expected `float` > 0"),
        (["--part", "0.7,0.5"], "is not two shares of a game's length"),
        (["--positions", "0"], "positions = 0: Expected `int` >= 1"),
        (["--resume"], "--resume continues the study in --out"),
    ],
)
def test_what_cannot_be_studied_is_said(words, message, tmp_path):
    game = [] if "--game" in words or "--resume" in words else ["--game", "tictactoe"]
    out = [] if "--resume" in words else ["--out", str(tmp_path / "study")]
    result = call("study", "proof", *words, *game, *out)
    assert result.exit_code == 2 and message in re.sub(r"[│\s]+", " ", result.stderr)
    assert result.stderr.count("unknown game") <= 1  # and not for every search
    assert not (tmp_path / "study").exists()
