"""Games and agents of other packages: the template, built and installed; plug-ins that fail; `--plugin`."""

import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import setuptools
import typer

from arena import agents, games
from arena.cli import app
from arena.games.core.checks.conformance import ConformanceError
from arena.games.core.shared import plugins
from arena.games.core.shared.registry import Registry
from tests.typed import call

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that the template is installed in."""
    if int(setuptools.__version__.split(".")[0]) < 77:
        pytest.skip("setuptools before 77 cannot build what needs no other package: pip install -U setuptools")
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder)]
    source = tmp_path_factory.mktemp("source")  # building writes into it
    for path in (ROOT / "docs/plugin").rglob("*"):
        if path.is_file() and path.suffix in (".py", ".toml"):
            (source / path.relative_to(ROOT / "docs/plugin")).parent.mkdir(exist_ok=True)
            (source / path.relative_to(ROOT / "docs/plugin")).write_bytes(path.read_bytes())
    result = subprocess.run([*command, str(source)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return folder


def python(folder, code, *arguments):
    """What a process prints that finds packages in the folder."""
    path = os.pathsep.join([str(folder), str(ROOT)])
    result = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


PLAY = """
from arena import agents, games
from arena.cli import app
game = games.make("euclid(first=5)")
agents.check(agents.make("stingy"), game, seed=1)
app(["list", "agents", "--json"])
"""


@pytest.mark.slow
def test_the_template_is_found_and_plays(installed):
    assert {row["name"] for row in json.loads(python(installed, PLAY))} >= {"stingy", "uct"}


RUN = """
import sys, games, arena
if __name__ == "__main__":
    games.check(games.make("euclid"), seed=1)
    agents = [{"agent": "stingy"}, {"agent": "random"}]
    played = arena.run({"game": "euclid", "games": 4, "agents": agents}, sys.argv[1], workers=2)
    assert set(played.games["reason"]) == {"played out"}
    print(played.meta["machine"]["plugins"])
"""


@pytest.mark.slow
def test_the_template_in_a_run(installed, tmp_path):
    """Workers find it by themselves, and its version and sources are stored."""
    told = python(installed, RUN, str(tmp_path / "run"))
    assert told.count("arena-template 0.1.0") == 1 and "sources" in told


# -- Plug-ins that fail ----------------------------------------------------------------------------------------------


def test_a_plugin_that_fails_is_told_of_and_ends_nothing(tmp_path, monkeypatch):
    (tmp_path / "breaks_of_this_test.py").write_text("raise ValueError('not today')\n")
    for name, taken in (("takes", "go"), ("doubles", "chess"), ("brings", "chess")):
        (tmp_path / f"{name}_of_this_test.py").write_text(
            "from tests.test_plugins import kept\n"
            f"class New:\n    name = 'new_of_{name}'\n"
            f"class Taken:\n    name = '{taken}'\n"
            "kept[0].add(New); kept[0].add(Taken)\n"
        )
    monkeypatch.syspath_prepend(tmp_path)
    modules = [f"{name}_of_this_test" for name in ("breaks", "brings", "doubles", "takes")]
    found = [EntryPoint(module, module, "search_arena.games") for module in modules]
    monkeypatch.setattr(plugins, "points", lambda package: found)
    registry = Registry("game", "arena.games.core", _classes={"go": games.Game})
    kept[:] = [registry]
    assert registry.classes()["go"] is games.Game
    assert registry.classes()["chess"].__module__ == "brings_of_this_test"
    assert registry.classes().keys() == {"chess", "go", "new_of_brings"}
    files = {
        name: f"{name}_of_this_test ({tmp_path}/{name}_of_this_test.py)" for name in ("brings", "doubles", "takes")
    }
    assert registry.broken == [
        "breaks_of_this_test cannot be imported: ValueError: not today",
        f"doubles_of_this_test cannot be imported: SpecError: {files['doubles']} defines game 'chess', a name that "
        f"{files['brings']} has: give it another name",
        f"takes_of_this_test cannot be imported: SpecError: {files['takes']} defines game 'go', a name that "
        "arena.games.core.game has: give it another name",
    ]
    with pytest.raises(games.SpecError, match=r"unknown game .checkers..*\nplug-in breaks_of_this_test cannot be"):
        registry.make("checkers")


kept = []  # the registry of the test above


# -- The option ------------------------------------------------------------------------------------------------------


def test_every_command_that_takes_a_game_or_an_agent_takes_plugins():
    commands = typer.main.get_command(app).commands
    for group in ("cache", "list", "study"):
        commands |= {f"{group} {name}": command for name, command in commands[group].commands.items()}
    takers = {
        "bench",
        "cache warm",
        "check-agent",
        "check-engine",
        "exercise",
        "grade",
        "lab",
        "play",
        "run",
        "serve-agent",
    }
    takers |= {
        "join",
        "study schemes",
        "evaluate",
        "import",
        "learn",
        "perft",
        "solve",
        "study proof",
        "study solvers",
        "tablebase",
        "tree",
    }
    assert {n for n, c in commands.items() if {"game", "agent"} & {p.name for p in c.params}} == takers
    listing = {"plan", "list agents", "list games", "list learners"}
    assert {n for n, c in commands.items() if "plugin" in {p.name for p in c.params}} == takers | listing


def test_plugins_are_imported_here_and_in_workers(monkeypatch):
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    result = call("solve", "test_nim(heap=4)", "--agent", "no_such", "--plugin", "tests.arena.oddities")
    assert result.exit_code == 2 and "unknown agent 'no_such'" in result.stderr and "test_wide" in result.stderr
    assert plugins.VARIABLE not in os.environ  # no longer
    result = call("solve", "tictactoe", "--plugin", "no.such")
    assert result.exit_code == 2 and "no.such: ModuleNotFoundError" in result.stderr
    monkeypatch.setenv(plugins.VARIABLE, "")
    plugins.add_named(["tests.heap"], ".")
    assert plugins.named() == ["tests.heap"] and json.loads(os.environ[plugins.VARIABLE]) == [
        [os.getcwd(), "tests.heap"]
    ]


AGENT = """from dataclasses import dataclass
from arena.agents.core.agent import Agent, Decision, Player
class First(Player):
    def __init__(self, game): self.game = game
    def decide(self, state, rng): return Decision(self.game.moves(state)[0])
@dataclass(frozen=True)
class Student(Agent):
    name = "{name}"
    def new_player(self, game, budget): return First(game)
"""


def test_plugins_of_two_folders_are_found_in_workers(tmp_path, monkeypatch):
    monkeypatch.setenv(plugins.VARIABLE, "")
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("ann", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}_of_this_test.py").write_text(AGENT.replace("{name}", f"{name}_of_this_test"))
        plugins.add_named([f"{name}_of_this_test"], str(tmp_path / name))
    code = "from arena import agents; print(agents.make('ann_of_this_test'), agents.make('ben_of_this_test'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["ann_of_this_test", "ben_of_this_test"], done.stderr


@pytest.mark.parametrize("order", [("ann", "ben"), ("ben", "ann")])
def test_two_plugins_with_one_name_are_refused(order, tmp_path):
    """In either order: a run must not depend on it."""
    for name in order:
        (tmp_path / f"{name}.py").write_text(AGENT.replace("{name}", "student"))
    words = [word for name in order for word in ("--plugin", name)]
    command = [sys.executable, "-m", "arena", "run", "--game", "nim", "--agent", "student", "--agent", "random", *words]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(ROOT)}, cwd=tmp_path, capture_output=True, text=True
    )
    told = "".join(done.stderr.split())
    assert done.returncode == 2 and "definesagent'student'" in told
    assert all(f"{tmp_path}/{name}.py" in told for name in order) and not (tmp_path / "runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize("with_index", [True, False])
def test_a_plugin_that_takes_a_name_of_ours_is_refused(with_index, tmp_path):
    """Whichever is found first, and whether or not it is known where ours is."""
    (tmp_path / "taker_of_this_test.py").write_text(
        "from dataclasses import dataclass\nfrom arena.games import Game\n\n"
        "@dataclass(frozen=True)\nclass Mine(Game):\n    name = 'nim'\n"
    )
    kept_in = tmp_path / "cache"
    environment = {**os.environ, "ARENA_CACHE_DIR": str(kept_in)}
    arena = [sys.executable, "-m", "arena"]
    if with_index:
        subprocess.run([*arena, "list", "games"], env=environment, capture_output=True, check=True)
        assert list(kept_in.rglob("*names-arena.games*"))
    for game in ("nim", "tictactoe"):
        command = [
            *arena,
            "run",
            "--game",
            game,
            "--agent",
            "random",
            "--agent",
            "flat",
            "--plugin",
            "taker_of_this_test",
        ]
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
        message = " ".join(done.stderr.split())
        assert done.returncode == 2
        assert "taker_of_this_test.py) defines game 'nim', a name that arena.games.nim has: give it another" in message


# -- agents.check ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spec, game",
    [
        ("random", "pig(target=10, horizon=20)"),
        ("random", "tictactoe"),
        ("flat(playouts=20)", "tictactoe"),
        pytest.param("flat(seconds=0.001)", "tictactoe", marks=pytest.mark.slow),
    ],
)
def test_sound_agents_pass(spec, game, monkeypatch):
    monkeypatch.setattr("arena.agents.core.agent_check.LATE", 60.0)
    agents.check(agents.make(spec), games.make(game), seed=1)


@pytest.mark.parametrize(
    "how, message",
    [
        ("float", "answers 1.0, which is no legal move"),
        ("range", "answers 99, which is no legal move"),
        ("write", "changes the state that it is given"),
        ("value", "must be real number"),
    ],
)
def test_odd_agents_do_not(how, message):
    import tests.arena.oddities  # noqa: F401

    with pytest.raises((ConformanceError, TypeError), match=message):
        agents.check(agents.make(f"test_odd(how={how!r})"), games.make("tictactoe"), seed=1)
    with pytest.raises(agents.Unsuited):
        agents.check(agents.make("external"), games.make("tictactoe"), seed=1)
