"""The command line, as a user types it: what it prints, what it leaves, and its exit codes."""

import errno
import json
import multiprocessing
import os
import pkgutil
import re
import shlex
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from arena import agents, games, results
from arena.cli import app
from arena.commands import options
from arena.commands.application import Panel, _reporting_errors
from arena.games.core.shared.errors import UserError
from arena.play import warming
from arena.study import kernel_cache
from tests.typed import call

CONFIG = """
game = "connect4(rows=4, columns=5)"
games = {games}
opening_plies = 2
seed = 7
budget = {{ playouts = {playouts} }}

[[agents]]
agent = "uct"
name = "tree"

[[agents]]
agent = "flat(playouts=20)"

[[agents]]
agent = "{third}"
name = "third"

[[agents]]
agent = "random"
"""
LONG = {"playouts": 2000, "third": "alphabeta(depth=2)"}


def arena(*arguments, cache=None, **options):
    """A process that runs the command, with compiled code in a folder of its own or the usual one; what it said."""
    command = [sys.executable, "-m", "arena", *map(str, arguments)]
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=environment() | ({"ARENA_CACHE_DIR": str(cache)} if cache else {}),
        **options,
    )


def environment():
    return os.environ | {"PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cli")
    (place / "t.toml").write_text(CONFIG.format(games=10, playouts=30, third="random"))
    return place


@pytest.fixture(scope="module")
def played(folder):
    """A run of which nothing has been compiled, and what the command said."""
    done = arena("run", folder / "t.toml", "--out", folder / "run", "--workers", 2, cache=folder / "kernels")
    assert done.returncode == 0, done.stderr
    return folder / "run", done


def test_a_run_says_how_it_goes_and_what_to_do_next(played):
    run, done = played
    assert "4 agents, 10 games for each pair" in done.stderr and "60 of 60 games stored" in done.stderr
    assert "  kernels of tree: " in done.stderr and "  kernels of random: " not in done.stderr  # which has few
    assert done.stdout.splitlines()[0].split()[:2] == ["rank", "agent"] and "tree" in done.stdout
    assert f"arena table {run} --kind crosstable" in done.stderr and f"arena plot {run} ratings" in done.stderr


def test_an_existing_run_is_refused_and_resumed_when_asked(played, folder):
    run, _ = played
    before = call("table", run, "--kind", "games", "--format", "csv").stdout
    refused = call("run", folder / "t.toml", "--out", run)
    assert refused.exit_code == 2 and "--resume" in refused.stderr and "Traceback" not in refused.stderr
    resumed = call("run", "--out", run, "--resume")
    assert resumed.exit_code == 0 and "60 of 60 games are stored already" in resumed.stderr
    assert call("table", run, "--kind", "games", "--format", "csv").stdout == before


def test_a_run_is_given_more_games_when_it_is_resumed(tmp_path):
    begin = "run", "--out", tmp_path / "run"
    assert (
        call(*begin, "--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=2)", "-n", 4).exit_code == 0
    )
    assert call(*begin, "--resume", "--games", 6).exit_code == 0
    assert len(results.load(tmp_path / "run")) == 6
    for count, why in ((4, "games"), (0, "games = 0")):
        refused = call(*begin, "--resume", "--games", count)
        assert refused.exit_code == 2 and why in refused.stderr
    assert len(results.load(tmp_path / "run")) == 6


@pytest.mark.parametrize("kind", ["standings", "crosstable", "pairs", "games", "moves", "win_rates"])
@pytest.mark.parametrize("format", ["text", "csv", "markdown", "latex", "html", "json"])
def test_every_table_in_every_format(played, kind, format):
    result = call("table", played[0], "--kind", kind, "--format", format)
    assert result.exit_code == 0 and result.stderr == ""
    assert "tree" in result.stdout and "nan" not in result.stdout.lower()


def test_tables_are_written_to_files_whole(played, tmp_path):
    path = tmp_path / "games.parquet"
    assert call("table", played[0], "--kind", "games", "--format", "parquet", "--output", path).exit_code == 0
    assert len(pd.read_parquet(path)) == 60
    assert call("table", played[0], "--format", "json", "--output", tmp_path / "s.json").exit_code == 0
    rows = json.loads((tmp_path / "s.json").read_text())
    assert [row["rank"] for row in rows] == [1, 2, 3, 4] and sum(row["games"] for row in rows) == 120
    failed = call("table", played[0], "--output", tmp_path / "none" / "x.csv")
    assert failed.exit_code == 2 and "x.csv: cannot be written" in failed.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["games.parquet", "s.json"]


def test_a_table_is_no_picture(played, tmp_path):
    refused = call("table", played[0], "--kind", "pairs", "--output", tmp_path / "x.svg")
    assert refused.exit_code == 2 and "a table is text; arena plot draws figures" in refused.stderr
    assert not (tmp_path / "x.svg").exists()


class Told(UserError):
    """What a module that the project does not know may raise."""


@pytest.mark.parametrize(
    "words, holds",
    [
        (["report", "."], "html"),
        (["show", "."], "svg"),
        (["tree", "tictactoe"], "svg"),
        (["plan", "vacuum"], "svg"),
        (["study", "archive", "."], "zip"),
    ],
)
@pytest.mark.parametrize("name", ["x.pdf", "x.PNG", "x.tar.gz"])
def test_a_file_is_not_written_under_the_name_of_another_format(words, holds, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, [*words, "--output", name])
    assert done.exit_code == 2 and f"would hold {holds.upper()}: name it x." in " ".join(done.output.split()), (
        done.output
    )
    assert not list(tmp_path.iterdir())


def test_any_user_error_is_told_in_a_line(monkeypatch):
    def fail(*_):
        raise Told("say it differently")

    monkeypatch.setattr("arena.results.load", fail)
    result = call("table", "none")
    assert (result.exit_code, result.stderr, result.stdout) == (2, "arena: say it differently\n", "")


def test_show_draws_the_game(played):
    rows = json.loads(call("table", played[0], "--kind", "games", "--format", "json").stdout)
    result = call("show", played[0], rows[0]["id"])
    assert result.exit_code == 0
    assert f"Game {rows[0]['id']} of connect4(rows=4, columns=5)" in result.stdout
    assert "1  2  3  4  5" in result.stdout and ("wins" in result.stdout or "Draw" in result.stdout)
    shown = json.loads(call("show", played[0], rows[0]["id"], "--json").stdout)
    assert shown["moves"] == rows[0]["moves"] and len(shown["decisions"]) == shown["plies"] - 2
    first_board = call("show", played[0], rows[0]["id"], "--ply", 0).stdout
    assert "X" not in first_board.split("plies:")[1].split("wins")[0].split("Draw")[0].replace("After", "")


@pytest.mark.slow
def test_the_same_run_on_one_worker_and_after_three_kills(folder):
    """Byte for byte the same games, times left out, with other workers, and killed three times and resumed."""
    config = folder / "long.toml"
    config.write_text(CONFIG.format(games=30, **LONG))
    assert arena("run", config, "--out", folder / "one", "--workers", 1).returncode == 0
    places = (folder / f"killed-{attempt}" for attempt in range(5))
    killed = next(place for place in places if is_killed_three_times(config, place))
    assert arena("run", "--out", killed, "--resume", "--workers", 2).returncode == 0
    tables = [
        call("table", run, "--kind", kind, "--format", "csv", "--no-times").stdout
        for kind in ("games", "moves")
        for run in (folder / "one", killed)
    ]
    assert tables[0] == tables[1] and tables[2] == tables[3]
    ids = [line.split(",")[0] for line in tables[0].splitlines()[1:]]
    assert len(ids) == len(set(ids)) == 180


def is_killed_three_times(config, run):
    """Whether that came about: where the machine stalls, the run may be over before."""
    start = ["run", config, "--out", run]
    for pause in (0.12, 0.03, 0.08):
        command = [sys.executable, "-m", "arena", *map(str, start), "--workers", "2"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment())
        wait_for_games(run, process)
        time.sleep(pause)
        process.kill()
        code = process.wait()
        assert code in (-signal.SIGKILL, 0)
        if code == 0:
            return False
        start = ["run", "--out", run, "--resume"]
    return True


def wait_for_games(run, process):
    """Until the process has stored a game more than there were when this began, or is over."""
    before = stored(run)
    while stored(run) == before and process.poll() is None:
        time.sleep(0.02)


def stored(run):
    result = call("table", run, "--kind", "games", "--format", "csv")
    return len(result.stdout.splitlines()) - 1 if result.exit_code == 0 else 0


@pytest.mark.slow
def test_interrupted_once_it_finishes_the_games_that_run(folder):
    config = folder / "slow.toml"
    config.write_text(CONFIG.format(games=400, **LONG))
    command = [sys.executable, "-m", "arena", "run", str(config), "--out", str(folder / "slow")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
    wait_for_games(folder / "slow", process)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130 and "Traceback" not in errors
    assert "stopping when the games that run are over" in errors
    assert f"To play the rest: arena run --out {folder / 'slow'} --resume" in errors
    assert 0 < stored(folder / "slow") < 2400


def against_random(game, agent, *options):
    return ["run", "--game", game, "--agent", "random", "--agent", agent, *options]


def test_several_games_are_all_played(tmp_path):
    out = tmp_path / "run"
    done = call(*against_random("nim", "flat(playouts=5)", "--game", "tictactoe", "--games", "2", "--out", out))
    assert done.exit_code == 0 and results.load(out).instances == ["nim", "tictactoe"], done.stderr


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["run", "none.toml"], "none.toml: there is no such file"),
        (["run"], "give a configuration file, or --game and two or more --agent"),
        (["run", "--resume"], "give a configuration file"),
        (["run", "--resume", "--out", "none"], "no tournament in none"),
        (["run", "x.toml", "--games", "4"], "--games cannot be added to a file"),
        (against_random("chess960", "uct"), "unknown game 'chess960'"),
        (against_random("breakthrough(9, 9)", "flat"), "rows * columns = 81 is out of range: it can be 1 to 64"),
        (against_random("connect4", "uct(playouts=0)"), "playouts = 0 is out of range"),
        (against_random("connect4", "uct", "--budget", "depth=2"), "not depth"),
        (against_random("connect4", "uct", "--budget", "2"), "not of the form playouts=1000"),
        (against_random("connect4", "random"), "has the same name"),
        (against_random("connect4", "uct(playouts=5)", "--workers", "0"), "'-j': 0 is out of range"),
        (against_random("connect4", "uct(playouts=5)", "--games", "3"), "is odd"),
        (against_random("tictactoe", "uct(playouts=5)", "--opening-plies", "9"), "is over within 9"),
        (["study", "solvers", "--game", "nim", "--game=hex"], "--game is given 2 times"),
        (["table", "none"], "no tournament in none"),
        (["table", "none", "--kind", "elo"], "'--kind' / '-k': 'elo' is not one of 'study', 'ratings', 'standings'"),
        (["show", "none", "1v2-0000"], "no tournament in none"),
        (["bench", "--seconds", "0"], "'--seconds': 0 is out of range: it must be more than 0"),
        (["cache", "warm", "--game", "chess960"], "unknown game 'chess960'"),
        (["frobnicate"], "No such command"),
    ],
)  # fmt: skip
def test_mistakes_are_told_and_end_with_2(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == 2 and message in result.stderr.replace("\n", " "), result.stderr
    assert "Traceback" not in result.stderr and list(tmp_path.iterdir()) == []


def test_foreign_and_damaged_stores(played, tmp_path):
    (tmp_path / "tournament.sqlite").write_bytes(b"not a database, but long enough to look at" * 100)
    result = call("table", tmp_path)
    assert result.exit_code == 2 and "damaged or not a SQLite file" in result.stderr
    unknown = call("show", played[0], "7v8-0001")
    assert unknown.exit_code == 2 and "ids there look like 1v2-0000" in unknown.stderr
    beyond = call("show", played[0], "1v2-0000", "--ply", 99)
    assert beyond.exit_code == 2 and "--ply 99 is out of range" in beyond.stderr


def test_lists():
    listed = json.loads(call("list", "games", "--json").stdout)
    assert [row["name"] for row in listed] == games.names()
    assert next(row for row in listed if row["name"] == "connect4")["parameters"] == {"rows": 6, "columns": 7}
    listed = json.loads(call("list", "agents", "--json").stdout)
    assert [row["name"] for row in listed] == agents.names()
    assert next(row for row in listed if row["name"] == "uct")["budgets"] == ["playouts", "seconds"]
    assert next(row for row in listed if row["name"] == "nmcs")["players"] == [1, 2]
    told = call("list", "games").stdout.splitlines()
    assert "Breakthrough with knights." in next(line for line in told if line.startswith("knightthrough "))


CACHE = """if True:
    import json
    from tests.typed import call
    made = call("cache", "warm", "--game", "tictactoe", "--agent", "flat", "--workers", "1")
    told = [made, call("cache", "info", "--json"), call("cache", "clear")]
    print(json.dumps([[one.exit_code, one.stdout] for one in told]))
"""


@pytest.mark.slow
def test_cache_is_made_described_and_removed(tmp_path):
    """In a process of its own, which finds no other cache."""
    command, other = [sys.executable, "-c", CACHE], {"ARENA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment() | other)
    (warmed, made), (_, described), (_, cleared) = json.loads(done.stdout)
    assert warmed == 0 and "flat on tictactoe:" in made
    rows = json.loads(described)
    assert sum(row["kernels"] for row in rows) == 2  # its own, and the one that lists moves
    assert sum(row["methods"] for row in rows) >= 4  # at least two of them, for a class and for a game
    assert cleared.endswith(" files removed\n")
    assert not list(tmp_path.rglob("*.nb[icm]"))


def test_kernels_are_compiled_first_and_those_of_a_class_together_then_methods():
    known = ["random", "uct", "uct(lanes=8)", "alphabeta", "flat"]
    kernels, methods = kernel_cache.parts(["connect4", "tictactoe", "pig", "nim"], known)
    connect4, pig, nim = (str(games.make(name)) for name in ("connect4", "pig", "nim"))
    assert kernels == [
        ((connect4, pig), ("uct", "uct(lanes=8)")),  # of states of uint64, and of int64
        ((connect4, nim), ("alphabeta",)),  # it does not play with chance
        ((connect4, pig), ("flat",)),
        ((connect4, pig), ("random",)),
    ]
    assert methods == [(("tictactoe",), tuple(known)), ((nim,), ("random", "uct", "uct(lanes=8)", "flat"))]


@pytest.mark.skipif(multiprocessing.get_start_method() != "fork", reason="what is replaced here reaches forks alone")
def test_a_process_that_dies_while_it_compiles_is_told(monkeypatch):
    monkeypatch.setattr(warming, "warm", lambda *arguments: os._exit(1))
    with pytest.raises(UserError, match="has died"):
        kernel_cache.warm(kernel_cache.parts(["nim"], ["random"]), 2, lambda *row: None)


LATE = """if True:
    import os, signal, sys
    class Late:
        def __del__(self, kill=os.kill, process=os.getpid(), number=signal.SIGINT):
            kill(process, number)
    sys.late, sys.argv = Late(), ["arena", "--version"]
    from arena.cli import main
    main()
"""
CLOSING = """if True:
    import atexit, os, signal, sys
    from arena import cli
    typed, sys.argv = cli.app, ["arena", "--version"]
    def app(**options):
        atexit.register(os.kill, os.getpid(), signal.SIGINT)  # as multiprocessing does, which a command imports
        typed(**options)
    cli.app = app
    cli.main()
"""


@pytest.mark.parametrize("script", [LATE, CLOSING])
def test_ctrl_c_while_the_interpreter_ends_changes_no_exit_code(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("arena ") and not done.stderr


def test_a_mode_of_kernels_that_there_is_not_is_told(monkeypatch):
    monkeypatch.setenv("ARENA_SPECIALIZE", "often")
    done = arena("list", "games")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "arena: ARENA_SPECIALIZE = 'often' is not one of always, never\n"


def test_nothing_to_compile_is_told():
    warmed = call("cache", "warm", "--game", "samegame", "--agent", "alphabeta")
    assert warmed.exit_code == 0 and "nothing to compile" in warmed.output


def commands():
    """The names of all commands, from the files of their package."""
    from arena import commands

    shared = {"application", "completion", "counts", "dialogue", "hints", "options", "output", "playing", "progress"}
    shared |= {"study-archive", "study-solvers", "study-schemes"}
    modules = pkgutil.iter_modules(commands.__path__)
    return sorted({module.name.strip("_").replace("_", "-") for module in modules} - shared)


def test_help_lists_every_command_in_a_line():
    text = call("--help").stdout
    panels = [line for line in text.splitlines() if line in [f"{panel}:" for panel in Panel]]
    assert panels == [f"{panel}:" for panel in Panel]
    for name in commands():
        (line,) = [line for line in text.splitlines() if re.match(rf"  {name} +[A-Z]", line)]
        assert len(line) <= 80 and line.endswith(".") and not line.endswith("...")


def all_commands():
    """(words, command) of every command, those of groups too."""
    for name, one in sorted(typer.main.get_command(app).commands.items()):
        yield from ([f"{name} {own}", command] for own, command in getattr(one, "commands", {}).items())
        if not hasattr(one, "commands"):
            yield [name, one]


def test_help_fits_a_screen():
    """At 100 columns; and no command has more than ten options of its own beside those that it shares."""
    for words, command in all_commands():
        lines = CliRunner().invoke(app, [*words.split(), "--help"], terminal_width=100).stdout.splitlines()
        assert len(lines) <= 45, words
        own = [one for one in command.params if one.param_type_name == "option" and not one.rich_help_panel]
        assert len(own) <= 10, words


def test_help_has_examples_and_loads_nothing_slow():
    for name in set(commands()) - {"list", "cache", "study"}:
        assert f"arena {name}" in call(name, "--help").stdout.split("Examples:")[1]
    for name, own in (
        ("list", ("games", "agents", "learners")),
        ("cache", ("info", "clear", "warm")),
        ("study", ("archive", "proof", "schemes", "solvers")),
    ):
        for command in own:
            assert f"arena {name} {command}" in call(name, command, "--help").stdout.split("Examples:")[1]
    script = "import sys, arena.cli; print([m for m in ('numba', 'pandas', 'scipy', 'numpy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment())
    assert done.stdout.strip() == "[]"


def test_a_folder_that_kernels_cannot_be_kept_in_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE_DIR", str(tmp_path / "own"))
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    done = call("cache", "warm", "--game", "nim", "--agent", "random", "--to", str(tmp_path / "open"))
    assert done.exit_code == 2 and "nothing can be kept in" in done.output
    assert os.environ["ARENA_CACHE_DIR"] == str(tmp_path / "own") and not list((tmp_path / "open").iterdir())


@pytest.mark.slow
def test_the_commands_that_a_run_suggests_work_as_they_are_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["--game", "tictactoe", "--agent", "random", "--agent", "flat(playouts=3)", "--games", "4"]
    done = call("run", *words, "--out", tmp_path / "a folder" / "it's one")
    assert done.exit_code == 0, done.output
    *hints, lab = [line.strip() for line in done.output.splitlines() if line.startswith("  arena ")]
    assert len(hints) == 6 and lab.startswith("arena lab ")  # which goes on until it is stopped
    for hint in hints:
        typed = call(*shlex.split(hint)[1:])
        assert typed.exit_code == 0, (hint, typed.output)


@pytest.mark.parametrize("named", [(), ("runs/first",)])
def test_a_current_folder_that_is_gone_is_told(named, tmp_path, monkeypatch, capsys):
    def fails():
        raise FileNotFoundError(errno.ENOENT, "No such file or directory", *named)

    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(typer.Exit) as ended:
        _reporting_errors(fails)()
    assert ended.value.exit_code == 2
    assert "the folder that this is typed in has been removed" in capsys.readouterr().err


def test_runs_that_begin_at_the_same_moment_have_folders_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(lambda _: options.free_folder("hex"), range(16))]
    assert sorted(path.name for path in found) == sorted(f"hex-{number}" for number in range(1, 17))
    (found[0] / "kept").touch()
    for place in found:
        options._remove_empty(place)
    assert [path.name for path in Path("runs").iterdir()] == [found[0].name]
