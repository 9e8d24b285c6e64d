"""docs/figures.md: its commands draw its pictures, and the trees have the values that lecture notes give them."""

import json
import os
import re
import runpy
import subprocess
import sys

import pytest

from tests.test_readme import ROOT

FIGURES = ROOT / "docs/figures"
JSON = """
import json, runpy, sys
from typer.testing import CliRunner
figures = runpy.run_path(sys.argv[1])
import os
os.environ["NUMBA_DISABLE_JIT"] = "1"
os.chdir(sys.argv[2])
figures["main"](figures["Path"](sys.argv[3]))
from arena.cli import app
said = {}
for words in figures["commands"]():
    if "--output" in words:
        place = words.index("--output")
        done = CliRunner().invoke(app, [*words[:place], *words[place + 2 :], "--json"])
        said[words[place + 1].removesuffix(".svg")] = json.loads(done.stdout)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def typed(tmp_path_factory):
    """The folder with the pictures that the commands of the page draw, and what they print with --json, by picture.

    In a process of its own, searches run as plain Python, which is done before a compiler is.
    """
    folder = tmp_path_factory.mktemp("figures")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    arguments = [str(ROOT / "docs/figures.py"), str(FIGURES), str(folder)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", JSON, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout.splitlines()[-1])


def test_the_page_has_each_picture_and_they_come_out_as_drawn(typed):
    """`python docs/figures.py` draws them anew."""
    folder, said = typed
    page = (ROOT / "docs/figures.md").read_text()
    assert sorted(path.stem for path in FIGURES.glob("*.svg")) == sorted(said)
    for name in said:
        assert (folder / f"{name}.svg").read_text() == (FIGURES / f"{name}.svg").read_text(), name
        assert f"(figures/{name}.svg)" in page
    trees = runpy.run_path(str(ROOT / "docs/figures.py"))["commands"]()
    files = {path.name for path in FIGURES.glob("*.toml")}
    assert files == {file for file in files if any(file in word for words in trees for word in words)}


def nodes_of(node):
    yield node
    for child in node["children"]:
        yield from nodes_of(child)


def test_the_keys_of_nodes_are_those_of_the_page(typed):
    page = (ROOT / "docs/json.md").read_text()
    described = set(re.findall(r"`(\w+)`", page.split("## Trees")[1]))
    heads = [line for line in page.splitlines() if line.startswith("| `tree` |")]
    kinds = set()
    for printed in typed[1].values():
        if "plan" in printed:
            continue
        assert all(f"`{key}`" in heads["steps" in printed] for key in printed)
        for step in printed.get("steps", [printed]):
            assert {"iterations", "remark", "nodes", "root"} <= step.keys()
            found = list(nodes_of(step["root"]))
            assert len(found) == step["nodes"] and all(node.keys() == found[0].keys() for node in found)
            assert found[0].keys() <= described
            kinds.add(frozenset(found[0]))
            assert {node["player"] for node in found} <= {"max", "min", "chance", "or", "and", None}
    assert len(kinds) == 4


def values(node):
    """The value of a node and of those below it, nested as they are; a bound has its sign, and cut-offs are counted."""
    sign = {None: "", "lower": "≥", "upper": "≤"}[node["bound"]]
    below = [values(child) for child in node["children"]] + ["cut"] * len(node["cut_off"])
    label = f"{sign}{node['value']:g}"
    return [label, *below] if below else label


KNOWN = {
    "minimax": ["3", ["3", "3", "12", "8"], ["2", "2", "4", "6"], ["2", "14", "5", "2"]],
    "two_moves": ["3", ["3", "3", "5"], ["1", "2", "1"]],
    "alphabeta": ["3", ["3", "3", "12", "8"], ["≤2", "2", "cut", "cut"], ["2", "14", "5", "2"]],
    "order": ["3", ["3", "3", "12", "8"], ["≤2", "2", "cut", "cut"], ["≤2", "2", "cut", "cut"]],
    "cut_min": ["7", "7", ["≤4", "4", "cut"]],
    "cut_max": ["3", "3", ["≥4", "4", "cut"]],
    "fourteen": ["4", ["4", "12", "7", "4"], ["≤3", "3", "cut", "cut", "cut"], ["≤2", "2", "cut", "cut"]],
    "bounds": ["100", ["-100", "-100", "cut"], "100", "cut", "cut"],
    "nilsson": ["1", ["1", "1", "2"], ["-1", "1", "0", "1", "0", "-1"], ["-2", "-1", "0", "-1", "0", "-2"]],
    "chance": ["2.1", "2", "3"],
    "star1": ["2", "2", ["≤2", "1", "cut"]],
    "coin": ["0.5", ["2", "2", "cut"], ["-1", "-2", ["-1", ["0", "0", "1"], ["-2", "-2", "cut"]]]],
}


@pytest.mark.parametrize("name", KNOWN)
def test_values_of_the_notes(typed, name):
    assert values(typed[1][name]["root"]) == KNOWN[name]


def test_counts_of_the_notes(typed):
    """Nine of fourteen nodes, and all of them in the opposite order; a heap of seven is lost for who begins."""
    said = typed[1]
    assert (said["fourteen"]["nodes"], said["fourteen_reversed"]["nodes"]) == (9, 14)
    assert said["grundy"]["root"]["value"] == -1 and said["grundy"]["remark"] == "24 nodes; 0 moves cut off"
    assert said["matches"]["root"]["value"] == 1 and said["matches"]["nodes"] == 16
    windows = [(node["alpha"], node["beta"]) for node in (said["step"]["root"], said["step"]["root"]["children"][1])]
    assert windows == [(3, None), (3, None)] and said["step"]["root"]["untried"] == ["3"]


def test_steps_of_the_notes(typed):
    """What the notes say after each end: the windows of the root and of the node of MIN that is under way."""
    steps = typed[1]["steps"]["steps"]
    found = []
    for step in steps[:-1]:
        root = step["root"]
        last = root["children"][-1]
        found.append((root["alpha"], last["alpha"], last["beta"], last["value"], len(last["cut_off"])))
    free, known = (None, None), (3, 3)
    assert found == [
        (*free, None, None, 0),
        (*free, 3, 3, 0),
        (*free, 3, 3, 0),
        (3, None, None, 3, 0),
        (*known, None, None, 0),
        (*known, None, 2, 2),
        (*known, None, None, 0),
        (*known, 14, 14, 0),
        (*known, 5, 5, 0),
    ]
    assert steps[-1]["root"] == typed[1]["alphabeta"]["root"]


def numbers(node):
    return [node["proof"], node["disproof"]]


def test_proof_numbers_after_each_iteration(typed):
    """Worked out by hand; None is infinite.  Proof numbers of the root and its moves, and the most-proving node."""
    steps = typed[1]["pns"]["steps"]
    found = [[numbers(step["root"]), [numbers(child) for child in step["root"]["children"]]] for step in steps]
    assert found == [
        [[1, 3], [[1, 1], [1, 1], [1, 1]]],
        [[1, 3], [[2, 1], [1, 1], [1, 1]]],
        [[1, 3], [[2, 1], [2, 1], [1, 1]]],
        [[2, 2], [[2, 1], [2, 1], [None, 0]]],
        [[1, 2], [[1, 1], [2, 1], [None, 0]]],
    ]
    ways = []
    for step in steps:
        way, node = [], step["root"]
        while node := next((child for child in node["children"] if child["marked"]), None):
            way.append(node["move"])
            last = node
        ways.append(".".join(way))
        assert last["next"] and last["frontier"]
    assert ways == ["1", "2", "3", "1.1", "1.2"]


def test_best_first_values_after_each_expansion(typed):
    """Worked out by hand: the root's value, and the position that is expanded next."""
    steps = typed[1]["ubfm"]["steps"]
    found = []
    for step in steps:
        node, way = step["root"], ""
        while node := next((child for child in node["children"] if child["marked"]), None):
            way += node["move"]
        found.append((step["root"]["value"], way))
    assert found == [(0.4, "A"), (0.1, "B"), (0.2, "BE"), (0.5, "BF")]


def test_visits_of_uct(typed):
    said = typed[1]["uct"]
    assert said["nodes"] == 16 and said["root"]["visits"] == 300 and said["root"]["children"][0]["move"] == "2b"
    assert said["root"]["player"] == "max" and said["root"]["hidden"] == 9 - len(said["root"]["children"])
