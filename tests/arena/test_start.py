"""How commands start: what they do not import, since that takes longer than what they do, and what the index is for."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from arena import agents, games
from arena.agents.core.agent import Agent, Budget
from arena.agents.core.agent import registry as agent_registry
from arena.commands.playing import _modules_of
from arena.config.config import Seat
from arena.config.loading import from_values
from arena.games.core.game import registry as game_registry
from arena.games.core.shared import cache
from arena.workers import compiled
from arena.workers.crew import Crew
from arena.workers.starting import modules_of
from arena.workers.warmer import Warmer
from tests.arena.stored import store_run

NUMBA = ("numba", "arena.games.core.jit")
TABLES = ("pandas", "pyarrow", "arena.results.shown.tables")
SLOW = ("scipy.optimize", "scipy.stats", "scipy.sparse", "matplotlib", "asyncio", "distributed", "IPython")
OTHERS = (
    "arena.games.go",
    "arena.games.chess",
    "arena.agents.proof.pdspn",
    "arena.agents.nested.nrpa",
)  # games and agents that are not named
TYPED = """
import json, os, sys
from arena.__main__ import main
for words, variables in json.loads(sys.argv[1]):
    sys.argv = ["arena", *words]
    os.environ.update(variables)
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
    for name in variables:
        del os.environ[name]
    print("\\nimported", *sorted(sys.modules))
"""
PLAYED = ("run", "--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=3)", "--games", "2", "--out")
BEGUN = ("solve conn", "solve connect4(", "run --agent uct(", "run --game hex(si", "table s")
NOTHING = {*NUMBA, *TABLES, *SLOW, *OTHERS, "numpy"}
# The commands of a process, one after the other, and what none has imported when it ends: nor has one before it.
PROCESSES = [
    [
        (["--help"], NOTHING),
        (["run", "--help"], NOTHING),
        *((f"{words}\t", NOTHING) for words in BEGUN),
        (["status", "stored"], {*NUMBA, *SLOW, *OTHERS}),
        (["table", "stored"], {*NUMBA, *SLOW, *OTHERS}),
    ],
    [
        (["list", "games", "connect4"], {*TABLES, *SLOW, *OTHERS}),
        (["list", "agents", "uct"], {*TABLES, *SLOW, *OTHERS}),
        (["solve", "tictactoe"], {*TABLES, *SLOW, *OTHERS}),
        ([*PLAYED, "new"], {*SLOW, *OTHERS}),
    ],
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a stored run, and with the indices of all games and agents."""
    folder = tmp_path_factory.mktemp("start")
    store_run(folder / "stored")
    imported(folder, ["list", "games"], ["list", "agents"])
    return folder


def imported(place, *commands):
    """What a process has imported at the end of each of these commands: words, or text with TAB pressed after it."""
    path = {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}
    kept = {"ARENA_CACHE_DIR": os.environ.get("ARENA_CACHE_DIR", "")}
    asked = {"_ARENA_COMPLETE": "complete_fish", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    typed = [
        ([], asked | {"_TYPER_COMPLETE_ARGS": f"arena {words.rstrip()}"}) if isinstance(words, str) else (words, {})
        for words in commands
    ]
    done = subprocess.run(
        [sys.executable, "-c", TYPED, json.dumps(typed)],
        capture_output=True,
        text=True,
        cwd=place,
        env=os.environ | path | {name: value for name, value in kept.items() if value},
    )
    assert done.returncode == 0, done.stderr
    return [set(line.split()[1:]) for line in done.stdout.splitlines() if line.startswith("imported ")]


@pytest.mark.parametrize("commands", [
    pytest.param(PROCESSES[0], id="before the compiler", marks=pytest.mark.slow),
    pytest.param(PROCESSES[1], id="with it", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_command_imports_what_it_needs(place, commands):
    """And a completion nothing that is slow."""
    found = imported(place, *(words for words, _ in commands))
    assert len(found) == len(commands)
    for (words, not_needed), modules in zip(commands, found):
        assert (words, sorted(not_needed & modules)) == (words, [])


# -- What workers are given ------------------------------------------------------------------------------------------

RUN = {"game": "tictactoe", "games": 2, "agents": [{"agent": "random"}, {"agent": "flat(playouts=3)"}]}
MODULES = ["arena.agents.montecarlo.flat", "arena.agents.random", "arena.games.tictactoe"]


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder of its own for what is kept beside kernels, with the indices of games and agents."""
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path / "kept"))
    for registry in (game_registry, agent_registry):
        registry._keep_index()
    return tmp_path / "kept"


def test_the_fork_server_loads_the_modules_of_the_run(kept, tmp_path):
    several = RUN | {"instances": ["hex(size=5)", "tictactoe"], "game": None}
    assert sorted(modules_of(RUN)) == MODULES and sorted(modules_of(several)) == sorted([*MODULES, "arena.games.hex"])
    assert modules_of({"game": 5, "instances": "x", "agents": [5, {"agent": "no_such"}, {}]}) == []
    (tmp_path / "run.toml").write_text('game = "tictactoe"\n[[agents]]\nagent = "random"\n')
    assert sorted(_modules_of(tmp_path / "run.toml")) == MODULES[1:]
    (tmp_path / "run.toml").write_text("game =")
    assert _modules_of(tmp_path / "run.toml") == _modules_of(tmp_path / "none.toml") == []
    for path in kept.iterdir():
        path.unlink()
    assert modules_of(RUN) == []


def test_a_configuration_that_is_a_pipe_is_not_read_beforehand(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert _modules_of(tmp_path / "pipe") == []


class Children:
    """A run's warmer that counts the processes it starts."""

    def __init__(self, config):
        self.told, log = [], SimpleNamespace(of_worker=lambda *record: None)
        tell = (lambda name: None), (lambda name, *_: self.told.append(name)), print
        self.crew = Crew()
        self.warmer = Warmer(self.crew, config, log, 2, *tell)

    def run(self):
        with self.crew:
            assert not self.warmer.run()
        return sorted(self.told)


@pytest.mark.slow
def test_what_is_compiled_is_not_looked_for_by_children(kept):
    config = from_values(RUN)
    assert Children(config).run() == ["flat(playouts=3)", "random"]
    assert Children(config).run() == []
    other = from_values(RUN | {"agents": [{"agent": "random"}, {"agent": "flat(playouts=4)"}]})
    assert Children(other).run() == ["flat(playouts=4)"]
    assert Children(from_values(RUN | {"game": "nim"})).run() == ["flat(playouts=3)", "random"]
    for path in cache.files(cache.folder()):
        path.unlink()
    assert Children(config).run() == ["flat(playouts=3)", "random"]


def test_what_decides_which_kernels_are_run_is_told_apart(kept, monkeypatch):
    game, other = games.make("tictactoe"), games.make("nim")
    uct = agents.make("uct")
    seats = [Seat("one", uct, Budget(playouts=5)), Seat("two", uct, Budget(seconds=0.1)), Seat("three", uct, Budget())]
    compiled.note_compiled(seats[:1], [game])
    assert compiled.left([*seats, Seat("", uct, Budget(playouts=9)), seats[1]], [game]) == [1, 2]
    assert compiled.left(seats, [other]) == compiled.left(seats, [game, other]) == [0, 1, 2]
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert compiled.left(seats, [game]) == [0, 1, 2]


@dataclass(frozen=True)
class Raising(Agent):
    """Cannot play."""

    name = "test_raising"

    def new_player(self, game, budget):
        raise RuntimeError("no player today")


def test_an_agent_that_fails_is_compiled_again_and_an_outside_program_asked_again(kept):
    failing = RUN | {"agents": [{"agent": "test_raising"}, {"agent": "random"}]}
    assert Children(from_values(failing)).run() == ["random", "test_raising"]
    assert Children(from_values(failing)).run() == ["test_raising"]
    program = Seat("program", agents.make("external(command='cat')"), Budget())
    compiled.note_compiled([program], [games.make("tictactoe")])
    assert compiled.left([program], [games.make("tictactoe")]) == [0]


def started(*words, until):
    """The command, when it has imported a module; lines come with each import."""
    command = [sys.executable, "-X", "importtime", "-m", "arena", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    for line in process.stderr:
        if line.rstrip().endswith(f" {until}"):
            return process
    raise AssertionError(f"{until} is not imported")


@pytest.mark.parametrize("until", ["arena.commands.options", "arena.commands.application", "numpy"])
def test_an_interrupt_of_the_imports_leaves_no_traceback(until, tmp_path):
    words = "run", "--game", "nim", "--agent", "random", "--agent", "flat(playouts=9)", "--out", str(tmp_path / "run")
    process = started(*words, until=until)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert "Traceback" not in said and "KeyboardInterrupt" not in said
    assert process.returncode == (-signal.SIGINT if until.startswith("arena") else 130)


def test_an_interrupt_of_an_exec_has_the_exit_code_of_others(tmp_path):
    """Python would end by SIGINT, though the command has said that it was interrupted."""
    (tmp_path / "interrupted.py").write_text("exec('raise KeyboardInterrupt')")
    command = [sys.executable, "-m", "arena", "check-agent", str(tmp_path / "interrupted.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "arena: interrupted\n")
