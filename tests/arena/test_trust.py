"""Reading a stored run imports no plug-in that the user has not played with or trusted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.config import trust
from arena.report.page import from_home

PLUGIN = """
from pathlib import Path
from arena.agents.random import Random
from arena.games.nim import Nim

Path({mark!r}).open("a").write("x")

class Mine(Random):
    "Plays at random."
    name = "test_mine"

class MyNim(Nim):
    "Nim."
    name = "test_mine_nim"
"""
READERS = {
    "show": ["show", "run", "1v2-0000"],
    "check": ["check", "run"],
    "report": ["report", "run", "--output", "page.html", "--force"],
    "pgn": ["export", "run", "--format", "pgn"],
    "book": ["book", "run", "--output", "run.book", "--force"],
    "grade": ["grade", "run", "--agent", "alphabeta"],
    "resume": ["run", "--out", "run", "--resume"],
}
"""Commands that need the rules of a run's games, or its agents."""


class World:
    """A plug-in in a folder of its own, and a run that was played with it; the plug-in marks that it is imported."""

    def __init__(self, folder: Path):
        self.folder, self.mark, self.plugin = folder, folder / "mark", folder / "mine" / "test_mine_plugin.py"
        self.plugin.parent.mkdir()
        self.text = PLUGIN.format(mark=str(self.mark))
        self.plugin.write_text(self.text)
        (folder / "config.toml").write_text(
            'game = "test_mine_nim(heaps=(1, 2))"\ngames = 2\nopening_plies = 0\nplugins = ["test_mine_plugin"]\n'
            f'plugin_path = "{self.plugin.parent}"\nagents = ["random", "test_mine"]\n'
        )

    def stranger(self, name: str) -> str:
        """The cache of a user who has all kernels, and has not played with the plug-in."""
        shutil.copytree(self.folder / "cache", self.folder / name, ignore=shutil.ignore_patterns("plugin-*"))
        return name

    def run(self, *arguments, cache="cache", **environ) -> tuple[int, bool, str]:
        """(exit code, whether the plug-in has been imported, errors) of a command of a user with this cache."""
        self.mark.unlink(missing_ok=True)
        environ = os.environ | {"ARENA_CACHE_DIR": str(self.folder / cache), "COLUMNS": "300"} | environ
        command = [sys.executable, "-m", "arena", *arguments]
        done = subprocess.run(command, cwd=self.folder, env=environ, capture_output=True, text=True)
        assert "Traceback" not in done.stderr, done.stderr
        return done.returncode, self.mark.exists(), done.stderr


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("trust"))
    code, imported, errors = made.run("run", "config.toml", "--out", "run", "--workers", "1")
    assert (code, imported) == (0, True), errors
    return made


FORMS = ["show", *(pytest.param(name, marks=pytest.mark.slow) for name in READERS if name != "show")]


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_who_has_played_with_a_plug_in_reads_its_runs(world, name):
    assert world.run(*READERS[name])[:2] == (0, True)


@pytest.mark.parametrize("name", FORMS)
def test_a_strangers_plug_in_is_asked_for(world, name):
    cache = world.stranger(name)
    code, imported, errors = world.run(*READERS[name], cache=cache)
    assert (code, imported) == (2, False)
    assert "test_mine_plugin" in errors and str(world.plugin) in errors and "--trust" in errors
    code, imported, errors = world.run(*READERS[name], "--trust", cache=cache)
    assert (code, imported) == (0, True), errors
    if name != "show":  # the others, which are slow
        assert world.run(*READERS[name], cache=cache)[:2] == (0, True)  # it is asked for once


def test_a_strangers_plug_in_is_asked_for_by_merge(world):
    cache = world.stranger("merging")
    assert world.run("merge", "run", "run", "--out", "both", cache=cache)[:2] == (2, False)
    assert world.run("merge", "run", "run", "--out", "both", "--trust", cache=cache)[:2] == (0, True)


def test_what_needs_the_rules_alone_imports_no_agent(tmp_path):
    """The plug-in's file may be gone, as of a run that someone sent."""
    made = World(tmp_path)
    config = tmp_path / "config.toml"
    config.write_text(config.read_text().replace("test_mine_nim", "nim"))
    assert made.run("run", "config.toml", "--out", "run", "--workers", "1")[:2] == (0, True)
    made.plugin.unlink()
    for name in ("show", "check", "pgn"):
        assert made.run(*READERS[name], cache=made.stranger(name))[:2] == (0, False), name
    for words in (["join", "run", "random", "--version", "x"], ["merge", "run", "run", "--out", "both"]):
        code, _, errors = made.run(*words)
        assert code == 2 and f"it was in {made.plugin.parent}" in errors


@pytest.mark.slow
def test_a_plug_in_that_has_changed_is_asked_for(world):
    try:
        world.plugin.write_text(world.text + "# changed\n")
        code, imported, errors = world.run(*READERS["check"])
        assert (code, imported) == (2, False) and "has changed" in errors
        assert world.run(*READERS["check"], "--trust")[:2] == (0, True)
    finally:
        world.plugin.write_text(world.text)
    assert not world.run(*READERS["check"])[1]
    assert world.run("run", "config.toml", "--out", "run", "--resume")[:2] == (0, True)  # it is named by the user
    assert world.run(*READERS["check"])[:2] == (0, True)


def test_what_needs_no_rules_needs_no_trust(world):
    cache = world.stranger("table")
    assert world.run("table", "run", cache=cache)[:2] == (0, False)


@pytest.mark.slow
def test_an_installed_plug_in_needs_no_trust(world):
    config = world.folder / "elsewhere.toml"
    config.write_text((world.folder / "config.toml").read_text().replace(str(world.plugin.parent), "/nowhere"))
    found = {"PYTHONPATH": str(world.plugin.parent)}
    assert world.run("run", "elsewhere.toml", "--out", "elsewhere", "--workers", "1", **found)[0] == 0
    assert world.run("check", "elsewhere", cache=world.stranger("installed"), **found)[:2] == (0, True)


def test_the_folder_of_a_run_is_looked_in_for_its_plug_ins_alone(tmp_path, monkeypatch):
    (tmp_path / "some_other_library.py").write_text("")
    monkeypatch.setattr(sys, "path", list(sys.path))
    trust.import_stored({"plugins": ["arena.interop"], "plugin_path": str(tmp_path)})
    assert str(tmp_path) not in sys.path


def test_run_takes_trust_for_a_stored_run_alone(world):
    code, imported, errors = world.run("run", "config.toml", "--out", "new", "--trust")
    assert (code, imported) == (2, False) and "--resume" in errors


def test_a_page_tells_no_home(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    text = f"plugin_path = \"{tmp_path}/games\"; /home/ann/a.eval; '/Users/bo/b'; {tmp_path}"
    assert from_home(text) == "plugin_path = \"~/games\"; ~/a.eval; '~/b'; ~"
    assert from_home("/homes/ann; ./home/ann; a/root/b; </a>") == "/homes/ann; ./home/ann; a/root/b; </a>"


def test_a_home_that_is_the_root_is_left_alone(monkeypatch):
    monkeypatch.setenv("HOME", "/")
    assert from_home("a / b, '/games'") == "a / b, '/games'"


def test_imported_results_name_no_plug_in():
    before = dict(trust._trusted)
    trust.trust({"plugins": []})
    trust.import_stored({"plugins": []})
    assert trust._trusted == before
