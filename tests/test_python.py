"""One import is enough, is quick, is typed, and is not disturbed by folders of our packages' names."""

import ast
import importlib.resources
import inspect
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import arena
import games
from agents.core.agent import registry as agent_registry
from games.core.game import registry as game_registry
from tests.arena.stored import store_run

ROOT = Path(__file__).parents[1]
PACKAGES = ("agents", "arena", "games", "results")
PATH = [*sys.path]  # before other tests add to it
SLOW = ("numba", "numpy", "pandas", "scipy", "matplotlib", "pydantic", "rich")

# as an installation with -e may be: a finder that Python asks when no folder has been found
EDITABLE = """
import importlib.util, os, sys
sys.path[:] = [place for place in sys.path if os.path.abspath(place) != {root!r}]
class Finder:
    def find_spec(name, path=None, target=None):
        if name in {packages!r}:
            return importlib.util.spec_from_file_location(name, os.path.join({root!r}, name, "__init__.py"))
sys.meta_path.append(Finder)
""".format(root=str(ROOT), packages=PACKAGES)


def python(code, folder):
    """What a Python process says that is started in the folder."""
    path = os.pathsep.join(place or os.getcwd() for place in [*PATH, str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def beside(tmp_path_factory):
    """A folder with a stored run, and with folders of the names of our packages."""
    folder = tmp_path_factory.mktemp("beside")
    store_run(folder / "run")
    for name in ("games", "agents", "results"):
        (folder / name).mkdir()
    return folder


@pytest.mark.parametrize("setup", ["", EDITABLE], ids=["plain", "editable"])
def test_folders_of_our_packages_names_disturb_nothing(setup, beside):
    lines = [
        "import arena",
        "tournament = arena.load('run')",
        "print(arena.results.render(tournament.table('standings'), 'csv').splitlines()[0])",
        "import agents, games, results",
        "assert (arena.agents, arena.games, arena.results) == (agents, games, results)",
        "print(games.make('tictactoe'), agents.make('uct(playouts=5)'), results.load)",
        "from arena.cli import app; app(['table', 'run', '--format', 'csv'])",
    ]
    done = python(setup + "\n".join(lines), beside)
    assert done.returncode == 0, done.stderr
    header, made, *table = done.stdout.splitlines()
    assert made.startswith("tictactoe uct(playouts=5) <function load")
    assert header == table[0] and header.startswith("rank,agent,") and len(table) == 4


def test_another_module_of_our_packages_name_is_named(beside, tmp_path):
    """A file that Python finds first, and a folder that it has imported before us."""
    (tmp_path / "games.py").write_text("")
    done = python("import arena", tmp_path)
    assert f"ImportError: {tmp_path / 'games.py'} hides search-arena's own package games: rename it" in done.stderr
    done = python(EDITABLE + "import results, arena", beside)
    assert f"ImportError: {beside / 'results'} hides search-arena's own package results" in done.stderr
    assert "import arena before results" in done.stderr


def test_import_arena_loads_nothing_slow(tmp_path):
    code = f"import sys, arena; dir(arena); print([name for name in {SLOW} if name in sys.modules])"
    assert python(code, tmp_path).stdout.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_lazy_names_are_there_typed_and_listed(package):
    """What a checker is told of each name is what an import gives."""
    module = importlib.import_module(package)
    assert (importlib.resources.files(package) / "py.typed").is_file()
    assert dir(module) == sorted(module.__all__) and not hasattr(module, "no_such_name")
    body = ast.parse((ROOT / package / "__init__.py").read_text()).body
    (told,) = [node.body for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    homes = {node.names[0].asname: node.module for node in told if isinstance(node, ast.ImportFrom)}
    packages = {node.names[0].asname for node in told if isinstance(node, ast.Import)}
    assert module._HOMES.items() <= homes.items() and packages == set(getattr(module, "_PACKAGES", ()))
    for name, home in module._HOMES.items():
        if not home.startswith("arena.interop."):  # which needs other libraries
            assert getattr(module, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("name, library, module", [
    ("to_pettingzoo", "pettingzoo", "pettingzoo"), ("to_openspiel", "pyspiel", "counterparts"),
    ("from_openspiel", "pyspiel", "counterparts"),
])  # fmt: skip
def test_what_needs_another_library_says_what_to_install(name, library, module, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"arena.interop.{module}", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install \w+, or the extra interop"):
        getattr(arena, name)


def functions_of(thing):
    """A function, or the public methods and properties of a class, by name."""
    if not inspect.isclass(thing):
        return {thing.__name__: thing}
    known = {name for base in thing.__mro__[1:] for name in inspect.get_annotations(base)}  # as attributes, with types
    named = {name: value for name, value in vars(thing).items() if not name.startswith("_") and name not in known}
    named = {name: getattr(value, "__func__", value) for name, value in named.items()}
    named = {name: getattr(value, "fget", getattr(value, "func", value)) for name, value in named.items()}
    return {f"{thing.__name__}.{name}": value for name, value in named.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("name", re.findall(r"^::: (\S+)", (ROOT / "docs/api.md").read_text(), re.MULTILINE))
def test_what_scripts_call_is_annotated(name):
    """Every parameter and every answer: what mypy would take for Any elsewhere."""
    if name.startswith("arena.interop."):
        pytest.importorskip("pettingzoo" if "pettingzoo" in name else "pyspiel", reason="needs the extra interop")
    module, _, last = name.rpartition(".")
    for title, function in functions_of(getattr(importlib.import_module(module), last)).items():
        takes = set(inspect.getfullargspec(function).args + inspect.getfullargspec(function).kwonlyargs)
        assert takes - {"self", "cls"} | {"return"} <= function.__annotations__.keys(), title


@pytest.fixture
def example():
    """The user's example; what it registers is forgotten."""
    from tests import user_example

    yield user_example
    del agent_registry._classes[user_example.FirstMove.name], game_registry._classes[user_example.Matches.name]


def test_the_typed_example_runs(example, tmp_path):
    assert example.play_by_hand("connect4(rows=4, columns=5)", "1 2 3").count("\n") >= 4
    decision = example.decide("tictactoe", "flat")
    assert decision.playouts == 20 and decision.move in games.make("tictactoe").moves(games.make("tictactoe").initial())
    tournament = example.compete(tmp_path / "run")
    assert len(tournament) == 4 and len(tournament.standings()) == 2
    game = arena.games.make("matches_of_the_example(matches=3)")
    assert game.is_over(game.after(game.initial(), 3))
    assert 10 <= arena.games.playouts(game, 10, seed=1).plies <= 30  # compiled, annotations and all


def test_a_run_without_a_folder_is_kept_in_a_temporary_one(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    config = {"game": "tictactoe", "games": 2, "agents": [{"agent": "random"}, {"agent": "random", "name": "other"}]}
    tournament = arena.run(config, workers=1)
    assert tournament.folder.parent == tmp_path and len(arena.load(tournament.folder)) == 2
    assert capsys.readouterr().err == f"The run is stored in {tournament.folder}, a new temporary folder.\n"
    with pytest.raises(ValueError, match="resume = True needs out"):
        arena.run(config, resume=True)
    assert len(list(tmp_path.iterdir())) == 1
