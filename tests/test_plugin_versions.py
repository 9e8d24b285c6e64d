"""Two versions of one plug-in in one run: by files, and by revisions of Git."""

import subprocess
import sys

import pytest

import arena
from arena.config.config import ConfigError
from arena.games.core.shared import plugins

SOURCE = '''
from dataclasses import dataclass
from typing import ClassVar

from arena.agents.core.agent import Agent, Decision, Player


@dataclass(frozen=True)
class {cls}(Agent):
    """Takes the move at a place."""

    name: ClassVar[str] = "placed"

    def new_player(self, game, budget):
        return PlacedPlayer(game)


class PlacedPlayer(Player):
    """Keeps nothing from move to move."""

    def __init__(self, game):
        self.game = game

    def decide(self, state, rng):
        return Decision(sorted(self.game.moves(state))[{place}])
'''


def git(folder, *words):
    name = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", "-C", folder, *name, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """mine.py with two commits: the first move, then the last; the file as it is takes the second."""
    git(tmp_path, "init", "-q")
    for number, place in enumerate((0, -1)):
        (tmp_path / "mine.py").write_text(SOURCE.format(cls="Placed", place=place))
        git(tmp_path, "add", "mine.py")
        git(tmp_path, "commit", "-q", "-m", str(number))
    (tmp_path / "mine.py").write_text(SOURCE.format(cls="Placed", place=1))
    return tmp_path


PLAY = """
import arena
if __name__ == "__main__":
    keys = dict(game="tictactoe", games=2, opening_plies=0, workers=1, plugin_path=".", out="run", resume=True)
    run = arena.run(plugins={plugins!r}, agents={agents!r}, **keys)
    print(*run.games.sort_values("id")["moves"].str.split().str[:2].str.join(" "), sep="\\n")
    print(*run.meta["config"]["plugins"], sep="\\n")
    print(*run.versions, sep="\\n")
"""


def played(folder, *named, agents):
    (folder / "play.py").write_text(PLAY.format(plugins=list(named), agents=agents))
    done = subprocess.run([sys.executable, "play.py"], cwd=folder, capture_output=True, text=True)
    return done.stdout.splitlines(), done.stderr


def test_revisions_meet_the_file_as_it_is(repository):
    named = ["mine@HEAD~1 as first", "mine.py@HEAD as last", "mine"]
    lines, errors = played(repository, *named, agents=["first_placed", "last_placed", "placed"])
    assert len(lines) == 10 and lines[9] == "", (lines, errors)  # one version of the code
    #        1v2, 1v3, 2v1, 2v3, 3v1, 3v2: the squares in order are 1a 1b 1c 2a ...
    first, second, last = "1a", "1b", "3c"
    assert [line.split()[0] for line in lines[:6]] == [first, first, last, last, second, second]
    assert all(len(line.split("@")[1].split()[0]) == 40 for line in lines[6:8]) and lines[8] == "mine"
    again, errors = played(repository, *named, agents=["first_placed", "last_placed", "placed"])
    assert again == lines, errors


@pytest.mark.slow
def test_copies_of_a_file_meet(repository):
    (repository / "copies").mkdir()
    (repository / "copies" / "mine.py").write_text(SOURCE.format(cls="Placed", place=0))
    lines, errors = played(repository, "copies/mine.py as old", "mine.py", agents=["old_placed", "placed"])
    assert [line.split()[0] for line in lines[:2]] == ["1a", "1b"], errors


@pytest.mark.parametrize("plugin, message", [
    ("mine@HEAD~1", "needs a name to tell it from the file as it is: 'mine@HEAD~1 as old'"),
    ("mine@nowhere as old", "git rev-parse --verify"),
    ("mine@--help as old", "is of no form"),
    ("mine as", "is of no form"),
    ("nothing@HEAD as old", "is no module in"),
    ("random", "random is Python's own; for a file of that name: 'random.py as mine'"),
    ("xml.dom", "xml.dom is Python's own"),
    ("json as sys", "sys is another module already"),
    ("arena.games as mine", "is a package"),
])  # fmt: skip
def test_what_is_wrong_is_told(repository, plugin, message, monkeypatch):
    monkeypatch.chdir(repository)
    monkeypatch.syspath_prepend(str(repository))
    with pytest.raises(ConfigError) as error:
        arena.run(game="tictactoe", games=2, agents=["random", "ppa"], plugins=[plugin], out=repository / "run")
    assert message in str(error.value)


def test_a_revision_does_not_move(repository, monkeypatch):
    monkeypatch.syspath_prepend(str(repository))
    first = plugins.fixed("mine@HEAD as old")
    git(repository, "commit", "-q", "-am", "more")
    assert plugins.fixed(first) == first != plugins.fixed("mine@HEAD as old")
    assert plugins.fixed("mine") == "mine"
