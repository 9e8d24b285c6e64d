"""A run whose code has changed: refused on resuming, or said below every table."""

import sys

import pytest
from typer.testing import CliRunner

import arena
from arena import agents, results
from arena.agents.core.agent import registry as agent_registry
from arena.agents.montecarlo.uct import UCT
from arena.cli import app
from arena.config.config import ConfigError
from arena.study import schemes
from arena.workers.codes import is_ours

PLUGIN = """
import threading
from arena.agents.core.agent import Decision
from arena.agents.random import Random, RandomPlayer

TABLE = {table}
GUARD = threading.Lock()


class Edited(Random):
    name = "test_edited"

    def new_player(self, game, budget):
        return EditedPlayer(game)


class EditedPlayer(RandomPlayer):
    def decide(self, state, rng):
        with {guard}:
            return Decision(self.game.moves(state)[TABLE[0]])
"""


def write(folder, table="[0]", guard="memoryview(b'')"):
    (folder / "test_versions_plugin.py").write_text(PLUGIN.format(table=table, guard=guard))


def play(folder, games=None, **options):
    """Play in this process, with the plug-in as it is now."""
    sys.modules.pop("test_versions_plugin", None)
    keys = {"game": "nim", "agents": ["random", "test_edited"], "plugins": ["test_versions_plugin"]}
    keys |= {"games": games} if games else {}
    return arena.run(keys | {"plugin_path": str(folder)}, folder / "run", workers=1, **options)


@pytest.fixture(scope="module")
def two_versions(tmp_path_factory):
    """A folder with a run that two versions of an agent have played."""
    place = tmp_path_factory.mktemp("versions")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])
        write(place)
        play(place, 2)
        write(place, "[-1]")
        play(place, 4, resume=True, changed=True)
    return place


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_other_code_does_not_go_on_without_a_word(folder):
    """And then as another agent: one name has one code."""
    write(folder)
    assert play(folder, 4).versions == []
    write(folder, "[-1]")
    with pytest.raises(ConfigError, match=r"the code of test_edited has changed .*changed=True"):
        play(folder, 8, resume=True)
    before = results.load(folder / "run").games
    assert len(before) == 4
    played = play(folder, 8, resume=True, changed=True)
    [note] = played.versions
    assert note.startswith("Two versions of the code played: from stored game 5 on") and note in played.notes()
    assert note.endswith("From there on test_edited is test_edited (2).")
    assert [agent["name"] for agent in played.agents] == ["random", "test_edited", "test_edited (2)"]
    assert (
        played.games.iloc[:4].equals(before) and "test_edited" not in played.games.iloc[4:][["first", "second"]].values
    )
    standings = played.standings().set_index("agent")
    assert standings["games"].to_dict() == {"random": 8, "test_edited": 4, "test_edited (2)": 4}
    again = play(folder, 10, resume=True)  # the same code again asks for nothing
    assert (
        again.versions == [note] and (again.games.iloc[8:][["first", "second"]] == "test_edited (2)").any(axis=1).all()
    )
    write(folder, "[0]")
    with pytest.raises(ConfigError):
        play(folder, 12, resume=True)
    assert len(play(folder, 10, resume=True).games) == 10  # with nothing left to play
    third = play(folder, 12, resume=True, changed=True)
    assert third.agents[-1]["name"] == "test_edited (3)" and len(third.versions) == 2
    done = CliRunner().invoke(app, ["check", str(folder / "run")])
    assert done.exit_code == 0, done.output


def test_ours_is_only_what_is_ours_to_its_last_part(tmp_path, registries):
    class Mine(UCT):
        name = "test_mine_uct"

    Mine.__module__ = "test_mine"
    agent_registry.add(Mine)
    ours = {
        "uct(playouts=2)": True,
        "root(search='uct(exploration=0.3)')": True,
        "test_mine_uct": False,
        "root(search='test_mine_uct')": False,
        "external(command='./x')": False,
        "uct(playouts=2, book='a.book')": False,
    }
    try:
        assert {text: is_ours(agents.make(text)) for text in ours} == ours
    finally:
        agent_registry._classes.pop("test_mine_uct")


@pytest.mark.parametrize("format", ["sprt", "swiss", "knockout", "matches"])
def test_formats_that_go_by_results_have_no_second_agent(folder, format, monkeypatch):
    write(folder)
    keys = {"matches": [["random", "test_edited", 0, 4]]} if format == "matches" else {"games": 8}
    keys |= {"sprt": {"elo0": 0, "elo1": 400}} if format == "sprt" else {}

    class Stop(arena.Events):
        def finished(self, record):
            raise KeyboardInterrupt

    with pytest.raises((KeyboardInterrupt, arena.Interrupted)):
        play(folder, format=format, events=Stop(), **keys)
    write(folder, "[-1]")
    with pytest.raises(ConfigError, match="two codes are two agents, of which"):
        play(folder, format=format, resume=True, changed=True, **keys)
    write(folder, "[0]")
    assert play(folder, format=format, resume=True, **keys).versions == []


@pytest.mark.parametrize(
    "words",
    [["table"], ["table", "--format", "csv"], ["table", "--format", "latex"], ["table", "--kind", "games"], ["status"],
     ["export"], ["elo"], ["report"]],
)  # fmt: skip
def test_every_reader_says_so(two_versions, words, monkeypatch, undrawn):
    monkeypatch.setattr(sys, "path", [*sys.path])
    folder = two_versions
    command, *more = words
    done = CliRunner().invoke(app, [command, str(folder / "run"), *more])
    said = (folder / "run" / "report.html").read_text() if command == "report" else done.output
    assert done.exit_code == 0 and "Two versions of the code played" in " ".join(said.split())


def test_what_no_digest_covers_is_said_when_a_run_begins(folder):
    told = []

    class Listening(arena.Events):
        def trouble(self, text):
            told.append(text)

    write(folder, guard="GUARD")
    play(folder, 2, events=Listening())
    assert any("not noticed when the run is resumed: test_versions_plugin.EditedPlayer.decide: lock" in t for t in told)


def test_a_study_says_so(tmp_path):
    keys = {"game": "nim(heaps=[2, 3])", "schemes": ["root(workers=2)"], "playouts": 4, "games": 2}
    arena.schemes(out=tmp_path / "study", **keys)
    assert schemes.versions(tmp_path / "study") == []
    from arena.results.database.store import Store

    with Store.open(tmp_path / "study", write=True) as store:
        store.set_meta("versions", [{"digest": "a", "games": 0}, {"digest": "b", "games": 2}])
    [said] = schemes.versions(tmp_path / "study")
    assert "from stored game 3 on" in said
    done = CliRunner().invoke(app, ["table", str(tmp_path / "study")])
    assert said.split(": ", 1)[1][:40] in " ".join(done.output.split())
