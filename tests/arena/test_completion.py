"""Completion: what is offered, and that bash gets it, by typer's script."""

import os
import shlex
import shutil
import stat
import subprocess
import sys

import pytest
from typer.completion import get_completion_script

from arena.commands.completion import complete_agent, complete_game, complete_run
from tests.arena.stored import CONFIG, store_run


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with runs, and one with a program `arena`."""
    place = tmp_path_factory.mktemp("completion")
    store_run(place / "runs" / "one", CONFIG)
    for name in ("deep/two", "a third"):
        shutil.copytree(place / "runs" / "one", place / "runs" / name)
    (place / "bin").mkdir()
    program = place / "bin" / "arena"
    program.write_text(f"#!{sys.executable}\nfrom arena.cli import main\nmain()\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return place


def texts(found):
    return [text for text, _ in found]


def test_games_and_agents():
    assert texts(complete_game("connect")) == ["connect4"] and texts(complete_agent("uc")) == ["uct"]
    assert complete_agent("nobody") == [] == complete_agent("uct(")
    told = dict(complete_agent(""))
    assert told["uct"].startswith("UCT") and max(map(len, told.values())) <= 60


def test_runs(place, monkeypatch):
    monkeypatch.chdir(place)
    assert complete_run("") == ["runs/a third", "runs/deep/two", "runs/one"] and complete_run("runs/o") == ["runs/one"]
    absolute = [f"{place}/runs/{name}" for name in ("a third", "deep/two", "one")]
    assert complete_run(f"{place}/runs/o") == absolute[2:] and complete_run(f"{place}/runs/") == absolute
    assert complete_run("runs/deep/") == ["runs/deep/two"] and complete_run("[") == []


# the words that are typed, as bash has them, and what the last one offers
BASH = [
    (["runs"], ["runs"]),
    (["table", "runs/o"], ["runs/one"]),
    (["table", '"runs/a'], ["runs/a third"]),
    (["table", "runs/one", "--kind", "cr"], ["crosstable"]),
    (["run", "--agent", "uc"], ["uct"]),
    (["play", "conn"], ["connect4"]),
    (["run", "nofile"], []),
]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("bash"), reason="there is no bash")
def test_bash(place):
    script = get_completion_script(prog_name="arena", complete_var="_ARENA_COMPLETE", shell="bash") + "\n"
    for words, _ in BASH:
        script += f"COMP_WORDS=(arena {shlex.join(words)}) COMP_CWORD={len(words)}\n"
        script += '_arena_completion arena\nprintf "%s\\n" "${COMPREPLY[@]}" --\n'
    path = os.pathsep.join([str(place / "bin"), os.environ["PATH"]])
    known = os.environ | {"PATH": path, "PYTHONPATH": os.pathsep.join(each or os.getcwd() for each in sys.path)}
    done = subprocess.run(
        ["bash", "--norc", "-c", script], capture_output=True, text=True, timeout=300, cwd=place, env=known
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    offered = [[line for line in part.splitlines() if line] for part in done.stdout.split("--\n")[:-1]]
    assert offered == [expected for _, expected in BASH]
