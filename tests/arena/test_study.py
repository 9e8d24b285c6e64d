"""The commands tree and exercise."""

import json
import os
import subprocess
import sys
from xml.etree import ElementTree

from tests.typed import call

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


FIRST = "[[3, 12, 8], [2, 4, 6], [14, 5, 2]]"
FIGURES = {  # tree and agent -> what is printed
    (FIRST, "alphabeta"): NOTES,
    (FIRST, "alphabeta(table=1, order=['table', 'killers'])"): NOTES,
    (FIRST, "minimax"): """\
MAX 3 (-∞, ∞)
├─ 1: MIN 3 (-∞, ∞)
│  ├─ 1: 3
│  ├─ 2: 12
│  └─ 3: 8
├─ 2: MIN 2 (-∞, ∞)
│  ├─ 1: 2
│  ├─ 2: 4
│  └─ 3: 6
└─ 3: MIN 2 (-∞, ∞)
   ├─ 1: 14
   ├─ 2: 5
   └─ 3: 2
""",
    ("[[3, 12, 8], [2, 4, 6], [2, 5, 14]]", "alphabeta"): """\
MAX 3 (-∞, ∞)
├─ 1: MIN 3 (-∞, ∞)
│  ├─ 1: 3
│  ├─ 2: 12
│  └─ 3: 8
├─ 2: MIN ≤2 (3, ∞)
│  ├─ 1: 2
│  └─ cut off: 2 3
└─ 3: MIN ≤2 (3, ∞)
   ├─ 1: 2
   └─ cut off: 2 3
""",
    ("{'A': {'C': 3, 'D': 5}, 'B': {'C': 2, 'D': 1}}", "alphabeta"): """\
MAX 3 (-∞, ∞)
├─ A: MIN 3 (-∞, ∞)
│  ├─ C: 3
│  └─ D: 5
└─ B: MIN ≤2 (3, ∞)
   ├─ C: 2
   └─ cut off: D
""",
    ("{'player': 'min', 'moves': [[3, 1], [5, 4], [2, 1]]}", "alphabeta"): """\
MIN 2 (-∞, ∞)
├─ 1: MAX 3 (-∞, ∞)
│  ├─ 1: 3
│  └─ 2: 1
├─ 2: MAX ≥5 (-∞, 3)
│  ├─ 1: 5
│  └─ cut off: 2
└─ 3: MAX 2 (-∞, 3)
   ├─ 1: 2
   └─ 2: 1
""",
    ("[[3, 12], [5, 6], [1, 9]]", "alphabeta(scout=true)"): """\
MAX 5 (-∞, ∞)
├─ 1: MIN 3 (-∞, ∞)
│  ├─ 1: 3
│  └─ 2: 12
├─ 2: MIN 5 (3, 3)
│  ├─ 1: 5
│  └─ 2: 6
├─ 2: MIN 5 (3, ∞) again
│  ├─ 1: 5
│  └─ 2: 6
└─ 3: MIN ≤1 (5, 5)
   ├─ 1: 1
   └─ cut off: 2
""",
}


ALL = """
import json, sys
from typer.testing import CliRunner
from arena.cli import app
said = []
for nodes, agent in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, ["tree", f'tree(nodes="{nodes}")', "--agent", agent])
    said.append([done.exit_code, done.stdout])
print(json.dumps(said))
"""


def test_known_trees():
    """In a process of its own, the search runs as plain Python, which is done before a compiler is."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    command = [sys.executable, "-W", "error", "-c", ALL, json.dumps(list(FIGURES))]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
    assert json.loads(done.stdout) == [[0, figure] for figure in FIGURES.values()], done.stderr


def test_tree_prints_and_draws_the_figure_of_the_notes(tmp_path):
    done = call("tree", "tree", "--svg", tmp_path / "tree.svg")
    assert done.exit_code == 0 and done.stdout == NOTES and "11 nodes; 2 moves cut off" in done.stderr
    picture = ElementTree.parse(tmp_path / "tree.svg").getroot()
    marks = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert marks.count("✕") == 2 and {"3", "12", "8", "≤2", "14", "5", "(3, ∞)"} <= set(marks)
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polygon"))) == 11
    for line in picture.iter("{http://www.w3.org/2000/svg}line"):
        assert float(line.get("y1")) < float(line.get("y2"))


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
    done = call("exercise", "--game", "connect4(rows=4, columns=5)", "--seconds", "0.005", "--json")
    rows = json.loads(done.stdout)
    assert not any(row["finished"] for row in rows) and all(row["seconds"] < 5 for row in rows)
