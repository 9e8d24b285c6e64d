"""The commands tree and exercise."""

import json
import os
import subprocess
import sys
from xml.etree import ElementTree

from typer.testing import CliRunner

from arena.cli import app

NOTES = """\
MAX 3 (-∞, ∞)
├─ 1: MIN 3 (-∞, ∞)
│  ├─ 1: 3
│  ├─ 2: 12
│  └─ 3: 8
├─ 2: MIN ≤2 (3, ∞)
│  ├─ 1: 2
│  └─ cut off: 2 3
└─ 3: MIN 2 (3, ∞)
   ├─ 1: 14
   ├─ 2: 5
   └─ 3: 2
"""


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_tree_compiles_nothing():
    """In a process of its own the search runs as plain Python, which a small tree is done with before a compiler is."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    for options in ([], ["--agent", "alphabeta(table=1, order=['table', 'killers'])"]):
        command = [sys.executable, "-W", "error", "-m", "arena.cli", "tree", "tree", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
        assert (done.returncode, done.stdout) == (0, NOTES), done.stderr


def test_tree_prints_and_draws_the_figure_of_the_notes(tmp_path):
    done = call("tree", "tree", "--svg", tmp_path / "tree.svg")
    assert done.exit_code == 0 and done.stdout == NOTES and "11 nodes; 2 moves cut off" in done.stderr
    picture = ElementTree.parse(tmp_path / "tree.svg").getroot()
    marks = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert marks.count("✕") == 2 and {"3", "12", "8", "≤2", "14", "5", "(3, ∞)"} <= set(marks)
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polygon"))) == 11
    for line in picture.iter("{http://www.w3.org/2000/svg}line"):
        assert float(line.get("y1")) < float(line.get("y2"))


def test_tree_of_a_position_with_minimax():
    done = call("tree", "tictactoe", "--moves", "1a 2b 3c 3a 1c 1b 3b", "--agent", "minimax")
    assert done.exit_code == 0 and done.stdout.startswith("MIN 0 (-∞, ∞)\n") and "cut off:" not in done.stdout


def test_tree_tells_what_is_wrong():
    for arguments, message in [
        (("tree", "tictactoe"), "the tree has more than 1000 nodes: give a smaller depth, or a higher limit"),
        (("tree", "tictactoe", "--agent", "uct"), "uct is no depth-first search"),
        (("tree", "coin"), "alphabeta plays games without chance, and coin"),
        (("tree", "tictactoe", "--moves", "9z"), "--moves: '9z' is not a legal move of tictactoe"),
        (("tree", "tree", "--depth", "0"), "--depth"),
    ]:
        done = call(*arguments)
        assert done.exit_code == 2 and message in " ".join(done.stderr.replace("│", " ").split()), done.stderr


def test_exercise_of_tictactoe():
    """A game of minimax with itself: 549,945 positions for the first move, and a draw; memory and symmetry save."""
    done = call("exercise", "--game", "tictactoe", "--json")
    rows = {(row["search"], row["savings"]): row for row in json.loads(done.stdout)}
    assert done.exit_code == 0 and len(rows) == 8
    assert all(row["result"] == "draw" and row["finished"] for row in rows.values())
    for search in ("minimax", "alphabeta"):
        nodes = [rows[search, part]["nodes"] for part in ("neither", "symmetry", "memory", "both")]
        assert nodes == sorted(nodes, reverse=True) and nodes[-1] < nodes[0] / 5
    assert rows["minimax", "neither"]["nodes"] > 549_945


def test_exercise_stops_in_time():
    done = call("exercise", "--game", "connect4", "--seconds", "0.05", "--json")
    rows = json.loads(done.stdout)
    assert not any(row["finished"] for row in rows) and all(row["seconds"] < 5 for row in rows)
