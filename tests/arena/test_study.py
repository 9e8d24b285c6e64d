"""The commands tree and exercise."""

import json
import math
import os
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from arena import agents, games
from arena.agents.core.chunks import run_chunks
from arena.study.exercise import BARE
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


WRONG = [
    (("tictactoe",), "the tree has more than 1000 nodes: give a smaller depth, or a higher limit"),
    (("tictactoe", "--agent", "random"), "random has no tree that can be drawn; these have: alphabeta,"),
    (("tictactoe", "--agent", "uct"), "uct has no end of its own: say how many iterations"),
    (("tictactoe", "--agent", "uct", "--iterations", "0"), "0 is out of range: it can be 1 to 1e+06"),
    (("tictactoe", "--agent", "uct", "--depth", "2"), "--depth: uct has none; say --iterations"),
    (("tictactoe", "--agent", "pns", "--bounds", "-1", "1"), "bounds means nothing to pns, which takes iterations"),
    (("tree", "--agent", "minimax", "--bounds", "-9", "99"), "minimax cuts no moves off"),
    (("tree", "--bounds", "9", "9"), "--bounds: 9 is not less than 9"),
    (("tree", "--bounds", "-9", "9"), "a position has the value 12, beyond the bounds -9 and 9"),
    (("tree", "--each"), "--each: say how many, by --iterations"),
    (("tree", "--each", "--iterations", "101"), "--each: 101 trees are too many"),
    (("tree", "--limit", "20001"), "20001 is out of range: it can be 1 to 20000"),
    (("matches(count=200, take=1)",), "the tree is over 150 plies deep, too deep to be drawn"),
    (("coin",), "alphabeta plays games without chance, and coin"),
    (("tictactoe", "--moves", "9z"), "--moves: '9z' is not a legal move of tictactoe"),
    (("tree", "--depth", "0"), "--depth"),
]
SETTLED = ("tree(nodes='[[1, 1], -1]')", "--agent", "pns", "--iterations", "5", "--each")
ALL = """
import json, sys
from typer.testing import CliRunner
from arena.cli import app
done = [CliRunner().invoke(app, ["tree", *words]) for words in json.loads(sys.argv[1])]
print(json.dumps([[one.exit_code, one.stdout, one.stderr] for one in done]))
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """What comes of `arena tree` with words: (exit code, standard output, error stream); and a picture that it drew.

    In a process of its own, searches run as plain Python, which is done before a compiler is.
    """
    picture = tmp_path_factory.mktemp("picture") / "tree.svg"
    known = [(f'tree(nodes="{nodes}")', "--agent", agent) for nodes, agent in FIGURES]
    words = [*known, *(words for words, _ in WRONG), SETTLED, (*SETTLED, "--json"), ("tree", "--output", str(picture))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    command = [sys.executable, "-W", "error", "-c", ALL, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr
    return dict(zip(words, map(tuple, json.loads(done.stdout)))), picture


@pytest.mark.slow
def test_known_trees(typed):
    for (nodes, agent), figure in FIGURES.items():
        assert typed[0][f'tree(nodes="{nodes}")', "--agent", agent][:2] == (0, figure)


def test_tree_prints_and_draws_the_figure_of_the_notes(typed):
    said, path = typed
    code, printed, remark = said["tree", "--output", str(path)]
    assert (code, printed) == (0, NOTES) and "11 nodes; 2 moves cut off" in remark
    picture = ElementTree.parse(path).getroot()
    assert {"title", "legend", "name", "note", "cross"} <= {one.get("class") for one in picture.iter()}
    marks = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert marks.count("✕") == 2 and {"3", "12", "8", "≤2", "14", "5", "(3, ∞)"} <= set(marks)
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polygon"))) == 11
    for line in picture.iter("{http://www.w3.org/2000/svg}line"):
        assert float(line.get("y1")) < float(line.get("y2"))


def test_tree_tells_what_is_wrong(typed):
    for words, message in WRONG:
        code, _, complaint = typed[0][words]
        assert code == 2 and message in " ".join(complaint.replace("│", " ").split()), complaint


def test_tree_ends_with_the_search(typed):
    """Of five iterations two are enough."""
    code, printed, remark = typed[0][SETTLED]
    first = "After 1 iteration:\nOR [1, 1]\n├─ 1: AND ⟨1, 1⟩ most-proving\n└─ 2: ⟨∞, 0⟩ disproved\n\n"
    assert code == 0 and printed.startswith(first) and printed.count("After") == 2
    assert "to prove: MAX wins; 2 iterations: proved; 5 nodes" in remark
    steps = json.loads(typed[0][*SETTLED, "--json"][1])["steps"]
    assert [step["iterations"] for step in steps] == [1, 2] and steps[1]["root"]["proof"] == 0


def test_tree_that_is_interrupted_leaves_no_file(tmp_path, monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("arena.agents.pictures.show", interrupted)
    done = call("tree", "tree", "--output", tmp_path / "tree.svg")
    assert done.exit_code == 130 and "interrupted" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.slow
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


@pytest.mark.plain
def naive_alpha_beta(game, state, alpha, beta):
    """(value for the player to move, nodes) of the textbook's algorithm."""
    nodes, best = 1, -math.inf
    if game.is_over(state):
        return np.sign(game.score(state)) * (1 if game.player(state) == 0 else -1), nodes
    for move in game.moves(state):
        value, below = naive_alpha_beta(game, game.after(state, move), -beta, -max(alpha, best))
        best, nodes = max(best, -value), nodes + below
        if best >= beta:
            break
    return best, nodes


@pytest.mark.plain
@pytest.mark.parametrize("spec", [
    "connect4(rows=2, columns=4)",
    *(pytest.param(spec, marks=pytest.mark.slow) for spec in ("connect4(rows=3, columns=4)", "tictactoe")),
])  # fmt: skip
def test_alpha_beta_of_the_exercise_is_bare(spec):
    """Its first search visits the nodes of the textbook's algorithm, in a game that foresees wins, too."""
    game = games.make(spec)
    agent = agents.make(f"alphabeta(depth={game.max_plies}, shortest=false, table=0, {BARE})")
    search = agent.player(game).begin(game.initial(), None)
    run_chunks(search.run, None, None)
    value, nodes = naive_alpha_beta(game, game.initial(), -math.inf, math.inf)
    assert int(search.player.search.counts[0]["nodes"]) == nodes - 1 and np.sign(search.result()[0]) == value


@pytest.mark.plain
def test_exercise_stops_in_time():
    done = call("exercise", "--game", "connect4(rows=4, columns=5)", "--seconds", "0.005", "--json")
    rows = json.loads(done.stdout)
    assert not any(row["finished"] for row in rows) and all(row["seconds"] < 5 for row in rows)
