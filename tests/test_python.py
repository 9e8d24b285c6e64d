"""One import is enough, is quick, is typed, and is not disturbed by folders of our packages' names."""

import ast
import importlib.resources
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import arena
from arena import games
from arena.agents.core.agent import registry as agent_registry
from arena.games.core.game import registry as game_registry
from tests.arena.stored import store_run

ROOT = Path(__file__).parents[1]
PACKAGES = ("arena", "arena.agents", "arena.games", "arena.results")
PATH = [*sys.path]  # before other tests add to it
SLOW = ("numba", "numpy", "pandas", "scipy", "matplotlib", "pydantic", "rich")


def python(code, folder, **variables):
    """What a Python process says that is started in the folder."""
    path = os.pathsep.join(place or os.getcwd() for place in [*PATH, str(ROOT)])
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env=os.environ | variables | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_packages_of_other_people_keep_their_names(tmp_path):
    """Such as OpenAI's `agents`, or a folder `results` beside a script: they do not disturb ours, nor do we them."""
    store_run(tmp_path / "run")
    (tmp_path / "results").mkdir()
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "__init__.py").write_text("whose = 'theirs'\n")
    lines = [
        "import agents, arena",
        "from agents import whose",
        "print(whose, arena.agents.make('uct(playouts=5)'), arena.results.load('run').standings().shape)",
        "from arena.cli import app; app(['list', 'agents', 'uct'])",
    ]
    done = python("\n".join(lines), tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("theirs uct(playouts=5) (3, "), done.stderr
    assert not done.stderr


def test_a_folder_of_ones_own_without_a_front_is_imported(tmp_path):
    """By Python's own rule: a package anywhere in the path comes before it, and none of ours is there."""
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "mine.py").write_text("whose = 'mine'\n")
    path = f"sys.path[:] = [each for each in sys.path if each != {str(ROOT)!r}]"
    code = f"import arena, sys; {path}; from agents.mine import whose; from arena.agents import Random; print(whose)"
    done = python(code, tmp_path)
    assert done.stdout == "mine\n" and not done.stderr


def test_every_package_is_declared():
    """And where its folder lies, so that a wheel needs no links."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    homes = {"arena": "arena", **declared["package-dir"]}
    fronts = [path for top in PACKAGES for path in (ROOT / homes[top]).rglob("__init__.py")]
    folders = [".".join(path.relative_to(ROOT).parts[:-1]) for path in fronts]
    names = {name if name.partition(".")[0] == "arena" else f"arena.{name}" for name in folders}
    assert sorted(declared["packages"]) == sorted(names)


@pytest.mark.parametrize("change", ["sys.byteorder = 'big'", "struct.calcsize = lambda letters: 4"])
def test_another_kind_of_processor_is_refused_in_a_sentence(change):
    code = f"import struct, sys\n{change}\nimport arena"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert told.returncode == 1 and told.stderr.splitlines()[-1].startswith("ImportError: search-arena needs"), told


@pytest.mark.slow
def test_a_wheel_of_sources_whose_links_have_become_text_is_whole(tmp_path):
    """As in a zip from the web, and on systems without links."""
    for name in ("games", "agents", "results", "arena"):
        shutil.copytree(ROOT / name, tmp_path / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("games", "agents", "results"):
        (tmp_path / "arena" / name).unlink()
        (tmp_path / "arena" / name).write_text(f"../{name}")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", "out", "."]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (wheel,) = (tmp_path / "out").iterdir()
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("arena/")}
    ours = [path for path in (ROOT / "arena").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(ROOT).as_posix() for path in ours}
    for name in ("games", "agents", "results"):
        wanted |= {f"arena/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / name).rglob("*.py")}
    assert packed >= wanted and {"arena/games/chess.py", "arena/results/papers/paper.mplstyle"} <= packed


def test_import_arena_loads_nothing_slow(tmp_path):
    code = f"import sys, arena; dir(arena); print([name for name in {SLOW} if name in sys.modules])"
    assert python(code, tmp_path).stdout.strip() == "[]"


@pytest.mark.parametrize("package", PACKAGES)
def test_lazy_names_are_there_typed_and_listed(package):
    """What a checker is told of each name is what an import gives."""
    module = importlib.import_module(package)
    assert (importlib.resources.files(package) / "py.typed").is_file()
    assert dir(module) == sorted(module.__all__) and not hasattr(module, "no_such_name")
    body = ast.parse(Path(module.__file__).read_text()).body
    (told,) = [node.body for node in body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    homes = {node.names[0].asname: node.module for node in told if isinstance(node, ast.ImportFrom)}
    assert {**module._HOMES, **dict.fromkeys(getattr(module, "_PACKAGES", ()), "arena")}.items() <= homes.items()
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


@pytest.mark.parametrize("package, registry", [(arena.games, game_registry), (arena.agents, agent_registry)])
def test_classes_can_be_imported_from_their_package_and_checkers_know_them(package, registry):
    text = Path(package.__file__).read_text()
    ours = [cls for cls in registry.classes().values() if cls.__module__.startswith(package.__name__)]
    assert len(ours) > 30
    for cls in ours:
        assert getattr(package, cls.__name__) is cls
        assert f"from {cls.__module__} import {cls.__name__} as {cls.__name__}\n" in text, "add it to TYPE_CHECKING"


@pytest.mark.slow
def test_a_script_that_waits_for_the_compiler_is_told(tmp_path):
    lines = [
        "from arena.games.core.jit import announcing",
        "announcing.PATIENCE = 0.001",
        "from arena import games",
        "print(games.playouts(games.make('tictactoe'), 5, seed=1).wins >= 0)",
    ]
    done = python("\n".join(lines), tmp_path, ARENA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "True\n" and "compiling arena.games.core." in done.stderr
    done = python("\n".join(lines), tmp_path, ARENA_CACHE_DIR=str(tmp_path))
    assert done.stdout == "True\n" and "compiling arena.games.core." not in done.stderr  # it is kept


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
    module, _, last = name.rpartition(".")
    home = pytest.importorskip(module) if module.startswith("arena.interop.") else importlib.import_module(module)
    for title, function in functions_of(getattr(home, last)).items():
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
